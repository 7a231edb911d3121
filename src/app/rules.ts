// The approval rules of both config files, the user's first: a project's can only tighten.

import type { PolicyRule } from "#capabilities/policy";
import type { Configuration } from "./config";
import { UsageError } from "./config/arguments";

export async function readPolicyRules(configuration: Configuration): Promise<PolicyRule[]> {
  const { userRules, projectRules } = configuration;
  return [...(await read(userRules, "user")), ...(await read(projectRules, "project"))];
}

async function read(
  found: Configuration["userRules"],
  source: "user" | "project",
): Promise<PolicyRule[]> {
  if (!found) return [];
  const { parseRules, RuleError } = await import("#capabilities/policy");
  try {
    return await parseRules(found.rules, { source });
  } catch (error) {
    if (error instanceof RuleError) throw new UsageError(`${found.path}: ${error.message}`);
    throw error;
  }
}
