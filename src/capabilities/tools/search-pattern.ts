// Regular expressions that models write: translated to the JavaScript engine, and their mistakes
// told by position, the same way whichever engine does the search.

/** Classes of POSIX, inside of brackets. */
const POSIX_CLASSES = new Map(
  Object.entries({
    alpha: "a-zA-Z",
    digit: "0-9",
    alnum: "a-zA-Z0-9",
    upper: "A-Z",
    lower: "a-z",
    space: "\\s",
    blank: " \\t",
    punct: "!-\\/:-@\\[-`{-~",
    xdigit: "0-9A-Fa-f",
    word: "\\w",
  }),
);

/** The pattern for our own walk, or undefined when JavaScript does not accept it. */
export function compilePattern(pattern: string): RegExp | undefined {
  let source = pattern;
  let flags = "";
  // Flags for the whole pattern, as other engines write them. Lines are searched one by one, so
  // that m and s change nothing.
  const head = /^\(\?([imsu]+)\)/.exec(source);
  if (head) {
    source = source.slice(head[0].length);
    if (head[1]?.includes("i")) flags = "i";
  }
  source = source
    .replace(/\[:(\w+):\]/g, (whole, name: string) => POSIX_CLASSES.get(name) ?? whole)
    .replace(/(?<!\\)\(\?P</g, "(?<");
  for (const mode of ["u", ""]) {
    try {
      return new RegExp(source, flags + mode);
    } catch {
      // Not with these rules: without "u" more is accepted, such as a brace that counts nothing.
    }
  }
  return undefined;
}

/** True when the pattern can only match across lines, which no search by lines can do. */
export function wantsLineBreak(pattern: string): boolean {
  const outside = pattern.replace(/\\\\/g, "").replace(/\[[^\]]*\]/g, "");
  return outside.includes("\n") || outside.includes("\\n");
}

/** Where a pattern goes wrong, in words; undefined when nothing plain is wrong with it. */
export function findProblem(pattern: string): string | undefined {
  const problem = locateProblem(pattern);
  if (!problem) return undefined;
  const { at, what } = problem;
  const character = pattern[at] ?? "";
  const hint =
    character === "\\" ? "" : ` To search for the character itself write \\${character}.`;
  return `${what} at character ${at + 1}.${hint}`;
}

function locateProblem(pattern: string): { at: number; what: string } | undefined {
  const open: number[] = [];
  let hasAtom = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? "";
    if (character === "\\") {
      if (at === pattern.length - 1) return { at, what: "a lone \\" };
      at++;
      hasAtom = true;
    } else if (character === "[") {
      const end = endOfClass(pattern, at);
      if (end < 0) return { at, what: "unclosed [" };
      at = end;
      hasAtom = true;
    } else if (character === "(") {
      open.push(at);
      hasAtom = false;
      const head = /^\(\?(?:<?[=!]|:|P?<\w+>|[a-z-]+:?)/.exec(pattern.slice(at));
      at += (head?.[0].length ?? 1) - 1;
    } else if (character === ")") {
      if (open.pop() === undefined) return { at, what: "unopened )" };
      hasAtom = true;
    } else if (/[*+?]/.test(character)) {
      if (!hasAtom) return { at, what: `nothing to repeat before ${character}` };
    } else {
      hasAtom = character !== "|";
    }
  }
  const unclosed = open.pop();
  return unclosed === undefined ? undefined : { at: unclosed, what: "unclosed (" };
}

function endOfClass(pattern: string, start: number): number {
  let at = start + 1;
  if (pattern[at] === "^") at++;
  // A bracket in the first place is a member.
  if (pattern[at] === "]") at++;
  for (; at < pattern.length; at++) {
    if (pattern[at] === "\\") at++;
    else if (pattern[at] === "]") return at;
  }
  return -1;
}
