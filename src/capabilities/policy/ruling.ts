// What the owner's rules say about one call.

import type { Effect } from "#agent/ports";
import type { Analysis, JudgedCommand } from "./judge";
import { lex } from "./lex";
import {
  describeRule,
  type PathPlace,
  type PolicyRule,
  ruleMatchesPath,
  ruleMatchesWords,
} from "./rules";
import { cut, type SimpleCommand } from "./script";

const NESTING_MAX = 4;

/** Commands inside substitutions: what is forbidden is forbidden there, too. */
function substitutedCommands(text: string, depth = 0): SimpleCommand[] {
  if (depth >= NESTING_MAX) return [];
  return lex(text).inner.flatMap((inner) => [
    ...cut(lex(inner)).pipelines.flat(),
    ...substitutedCommands(inner, depth + 1),
  ]);
}

export interface Ruling {
  decision: PolicyRule["decision"];
  reason: string;
}

function rulingOf(rule: PolicyRule): Ruling {
  const why = rule.reason === null ? "" : ` (${rule.reason})`;
  const whose = rule.source === "user" ? "your rule" : "the project's rule";
  return { decision: rule.decision, reason: `${whose} says: ${describeRule(rule)}${why}` };
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;

/**
 * The last rule that matches wins, among the user's and among the project's; of those two the
 * stricter one, so that a project cannot soften what its user forbids.
 */
function lastMatch(
  rules: readonly PolicyRule[],
  matches: (rule: PolicyRule) => boolean,
): PolicyRule | undefined {
  const [user, project] = (["user", "project"] as const).map((source) =>
    rules.findLast((rule) => rule.source === source && matches(rule)),
  );
  if (!user || !project) return user ?? project;
  return STRICTNESS[project.decision] > STRICTNESS[user.decision] ? project : user;
}

/** Whether the command runs by its words alone: nothing around them writes or changes them. */
function isBare(judged: JudgedCommand): boolean {
  return judged.extras === null;
}

/**
 * Every simple command by itself: one that is denied denies all, one that asks asks for all, and
 * all is allowed only when each is, or only reads, and nothing else is in the command.
 */
export function ruleOnCommand(
  rules: readonly PolicyRule[],
  command: string,
  analysis: Analysis,
): Ruling | undefined {
  if (rules.length === 0) return undefined;
  let asks: PolicyRule | undefined;
  let allows: PolicyRule | undefined;
  let isCovered = analysis.isWhole && analysis.commands.length > 0;
  for (const judged of analysis.commands) {
    const rule = lastMatch(rules, (each) => ruleMatchesWords(each, judged.command.words));
    if (rule?.decision === "deny") return rulingOf(rule);
    if (rule?.decision === "ask") asks = rule;
    if (rule?.decision === "allow") {
      allows = rule;
      if (!isBare(judged)) isCovered = false;
    } else if (judged.finding.verdict !== "read-only") isCovered = false;
  }
  for (const { words } of substitutedCommands(command)) {
    const rule = lastMatch(rules, (each) => ruleMatchesWords(each, words));
    if (rule?.decision === "deny") return rulingOf(rule);
    if (rule?.decision === "ask") asks = rule;
  }
  if (asks) return rulingOf(asks);
  return allows && isCovered ? rulingOf(allows) : undefined;
}

export function ruleOnCall(
  rules: readonly PolicyRule[],
  tool: string,
  effect: Exclude<Effect, { kind: "run" }>,
  place: PathPlace,
): Ruling | undefined {
  const paths = effect.kind === "none" ? [] : effect.paths;
  if (paths.length === 0) {
    const rule = lastMatch(
      rules,
      (each) => each.pattern === null && (each.tool === tool || each.tool === "*"),
    );
    return rule && rulingOf(rule);
  }
  const found = paths.map((path) =>
    lastMatch(rules, (rule) => ruleMatchesPath(rule, tool, path, place)),
  );
  const strictest =
    found.find((rule) => rule?.decision === "deny") ??
    found.find((rule) => rule?.decision === "ask") ??
    (found.every((rule) => rule?.decision === "allow") ? found[0] : undefined);
  return strictest && rulingOf(strictest);
}
