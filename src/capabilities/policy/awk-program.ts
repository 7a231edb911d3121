// awk programs, cut into tokens as POSIX awk and gawk do (gawk manual, "Language"), to find what
// reaches out: pipes, redirections, system(), getline and anything that is not a known function.

const KEYWORDS = new Set(
  "BEGIN END BEGINFILE ENDFILE if else while for do in break continue next nextfile exit return delete print printf function func switch case default".split(
    " ",
  ),
);
const FUNCTIONS = new Set(
  "length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper strftime systime mktime patsplit asort asorti and or xor compl lshift rshift strtonum isarray typeof".split(
    " ",
  ),
);
const REFUSED: Record<string, string> = {
  system: "system() runs a command",
  getline: "getline may read from a command or another file",
  ENVIRON: "ENVIRON shows the environment",
  ARGV: "ARGV names the files that are read",
  ARGC: "ARGV names the files that are read",
  PROCINFO: "PROCINFO can start programs",
  close: "close() belongs to a pipe or a file",
  include: "include loads another program",
};

type Kind = "name" | "number" | "string" | "regex" | "operator" | "newline";

interface Token {
  kind: Kind;
  text: string;
}

const NUMBER = /(?:0[xX][0-9A-Fa-f]+|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)/y;
const NAME = /[A-Za-z_]\w*/y;
const STRING = /"(?:[^"\\\n]|\\[^\n])*"/y;
const REGEX = /\/(?:[^/\\\n[]|\\[^\n]|\[\^?\]?(?:[^\]/\\\n]|\\[A-Za-z.])*\])+\//y;
const OPERATOR = /\|&|\|\||&&|>>|[<>=!]=|\+\+|--|\*\*=?|[-+*/%^]=|!~|[-{}()[\];,+*/%^!<>|?:~$=]/y;

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** What a `/` means after `previous`; undefined when awks may differ. */
function meaningOfSlash(previous: Token | undefined): "regex" | "division" | undefined {
  if (!previous || previous.kind === "newline") return "regex";
  if (previous.kind === "regex" || previous.text === "++" || previous.text === "--")
    return undefined;
  if (previous.kind === "number" || previous.kind === "string") return "division";
  if (previous.kind === "name") {
    if (FUNCTIONS.has(previous.text)) return undefined;
    return KEYWORDS.has(previous.text) ? "regex" : "division";
  }
  return previous.text === ")" || previous.text === "]" || previous.text === "$"
    ? "division"
    : "regex";
}

function tokenize(text: string): Token[] | string {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at] ?? "";
    if (character === " " || character === "\t") {
      at++;
      continue;
    }
    if (character === "#") {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
      continue;
    }
    let kind: Kind = "operator";
    let found: string | undefined;
    if (character === "\n") [kind, found] = ["newline", "\n"];
    else if (character === '"') [kind, found] = ["string", matchAt(STRING, text, at)];
    else if (/[A-Za-z_]/.test(character)) [kind, found] = ["name", matchAt(NAME, text, at)];
    else if (/[0-9.]/.test(character)) [kind, found] = ["number", matchAt(NUMBER, text, at)];
    else if (character === "/") {
      const meaning = meaningOfSlash(tokens.at(-1));
      if (!meaning) return "a `/` in it can be read in two ways";
      if (meaning === "regex") [kind, found] = ["regex", matchAt(REGEX, text, at)];
      else found = matchAt(OPERATOR, text, at);
    } else found = matchAt(OPERATOR, text, at);
    if (found === undefined) return `\`${text.slice(at, at + 12)}\` is not understood`;
    tokens.push({ kind, text: found });
    at += found.length;
  }
  return tokens;
}

function ownFunctions(tokens: readonly Token[]): Set<string> {
  const names = new Set<string>();
  tokens.forEach((token, index) => {
    const before = tokens[index - 1]?.text;
    if (token.kind === "name" && (before === "function" || before === "func"))
      names.add(token.text);
  });
  return names;
}

/** Why the program may do more than read and print; null when it cannot. */
export function awkProblem(text: string): string | null {
  const tokens = tokenize(text);
  if (typeof tokens === "string") return tokens;
  const own = ownFunctions(tokens);
  // The depth of brackets at which the current print statement stands; below it `>` compares.
  let printDepth: number | undefined;
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1]?.text;
    if (token.kind === "name") {
      if (REFUSED[token.text]) return REFUSED[token.text] ?? null;
      if (token.text === "print" || token.text === "printf") printDepth = depth;
      const isCall = next === "(" && !KEYWORDS.has(token.text);
      // A variable in front of a bracket is concatenated, but only where a blank stands between.
      if (isCall && !FUNCTIONS.has(token.text) && !own.has(token.text)) {
        return `${token.text}() is not known`;
      }
    } else if (token.kind === "newline") {
      // Behind such an operator the statement goes on in the next line.
      const before = tokens[index - 1];
      if (before?.kind !== "operator" || /^[)\]};{]$/.test(before.text)) printDepth = undefined;
    } else if (token.text === ";" || token.text === "}") {
      printDepth = undefined;
    } else if (token.kind === "operator") {
      if (token.text === "(" || token.text === "[") depth++;
      if (token.text === ")" || token.text === "]") depth--;
      if (token.text === "|" || token.text === "|&") return "`|` runs a command";
      if (token.text === ">>") return "`>>` writes a file";
      if (token.text === ">" && printDepth !== undefined && depth <= printDepth) {
        return "`>` behind print writes a file";
      }
    }
  }
  return depth === 0 ? null : "its brackets do not match";
}
