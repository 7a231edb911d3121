// The scripted model of `--demo`: a real HTTP server on loopback that speaks the Chat Completions
// wire, so that everything but the thinking is what happens with a real endpoint.
// Source of the wire: the OpenAI API reference, "Chat Completions", streaming.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "#base/protocol";
import { nextTurn, type ScriptedTurn } from "./script";

export const DEMO_MODEL = "demo-script";

/** Between two words: fast enough not to bore, slow enough to be seen streaming. */
const WORD_DELAY_MS = 12;

export interface DemoServer {
  apiBase: string;
  stop(): void;
}

function freeFolder(cwd: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? "bosun-demo" : `bosun-demo-${number}`;
    if (!existsSync(join(cwd, name))) return name;
  }
}

async function* stream(turn: ScriptedTurn): AsyncGenerator<string> {
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({
      id: "demo",
      object: "chat.completion.chunk",
      model: DEMO_MODEL,
      choices: [{ index: 0, delta, finish_reason: finish }],
    })}\n\n`;
  yield chunk({ role: "assistant", content: "" });
  for (const word of turn.text.match(/\S+\s*/g) ?? []) {
    yield chunk({ content: word });
    await Bun.sleep(WORD_DELAY_MS);
  }
  const calls = turn.calls.map((call, index) => ({
    index,
    id: `call_${crypto.randomUUID().slice(0, 8)}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.args) },
  }));
  yield chunk({ tool_calls: calls });
  yield chunk({}, "tool_calls");
  yield "data: [DONE]\n\n";
}

export function startDemoServer(cwd: string): DemoServer {
  const folder = freeFolder(cwd);
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      if (path === "/v1/models") {
        return Response.json({ object: "list", data: [{ id: DEMO_MODEL, object: "model" }] });
      }
      if (path !== "/v1/chat/completions") return new Response("Not found", { status: 404 });
      const body = (await request.json()) as { messages: Message[] };
      const turn = nextTurn(body.messages, folder);
      return new Response(stream(turn), { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    apiBase: `http://127.0.0.1:${server.port}/v1`,
    stop: () => {
      void server.stop(true);
    },
  };
}
