// The approval rules of both config files, the user's first: a project's can only tighten.

import { type PolicyRule, parseRules, RuleError } from "#capabilities/policy";
import type { Configuration } from "./config";
import { UsageError } from "./config/arguments";

export function readPolicyRules({ userRules, projectRules }: Configuration): PolicyRule[] {
  const sources = [
    { found: userRules, source: "user" },
    { found: projectRules, source: "project" },
  ] as const;
  return sources.flatMap(({ found, source }) => {
    if (!found) return [];
    try {
      return parseRules(found.rules, { source });
    } catch (error) {
      if (error instanceof RuleError) throw new UsageError(`${found.path}: ${error.message}`);
      throw error;
    }
  });
}
