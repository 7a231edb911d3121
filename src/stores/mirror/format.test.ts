import { expect, test } from "bun:test";
import { checksumOf, formatMirror, type MirrorState, withoutCredentials } from "./format";

const STATE: MirrorState = {
  sessionId: "20261130_204620_3f9a",
  model: "m",
  apiBase: "https://user:word@api.example.com/v1?api_key=abc",
  cwd: "/home/me/project",
  stepCount: 4,
  usage: { input: 5321, output: 812, cached: 4096, billable: 2037 },
  todo: [{ text: "look", state: "done" }],
  messages: [
    { role: "system", content: "é 漢 \ud800 a\nb" },
    { role: "user", content: "hi", own: { deep: [1, {}] } },
  ],
};
const OPTIONS = { reason: "tool_result", instance: 2, nowMs: 1_796_071_580_123 } as const;

test("it is what an indenting writer makes of it, with a line break at the end", () => {
  const text = formatMirror(STATE, OPTIONS);
  const expected = {
    bosun_session_version: 1,
    session_id: "20261130_204620_3f9a",
    updated_at: "2026-11-30T20:46:20Z",
    reason: "tool_result",
    model: "m",
    api_base: "https://api.example.com/v1",
    cwd: "/home/me/project",
    instance_number: 2,
    step_count: 4,
    usage: {
      input_tokens: 5321,
      output_tokens: 812,
      cached_tokens: 4096,
      billable_tokens: 2037,
    },
    todo: [{ text: "look", state: "done" }],
    checksum: checksumOf(STATE),
    messages: STATE.messages,
  };
  expect(text).toBe(`${JSON.stringify(expected, null, 2)}\n`);
  expect(formatMirror(STATE, OPTIONS)).toBe(text);
  const nothing = { messages: [], todo: [] };
  const bare = { ...expected, ...nothing, checksum: checksumOf(nothing) };
  const empty = formatMirror({ ...STATE, ...nothing }, OPTIONS);
  expect(empty).toBe(`${JSON.stringify(bare, null, 2)}\n`);
});

test("an address loses what may be a credential, and nothing else", () => {
  const cases: Record<string, string> = {
    "https://api.example.com/v1": "https://api.example.com/v1",
    "http://localhost:8080": "http://localhost:8080",
    "https://h/v1?api-version=2024-01&x=1": "https://h/v1?api-version=2024-01&x=1",
    "https://u:p@h/v1": "https://h/v1",
    "https://token@h/v1": "https://h/v1",
    "https://h/v1?API_KEY=s&api-version=1": "https://h/v1?api-version=1",
    "https://h/v1?access_token=s#k": "https://h/v1",
    "u:p@h/v1": "h/v1",
    "http://u:pa/ss@h/v1?key=s": "http://h/v1",
    "h/v1?key=s": "h/v1",
    "": "",
  };
  const cleaned = Object.keys(cases).map((address) => [address, withoutCredentials(address)]);
  expect(Object.fromEntries(cleaned)).toEqual(cases);
});

test("only messages that are new cost time", () => {
  const messages = Array.from({ length: 500 }, (_, at) => ({
    role: "user" as const,
    content: `${at} ${"a line of output\n".repeat(120)}`,
  }));
  const state = { ...STATE, messages };
  formatMirror(state, OPTIONS);
  const times = Array.from({ length: 20 }, () => {
    const started = performance.now();
    formatMirror(state, OPTIONS);
    return performance.now() - started;
  });
  // The best of them: this machine may be busy with other tests.
  expect(Math.min(...times)).toBeLessThan(5);
});
