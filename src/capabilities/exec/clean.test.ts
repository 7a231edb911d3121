import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cleanTerminalText, createTerminalCleaner, ROWS } from "./clean";

const CASES: Record<string, [written: string, left: string]> = {
  "plain text, whatever its script": ["a é 漢 🙂 ‏\tb\n", "a é 漢 🙂 ‏\tb\n"],
  "the line ends of a terminal": ["one\r\ntwo\r\n", "one\ntwo\n"],
  "no line end at the end": ["one\r\ntwo", "one\ntwo"],
  "blank lines": ["\r\n\r\na\r\n\r\n", "\n\na\n\n"],
  colours: ["\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mrgb\x1b[m", "red rgb"],
  "CSI with intermediate and private parameters": ["\x1b[?25l\x1b[>4;2m\x1b[2 qx", "x"],
  "an OSC title, ended either way": ["\x1b]0;title\x07a\x1b]2;t\x1b\\b", "ab"],
  "a hyperlink keeps its text": ["\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\!", "link!"],
  "DCS, SOS, PM and APC strings": [
    "\x1bPq#0~\x1b\\a\x1bXs\x1b\\b\x1b^p\x1b\\c\x1b_a\x1b\\d",
    "abcd",
  ],
  "charsets and two-byte escapes": ["\x1b(B\x1b)0a\x1b=\x1b>\x1b7b\x1b8\x1bcc\x1b#8d", "abcd"],
  "C1 controls": ["\u009b31mred\u009b0m \u009d0;t\u009cx\u0090q\u009cy\u0085z", "red xy\nz"],
  "a string cut by another escape": ["\x1b]0;title\x1b[31mred", "red"],
  "a sequence cut by CAN": ["\x1b[31\x18m", "m"],
  "an unfinished sequence at the end": ["text\x1b[3", "text"],
  "an unfinished string at the end": ["text\x1b]0;title", "text"],
  "a carriage return redraws": ["10%\r20%\r100%\r\n", "100%\n"],
  "a shorter redraw leaves the rest": ["abcdef\rxy\r\n", "xycdef\n"],
  "and erasing takes it": ["abcdef\rxy\x1b[K\r\nabcdef\r\x1b[2Kxy\n", "xy\nxy\n"],
  "erasing to the left": ["abcdef\r\x1b[2C\x1b[1K\n", "   def\n"],
  backspaces: ["abc\b\bX\r\n12\b\b\b\b3\n", "aXc\n32\n"],
  "a man page's bold and underline": ["b\bbo\bol\bld\bd _\bu_\bn", "bold un"],
  "the column in characters, not code units": ["🙂🙂\bx\r\n🙂b\rcd\n", "🙂x\ncd\n"],
  "movement in a line": ["abc\x1b[2Dx\x1b[5Gy\x1b[3Cz", "axc y   z"],
  "movement stays within the terminal": ["\x1b[999Cx", `${" ".repeat(120)}x`],
  "lines redrawn above": [
    "one\r\ntwo\r\nthree\r\n\x1b[3A\x1b[2KONE\r\n\x1b[2KTWO\r\n\x1b[2KTHREE\r\n",
    "ONE\nTWO\nTHREE\n",
  ],
  "lines erased below": ["one\r\ntwo\r\nthree\x1b[2A\r\x1b[JDone\r\n", "Done\n"],
  "no further up than there are lines": ["one\r\n\x1b[99Atop\r\n", "top\n"],
  "a jump begins a new picture": ["one\x1b[Htwo\x1b[1;1Hthree", "one\ntwo\nthree"],
  "clearing keeps what was there": ["one\r\n\x1b[H\x1b[2J\x1b[3Jtwo\r\n", "one\ntwo\n"],
  "bells and NULs are nothing": ["a\x07b\0c\x0e\x0fd", "abcd"],
  "other controls are pictures": ["a\x01b\x1fc\x7fd", "a␁b␟cd"],
  "vertical tab and form feed are line feeds": ["a\x0bb\x0cc", "a\nb\nc"],
};

describe("what is left on the screen", () => {
  for (const [name, [written, left]] of Object.entries(CASES)) {
    test(name, () => {
      expect(cleanTerminalText(written)).toBe(left);
      const cleaner = createTerminalCleaner();
      let inPieces = "";
      for (const unit of written) inPieces += cleaner.write(unit);
      expect(inPieces + cleaner.end()).toBe(left);
    });
  }
});

test("lines are given out when nothing can change them any more", () => {
  const cleaner = createTerminalCleaner();
  const lines = Array.from({ length: ROWS + 10 }, (_, at) => `line ${at}\n`).join("");
  const out = cleaner.write(lines);
  expect(out).toBe(lines.slice(0, out.length));
  expect(cleaner.pendingLength()).toBeLessThan(ROWS * 10);
  expect(out + cleaner.pending()).toBe(lines);
  expect(out + cleaner.end()).toBe(lines);
});

test("a line without an end does not stay in memory", () => {
  const cleaner = createTerminalCleaner();
  const piece = "x".repeat(65_536);
  let length = 0;
  for (let count = 0; count < 64; count += 1) {
    length += cleaner.write(piece).length;
    expect(cleaner.pendingLength()).toBeLessThan(400_000);
  }
  expect(length + cleaner.end().length).toBe(64 * 65_536);
});

test("each line is reported once, and again when it changed", () => {
  const lines: string[] = [];
  const cleaner = createTerminalCleaner((line) => lines.push(line));
  cleaner.write("one\r\ntwo\r\n\x1b[2A\r\none\x1b[B\r\x1b[ATWO\r\nthree");
  expect(lines).toEqual(["one", "two", "TWO"]);
  expect(cleaner.currentLine()).toBe("three");
});

const terminalText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\r",
        "\n",
        "\r\n",
        "\b",
        "\t",
        "\x07",
        "\0",
        "\x01",
        "\x1b",
        "\x1b[",
        "[",
        "]",
      ),
      fc.constantFrom(
        "\x1b[K",
        "\x1b[2K",
        "\x1b[1K",
        "\x1b[A",
        "\x1b[3A",
        "\x1b[B",
        "\x1b[J",
        "\x1b[H",
      ),
      fc.constantFrom(
        "\x1b[5C",
        "\x1b[2D",
        "\x1b[4G",
        "\x1b]0;t\x07",
        "\x1bP",
        "\x1b\\",
        "\x9b",
        "\x9c",
      ),
      fc.string({ unit: "binary", maxLength: 5 }),
    ),
    { maxLength: 80 },
  )
  .map((parts) => parts.join(""));

describe("whatever is written", () => {
  test("the pieces it comes in make no difference", () => {
    fc.assert(
      fc.property(terminalText, fc.array(fc.nat(6), { maxLength: 30 }), (text, sizes) => {
        const points = Array.from(text);
        const cleaner = createTerminalCleaner();
        let out = "";
        for (const size of sizes) out += cleaner.write(points.splice(0, size).join(""));
        out += cleaner.write(points.join(""));
        expect(out + cleaner.end()).toBe(cleanTerminalText(text));
      }),
      { numRuns: 500 },
    );
  });

  test("many lines at once are the same as one character at a time", () => {
    const block = fc
      .tuple(fc.constantFrom("\r\n", "\n"), fc.constantFrom("x", "🙂é\t", ""), fc.nat(90))
      .map(([end, word, count]) => `${word.repeat(count % 30)}${end}`.repeat(count));
    const other = fc.constantFrom("\r", "\b", "\x1b[A", "\x1b[3A", "\x1b[K", "abc", "\x1b[31m");
    fc.assert(
      fc.property(fc.array(fc.oneof(block, other), { maxLength: 12 }), (parts) => {
        const text = parts.join("");
        const cleaner = createTerminalCleaner();
        let out = "";
        for (const character of text) out += cleaner.write(character);
        expect(cleanTerminalText(text)).toBe(out + cleaner.end());
      }),
    );
  });

  test("no control character but tab and line feed comes out", () => {
    fc.assert(
      fc.property(terminalText, (text) => {
        expect(cleanTerminalText(text)).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
      }),
      { numRuns: 500 },
    );
  });

  test("text without control characters stays as it is", () => {
    const plain = fc
      .string({ unit: "grapheme" })
      .map((text) => text.replace(/[\x00-\x1f\x7f-\x9f]/g, ""));
    fc.assert(
      fc.property(fc.array(plain), (lines) => {
        expect(cleanTerminalText(lines.join("\r\n"))).toBe(lines.join("\n"));
      }),
    );
  });
});

describe("time grows with the input, not faster", () => {
  const floods: Record<string, string> = {
    "redraws of a long line": `${"x".repeat(100_000)}${"\rab".repeat(300_000)}`,
    backspaces: `${"x".repeat(100_000)}${"\b\by".repeat(300_000)}`,
    "movement up and down": `${"y".repeat(100_000)}\n${"\x1b[A\x1b[Bz".repeat(150_000)}`,
    "lines left again and again": `${"y".repeat(100_000)}\rq\n${"\x1b[A \n".repeat(150_000)}`,
    "unfinished sequences": "\x1b[".repeat(500_000),
    "unfinished strings": "\x1b]x".repeat(300_000),
    "erased lines": "\x1b[2Kxxxx\r".repeat(150_000),
  };
  for (const [name, flood] of Object.entries(floods)) {
    test(name, () => {
      const cleaner = createTerminalCleaner(() => undefined);
      const startedAt = performance.now();
      cleaner.write(flood);
      cleaner.end();
      expect(performance.now() - startedAt).toBeLessThan(2000);
    });
  }
});
