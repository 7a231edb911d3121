// The owner's rules: `[[rules]]` tables with a decision, a tool and a pattern. For the shell the
// pattern is compared word by word, never as text. The last rule that matches wins. A project's
// own config may only tighten: a cloned repository is not trusted.

import { posix } from "node:path";
import { compileGlob } from "./path-glob";
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

export function describeRule({ decision, tool, pattern }: PolicyRule): string {
  const about = pattern === null ? "everything" : `"${pattern}"`;
  return `${decision} ${tool === "*" ? "every tool" : tool}: ${about}`;
}

export function tokensOf(pattern: string): string[] {
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
