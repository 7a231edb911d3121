// Reads one word of bash: quotes, escapes, expansions, globs and braces, by the rules of the bash
// manual, "Quoting" and "Shell Expansions". What could run a command or change the shell is a
// problem; reading goes on behind it, so that the rest of the command can still be looked at.

import { makeWord, type Piece, type Word } from "./word";

export interface LexState {
  readonly text: string;
  at: number;
  /** The first thing that is not understood, or is known not to be read-only. */
  problem: string | undefined;
  /** Commands inside substitutions, as text: looked at for what must be denied. */
  readonly inner: string[];
}

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const SPECIAL = /[@*#?$!_0-9-]/;
/** Length, and cutting or defaulting with plain text: nothing in it is expanded again. */
const HARMLESS_EXPANSION =
  /\$\{(?:#([A-Za-z_]\w*)|([A-Za-z_]\w*|[@*#?0-9])(?:(?:##?|%%?|:-)[A-Za-z0-9_./*-]*)?)\}/y;
/** Arithmetic on plain numbers; a name in it could be a subscript that runs a command. */
const NUMBERS_ONLY = /\$\(\([0-9 +*/%-]+\)\)/y;
const METACHARACTER = /[ \t\n;&|()<>]/;

export function complain(state: LexState, problem: string): void {
  state.problem ??= problem;
}

function matchAt(pattern: RegExp, state: LexState): RegExpExecArray | null {
  pattern.lastIndex = state.at;
  return pattern.exec(state.text);
}

/** Skips to the bracket that closes the one at `state.at`, over quotes and nested brackets. */
function skipNested(state: LexState, open: string, close: string): string {
  const from = state.at + 1;
  let depth = 0;
  while (state.at < state.text.length) {
    const character = state.text[state.at];
    if (character === "\\") state.at++;
    else if (character === "'") {
      const end = state.text.indexOf("'", state.at + 1);
      state.at = end < 0 ? state.text.length : end;
    } else if (character === open) depth++;
    else if (character === close && --depth === 0) break;
    state.at++;
  }
  const inside = state.text.slice(from, state.at);
  state.at = Math.min(state.at + 1, state.text.length);
  return inside;
}

function readBackquotes(state: LexState): Piece {
  complain(state, "`...` runs a command inside the command");
  const from = ++state.at;
  while (state.at < state.text.length && state.text[state.at] !== "`") {
    state.at += state.text[state.at] === "\\" ? 2 : 1;
  }
  state.inner.push(state.text.slice(from, state.at));
  state.at = Math.min(state.at + 1, state.text.length);
  return { kind: "unknown" };
}

/** At a `$`, inside or outside of double quotes. */
function readDollar(state: LexState, quoted: boolean): Piece {
  const next = state.text[state.at + 1] ?? "";
  if (next === "(") {
    const numbers = matchAt(NUMBERS_ONLY, state);
    if (numbers) {
      state.at += numbers[0].length;
      return { kind: "variable", name: "#", quoted };
    }
    const isArithmetic = state.text[state.at + 2] === "(";
    complain(
      state,
      isArithmetic
        ? "$((...)) calculates, which can run a command"
        : "$(...) runs a command inside the command",
    );
    state.at++;
    state.inner.push(skipNested(state, "(", ")"));
    return { kind: "unknown" };
  }
  if (next === "{") {
    const harmless = matchAt(HARMLESS_EXPANSION, state);
    if (harmless) {
      state.at += harmless[0].length;
      // A length is a number, as $# is; a cut or defaulted value is not the variable's own.
      const isWhole = harmless[0] === `\${${harmless[2]}}`;
      if (harmless[1] !== undefined) return { kind: "variable", name: "#", quoted };
      const name = harmless[2] ?? "";
      // No variable has this name, but it still looks like a secret's where the variable's does.
      return { kind: "variable", name: isWhole ? name : `${name}_ `, quoted };
    }
    const { at } = state;
    state.at++;
    skipNested(state, "{", "}");
    complain(state, `${state.text.slice(at, at + 24)} is an expansion that can do more than read`);
    return { kind: "unknown" };
  }
  if (next === "[") complain(state, "$[...] calculates, which can run a command");
  state.at++;
  const name = matchAt(NAME, state);
  if (name) {
    state.at += name[0].length;
    return { kind: "variable", name: name[0], quoted };
  }
  if (SPECIAL.test(next)) {
    state.at++;
    return { kind: "variable", name: next, quoted };
  }
  return { kind: "text", value: "$" };
}

function readSingleQuotes(state: LexState): Piece {
  const end = state.text.indexOf("'", state.at + 1);
  if (end < 0) complain(state, "a single quote is not closed");
  const value = state.text.slice(state.at + 1, end < 0 ? undefined : end);
  state.at = end < 0 ? state.text.length : end + 1;
  return { kind: "text", value };
}

const ANSI_C_ESCAPES: Record<string, string> = { n: "\n", t: "\t", "\\": "\\", "'": "'" };

/** `$'...'`: only escapes that hide nothing. */
function readAnsiCQuotes(state: LexState): Piece {
  let value = "";
  state.at += 2;
  while (state.at < state.text.length && state.text[state.at] !== "'") {
    if (state.text[state.at] === "\\") {
      const meaning = ANSI_C_ESCAPES[state.text[state.at + 1] ?? ""];
      if (meaning === undefined) complain(state, "$'...' spells characters in a hidden way");
      value += meaning ?? "";
      state.at += 2;
    } else {
      value += state.text[state.at++];
    }
  }
  if (state.at >= state.text.length) complain(state, "a quote is not closed");
  state.at = Math.min(state.at + 1, state.text.length);
  return { kind: "text", value };
}

function readDoubleQuotes(state: LexState, pieces: Piece[]): void {
  state.at++;
  pieces.push({ kind: "text", value: "" });
  while (state.at < state.text.length && state.text[state.at] !== '"') {
    const character = state.text[state.at] ?? "";
    if (character === "\\") {
      const next = state.text[state.at + 1] ?? "";
      if (next !== "\n") {
        pieces.push({ kind: "text", value: '$`"\\'.includes(next) ? next : `\\${next}` });
      }
      state.at += 2;
    } else if (character === "`") pieces.push(readBackquotes(state));
    else if (character === "$") pieces.push(readDollar(state, true));
    else {
      const from = state.at++;
      while (state.at < state.text.length && !'"\\`$'.includes(state.text[state.at] ?? "")) {
        state.at++;
      }
      pieces.push({ kind: "text", value: state.text.slice(from, state.at) });
    }
  }
  if (state.at >= state.text.length) complain(state, "a double quote is not closed");
  state.at = Math.min(state.at + 1, state.text.length);
}

/** Limited in length, for each bracket of a long row of them is tried. */
const BRACKET_EXPRESSION = /\[[!^]?\]?[^\]\s"'\\$`;&|()<>/{}]{0,64}\]/y;

function readGlob(state: LexState): Piece {
  const bracket = matchAt(BRACKET_EXPRESSION, state);
  const value = bracket?.[0] ?? state.text[state.at] ?? "";
  state.at += value.length;
  return { kind: "glob", value };
}

const PLAIN_TEXT = /[^ \t\n;&|()<>\\'"`$*?[{},.]+/y;

function readUnquoted(state: LexState, pieces: Piece[], braces: { depth: number }): void {
  const character = state.text[state.at] ?? "";
  if (character === "\\") {
    const next = state.text[state.at + 1];
    if (next === undefined) complain(state, "the command ends in a backslash");
    if (next === "\n") complain(state, "a line is continued in the middle of a word");
    else pieces.push({ kind: "text", value: next ?? "" });
    state.at = Math.min(state.at + 2, state.text.length);
  } else if (character === "'") pieces.push(readSingleQuotes(state));
  else if (character === '"') readDoubleQuotes(state, pieces);
  else if (character === "`") pieces.push(readBackquotes(state));
  else if (character === "$" && state.text[state.at + 1] === "'") {
    pieces.push(readAnsiCQuotes(state));
  } else if (character === "$" && state.text[state.at + 1] === '"') {
    complain(state, '$"..." is translated before it is used');
    state.at++;
  } else if (character === "$") pieces.push(readDollar(state, false));
  else if (character === "*" || character === "?" || character === "[") {
    pieces.push(readGlob(state));
  } else if (character === "{") {
    braces.depth++;
    pieces.push({ kind: "brace", value: character });
    state.at++;
  } else if ((character === "," || character === "}") && braces.depth > 0) {
    if (character === "}") braces.depth--;
    pieces.push({ kind: "brace", value: character });
    state.at++;
  } else if (state.text.startsWith("..", state.at) && braces.depth > 0) {
    pieces.push({ kind: "brace", value: ".." });
    state.at += 2;
  } else {
    const plain = matchAt(PLAIN_TEXT, state)?.[0] ?? character;
    pieces.push({ kind: "text", value: plain });
    state.at += plain.length;
  }
}

/** Reads the word at `state.at`; there must be one. */
export function readWord(state: LexState): Word {
  const start = state.at;
  const pieces: Piece[] = [];
  const braces = { depth: 0 };
  while (state.at < state.text.length && !METACHARACTER.test(state.text[state.at] ?? "")) {
    readUnquoted(state, pieces, braces);
  }
  const raw = state.text.slice(start, state.at);
  // `[` and `[[` alone are commands, not patterns.
  const isTest = raw === "[" || raw === "[[";
  const place = { start, end: state.at, raw, tilde: raw.startsWith("~") };
  return makeWord(place, isTest ? [{ kind: "text", value: raw }] : pieces);
}
