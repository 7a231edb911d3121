// Event streams cut anywhere: what must come out whole, and what is no event.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { EventDecoder, type ServerEvent } from "./sse";

function decode(text: string, pieces = Number.POSITIVE_INFINITY): ServerEvent[] {
  const bytes = new TextEncoder().encode(text);
  const decoder = new EventDecoder();
  const events: ServerEvent[] = [];
  const size = Math.min(pieces, Math.max(1, bytes.length));
  for (let start = 0; start < bytes.length; start += size) {
    events.push(...decoder.feed(bytes.subarray(start, start + size)));
  }
  return [...events, ...decoder.end()];
}

const data = (text: string): ServerEvent[] => decode(text).map((event) => event);

test("line ends, comments, fields, several data lines", () => {
  const expected = [{ name: "", data: "a" }];
  for (const end of ["\n", "\r\n", "\r"]) {
    expect(data(`data: a${end}${end}`)).toEqual(expected);
    expect(data(`: c${end}data:a${end}id: 1${end}retry: 5${end}:${end}${end}`)).toEqual(expected);
    expect(data(`data: a${end}data: b${end}${end}`)).toEqual([{ name: "", data: "a\nb" }]);
    expect(data(`data:a${end}event: error${end}${end}`)).toEqual([{ name: "error", data: "a" }]);
  }
  expect(data("data:  a\n\n")).toEqual([{ name: "", data: " a" }]);
  expect(data("data\n\n")).toEqual([{ name: "", data: "" }]);
  expect(data("\uFEFFdata: a\n\n")).toEqual(expected);
});

test("what is no event gives none", () => {
  for (const text of ["", "\n\n\n", ": only a comment\n\n", "event: ping\n\n", "id: 7\n\n"]) {
    expect(data(text)).toEqual([]);
  }
  expect(data("event: error\n\ndata: a\n\n")).toEqual([{ name: "", data: "a" }]);
});

test("an event without its empty line counts at the end", () => {
  expect(data("data: a\n\ndata: b")).toEqual([
    { name: "", data: "a" },
    { name: "", data: "b" },
  ]);
});

test("any text, with any line ends, cut into any pieces, gives the same events", () => {
  const line = fc.oneof(
    fc.string({ unit: "grapheme" }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
    fc.constantFrom("data:🙂漢é", ": ping", "event: error", "", "data", "id: 3"),
  );
  const end = fc.constantFrom("\n", "\r\n", "\r");
  fc.assert(
    fc.property(fc.array(fc.tuple(line, end)), fc.integer({ min: 1, max: 9 }), (lines, pieces) => {
      const text = lines.map((pair) => pair.join("")).join("");
      expect(decode(text, pieces)).toEqual(decode(text));
    }),
  );
});
