// From tokens to simple commands. A plain script (lists and pipelines) is understood here, whole;
// anything with structure is only cut up well enough to find what must be refused at once, and
// is left to the grammar in tree.ts.

import type { Lexed, RedirectToken, Token } from "./lex";
import { expandBraces, type Word } from "./word";

export interface Redirect {
  operator: string;
  descriptor: string;
  target: Word;
  body?: RedirectToken["body"];
}

export interface SimpleCommand {
  assignments: readonly Word[];
  words: readonly Word[];
  redirects: readonly Redirect[];
}

export type Pipeline = readonly SimpleCommand[];

export interface Script {
  pipelines: readonly Pipeline[];
  /** Found while cutting: what is certain not to be read-only, or not to be a command. */
  problem: string | undefined;
  /** The script has structure, so `pipelines` is a guess for finding what to refuse. */
  needsGrammar: boolean;
}

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*(?:\[|\+?=)/;
/** Leading words that the grammar may make sense of; what follows them is a command. */
const OPENERS = new Set(["if", "then", "elif", "else", "while", "until", "do", "{"]);
const CLOSERS = new Set(["fi", "done", "}"]);
const NEVER: Record<string, string> = {
  case: "`case` is not looked into",
  esac: "`case` is not looked into",
  select: "`select` waits for an answer",
  function: "it defines a function",
  coproc: "`coproc` runs in the background",
};

/** Turns words and redirections, in order, into a command. */
export function buildCommand(tokens: readonly Token[]): SimpleCommand | string {
  const assignments: Word[] = [];
  const words: Word[] = [];
  const redirects: Redirect[] = [];
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token?.kind === "word") {
      if (words.length === 0 && ASSIGNMENT.test(token.word.raw)) assignments.push(token.word);
      else words.push(...(expandBraces(token.word) ?? [token.word]));
    } else if (token?.kind === "redirect") {
      const target = tokens[++index];
      if (target?.kind !== "word") return `\`${token.operator}\` is not followed by a word`;
      const { operator, descriptor, body } = token;
      redirects.push({ operator, descriptor, target: target.word, body });
    }
  }
  return { assignments, words, redirects };
}

interface Cutter {
  pipelines: SimpleCommand[][];
  pipeline: SimpleCommand[];
  current: Token[];
  problem: string | undefined;
  needsGrammar: boolean;
  /** The last operator wants a command behind it. */
  expects: string | undefined;
  /** What a bracket interrupts: a command goes on behind `<(...)`, behind `(...)` none does. */
  outer: { pipeline: SimpleCommand[]; current: Token[] }[];
}

/** Strips what stands before a command: `!`, and reserved words. */
function stripLeading(cutter: Cutter): void {
  for (;;) {
    const first = cutter.current[0];
    if (first?.kind !== "word") return;
    const { raw } = first.word;
    if (raw !== "!") {
      if (NEVER[raw]) cutter.problem ??= NEVER[raw];
      if (raw === "for" || raw === "[[") {
        cutter.needsGrammar = true;
        cutter.current = [];
        return;
      }
      if (!OPENERS.has(raw) && !CLOSERS.has(raw)) return;
      cutter.needsGrammar = true;
    }
    cutter.current = cutter.current.slice(1);
  }
}

function endCommand(cutter: Cutter, by: string): void {
  const hadTokens = cutter.current.length > 0;
  stripLeading(cutter);
  if (cutter.current.length > 0) {
    const command = buildCommand(cutter.current);
    if (typeof command === "string") cutter.problem ??= command;
    else cutter.pipeline.push(command);
  } else if (!cutter.needsGrammar && (hadTokens || !["\n", ""].includes(by))) {
    cutter.problem ??= `there is no command before \`${by}\``;
  }
  cutter.current = [];
}

function endPipeline(cutter: Cutter): void {
  if (cutter.pipeline.length > 0) cutter.pipelines.push(cutter.pipeline);
  cutter.pipeline = [];
}

function takeOperator(cutter: Cutter, text: string): void {
  if (text === "\n" && cutter.current.length === 0 && cutter.expects) return;
  if (text === "&") cutter.problem ??= "`&` runs a command in the background";
  if (text.startsWith(";;") || text === ";&") cutter.problem ??= "`case` is not looked into";
  if (text === ">(") cutter.problem ??= "`>(...)` hands data to a command";
  if (text === "(" || text === ")" || text === "<(" || text === ">(") {
    if (text === "(" && cutter.current.at(-1)?.kind === "word") {
      const [first] = cutter.current;
      const isReserved =
        first?.kind === "word" && (OPENERS.has(first.word.raw) || first.word.raw === "!");
      if (!isReserved) cutter.problem ??= "it defines a function";
    }
    cutter.needsGrammar = true;
  }
  if (text === "<(" || text === ">(") {
    cutter.outer.push({ pipeline: cutter.pipeline, current: cutter.current });
    cutter.pipeline = [];
    cutter.current = [];
    return;
  }
  endCommand(cutter, text);
  if (text === "(") cutter.outer.push({ pipeline: [], current: [] });
  if (text !== "|" && text !== "|&") endPipeline(cutter);
  const outer = text === ")" ? cutter.outer.pop() : undefined;
  if (outer) Object.assign(cutter, outer);
  cutter.expects =
    text === "|" || text === "|&" || text === "&&" || text === "||" ? text : undefined;
}

export function cut(lexed: Lexed): Script {
  const cutter: Cutter = {
    pipelines: [],
    pipeline: [],
    current: [],
    problem: undefined,
    needsGrammar: false,
    expects: undefined,
    outer: [],
  };
  let insideTest = false;
  for (const token of lexed.tokens) {
    if (token.kind === "word" && cutter.current.length === 0 && token.word.raw === "[[") {
      insideTest = true;
      cutter.needsGrammar = true;
    }
    if (insideTest) {
      if (token.kind === "word" && token.word.raw === "]]") insideTest = false;
      cutter.expects = undefined;
      continue;
    }
    if (token.kind === "operator") takeOperator(cutter, token.text);
    else {
      if (
        token.kind === "redirect" &&
        token.operator.startsWith("<<") &&
        token.operator !== "<<<"
      ) {
        cutter.needsGrammar = true;
      }
      cutter.current.push(token);
      cutter.expects = undefined;
    }
  }
  endCommand(cutter, "");
  endPipeline(cutter);
  if (cutter.expects) cutter.problem ??= `nothing follows \`${cutter.expects}\``;
  const problem = lexed.problem ?? cutter.problem;
  return { pipelines: cutter.pipelines, problem, needsGrammar: cutter.needsGrammar };
}
