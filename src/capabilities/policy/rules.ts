// The owner's rules: `[[rules]]` tables with a decision, a tool and a pattern. For the shell the
// pattern is compared word by word, never as text. The last rule that matches wins. A project's
// own config may only tighten: a cloned repository is not trusted.

import { posix } from "node:path";
import { z } from "zod";
import { lex } from "./lex";
import { compileGlob } from "./path-glob";
import { cut } from "./script";
import type { Word } from "./word";
import { unwrap } from "./wrapped";

export type RuleSource = "user" | "project";

export interface PolicyRule {
  decision: "allow" | "ask" | "deny";
  /** The tool's name, or `*` for all. */
  tool: string;
  pattern: string | null;
  source: RuleSource;
  /** Shown with the decision: why the owner made the rule. */
  reason: string | null;
}

/** A rule that cannot be used; the message names it and says what to change. */
export class RuleError extends Error {
  override name = "RuleError";
}

const examples = z.array(z.string()).optional();

const RULE = z.strictObject({
  decision: z.enum(["allow", "ask", "deny"]),
  tool: z.string().min(1).default("shell"),
  pattern: z.string().trim().min(1).optional(),
  reason: z.string().optional(),
  match: examples,
  not_match: examples,
});

type WrittenRule = z.infer<typeof RULE>;

export function describeRule({ decision, tool, pattern }: PolicyRule): string {
  const about = pattern === null ? "everything" : `"${pattern}"`;
  return `${decision} ${tool === "*" ? "every tool" : tool}: ${about}`;
}

function tokensOf(pattern: string): string[] {
  return pattern.split(/\s+/).filter(Boolean);
}

/** The leading words are the pattern's, one by one; `*` is any one word whose text is known. */
export function matchesWords(tokens: readonly string[], words: readonly Word[]): boolean {
  return (
    words.length >= tokens.length &&
    tokens.every((token, index) => {
      const literal = words[index]?.literal;
      return literal !== null && literal !== undefined && (token === "*" || literal === token);
    })
  );
}

/** Refusing looks through wrappers, permitting does not. */
export function ruleMatchesWords(rule: PolicyRule, words: readonly Word[]): boolean {
  if (rule.tool !== "shell" && rule.tool !== "*") return false;
  if (rule.pattern === null) return true;
  const tokens = tokensOf(rule.pattern);
  if (rule.decision === "allow") return matchesWords(tokens, words);
  return unwrap(words).some((tail) => matchesWords(tokens, tail));
}

export interface PathPlace {
  root: string;
  userHome: string;
}

export function ruleMatchesPath(
  rule: PolicyRule,
  tool: string,
  path: string,
  place: PathPlace,
): boolean {
  if (rule.tool !== tool && rule.tool !== "*") return false;
  if (rule.pattern === null) return true;
  const { pattern } = rule;
  if (pattern.startsWith("/")) return compileGlob(pattern).test(path);
  if (pattern.startsWith("~/")) return compileGlob(place.userHome + pattern.slice(1)).test(path);
  const relative = posix.relative(place.root, path);
  const isInside = relative !== "" && !relative.startsWith("../") && relative !== "..";
  return isInside && compileGlob(pattern.replace(/^\.\//, "")).test(relative);
}

/** A deny or ask rule hits when any part of the command does; an allow rule must cover it all. */
function matchesExample(rule: PolicyRule, example: string): boolean {
  if (rule.tool !== "shell") {
    const place = { root: "/workspace", userHome: "/home/user" };
    const path = example.replace(/^~(?=\/)/, place.userHome);
    return ruleMatchesPath(rule, rule.tool, posix.resolve(place.root, path), place);
  }
  const script = cut(lex(example));
  const commands = script.pipelines.flat();
  const matches = commands.map((command) => ruleMatchesWords(rule, command.words));
  if (rule.decision !== "allow") return matches.some(Boolean);
  const isPlain = !script.needsGrammar && script.problem === undefined;
  const isBare = commands.every(
    ({ assignments, redirects }) => assignments.length === 0 && redirects.length === 0,
  );
  return isPlain && isBare && matches.length > 0 && matches.every(Boolean);
}

function checkExamples(rule: PolicyRule, written: WrittenRule, label: string): void {
  for (const example of written.match ?? []) {
    if (!matchesExample(rule, example)) {
      throw new RuleError(
        `${label} (${describeRule(rule)}) does not match its example "${example}"`,
      );
    }
  }
  for (const example of written.not_match ?? []) {
    if (matchesExample(rule, example)) {
      throw new RuleError(
        `${label} (${describeRule(rule)}) matches "${example}", which its not_match forbids`,
      );
    }
  }
}

function checkPattern(rule: PolicyRule, label: string): void {
  if (rule.pattern === null || rule.tool !== "shell") return;
  const odd = tokensOf(rule.pattern).find(
    (token) => token !== "*" && /[*?"'`$\\;|&<>()]/.test(token),
  );
  if (odd) {
    throw new RuleError(
      `${label}: "${odd}" is no plain word; a shell pattern is the leading words of a command, with * for any one word`,
    );
  }
}

/** `value` is what stands under `rules` in a config file. Throws a RuleError. */
export function parseRules(value: unknown, { source }: { source: RuleSource }): PolicyRule[] {
  if (value === undefined || value === null) return [];
  const tables = z.array(z.unknown()).safeParse(value);
  if (!tables.success) throw new RuleError("rules must be a list of tables: [[rules]]");
  return tables.data.map((table, index) => {
    const label = `rule ${index + 1}`;
    const parsed = RULE.safeParse(table);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const where = issue?.path.join(".");
      throw new RuleError(
        `${label}: ${where ? `${where}: ` : ""}${issue?.message ?? "is not valid"}`,
      );
    }
    const { decision, tool, pattern = null, reason = null } = parsed.data;
    const rule: PolicyRule = { decision, tool, pattern, source, reason };
    if (decision === "allow" && source === "project") {
      throw new RuleError(
        `${label} (${describeRule(rule)}): a project's config may only tighten; put "allow" rules into your own config`,
      );
    }
    if (decision === "allow" && pattern === null && (tool === "shell" || tool === "*")) {
      throw new RuleError(
        `${label}: an "allow" rule for ${tool} needs a pattern; --auto-approve allows all`,
      );
    }
    checkPattern(rule, label);
    checkExamples(rule, parsed.data, label);
    return rule;
  });
}
