// Every recorded chat stream, played by a real server in pieces of several sizes, read to its
// expected result; and the decoder alone fed byte by byte.

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ModelEvent, ModelFailure, ModelReply } from "#agent/ports";
import type { Usage } from "#base/protocol";
import { recordingClock } from "../../../test/support/clock";
import { startModelServer } from "../../../test/support/model-server";
import { createChatModel } from "./chat";
import { ChunkReader, type ReplyItem } from "./chunks";

const FIXTURES = join(import.meta.dir, "../../../test/fixtures/provider-streams");

interface ExpectedCall {
  id: string | null;
  name: string | null;
  arguments: unknown;
  arguments_valid: boolean;
}

interface Expected {
  text: string;
  reasoning: string;
  refusal: string | null;
  tool_calls: ExpectedCall[];
  finish_reason: string | null;
  usage: { input: number; output: number; cached_input: number | null } | null;
  error: { message: string } | null;
  complete: boolean;
  split_think?: { reasoning: string; text: string };
}

interface Played {
  text: string;
  reasoning: string;
  reply: ModelReply | undefined;
  failure: ModelFailure | undefined;
}

const names = readdirSync(FIXTURES)
  .filter((name) => name.endsWith(".sse"))
  .map((name) => name.slice(0, -4));

function expectedOf(name: string): Expected {
  const file = readFileSync(join(FIXTURES, `${name}.expected.json`), "utf8");
  return (JSON.parse(file) as { expected: Expected }).expected;
}

async function play(raw: Uint8Array, pieces: number | undefined): Promise<Played> {
  using server = startModelServer(() => ({ raw, ...(pieces ? { pieces } : {}) }));
  const model = createChatModel({
    apiBase: server.url,
    model: "recorded",
    apiKey: "a-key-for-tests",
    maxTokens: 100,
    temperature: 0.7,
    streamOptions: true,
    extraBody: false,
    clock: recordingClock(),
    limits: { attemptsMax: 1 },
  });
  const played: Played = { text: "", reasoning: "", reply: undefined, failure: undefined };
  const request = { messages: [{ role: "user", content: "hi" } as const], tools: [] };
  for await (const event of model.stream(request, new AbortController().signal)) {
    if (event.kind === "text") played.text += event.text;
    if (event.kind === "reasoning") played.reasoning += event.text;
    if (event.kind === "reply") played.reply = event.reply;
    if (event.kind === "failure") played.failure = event.failure;
  }
  return played;
}

function usageOf(expected: Expected): Usage | null {
  if (!expected.usage) return null;
  const { input, output, cached_input } = expected.usage;
  const cached = cached_input ?? 0;
  return { input, output, cached, billable: input - cached + output };
}

/** What the model made of it, in the words of the expected results. */
function summary(reply: ModelReply) {
  return {
    finish: reply.finish,
    usage: reply.usage,
    content: reply.message.content ?? "",
    reasoning: reply.message.reasoning_content ?? "",
    calls: reply.calls.map((call) => ({
      name: call.name,
      arguments: call.arguments.kind === "valid" ? call.arguments.value : call.arguments.kind,
    })),
    history: (reply.message.tool_calls ?? []).map((part) => ({
      name: part.function.name,
      arguments: JSON.parse(part.function.arguments) as unknown,
    })),
  };
}

function checkComplete(played: Played, expected: Expected): void {
  const { reply } = played;
  if (!reply) throw new Error(`no reply: ${played.failure?.message}`);
  const text = expected.split_think?.text ?? expected.refusal ?? expected.text;
  const reasoning = expected.split_think?.reasoning ?? expected.reasoning;
  const calls = expected.tool_calls.map((call) => ({
    name: call.name ?? "unnamed",
    arguments: call.name && call.arguments_valid ? call.arguments : "broken",
  }));
  expect(summary(reply)).toEqual({
    finish: expected.finish_reason,
    usage: usageOf(expected),
    content: text,
    reasoning,
    calls: calls as never,
    history: expected.tool_calls.map((call) => ({
      name: call.name ?? "unnamed",
      arguments: call.arguments_valid ? call.arguments : {},
    })),
  });
  expect([played.text, played.reasoning]).toEqual([text, reasoning]);
  const ids = reply.calls.map((call) => call.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual((reply.message.tool_calls ?? []).map((part) => part.id));
  expected.tool_calls.forEach((call, index) => {
    const isFirst = expected.tool_calls.findIndex((other) => other.id === call.id) === index;
    if (call.id !== null && isFirst) expect(ids[index]).toBe(call.id);
  });
}

function checkIncomplete(played: Played, expected: Expected): void {
  expect(played.reply).toBeUndefined();
  expect(played.text).toBe(expected.text);
  expect(played.failure?.partialText).toBe(expected.text);
  expect(played.failure?.message).not.toBe("");
  if (expected.error)
    expect(played.failure?.message).toContain(expected.error.message.slice(0, 60));
  else expect(played.failure?.kind).toBe("incomplete");
}

describe("recorded chat streams", () => {
  test("are all there", () => expect(names.length).toBeGreaterThanOrEqual(95));
  for (const name of names) {
    test(name, async () => {
      const raw = readFileSync(join(FIXTURES, `${name}.sse`));
      const expected = expectedOf(name);
      for (const pieces of [undefined, 64, 7]) {
        const played = await play(raw, pieces);
        if (expected.complete) checkComplete(played, expected);
        else checkIncomplete(played, expected);
      }
    });
  }
});

function itemsOf(raw: Uint8Array, pieces: number): ReplyItem[] {
  const reader = new ChunkReader();
  const items: ReplyItem[] = [];
  for (let start = 0; start < raw.length; start += pieces) {
    items.push(...reader.feed(raw.subarray(start, start + pieces)));
  }
  return [...items, ...reader.end()];
}

test("bytes may be cut anywhere: every stream gives the same chunks in pieces of any size", () => {
  for (const name of names) {
    const raw = readFileSync(join(FIXTURES, `${name}.sse`));
    const whole = itemsOf(raw, raw.length);
    for (const pieces of [1, 2, 7, 64]) expect(itemsOf(raw, pieces)).toEqual(whole);
  }
});

test("recorded error objects end a reply with the kind that they mean", async () => {
  const kinds: Record<string, ModelEvent["kind"] | string> = {
    "groq-error-event-after-text": "tool_call_failed",
    "openai-error-after-output": "server_error",
    "openai-error-first-chunk": "server_error",
    "openai-error-numeric-code": "bad_request",
    "openrouter-minimax-length-error": "bad_request",
  };
  for (const [name, kind] of Object.entries(kinds)) {
    const played = await play(readFileSync(join(FIXTURES, `${name}.sse`)), undefined);
    expect([name, played.failure?.kind]).toEqual([name, kind]);
  }
});
