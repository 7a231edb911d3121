// The bytes of a scripted reply: Chat Completions chunks as the common servers send them, with
// the usage in a last chunk that has no choices, and `[DONE]` at the end.

import type { ScriptedReply } from "./model-server";

const CHARACTERS_PER_TOKEN = 4;

function tokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}

/** The text in `count` parts that differ in length by one character at most. */
function split(text: string, count: number): string[] {
  const characters = Array.from(text);
  const parts = Math.max(1, Math.min(count, characters.length));
  return Array.from({ length: parts }, (_, index) =>
    characters
      .slice(
        Math.floor((index * characters.length) / parts),
        Math.floor(((index + 1) * characters.length) / parts),
      )
      .join(""),
  );
}

function deltasOf(reply: ScriptedReply): object[] {
  const deltas: object[] = [{ role: "assistant", content: "" }];
  if (reply.reasoning) {
    for (const part of split(reply.reasoning, tokens(reply.reasoning))) {
      deltas.push({ reasoning_content: part });
    }
  }
  if (reply.text) {
    const count = reply.deltas ?? tokens(reply.text);
    for (const part of split(reply.text, count)) deltas.push({ content: part });
  }
  reply.calls?.forEach((call, index) => {
    const id = call.id ?? `call_${crypto.randomUUID().slice(0, 8)}`;
    const opening = { name: call.name, arguments: "" };
    deltas.push({ tool_calls: [{ index, id, type: "function", function: opening }] });
    const text = typeof call.args === "string" ? call.args : JSON.stringify(call.args ?? {});
    for (const part of split(text, Math.ceil(tokens(text) / 4))) {
      deltas.push({ tool_calls: [{ index, function: { arguments: part } }] });
    }
  });
  return deltas;
}

function usageOf(reply: ScriptedReply, request: Record<string, unknown>): object {
  if (reply.usage) return reply.usage;
  const prompt = tokens(JSON.stringify(request.messages ?? [])) + 10;
  const written = (reply.text ?? "") + (reply.reasoning ?? "") + JSON.stringify(reply.calls ?? "");
  const completion = tokens(written);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0 },
  };
}

/** The reply as the whole body of an event stream. */
export function encodeReply(reply: ScriptedReply, request: Record<string, unknown>): string {
  const envelope = {
    id: `chatcmpl-${crypto.randomUUID().slice(0, 8)}`,
    object: "chat.completion.chunk",
    created: Math.floor(Date.now() / 1000),
    model: request.model ?? "scripted-model",
  };
  const data = (fields: object): string =>
    `data: ${JSON.stringify({ ...envelope, ...fields })}\n\n`;
  const choice = (delta: object, finish: string | null = null): string =>
    data({ choices: [{ index: 0, delta, finish_reason: finish }] });
  const finish = reply.finish === undefined ? (reply.calls ? "tool_calls" : "stop") : reply.finish;
  return [
    ...deltasOf(reply).map((delta) => choice(delta)),
    finish === null ? "" : choice({}, finish),
    data({ choices: [], usage: usageOf(reply, request) }),
    "data: [DONE]\n\n",
  ].join("");
}
