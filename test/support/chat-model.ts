// The model under test, servers for it that end with the test, and its events in short.

import type { Model, ModelEvent, ModelFailure, ModelReply, ModelRequest } from "#agent/ports";
import type { Message } from "#base/protocol";
import { type ChatModelOptions, createChatModel } from "#capabilities/models";
import { recordingClock } from "./clock";
import {
  type ModelServer,
  type Script,
  type ScriptedAnswer,
  startModelServer,
} from "./model-server";

export const KEY = "sk-test-0123456789abcdef";
export const hello: Message[] = [{ role: "user", content: "hi" }];
const servers: ModelServer[] = [];

export function serve(script: Script | ScriptedAnswer) {
  const server = startModelServer(script);
  servers.push(server);
  return server;
}

/** For `afterEach`. */
export async function closeServers(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close()));
}

export function modelAt(apiBase: string, more: Partial<ChatModelOptions> = {}): Model {
  return createChatModel({
    apiBase,
    model: "some-model",
    apiKey: KEY,
    maxTokens: 500,
    temperature: 0.7,
    streamOptions: true,
    extraBody: true,
    clock: recordingClock(),
    ...more,
  });
}

export async function ask(
  model: Model,
  messages: readonly Message[] = hello,
  signal = new AbortController().signal,
  tools: ModelRequest["tools"] = [],
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of model.stream({ messages, tools }, signal)) events.push(event);
  return events;
}

/** The events in short: `text`, `retry`, `reply hello`, `failure auth`. */
export function shape(events: ModelEvent[]): string[] {
  return events.map((event) => {
    if (event.kind === "failure") return `failure ${event.failure.kind}`;
    if (event.kind === "reply") return `reply ${event.reply.message.content}`;
    return event.kind;
  });
}

const last = (events: ModelEvent[]): ModelEvent => events.at(-1) ?? { kind: "text", text: "none" };
export const failureOf = (events: ModelEvent[]): ModelFailure | undefined => {
  const event = last(events);
  return event.kind === "failure" ? event.failure : undefined;
};
export const replyOf = (events: ModelEvent[]): ModelReply | undefined => {
  const event = last(events);
  return event.kind === "reply" ? event.reply : undefined;
};
export const said = (status: number, message: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: JSON.stringify({ error: { message } }),
});
