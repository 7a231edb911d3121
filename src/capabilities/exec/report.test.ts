import { expect, test } from "bun:test";
import fc from "fast-check";
import { createReportScanner } from "./report";

const NONCE = "0123456789abcdef";
const REPORT = `\x1b]${NONCE};7;/some/where\x07`;

function scan(text: string, sizes: readonly number[]) {
  const scanner = createReportScanner(NONCE);
  const bytes = Buffer.from(text);
  let output = Buffer.alloc(0);
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    const chunk = bytes.subarray(at, at + size);
    at += size;
    const report = scanner.write(chunk, (piece) => {
      output = Buffer.concat([output, piece]);
    });
    if (report) return { output: output.toString(), report };
  }
  return { output: Buffer.concat([output, scanner.rest()]).toString(), report: undefined };
}

const noise = fc
  .array(fc.constantFrom("a", "\x1b", "]", "\x1b]", NONCE, NONCE.slice(0, 5), ";", "\x07", "漢"))
  .map((parts) => parts.join(""))
  .filter((text) => !text.includes(`\x1b]${NONCE};`));
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 });

test("a report is found behind any output, in any pieces", () => {
  fc.assert(
    fc.property(noise, sizes, (before, pieces) => {
      expect(scan(`${before}${REPORT}after`, pieces)).toEqual({
        output: before,
        report: { exitCode: 7, directory: "/some/where" },
      });
    }),
    { numRuns: 500 },
  );
});

test("what only looks like a report is output", () => {
  fc.assert(
    fc.property(noise, sizes, (text, pieces) => {
      expect(scan(text, pieces)).toEqual({ output: text, report: undefined });
    }),
    { numRuns: 500 },
  );
  for (const text of [
    `\x1b]${NONCE};x;/\x07`,
    `\x1b]${NONCE};7`,
    `\x1b]${NONCE};7;${"x".repeat(9000)}`,
  ]) {
    expect(scan(text, [])).toEqual({ output: text, report: undefined });
  }
});

test("a line feed in a name comes back", () => {
  const { report } = scan(`\x1b]${NONCE};0;/a\r\nb\x07`, []);
  expect(report).toEqual({ exitCode: 0, directory: "/a\nb" });
});
