import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findInvalid, RECOVERED_ANSWER, repairMessages } from "../mirror";

const SYSTEM = { role: "system", content: "be useful" };
const ASK = { role: "user", content: "list the files" };
const callOf = (id: string, text = "{}") => ({
  id,
  type: "function",
  function: { name: "bash", arguments: text },
});
const turn = (...ids: string[]) => ({
  role: "assistant",
  content: null as string | null,
  tool_calls: ids.map((id) => callOf(id)),
});
const say = (content: string) => ({ role: "assistant", content });
const answer = (id: string, content = `of ${id}`) => ({ role: "tool", tool_call_id: id, content });
const recovered = (id: string) => answer(id, RECOVERED_ANSWER);

function repair(messages: unknown[]) {
  return repairMessages(messages, "be useful");
}

describe("what is right stays", () => {
  test("the same objects come back, unknown fields and a trailing answer included", () => {
    const messages = [
      { ...SYSTEM, name: "x" },
      ASK,
      { ...turn("a", "b"), signature: { deep: [1] } },
      answer("a"),
      answer("b"),
      { role: "user", content: "and?" },
      say("two files"),
    ];
    const result = repair(messages);
    expect(result.repairs).toEqual([]);
    expect(result.messages.every((message, at) => (message as unknown) === messages[at])).toBe(
      true,
    );
    expect(result.messages.length).toBe(messages.length);
  });
});

describe("the system prompt", () => {
  test("a missing one is put in front", () => {
    expect(repair([ASK])).toEqual({
      messages: [SYSTEM, ASK],
      repairs: ["the system prompt was missing and was put in front"],
    } as never);
  });

  test("another one is replaced, or kept where the caller says so", () => {
    const own = { role: "system", content: "mine", extra: 1 };
    expect(repair([own, ASK])).toEqual({
      messages: [{ ...own, content: "be useful" }, ASK],
      repairs: ["the system prompt was replaced by the one of this run"],
    } as never);
    const kept = repairMessages([own, ASK], "be useful", { keepSystemPrompt: true });
    expect(kept).toEqual({ messages: [own, ASK], repairs: [] } as never);
  });

  test("a later one becomes a user message", () => {
    const { messages, repairs } = repair([SYSTEM, ASK, { role: "system", content: "be brief" }]);
    expect(messages).toEqual([SYSTEM, ASK, { role: "user", content: "be brief" }] as never);
    expect(repairs).toEqual([
      "message 3 is a system message behind the first: made a user message",
    ]);
  });
});

describe("assistant turns", () => {
  test("neighbours are merged with the text, the thoughts and the calls of both", () => {
    const { messages, repairs } = repair([
      SYSTEM,
      ASK,
      { ...turn("a"), content: "first", reasoning_content: "one", seal: 1 },
      { ...turn("b"), content: "second", reasoning_content: "two", seal: 2, other: 3 },
      answer("b"),
      answer("a"),
    ]);
    expect(messages).toEqual([
      SYSTEM,
      ASK,
      {
        role: "assistant",
        content: "first\n\nsecond",
        reasoning_content: "one\n\ntwo",
        seal: 1,
        other: 3,
        tool_calls: [callOf("a"), callOf("b")],
      },
      answer("a"),
      answer("b"),
    ] as never);
    expect(repairs).toEqual([
      "message 4 was merged into the assistant turn before it",
      'message 6 answers "a" out of place: moved to its turn',
    ]);
  });

  test("empty ones are dropped, and what then stands side by side is merged", () => {
    const { messages, repairs } = repair([
      SYSTEM,
      ASK,
      say("one"),
      { role: "user", content: null },
      say(" \n"),
      { role: "assistant", content: null, tool_calls: [], reasoning_content: "hm" },
      say("two"),
    ]);
    expect(messages).toEqual([SYSTEM, ASK, say("one\n\ntwo")] as never);
    expect(repairs).toEqual([
      "message 4 has no text: dropped",
      "message 5 is an empty assistant turn: dropped",
      "message 6 is an empty assistant turn: dropped",
      "message 7 was merged into the assistant turn before it",
    ]);
  });

  test("a repeated call goes, a different one of that id is renamed with its answer", () => {
    const other = callOf("a", '{"x":1}');
    const { messages } = repair([
      SYSTEM,
      { ...turn("a", "a"), tool_calls: [callOf("a"), callOf("a"), other, callOf("a_2")] },
      answer("a", "one"),
      answer("a", "two"),
      answer("a", "three"),
      answer("a_2"),
      ASK,
      turn("a"),
      answer("a", "later"),
    ]);
    expect(messages).toEqual([
      SYSTEM,
      { ...turn(), tool_calls: [callOf("a"), { ...other, id: "a_3" }, callOf("a_2")] },
      answer("a", "one"),
      answer("a_3", "two"),
      answer("a_2"),
      ASK,
      turn("a_4"),
      answer("a_4", "later"),
    ] as never);
  });
});

describe("calls and answers", () => {
  test("calls without an answer are marked, never run again", () => {
    const { messages, repairs } = repair([SYSTEM, ASK, turn("a", "b", "c"), answer("b")]);
    expect(messages).toEqual([
      SYSTEM,
      ASK,
      turn("a", "b", "c"),
      recovered("a"),
      answer("b"),
      recovered("c"),
    ] as never);
    expect(repairs).toEqual([
      'the call "a" of "bash" had no answer: marked as not re-run',
      'the call "c" of "bash" had no answer: marked as not re-run',
    ]);
    expect(RECOVERED_ANSWER).toStartWith("[SESSION RECOVERED]");
    expect(RECOVERED_ANSWER).toContain("not re-executed; inspect the state before trying again");
  });

  test("answers behind a request move to their turn; orphans and doubles go", () => {
    const { messages, repairs } = repair([
      SYSTEM,
      answer("a"),
      turn("a", "b"),
      answer("a"),
      ASK,
      answer("b"),
      answer("b", "again"),
      answer("zz\u001b[2J"),
    ]);
    expect(messages).toEqual([SYSTEM, turn("a", "b"), answer("a"), answer("b"), ASK] as never);
    expect(repairs).toEqual([
      'message 2 answers no call before it ("a"): dropped',
      'message 6 answers "b" out of place: moved to its turn',
      'message 7 answers "b" a second time: dropped',
      'message 8 answers no call before it ("zz?[2J"): dropped',
    ]);
  });

  test("arguments are a JSON object or {}", () => {
    const calls = ['{"a":1', "[1]", '{"ok":true}'].map((text, at) => callOf(`c${at}`, text));
    const open = { id: "c3", function: { name: "bash", arguments: { command: "ls" } } };
    const { messages, repairs } = repair([SYSTEM, { ...turn(), tool_calls: [...calls, open] }]);
    expect(messages[1]).toEqual({
      ...turn(),
      tool_calls: [
        callOf("c0"),
        callOf("c1"),
        callOf("c2", '{"ok":true}'),
        callOf("c3", '{"command":"ls"}'),
      ],
    } as never);
    expect(repairs.slice(0, 4)).toEqual([
      'message 2, call of "bash": its arguments are no JSON object and were set to {}',
      'message 2, call of "bash": its arguments are no JSON object and were set to {}',
      'message 2, call of "bash": its missing type was added',
      'message 2, call of "bash": its arguments were an object and became text',
    ]);
  });
});

describe("other shapes", () => {
  test("what is no message is dropped, parts are joined", () => {
    const parts = [{ type: "text", text: "one" }, "two", { type: "image_url", image_url: {} }];
    const { messages, repairs } = repair([
      SYSTEM,
      null,
      7,
      [ASK],
      { content: "x" },
      { role: "function", content: "x" },
      { role: "user", content: parts },
    ]);
    expect(messages).toEqual([SYSTEM, { role: "user", content: "one\ntwo" }] as never);
    expect(repairs).toEqual([
      "message 2 is no object: dropped",
      "message 3 is no object: dropped",
      "message 4 is no object: dropped",
      "message 5 has no role: dropped",
      'message 6 has the unknown role "function": dropped',
      "message 7 is in parts: their text was joined, without 1 that hold none",
    ]);
  });

  test("the report has an end", () => {
    const { repairs } = repair([SYSTEM, ...Array.from({ length: 5000 }, () => 1)]);
    expect(repairs.length).toBe(101);
    expect(repairs.at(-1)).toBe("and 4900 more repairs");
  });

  test("a hundred thousand doubled calls, answers and turns take no long time", () => {
    const calls = Array.from({ length: 50_000 }, (_, at) => callOf("a", `{"n":${at}}`));
    const answers = Array.from({ length: 50_000 }, () => answer("a"));
    const started = performance.now();
    const { messages } = repair([SYSTEM, { ...turn(), tool_calls: calls }, ...answers]);
    const texts = Array.from({ length: 100_000 }, () => say("some words"));
    const merged = repair([SYSTEM, ...texts]);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(findInvalid(messages)).toBeUndefined();
    expect(merged.messages.length).toBe(2);
  });
});

// --- Any list at all -----------------------------------------------------------------------------

const ids = fc.constantFrom("a", "b", "c", "a_2", "", "call_recovered_2", "__proto__");
const words = fc.constantFrom("", " ", "text", "more");
const contents = fc.oneof(
  { weight: 5, arbitrary: words },
  fc.constant(null),
  fc.constant(undefined),
  fc.array(fc.oneof(words, fc.record({ type: fc.constant("text"), text: words }), fc.integer())),
  fc.jsonValue(),
);
const calls = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      id: ids,
      type: fc.constant("function"),
      function: fc.record({
        name: fc.constantFrom("bash", "read"),
        arguments: fc.constantFrom("{}", '{"x":1}', "", "{", "[]", "null"),
      }),
    }),
  },
  fc.jsonValue(),
);
const entries = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ role: fc.constant("tool"), tool_call_id: ids, content: contents }),
  },
  {
    weight: 4,
    arbitrary: fc.record(
      {
        role: fc.constant("assistant"),
        content: contents,
        tool_calls: fc.array(calls, { maxLength: 4 }),
      },
      { requiredKeys: ["role"] },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      role: fc.constantFrom("user", "system", "assistant", "tool", "function"),
      content: contents,
    }),
  },
  fc.jsonValue(),
);

test("whatever comes in, a strict provider takes what goes out, and a second repair is idle", () => {
  fc.assert(
    fc.property(fc.array(entries, { maxLength: 14 }), fc.boolean(), (list, keepSystemPrompt) => {
      const before = JSON.stringify(list);
      const once = repairMessages(list, "prompt", { keepSystemPrompt });
      expect(findInvalid(once.messages)).toBeUndefined();
      const twice = repairMessages(once.messages, "prompt", { keepSystemPrompt });
      expect(twice.repairs).toEqual([]);
      expect(twice.messages.every((message, at) => message === once.messages[at])).toBe(true);
      expect(twice.messages.length).toBe(once.messages.length);
      expect(JSON.stringify(list)).toBe(before);
      if (keepSystemPrompt) {
        expect(once.repairs.length === 0).toBe(findInvalid(list) === undefined);
      }
    }),
    { numRuns: 3000 },
  );
});

test("the check names the first fault", () => {
  expect(findInvalid([])).toBe("there is no system prompt");
  expect(findInvalid([ASK])).toBe("message 1: the system prompt is first");
  expect(findInvalid([SYSTEM, turn("a", "b"), answer("b")])).toBe(
    "message 3 is not the answer to a",
  );
  expect(findInvalid([SYSTEM, turn("a", "b"), answer("a"), ASK])).toBe(
    "message 4 stands where the answer to b must",
  );
  expect(findInvalid([SYSTEM, turn("a")])).toBe("the call a has no answer");
  expect(findInvalid([SYSTEM, say("x"), say("y")])).toBe(
    "message 3 is a second assistant turn in a row",
  );
});
