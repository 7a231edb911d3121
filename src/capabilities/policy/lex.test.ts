// The scanner against bash itself: on words that hide nothing, both must see the same.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { lex } from "./lex";
import { cut } from "./script";

const PIECES = [
  "a",
  "b2",
  "-n",
  "--x=y",
  "/usr/l",
  "%s",
  "=",
  ":",
  ",",
  ".",
  "..",
  "@",
  "+",
  "^",
  "!",
  "#",
  "~x",
  "'s q'",
  "''",
  "'$(x)'",
  "'\\'",
  '"d q"',
  '""',
  '"\\$x"',
  '"\\""',
  '"a\\b"',
  '"`"'.replace("`", "\\`"),
  "\\ ",
  "\\;",
  "\\\\",
  "\\'",
  "\\$",
  "\\*",
  "\\{",
  "$'t\\tx'",
  "$'\\''",
  "{",
  "}",
  "{a,b}",
  "{a,b}{1,2}",
  "{x}",
  "{,y}",
  "a{b",
  "é",
  "日",
];

const word = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 })
  .map((all) => all.join(""));
const blank = fc.constantFrom(" ", "  ", "\t", " \\\n", " \\\n ");
const line = fc
  .array(fc.tuple(blank, word), { minLength: 1, maxLength: 5 })
  .map((parts) => parts.map((part) => part.join("")).join(""));

const BASH = Bun.which("bash") ?? "/bin/bash";

function bashWords(text: string): string[] | undefined {
  const run = Bun.spawnSync([BASH, "-c", `printf '%s\\0' x${text}`], {
    cwd: "/",
    env: { PATH: "/nowhere", LC_ALL: "C.UTF-8", HOME: "/nowhere" },
    stderr: "ignore",
  });
  if (run.exitCode !== 0) return undefined;
  return run.stdout.toString().split("\0").slice(0, -1);
}

describe("words", () => {
  test("are the same as bash's, wherever the scanner has no objection", () => {
    let compared = 0;
    fc.assert(
      fc.property(line, (text) => {
        const script = cut(lex(`printf '%s\\0' x${text}`));
        const [command, ...others] = script.pipelines.flat();
        const words = command?.words.slice(2).map((each) => each.literal);
        if (
          script.problem !== undefined ||
          script.needsGrammar ||
          others.length > 0 ||
          !words ||
          words.includes(null)
        )
          return;
        if (words.some((each) => each?.startsWith("~"))) return;
        compared++;
        expect<unknown>(words).toEqual(bashWords(text));
      }),
      { numRuns: 150 },
    );
    expect(compared).toBeGreaterThan(30);
  }, 30_000);

  test("operators are found without blanks around them", () => {
    const texts = lex("a&&b||c|d|&e;f>g 2>&1 3<<<h&>i").tokens.map((token) =>
      token.kind === "word"
        ? token.word.raw
        : token.kind === "operator"
          ? token.text
          : `${token.descriptor}${token.operator}`,
    );
    expect(texts.join(" ")).toBe("a && b || c | d |& e ; f > g 2>& 1 3<<< h &> i");
  });

  test("nothing makes it fail or stand still", () => {
    const soup = fc.string({
      unit: fc.constantFrom(..."ab '\"\\$`(){}[]<>|&;#\n\t*?~!=,.0-"),
      maxLength: 60,
    });
    fc.assert(
      fc.property(soup, (text) => void cut(lex(text))),
      { numRuns: 3000 },
    );
  });
});
