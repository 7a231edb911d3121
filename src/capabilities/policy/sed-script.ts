// sed scripts, parsed as GNU sed 4.9 does (info sed, "Commands"); where BSD's sed would cut the
// script differently it is refused. Only printing, deleting and substituting is read-only: `w`,
// `e` and `r` reach files and programs, as commands and as flags of `s`.

interface Script {
  text: string;
  at: number;
  depth: number;
}

const SIMPLE = /[=dDgGhHnNpPxzF]/;
const WITH_NUMBER = /[qQlL]/;
const REFUSED: Record<string, string> = {
  w: "writes a file",
  W: "writes a file",
  e: "runs a command",
  r: "reads another file",
  R: "reads another file",
};

function skip(script: Script, pattern: RegExp): string {
  pattern.lastIndex = script.at;
  const found = pattern.exec(script.text)?.[0] ?? "";
  script.at += found.length;
  return found;
}

/** `[:alpha:]` and its kin, inside of brackets. */
const CLASS_OPENING = /^\[[:.=]$/;

/** Reads up to the next `delimiter`; a problem when the end is not the same for every sed. */
function skipDelimited(script: Script, delimiter: string): string | null {
  let bracketAt = -1;
  for (; script.at < script.text.length; script.at++) {
    const character = script.text[script.at];
    if (character === "\\") {
      const next = script.text[script.at + 1];
      if (next === "\n") return "a line ends inside a pattern";
      if (bracketAt >= 0 && next === "]") return "a bracket in it can be read in two ways";
      script.at++;
    } else if (character === "\n") return "a line ends inside a pattern";
    else if (character === delimiter) {
      // GNU ends the pattern here even inside brackets, BSD does not.
      if (bracketAt >= 0) return "a bracket in it may hold the end of the pattern";
      script.at++;
      return null;
    } else if (bracketAt >= 0 && CLASS_OPENING.test(script.text.slice(script.at, script.at + 2))) {
      const end = script.text.indexOf(`${script.text[script.at + 1]}]`, script.at + 2);
      if (end < 0) return "a bracket in it is not closed";
      if (script.text.slice(script.at, end).includes(delimiter)) return "a bracket holds its end";
      script.at = end + 1;
    } else if (character === "[" && bracketAt < 0) bracketAt = script.at;
    else if (character === "]" && bracketAt >= 0) {
      const inside = script.text.slice(bracketAt + 1, script.at);
      if (inside !== "" && inside !== "^") bracketAt = -1;
    }
  }
  return "a pattern is not closed";
}

function skipReplacement(script: Script, delimiter: string): string | null {
  for (; script.at < script.text.length; script.at++) {
    const character = script.text[script.at];
    if (character === "\n") return "a line ends inside a replacement";
    if (character === "\\") {
      if (script.text[script.at + 1] === "\n") return "a line ends inside a replacement";
      script.at++;
    } else if (character === delimiter) {
      script.at++;
      return null;
    }
  }
  return "a replacement is not closed";
}

function delimiterAt(script: Script): string | null {
  const delimiter = script.text[script.at] ?? "";
  if (!/[!-~]/.test(delimiter) || /[\\A-Za-z0-9;{}[\]]/.test(delimiter)) return null;
  script.at++;
  return delimiter;
}

function readAddress(script: Script): string | null {
  if (skip(script, /\d+(?:~\d+)?|\$/y)) return null;
  let delimiter: string | null = null;
  if (script.text[script.at] === "/") delimiter = delimiterAt(script);
  else if (script.text[script.at] === "\\") {
    script.at++;
    delimiter = delimiterAt(script);
    if (delimiter === null) return "an address has an unusual delimiter";
  }
  if (delimiter === null) return null;
  const problem = skipDelimited(script, delimiter);
  skip(script, /[IM]*/y);
  return problem;
}

function readAddresses(script: Script): string | null {
  const first = readAddress(script);
  if (first !== null) return first;
  skip(script, /[ \t]*/y);
  if (script.text[script.at] === ",") {
    script.at++;
    skip(script, /[ \t]*/y);
    if (!skip(script, /[+~]\d+/y)) {
      const second = readAddress(script);
      if (second !== null) return second;
    }
  }
  skip(script, /[ \t]*!*[ \t]*/y);
  return null;
}

function readSubstitution(script: Script): string | null {
  const delimiter = delimiterAt(script);
  if (delimiter === null) return "`s` has an unusual delimiter";
  const problem = skipDelimited(script, delimiter) ?? skipReplacement(script, delimiter);
  if (problem !== null) return problem;
  const flags = skip(script, /[A-Za-z0-9]*/y);
  if (flags.includes("w")) return "flag `w` of `s` writes a file";
  if (/e/.test(flags)) return "flag `e` of `s` runs the result as a command";
  return /^[gpiIM0-9]*$/.test(flags) ? null : `flag \`${flags}\` of \`s\` is not known`;
}

function readCommand(script: Script): string | null {
  const command = script.text[script.at++] ?? "";
  if (REFUSED[command]) return `\`${command}\` ${REFUSED[command]}`;
  if (SIMPLE.test(command)) return null;
  if (WITH_NUMBER.test(command)) {
    skip(script, /[ \t]*\d*/y);
    return null;
  }
  if (command === "{") {
    script.depth++;
    return null;
  }
  if (command === "}") {
    return script.depth-- > 0 ? null : "a `}` closes nothing";
  }
  if (command === "s") return readSubstitution(script);
  if (command === "y") {
    const delimiter = delimiterAt(script);
    if (delimiter === null) return "`y` has an unusual delimiter";
    return skipDelimited(script, delimiter) ?? skipReplacement(script, delimiter);
  }
  if (command === "b" || command === "t" || command === "T" || command === ":") {
    skip(script, /[ \t]*[A-Za-z0-9_]*/y);
    return null;
  }
  if (command === "a" || command === "i" || command === "c") {
    const text = skip(script, /[^\n]*/y);
    return text.endsWith("\\") ? `the text of \`${command}\` is hard to read` : null;
  }
  return `\`${command}\` is not known`;
}

/** Why the script may do more than read and print; null when it cannot. */
export function sedProblem(text: string): string | null {
  const script: Script = { text, at: 0, depth: 0 };
  while (script.at < text.length) {
    skip(script, /[ \t\n;]*/y);
    if (script.at >= text.length) break;
    if (text[script.at] === "#") {
      skip(script, /[^\n]*/y);
      continue;
    }
    const problem = readAddresses(script);
    if (problem !== null) return problem;
    if (script.at >= text.length) return "an address has no command";
    const opened = script.depth;
    const refused = readCommand(script);
    if (refused !== null) return refused;
    skip(script, /[ \t]*/y);
    if (script.depth > opened || script.at >= text.length) continue;
    if (!/[;\n}#]/.test(text[script.at] ?? "")) return "it is not clear where a command ends";
  }
  return script.depth === 0 ? null : "a `{` is not closed";
}
