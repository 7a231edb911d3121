// The strict scanner: cuts a whole command into words, operators and redirections as bash does
// (manual, "Shell Syntax"). It keeps no opinion on structure; script.ts and tree.ts have that.

import { complain, type LexState, readWord } from "./lex-word";
import type { Word } from "./word";

export interface RedirectToken {
  kind: "redirect";
  operator: string;
  /** The number in front, as in `2>`; empty when there is none. */
  descriptor: string;
  start: number;
  end: number;
  /** The text of a here-document, and where it stands; its end is behind the last body line. */
  body?: { text: string; start: number; end: number; quoted: boolean };
}

export type Token =
  | { kind: "word"; word: Word; start: number; end: number }
  | { kind: "operator"; text: string; start: number; end: number }
  | RedirectToken;

export interface Lexed {
  tokens: readonly Token[];
  problem: string | undefined;
  inner: readonly string[];
}

const OPERATOR =
  /&>>|&>|&&|&|\|\||\|&|\||;;&|;;|;&|;|<<<|<<-|<<|<&|<>|<\(|<|>>|>&|>\||>\(|>|[()\n]/y;
const REDIRECTS = new Set([
  "&>>",
  "&>",
  "<<<",
  "<<-",
  "<<",
  "<&",
  "<>",
  "<",
  ">>",
  ">&",
  ">|",
  ">",
]);
const HERE_DELIMITER = /^[A-Za-z_][A-Za-z0-9_]*$/;

interface Lexer extends LexState {
  tokens: Token[];
  /** Here-documents whose text begins behind the next new line. */
  pending: { redirect: RedirectToken; delimiter: Word }[];
}

function readHereBody(lexer: Lexer, redirect: RedirectToken, delimiter: Word): void {
  const quoted = delimiter.raw !== delimiter.literal;
  const wanted = delimiter.literal ?? "";
  if (!HERE_DELIMITER.test(wanted)) complain(lexer, "the here-document ends at an unusual word");
  const start = lexer.at;
  const lines: string[] = [];
  while (lexer.at < lexer.text.length) {
    const newline = lexer.text.indexOf("\n", lexer.at);
    const lineEnd = newline < 0 ? lexer.text.length : newline;
    const lineStart = lexer.at;
    const line = lexer.text.slice(lineStart, lineEnd);
    lexer.at = Math.min(lineEnd + 1, lexer.text.length);
    if ((redirect.operator === "<<-" ? line.replace(/^\t+/, "") : line) === wanted) {
      const text = lines.map((each) => `${each}\n`).join("");
      redirect.body = { text, start, end: lineStart, quoted };
      // In an unquoted one the shell expands the text, and a backslash may join its last lines.
      if (!quoted && /[`\\]|\$[({[]/.test(text)) {
        complain(lexer, "the here-document's text can run commands");
      }
      return;
    }
    lines.push(line);
  }
  complain(lexer, "a here-document is not closed");
}

function readOperator(lexer: Lexer, descriptor: string, start: number): void {
  OPERATOR.lastIndex = lexer.at;
  const text = OPERATOR.exec(lexer.text)?.[0] ?? "";
  const before = lexer.text[start - 1];
  lexer.at += text.length;
  const end = lexer.at;
  if (REDIRECTS.has(text)) {
    lexer.tokens.push({ kind: "redirect", operator: text, descriptor, start, end });
    return;
  }
  if ((text === "(" || text === "<(" || text === ">(") && before && !/[\s;&|(]/.test(before)) {
    complain(lexer, "a bracket stands directly behind a word");
  }
  if (text === "(" && lexer.text[end] === "(") complain(lexer, "((...)) can run a command");
  if (text === ")" && !/[\s;&|)<>]|^$/.test(lexer.text[end] ?? "")) {
    complain(lexer, "a word stands directly behind a bracket");
  }
  lexer.tokens.push({ kind: "operator", text, start, end });
  if (text === "\n") {
    for (const { redirect, delimiter } of lexer.pending.splice(0)) {
      readHereBody(lexer, redirect, delimiter);
    }
  }
}

function readWordOrNumber(lexer: Lexer): void {
  const word = readWord(lexer);
  const next = lexer.text[lexer.at];
  if (next === "<" || next === ">") {
    if (/^\d+$/.test(word.raw)) {
      readOperator(lexer, word.raw, word.start);
      return;
    }
    if (word.raw.startsWith("{")) complain(lexer, "{name}> opens a file for the shell");
  }
  const last = lexer.tokens.at(-1);
  if (last?.kind === "redirect" && (last.operator === "<<" || last.operator === "<<-")) {
    lexer.pending.push({ redirect: last, delimiter: word });
  }
  lexer.tokens.push({ kind: "word", word, start: word.start, end: word.end });
}

function skipContinuation(lexer: Lexer): void {
  const before = lexer.text[lexer.at - 1];
  const after = lexer.text[lexer.at + 2];
  // Only between words: elsewhere it joins what a reader sees as two words, or splits an operator.
  if (before !== undefined && !/[ \t\n]/.test(before)) {
    complain(lexer, "a line is continued in the middle of a word");
  }
  if (after === "#" || after === "\\") complain(lexer, "a continued line is hard to read");
  lexer.at += 2;
}

export function lex(text: string): Lexed {
  const lexer: Lexer = { text, at: 0, problem: undefined, inner: [], tokens: [], pending: [] };
  while (lexer.at < text.length) {
    const character = text[lexer.at] ?? "";
    if (character === " " || character === "\t") lexer.at++;
    else if (character === "\\" && text[lexer.at + 1] === "\n") skipContinuation(lexer);
    else if (character === "#") {
      const end = text.indexOf("\n", lexer.at);
      lexer.at = end < 0 ? text.length : end;
    } else if ("\n;&|()<>".includes(character)) readOperator(lexer, "", lexer.at);
    else readWordOrNumber(lexer);
  }
  if (lexer.pending.length > 0) complain(lexer, "a here-document is not closed");
  return { tokens: lexer.tokens, problem: lexer.problem, inner: lexer.inner };
}
