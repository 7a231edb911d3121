import { expect, test } from "bun:test";
import fc from "fast-check";
import { CUT_OVERHEAD_BYTES, cutOutput, TRUNCATION_SENTINEL } from "./cut";

const bytesOf = (text: string) => new TextEncoder().encode(text);

function cut(text: string, bytesMax: number): string {
  const bytes = bytesOf(text);
  return cutOutput(bytes, bytes, { bytesMax, artifactId: "0123456789ab" });
}

test("lines are kept whole on both sides", () => {
  const text = Array.from({ length: 100 }, (_, at) => `line ${at}\n`).join("");
  expect(cut(text, 100)).toBe(
    "line 0\nline 1\nline 2\nline 3\n" +
      '[... 698 bytes, 88 lines left out; the whole output: read_artifact {"id": "0123456789ab", "offset": 28} ...]\n' +
      "line 92\nline 93\nline 94\nline 95\nline 96\nline 97\nline 98\nline 99\n" +
      TRUNCATION_SENTINEL,
  );
});

test("without an artifact the marker says only what is missing", () => {
  const bytes = bytesOf("a\n".repeat(100));
  expect(cutOutput(bytes, bytes, { bytesMax: 10, artifactId: undefined })).toBe(
    `a\n[... 192 bytes, 96 lines left out ...]\na\na\na\n${TRUNCATION_SENTINEL}`,
  );
});

test("what was dropped before counts as left out", () => {
  const options = { bytesMax: 10, artifactId: undefined, dropped: { bytes: 1000, lines: 7 } };
  expect(cutOutput(bytesOf("abc\ndef\n"), bytesOf("x\nlast\n"), options)).toBe(
    `abc\n[... 1005 bytes, 9 lines left out ...]\nx\nlast\n${TRUNCATION_SENTINEL}`,
  );
});

test("whatever the text, the result fits, holds whole characters and both ends", () => {
  const part = fc.constantFrom("a", "é", "漢", "🙂", "\n", "a line\n", "x".repeat(50));
  const texts = fc.array(part, { minLength: 20, maxLength: 200 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 200 }), (text, bytesMax) => {
      fc.pre(Buffer.byteLength(text) > bytesMax);
      const result = cut(text, bytesMax);
      expect(Buffer.byteLength(result)).toBeLessThanOrEqual(bytesMax + CUT_OVERHEAD_BYTES);
      expect(result).not.toContain("\ufffd");
      expect(result).toEndWith(`\n${TRUNCATION_SENTINEL}`);
      const marker = /\[\.\.\. (\d+) bytes, (\d+) lines left out.*?\.\.\.\]\n/.exec(result);
      const head = result.slice(0, marker?.index);
      const tail = result.slice(
        (marker?.index ?? 0) + (marker?.[0].length ?? 0),
        -TRUNCATION_SENTINEL.length,
      );
      expect(text).toStartWith(head.replace(/\n$/, ""));
      expect(text).toContain(tail.replace(/\n$/, ""));
      const kept = Buffer.byteLength(text) - Number(marker?.[1]);
      expect(kept).toBeLessThanOrEqual(bytesMax);
      expect([0, 1, 2]).toContain(Buffer.byteLength(head + tail) - kept);
    }),
    { numRuns: 500 },
  );
});
