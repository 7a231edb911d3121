// What a model server was asked, as messages.

import type { Message } from "../../src/base/protocol";
import type { ModelServer } from "./model-server";

/** The messages of one request; empty when there was none. */
export function messagesOf(server: ModelServer, index: number): Message[] {
  return (server.requests[index]?.json.messages ?? []) as Message[];
}
