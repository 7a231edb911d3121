// Replies in shapes that no recording shows: what each chunk adds, and what must not be doubled.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject } from "./json";
import { ReplyBuilder } from "./reply";

function build(deltas: JsonObject[], finish: string | null = "tool_calls") {
  const builder = new ReplyBuilder();
  for (const delta of deltas) builder.takeChunk({ choices: [{ index: 0, delta }] });
  builder.takeChunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  builder.end();
  return builder.build();
}

type Piece = { index?: unknown; id?: unknown; name?: unknown; args?: unknown };

/** Calls as `name(arguments)`, a broken one as `name!`. */
function callsOf(...chunks: Piece[][]): string[] {
  const deltas = chunks.map((pieces) => ({
    tool_calls: pieces.map(({ index, id, name, args }) => ({
      ...(index === undefined ? {} : { index }),
      ...(id === undefined ? {} : { id }),
      function: {
        ...(name === undefined ? {} : { name }),
        ...(args === undefined ? {} : { arguments: args }),
      },
    })),
  }));
  return build(deltas).calls.map((call) =>
    call.arguments.kind === "broken"
      ? `${call.name}!`
      : `${call.name}(${JSON.stringify(call.arguments.value)})`,
  );
}

describe("calls by their pieces", () => {
  test("parallel and interleaved", () => {
    expect(
      callsOf(
        [{ index: 0, id: "a", name: "x", args: "" }],
        [{ index: 1, id: "b", name: "y", args: '{"n"' }],
        [{ index: 0, args: '{"m"' }],
        [{ index: 1, args: ":1}" }],
        [{ index: 0, args: ":2}" }],
      ),
    ).toEqual(['x({"m":2})', 'y({"n":1})']);
  });

  test("without an index: by id, and what has none goes on with the open one", () => {
    expect(
      callsOf(
        [{ id: "a", name: "x", args: '{"m"' }],
        [{ args: ":1}" }],
        [{ id: "b", name: "y", args: "" }],
        [{ id: "b", args: '{"n":2' }],
        [{ args: "}" }],
      ),
    ).toEqual(['x({"m":1})', 'y({"n":2})']);
  });

  test("with neither index nor id: a name opens", () => {
    expect(callsOf([{ name: "x", args: "{}" }], [{ name: "y" }], [{ args: '{"n":1}' }])).toEqual([
      "x({})",
      'y({"n":1})',
    ]);
  });

  test("one index for all calls, as some send it", () => {
    expect(
      callsOf(
        [{ index: 0, id: "a", name: "x", args: '{"m":1}' }],
        [{ index: 0, id: "b", name: "x", args: '{"m":2}' }],
        [{ index: 0, id: "c", name: "y", args: '{"m":1}' }],
      ),
    ).toEqual(['x({"m":1})', 'x({"m":2})', 'y({"m":1})']);
    expect(
      callsOf(
        [{ index: 0, name: "x", args: '{"m":1}' }],
        [{ index: 0, name: "x", args: '{"m":2}' }],
      ),
    ).toEqual(['x({"m":1})', 'x({"m":2})']);
  });

  test("an id or a name that comes again opens nothing", () => {
    expect(
      callsOf(
        [{ index: 0, id: "a", name: "x", args: "" }],
        [{ index: 0, id: "a", name: "x", args: '{"m"' }],
        [{ index: 0, id: "", name: "", args: ":1}" }],
      ),
    ).toEqual(['x({"m":1})']);
    expect(callsOf([{ name: "x", args: '{"m"' }], [{ name: "x", args: ":1}" }])).toEqual([
      'x({"m":1})',
    ]);
  });

  test("an id that rotates while the call goes on opens nothing", () => {
    expect(
      callsOf(
        [{ index: 0, id: "a", name: "x", args: '{"m"' }],
        [{ index: 0, id: "b", args: ":1" }],
        [{ index: 0, id: "c", name: "x", args: "}" }],
      ),
    ).toEqual(['x({"m":1})']);
    expect(callsOf([{ id: "a", name: "x", args: '{"m"' }], [{ id: "b", args: ":1}" }])).toEqual([
      'x({"m":1})',
    ]);
  });

  test("repetitions count once", () => {
    const whole = { index: 0, id: "a", name: "x", args: '{"m":1}' };
    expect(callsOf([whole], [whole])).toEqual(['x({"m":1})']);
    expect(callsOf([{ ...whole, args: '{"m"' }], [whole])).toEqual(['x({"m":1})']);
    expect(callsOf([{ ...whole, args: "{}" }], [{ index: 0, args: '{"m":1}' }])).toEqual([
      'x({"m":1})',
    ]);
  });

  test("arguments of every type", () => {
    expect(callsOf([{ index: 0, id: "a", name: "x", args: { m: 1 } }])).toEqual(['x({"m":1})']);
    expect(callsOf([{ index: 0, id: "a", name: "x", args: null }])).toEqual(["x({})"]);
    expect(callsOf([{ index: 0, id: "a", name: "x" }])).toEqual(["x({})"]);
    expect(callsOf([{ index: 0, id: "a", name: "x", args: [1] }])).toEqual(["x!"]);
    expect(callsOf([{ index: "0", id: 7, name: "x", args: "{}" }])).toEqual(["x({})"]);
  });

  test("a call without a name never runs, and never borrows one", () => {
    expect(callsOf([{ index: 0, id: "a", args: "{}" }])).toEqual(["unnamed!"]);
    expect(
      callsOf(
        [{ index: 0, id: "a", name: "x", args: '{"m":1}' }],
        [{ index: 1, id: "b", args: "{}" }],
      ),
    ).toEqual(['x({"m":1})', "unnamed!"]);
  });

  test("names lose what no endpoint would take back", () => {
    expect(callsOf([{ index: 0, id: "a", name: " shell\n", args: "{}" }])).toEqual(["shell({})"]);
    expect(callsOf([{ index: 0, name: "shell<|channel|>json", args: "{}" }])).toEqual([
      "shell__channel__json({})",
    ]);
  });

  test("entries that are no calls are passed over", () => {
    expect(build([{ tool_calls: [null, 3, "x"] }, { tool_calls: null }]).calls).toEqual([]);
  });
});

test("ids are unique within the reply, and the same in the message", () => {
  const piece = (index: number, id: unknown) => ({ index, id, function: { name: "x" } });
  const pieces = [piece(0, "same"), piece(1, "same"), piece(2, ""), piece(3, null)];
  const reply = build([{ tool_calls: pieces }]);
  const ids = reply.calls.map((call) => call.id);
  expect(ids[0]).toBe("same");
  expect(new Set(ids).size).toBe(4);
  expect(ids).not.toContain("");
  expect(reply.message.tool_calls?.map((part) => part.id)).toEqual(ids);
});

test("fields that we do not know survive, in pieces or whole", () => {
  const call = {
    index: 0,
    id: "a",
    type: "function",
    function: { name: "x", arguments: "{}", thought_signature: "F" },
    extra_content: { google: { thought_signature: "S" } },
  };
  const details = [
    { type: "reasoning.text", index: 0, text: "so " },
    { type: "reasoning.text", index: 0, text: "what", signature: null },
    { type: "reasoning.text", index: 0, signature: "sig" },
    { type: "reasoning.encrypted", index: 1, data: "AA" },
    { type: "reasoning.encrypted", index: 1, data: "BB" },
  ];
  const reply = build([
    { reasoning_details: details.slice(0, 1), annotations: [{ url: "a" }] },
    { reasoning_details: details.slice(1, 2), provider_specific_fields: { a: 1 } },
    { reasoning_details: details.slice(2), annotations: [{ url: "b" }] },
    { tool_calls: [call], provider_specific_fields: { b: 2 }, channel: "final" },
  ]);
  expect(reply.message).toEqual({
    role: "assistant",
    content: null,
    reasoning_content: "so what",
    reasoning_details: [
      { type: "reasoning.text", index: 0, text: "so what", signature: "sig" },
      { type: "reasoning.encrypted", index: 1, data: "AA" },
      { type: "reasoning.encrypted", index: 1, data: "BB" },
    ],
    annotations: [{ url: "a" }, { url: "b" }],
    provider_specific_fields: { a: 1, b: 2 },
    channel: "final",
    tool_calls: [
      {
        extra_content: { google: { thought_signature: "S" } },
        id: "a",
        type: "function",
        function: { thought_signature: "F", name: "x", arguments: "{}" },
      },
    ],
  });
});

test("a key named __proto__ reaches no other object", () => {
  const delta = JSON.parse('{"__proto__":{"polluted":1},"x":{"__proto__":{"polluted":1}}}');
  const { message } = build([delta, delta], "stop");
  expect("polluted" in {}).toBe(false);
  expect(message).toEqual({ role: "assistant", content: "", x: {} });
});

describe("thinking under its names", () => {
  const reasoningOf = (...deltas: JsonObject[]) =>
    build(deltas, "stop").message.reasoning_content ?? "";
  test("one name a chunk, and blocks only where no string came", () => {
    expect(reasoningOf({ reasoning: "a" }, { reasoning: "b" })).toBe("ab");
    expect(reasoningOf({ reasoning_content: "a", reasoning: "b" })).toBe("a");
    expect(reasoningOf({ reasoning_content: "", reasoning: "b" })).toBe("b");
    expect(reasoningOf({ reasoning_text: "a" }, { thinking: "b" })).toBe("ab");
    const blocks = [{ type: "reasoning.summary", summary: "a" }];
    expect(reasoningOf({ reasoning_details: blocks })).toBe("a");
    expect(reasoningOf({ reasoning: "a" }, { reasoning_details: blocks })).toBe("a");
    expect(reasoningOf({ reasoning: { text: "a" } })).toBe("a");
  });
  test("in lists of content", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "a" }] },
      { type: "text", text: "b" },
      "c",
      { type: "image_url" },
    ];
    const { message } = build([{ content }], "stop");
    expect([message.reasoning_content, message.content]).toEqual(["a", "bc"]);
  });
});

describe("whole messages", () => {
  const message = {
    role: "assistant",
    content: "<think>hm</think>hello",
    refusal: null,
    annotations: [],
    tool_calls: [
      { index: 0, id: "a", function: { name: "x", arguments: { m: 1 } } },
      { index: 0, id: "b", function: { name: "x", arguments: '{"m":2}' } },
    ],
    audio: { id: "z" },
  };
  test("fill what no delta gave", () => {
    const builder = new ReplyBuilder();
    builder.takeChunk({ choices: [{ message, finish_reason: "tool_calls" }] });
    builder.end();
    const reply = builder.build();
    expect(reply.message.content).toBe("hello");
    expect(reply.message.reasoning_content).toBe("hm");
    expect(reply.message.audio).toEqual({ id: "z" });
    expect(reply.calls.map((call) => call.arguments)).toEqual([
      { kind: "valid", value: { m: 1 } },
      { kind: "valid", value: { m: 2 } },
    ]);
  });
  test("and double nothing", () => {
    const builder = new ReplyBuilder();
    const delta = { content: "hello", reasoning: "hm", audio: { id: "y" } };
    builder.takeChunk({ choices: [{ delta }] });
    builder.takeChunk({ choices: [{ message: { ...message, reasoning: "hm" } }] });
    builder.end();
    const reply = builder.build();
    expect(reply.message.content).toBe("hello");
    expect(reply.message.reasoning_content).toBe("hm");
    expect(reply.message.audio).toEqual({ id: "y" });
  });
});

test("chunks without anything in them change nothing", () => {
  const builder = new ReplyBuilder();
  const odd: JsonObject[] = [
    {},
    { choices: [] },
    { choices: null },
    { choices: [null] },
    { choices: [{}] },
    { choices: [{ delta: null }] },
    { choices: [{ index: 1, delta: { content: "other" } }] },
    { usage: null },
    { usage: {} },
    { choices: [{ index: 0, delta: { content: null, role: "", tool_calls: null } }] },
  ];
  for (const chunk of odd) builder.takeChunk(chunk);
  builder.end();
  expect(builder.build()).toEqual({
    message: { role: "assistant", content: "" },
    calls: [],
    finish: null,
    cutByLength: false,
    announcedCalls: false,
    usage: null,
  });
});

describe("usage", () => {
  const usageOf = (...chunks: JsonObject[]) => {
    const builder = new ReplyBuilder();
    for (const chunk of chunks) builder.takeChunk(chunk);
    return builder.build().usage;
  };
  const first = {
    prompt_tokens: 1000,
    completion_tokens: 50,
    prompt_tokens_details: { cached_tokens: 900 },
  };
  test("cached tokens are billed no second time, and the last object wins", () => {
    const expected = { input: 1000, output: 50, cached: 900, billable: 150 };
    expect(usageOf({ usage: first })).toEqual(expected);
    expect(usageOf({ usage: first }, { usage: first })).toEqual(expected);
    expect(usageOf({ usage: first }, { usage: null }, { choices: [], usage: {} })).toEqual(
      expected,
    );
    expect(usageOf({ x_groq: { usage: first } })).toEqual(expected);
    expect(usageOf({ choices: [{ index: 0, usage: first }] })).toEqual(expected);
  });
  test("other names", () => {
    const plain = { input: 10, output: 5, cached: 4, billable: 11 };
    const base = { prompt_tokens: 10, completion_tokens: 5 };
    expect(usageOf({ usage: { ...base, prompt_cache_hit_tokens: 4 } })).toEqual(plain);
    expect(usageOf({ usage: { ...base, cached_tokens: 4 } })).toEqual(plain);
    expect(
      usageOf({
        usage: { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 4 } },
      }),
    ).toEqual(plain);
    expect(usageOf({ usage: { prompt_tokens: 10, total_tokens: 15 } })?.output).toBe(5);
    expect(usageOf({ usage: { ...base, prompt_tokens_details: null } })?.billable).toBe(15);
    expect(usageOf({ usage: { prompt_tokens: "many" } })).toBeNull();
  });
});

test("a cut reply, and calls that were announced", () => {
  expect(build([], "length").cutByLength).toBe(true);
  expect(build([], "MAX_TOKENS").cutByLength).toBe(true);
  expect(build([], "stop").cutByLength).toBe(false);
  expect(build([], "tool_calls").announcedCalls).toBe(true);
  expect(build([{ content: "x" }], "stop").announcedCalls).toBe(false);
  const cut = build(
    [{ tool_calls: [{ index: 0, id: "a", function: { name: "x", arguments: '{"m":1,}' } }] }],
    "length",
  );
  expect(cut.calls[0]?.arguments.kind).toBe("broken");
  expect(cut.message.tool_calls?.[0]?.function.arguments).toBe("{}");
});

test("half a surrogate pair waits for the other half", () => {
  const builder = new ReplyBuilder();
  builder.takeChunk({ choices: [{ delta: { content: "a\ud83d" } }] });
  expect(builder.takePending().text).toBe("a");
  builder.takeChunk({ choices: [{ delta: { content: "\ude80" } }] });
  expect(builder.takePending().text).toBe("🚀");
  expect(builder.text).toBe("a🚀");
});

test("no chunk whatever makes it throw, and every argument string is JSON", () => {
  const keys = ["choices", "index", "delta", "message", "content", "tool_calls", "function"];
  const more = ["id", "name", "arguments", "function_call", "usage", "reasoning_details", "text"];
  const key = fc.oneof(fc.constantFrom(...keys, ...more, "reasoning", "type"), fc.string());
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.oneof(fc.string(), fc.constantFrom("{}", '{"a":1}', "<think>"), fc.constant(0)),
      fc.constantFrom(null, true, -1, 0.5),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 4 }),
    ),
  }));
  const choice = fc.record(
    { index: fc.constantFrom(0, null), delta: fc.dictionary(key, value), finish_reason: value },
    { requiredKeys: ["delta"] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.dictionary(key, value), choice)), (choices) => {
      const builder = new ReplyBuilder();
      for (const one of choices) builder.takeChunk({ choices: [one], usage: one });
      builder.end();
      const { message, calls } = builder.build();
      for (const part of message.tool_calls ?? []) JSON.parse(part.function.arguments);
      expect(calls.length).toBe(message.tool_calls?.length ?? 0);
      JSON.stringify(message);
    }),
  );
});
