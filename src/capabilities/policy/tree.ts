// Scripts with structure, by tree-sitter-bash's tree. Its idea of bash is not bash's, so it decides
// on structure alone: node types by allow-list, and every leaf must be exactly one token of the
// strict scanner, each used once. Where the two disagree, the command is not understood.

import type { Node, Parser } from "web-tree-sitter";
import type { Lexed, Token } from "./lex";
import { buildCommand, type Pipeline, type SimpleCommand } from "./script";
import { substitute } from "./substitute";
import { expressionProblem } from "./test-expression";
import { knownWord, type Word } from "./word";

export interface Understood {
  pipelines: readonly Pipeline[];
  problem: string | undefined;
}

/** Statements that only hold others, and the words and signs between them. */
const HOLDERS = new Set([
  "program",
  "list",
  "compound_statement",
  "subshell",
  "do_group",
  "if_statement",
  "elif_clause",
  "else_clause",
  "while_statement",
  "negated_command",
]);
const SIGNS = new Set(
  "&& || ; { } ( ) do done if then elif else fi while until ! for in".split(" "),
);
const REDIRECTS = new Set(["file_redirect", "herestring_redirect", "heredoc_redirect"]);

/** Bodies of loops are judged once for each value; more than this is not looked at. */
const PASSES_MAX = 64;

type Bindings = ReadonlyMap<string, Word>;

class Walker {
  readonly pipelines: SimpleCommand[][] = [];
  problem: string | undefined;
  readonly #tokens: readonly Token[];
  readonly #at = new Map<number, number>();
  readonly #used = new Set<number>();
  #passes = 0;

  constructor(lexed: Lexed) {
    this.#tokens = lexed.tokens;
    for (const [index, token] of lexed.tokens.entries()) this.#at.set(token.start, index);
  }

  complain(problem: string): void {
    this.problem ??= problem;
  }

  #mismatch(node: Node): undefined {
    this.complain(`it is not clear how the shell reads \`${node.text.slice(0, 40)}\``);
    return undefined;
  }

  /** The scanner's token that stands exactly where the node stands. */
  #take(node: Node): number | undefined {
    const index = this.#at.get(node.startIndex);
    const token = index === undefined ? undefined : this.#tokens[index];
    if (index === undefined || token?.end !== node.endIndex) return this.#mismatch(node);
    this.#used.add(index);
    return index;
  }

  #takeSign(node: Node): void {
    if (node.type === "\n") return;
    if (SIGNS.has(node.type)) this.#take(node);
    else this.complain(`\`${node.type}\` is not known to only read`);
  }

  /** A redirection's operator and its word, two tokens in a row. */
  #takeRedirect(node: Node): number[] {
    const index = this.#at.get(node.startIndex);
    const redirect = index === undefined ? undefined : this.#tokens[index];
    const target = index === undefined ? undefined : this.#tokens[index + 1];
    if (index === undefined || redirect?.kind !== "redirect" || target?.kind !== "word") {
      this.#mismatch(node);
      return [];
    }
    const found = [index, index + 1];
    if (node.type === "heredoc_redirect") {
      for (const child of node.children) {
        if (child.type === "file_redirect") found.push(...this.#takeRedirect(child));
        else if (child.type === "heredoc_start") {
          if (child.endIndex !== target.end) this.#mismatch(child);
        } else if (child.type === "heredoc_body") {
          const { body } = redirect;
          if (body?.start !== child.startIndex || body.end !== child.endIndex)
            this.#mismatch(child);
        } else if (!["<<", "<<-", "heredoc_end", "file_descriptor"].includes(child.type)) {
          this.complain("what follows a here-document's first line is not looked into");
        }
      }
    } else if (target.end !== node.endIndex) this.#mismatch(node);
    for (const each of found) this.#used.add(each);
    return found;
  }

  /** `<(...)`: its commands are judged, and the word is the name of a pipe. */
  #takeSubstitution(node: Node, bindings: Bindings): { from: number; to: number } | undefined {
    const [open, ...rest] = node.children;
    const close = rest.pop();
    if (open?.type !== "<(" || close?.type !== ")") {
      this.complain("`>(...)` hands data to a command");
      return undefined;
    }
    const from = this.#take(open);
    const to = this.#take(close);
    for (const child of rest) {
      if (child.isNamed) this.walk(child, bindings);
      else this.#takeSign(child);
    }
    return from === undefined || to === undefined ? undefined : { from, to };
  }

  #command(node: Node | undefined, redirects: readonly Node[], bindings: Bindings): SimpleCommand {
    const parts = new Map<number, Token>();
    const covered: number[] = [];
    for (const child of node?.children ?? []) {
      if (REDIRECTS.has(child.type)) covered.push(...this.#takeRedirect(child));
      else if (child.type === "process_substitution") {
        const range = this.#takeSubstitution(child, bindings);
        if (!range) continue;
        for (let index = range.from; index <= range.to; index++) covered.push(index);
        const { startIndex: start, endIndex: end } = child;
        parts.set(range.from, { kind: "word", word: knownWord("/dev/fd/63"), start, end });
      } else {
        const index = this.#take(child);
        if (index === undefined) continue;
        covered.push(index);
        if (this.#tokens[index]?.kind !== "word") this.#mismatch(child);
      }
    }
    for (const redirect of redirects) covered.push(...this.#takeRedirect(redirect));
    covered.sort((left, right) => left - right);
    for (const index of covered) {
      const token = this.#tokens[index];
      const isInside = parts.size > 0 && token?.kind === "operator";
      if (isInside || parts.has(index) || !token) continue;
      if (!this.#isInsidePart(parts, token)) parts.set(index, token);
    }
    const first = covered[0] ?? 0;
    // Another command's sign in between would make two commands of what the tree takes for one.
    if (covered.some((index, at) => index !== first + at)) {
      this.complain("it is not clear where a command ends");
    }
    const tokens = [...parts].sort(([left], [right]) => left - right).map(([, token]) => token);
    const built = buildCommand(tokens);
    if (typeof built === "string") {
      this.complain(built);
      return { assignments: [], words: [], redirects: [] };
    }
    return substitute(built, bindings);
  }

  #isInsidePart(parts: ReadonlyMap<number, Token>, token: Token): boolean {
    for (const part of parts.values()) {
      if (part.start <= token.start && token.end <= part.end && part !== token) return true;
    }
    return false;
  }

  /** The command that a stage of a pipeline is; a compound stage is judged on its own. */
  #stage(node: Node, bindings: Bindings): SimpleCommand {
    if (node.type === "command") return this.#command(node, [], bindings);
    if (node.type === "test_command") return this.#test(node, bindings);
    if (node.type === "redirected_statement") {
      const body = node.children.find((child) => !REDIRECTS.has(child.type));
      const redirects = node.children.filter((child) => REDIRECTS.has(child.type));
      if (redirects.length + (body ? 1 : 0) !== node.childCount) this.#mismatch(node);
      if (body && body.type !== "command") this.walk(body, bindings);
      return this.#command(body?.type === "command" ? body : undefined, redirects, bindings);
    }
    this.walk(node, bindings);
    return { assignments: [], words: [], redirects: [] };
  }

  #test(node: Node, bindings: Bindings): SimpleCommand {
    const inside = this.#tokens
      .map((token, index) => ({ token, index }))
      .filter(({ token }) => token.start >= node.startIndex && token.end <= node.endIndex);
    const words: Word[] = [];
    const flush = (): void => {
      const problem = expressionProblem(words.splice(0), true);
      if (problem !== null) this.complain(problem);
    };
    for (const { index } of inside) this.#used.add(index);
    if (inside[0]?.token.start !== node.startIndex || inside.at(-1)?.token.end !== node.endIndex) {
      this.#mismatch(node);
    }
    if (!node.text.startsWith("[[")) {
      const built = buildCommand(inside.map(({ token }) => token));
      const isPlain = inside.every(({ token }) => token.kind === "word");
      if (isPlain && typeof built !== "string") return substitute(built, bindings);
      this.complain("a test is not understood");
    } else {
      for (const { token } of inside.slice(1, -1)) {
        if (token.kind === "word") words.push(token.word);
        else if (token.kind === "operator" && /^(?:&&|\|\|)$/.test(token.text)) flush();
        else this.complain("a test inside [[ ]] is not understood");
      }
      flush();
    }
    return { assignments: [], words: [], redirects: [] };
  }

  #loop(node: Node, bindings: Bindings): void {
    const values: Word[] = [];
    let name: string | undefined;
    let body: Node | undefined;
    for (const child of node.children) {
      if (child.type === "variable_name") {
        name = child.text;
        this.#take(child);
      } else if (child.type === "do_group") body = child;
      else if (!child.isNamed) this.#takeSign(child);
      else {
        const index = this.#take(child);
        const token = index === undefined ? undefined : this.#tokens[index];
        const built = token ? buildCommand([token]) : "";
        if (typeof built !== "string") {
          values.push(
            ...substitute({ ...built, words: [...built.assignments, ...built.words] }, bindings)
              .words,
          );
        }
      }
    }
    // A loop sets its variable: PATH, or another name that programs know, would change what runs.
    if (name && !/^[a-z][a-z0-9_]*$/.test(name)) this.complain(`the loop sets ${name}`);
    if (!name || !body || !node.children.some((child) => child.type === "in")) {
      this.complain("the loop is not understood");
      return;
    }
    // Also so that the words of the list are looked at as paths.
    this.pipelines.push([
      { assignments: [], words: [knownWord("ls"), knownWord("--"), ...values], redirects: [] },
    ]);
    for (const value of values) {
      if (++this.#passes > PASSES_MAX) this.complain("the loop has too many rounds to look at");
      if (this.problem !== undefined) return;
      this.walk(body, new Map([...bindings, [name, value]]));
    }
    if (values.length === 0) this.walk(body, bindings);
  }

  walk(node: Node, bindings: Bindings): void {
    if (this.problem !== undefined || node.type === "comment") return;
    if (node.type === "for_statement") this.#loop(node, bindings);
    else if (node.type === "pipeline") {
      const pipeline: SimpleCommand[] = [];
      for (const child of node.children) {
        if (child.isNamed) pipeline.push(this.#stage(child, bindings));
        else if (child.type === "|" || child.type === "|&") this.#take(child);
        else this.#takeSign(child);
      }
      this.pipelines.push(pipeline);
    } else if (["command", "test_command", "redirected_statement"].includes(node.type)) {
      this.pipelines.push([this.#stage(node, bindings)]);
    } else if (HOLDERS.has(node.type)) {
      for (const child of node.children) {
        if (child.isNamed) this.walk(child, bindings);
        else this.#takeSign(child);
      }
    } else this.complain(`\`${node.type.replaceAll("_", " ")}\` is not known to only read`);
  }

  /** Every token must have found its place in the tree. */
  finish(): void {
    this.#tokens.forEach((token, index) => {
      const isNewline = token.kind === "operator" && token.text === "\n";
      if (!isNewline && !this.#used.has(index))
        this.complain("it is not clear how the shell reads it");
    });
  }
}

export function readTree(command: string, lexed: Lexed, parser: Parser): Understood {
  const tree = parser.parse(command);
  if (!tree) return { pipelines: [], problem: "it could not be parsed" };
  try {
    const walker = new Walker(lexed);
    if (tree.rootNode.hasError) walker.complain("it is not well-formed");
    walker.walk(tree.rootNode, new Map());
    walker.finish();
    return { pipelines: walker.pipelines, problem: walker.problem };
  } finally {
    tree.delete();
  }
}
