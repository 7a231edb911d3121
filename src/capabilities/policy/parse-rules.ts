// The owner's rules from what a config file holds under `rules`.

import type { PolicyRule, RuleSource } from "./rules";

/** Rejects with a RuleError that names the rule and says what to change. */
export async function parseRules(
  value: unknown,
  options: { source: RuleSource },
): Promise<PolicyRule[]> {
  if (value === undefined || value === null) return [];
  const { readRules } = await import("./rule-table");
  return readRules(value, options);
}
