// `test`, `[` and `[[`: only operators that compare or look at a file. `-v` and, inside `[[`, the
// arithmetic comparisons evaluate subscripts, and a subscript can run a command.

import type { Call } from "./entry";
import type { Word } from "./word";

const UNARY = new Set("efdrwxsLhbcpStugkOGNzn".split("").map((letter) => `-${letter}`));
const BINARY = new Set(["=", "==", "!=", "<", ">", "-nt", "-ot", "-ef"]);
const NUMERIC = new Set(["-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);

/** Reads one comparison at `at`; gives the number of words that it takes, or a problem. */
function takePrimary(words: readonly Word[], isNew: boolean): number | string {
  const [first, second, third] = words;
  if (!first) return "an expression is missing";
  const operator = second?.literal ?? "";
  if (third && (BINARY.has(operator) || NUMERIC.has(operator))) {
    const isNumber = (word: Word): boolean => /^-?\d+$/.test(word.literal ?? "");
    if (isNew && NUMERIC.has(operator) && !(isNumber(first) && isNumber(third))) {
      return `\`${operator}\` inside [[ ]] calculates, which can run a command`;
    }
    return 3;
  }
  if (second && UNARY.has(first.literal ?? "")) return 2;
  if (first.literal === null && second) return `\`${first.raw}\` may become an operator`;
  if (first.literal?.startsWith("-") && second)
    return `\`${first.literal}\` is not known to only look`;
  return 1;
}

export function expressionProblem(words: readonly Word[], isNew: boolean): string | null {
  let at = 0;
  while (at < words.length) {
    while (words[at]?.literal === "!" || words[at]?.literal === "(") at++;
    const end = words.findIndex(
      (word, index) =>
        index > at && (word.literal === "-a" || word.literal === "-o" || word.literal === ")"),
    );
    const primary = words.slice(at, end < 0 ? undefined : end);
    const taken = takePrimary(primary, isNew);
    if (typeof taken === "string") return taken;
    if (taken < primary.length) return "its expression is not understood";
    at += taken;
    while (words[at]?.literal === ")") at++;
    if (at >= words.length) return null;
    if (words[at]?.literal !== "-a" && words[at]?.literal !== "-o") {
      return "its expression is not understood";
    }
    at++;
  }
  return null;
}

export function judgeTest(call: Call): string | null {
  const words = [...call.words];
  if (call.program === "[" && words.pop()?.literal !== "]") return "`[` lacks its `]`";
  const several = words.find((word) => word.splits || word.multiplies);
  if (several) return `\`${several.raw}\` may become several words, and an operator`;
  return words.length === 0 ? null : expressionProblem(words, false);
}
