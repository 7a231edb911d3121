// Reads the `[[rules]]` tables of a config file and checks each against its own examples. Loaded
// only when there are rules: the library that it needs would slow down every start.

import { posix } from "node:path";
import * as z from "zod";
import { lex } from "./lex";
import {
  describeRule,
  type PolicyRule,
  RuleError,
  type RuleSource,
  ruleMatchesPath,
  ruleMatchesWords,
  tokensOf,
} from "./rules";
import { cut } from "./script";

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
export function readRules(value: unknown, { source }: { source: RuleSource }): PolicyRule[] {
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
