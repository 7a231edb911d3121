// Arguments: what is read, what is mended, and above all what is never guessed.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { joinPieces, readArguments } from "./arguments";

const read = (raw: string, cutByLength = false) => readArguments(raw, { cutByLength }).arguments;
const problemOf = (raw: string, cutByLength = false): string => {
  const found = read(raw, cutByLength);
  return found.kind === "broken" ? found.problem : `not broken: ${JSON.stringify(found)}`;
};

test("an object is taken as it is, and goes into the history byte by byte", () => {
  const raw = '{"a": 1, "b":{"c":[null]} } ';
  expect(readArguments(raw, { cutByLength: false })).toEqual({
    arguments: { kind: "valid", value: { a: 1, b: { c: [null] } } },
    json: raw,
  });
});

test("nothing means no arguments", () => {
  for (const raw of ["", "  \n", "null", '""']) {
    expect(readArguments(raw, { cutByLength: false })).toEqual({
      arguments: { kind: "valid", value: {} },
      json: "{}",
    });
  }
});

describe("mended", () => {
  const cases: [raw: string, value: object][] = [
    ['{"a": 1,}', { a: 1 }],
    ['{"a": [1, 2,],}', { a: [1, 2] }],
    ["{'a': 'b \"c\" \\'d\\''}", { a: "b \"c\" 'd'" }],
    ['{a: 1, $b_2: "x"}', { a: 1, $b_2: "x" }],
    ['{"a": "line\nnext\tend\r\n"}', { a: "line\nnext\tend\r\n" }],
    ['```json\n{"a": 1}\n```', { a: 1 }],
    ['```\n{"a": 1,}```', { a: 1 }],
    ['{"a": True, "b": False, "c": None}', { a: true, b: false, c: null }],
    ['"{\\"a\\":1}"', { a: 1 }],
    ['\uFEFF{"a": 1}', { a: 1 }],
    ['{"a": "it\\\'s"}', { a: "it's" }],
  ];
  for (const [raw, value] of cases) {
    test(JSON.stringify(raw), () => {
      const result = readArguments(raw, { cutByLength: false });
      expect(result.arguments).toMatchObject({ kind: "repaired", value });
      expect(JSON.parse(result.json)).toEqual(value);
      // Nothing that was mended runs when the reply was cut off.
      expect(read(raw, true).kind).toBe("broken");
    });
  }
});

describe("broken, with the place", () => {
  const cases: [raw: string, problem: RegExp][] = [
    ['{"command": ls}', /at character 13: \{"command": >>>ls\}/],
    ['{"query": "test"}, "limit": 10}', /more text behind.* at character 18/s],
    ['{"a":1}{"b":2}', /more text behind.* at character 8/s],
    ['{"a":1}}', /at character 8/],
    ['{"path":"a","content":"abc', /cut off.* at character 23: .*>>>"abc\n.* after 26 char/s],
    ['{"a": {"b": 1}', /cut off: the object .* at character 1:/],
    ['{"a": [1, 2', /cut off: the array .* at character 7:/],
    ['{"a":', /cut off/],
    ['{"a"', /cut off/],
    ["{", /cut off/],
    ['{"a": tru', /at character 7/],
    ['{"a": "x\\', /cut off/],
    ['{"a": "echo "hi""}', /comma or } was expected here, at character 14/],
    ["{'a': 'echo 'hi''}", /at character 14/],
    ['{"a": 1 "b": 2}', /comma or } was expected here, at character 9/],
    ['{"a" 1}', /colon was expected.* at character 6/],
    ['{"a": .5}', /at character 7/],
    ['{"a": 01}', /at character 7/],
    ['{"a": 1.2.3}', /at character 7/],
    ['{"a": "\\d+"}', /escape does not exist.* at character 8/],
    ['{"a": "\\u12"}', /four hexadecimal/],
    ['{"a": undefined}', /at character 7/],
    ['{"a": NaN}', /at character 7/],
    ['{"a": 1,, "b": 2}', /key .* expected.* at character 9/],
    ["ls -la", /at character 1/],
    ['Here you are: {"a": 1}', /at character 1/],
    ["[1]", /must be one JSON object, but they are an array/],
    ['"text"', /must be one JSON object, but they are a string/],
    ["42", /the number 42/],
    ["true", /the boolean true/],
    ["['a']", /an array/],
    ['```json\n{"a": 1', /at character/],
    [`${"[".repeat(5000)}`, /nested|cut off/],
    [`{"a":${"[".repeat(5000)}${"]".repeat(5000)},}`, /nested more than/],
  ];
  for (const [raw, problem] of cases) {
    test(JSON.stringify(raw.slice(0, 60)), () => {
      expect(problemOf(raw)).toMatch(problem);
      expect(problemOf(raw).split("\n").length).toBeLessThanOrEqual(2);
      expect(readArguments(raw, { cutByLength: false }).json).toBe("{}");
    });
  }
});

test("a reply that was cut off: missing arguments are not none", () => {
  expect(problemOf("", true)).toMatch(/cut off before the arguments began/);
  expect(read('{"a":1}', true)).toEqual({ kind: "valid", value: { a: 1 } });
});

test("no beginning of an object is ever taken for a whole one", () => {
  const value = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { minKeys: 1 });
  fc.assert(
    fc.property(value, fc.nat(), (object, cut) => {
      const text = JSON.stringify(object);
      const part = text.slice(0, 1 + (cut % (text.length - 1)));
      expect(read(part).kind).toBe("broken");
    }),
  );
});

test("a key named __proto__ is a key", () => {
  const found = read('{"__proto__": {"x": 1},}');
  expect(found.kind === "repaired" && Object.keys(found.value)).toEqual(["__proto__"]);
});

describe("pieces", () => {
  const cases: [pieces: string[], joined: string][] = [
    [['{"a"', ":1}"], '{"a":1}'],
    [['{"a"', '{"a":1}'], '{"a":1}'],
    [["{", '{"a"', '{"a":', '{"a":1', '{"a":1}'], '{"a":1}'],
    [['{"a":1}', '{"a":1}'], '{"a":1}'],
    [['{"a":1}', '{"a"', ":1}"], '{"a":1}'],
    [['{"a"', ":1}", '{"a":1}'], '{"a":1}'],
    [['{"a"', ":1}", '{"a"', ":1}"], '{"a":1}'],
    [["{}", '{"a":1}'], '{"a":1}'],
    [["{}", '{"a"', ":1}"], '{"a":1}'],
    [["{}", '{"a"', '{"a":1}'], '{"a":1}'],
    [['{"a":"x"}', '{"a":"xy"}', '{"a":"xy","b":1}'], '{"a":"xy","b":1}'],
    [['{"hello":"world"}', " "], '{"hello":"world"} '],
    // Repetition inside an object is no repetition of it.
    [['{"a":', '{"a":1}}'], '{"a":{"a":1}}'],
    [['{"a":"', "x", "x", '"}'], '{"a":"xx"}'],
    // Left as they are, and broken.
    [['{"query": "test"}', ', "limit": 10}'], '{"query": "test"}, "limit": 10}'],
    [['{"a":1}', '{"b":2}'], '{"a":1}{"b":2}'],
    [['{"a":1}', '{"a":2}'], '{"a":1}{"a":2}'],
    [["{}", '{"a"'], '{}{"a"'],
  ];
  for (const [pieces, joined] of cases) {
    test(JSON.stringify(pieces), () => expect(joinPieces(pieces)).toBe(joined));
  }
});
