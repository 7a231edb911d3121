// The answer of `bosun policy COMMAND`: the verdict in words, with the owner's rules.

import { analyse, type CommandOptions } from "./judge";
import type { PolicyRule } from "./rules";
import { ruleOnCommand } from "./ruling";

export interface Explanation {
  command: string;
  verdict: "read-only" | "ask" | "deny";
  reason: string;
}

export async function explainCommand(
  command: string,
  options: CommandOptions & { rules?: readonly PolicyRule[] },
): Promise<Explanation> {
  const analysis = await analyse(command, options);
  const { verdict, reason } = analysis;
  const ruling = ruleOnCommand(options.rules ?? [], command, analysis);
  if (verdict === "deny" || !ruling) return { command, verdict, reason };
  if (ruling.decision === "allow") {
    // It is no proof that the command only reads: the verdict stays what it is.
    return { command, verdict, reason: `${reason}, but runs without asking: ${ruling.reason}` };
  }
  return { command, verdict: ruling.decision, reason: ruling.reason };
}
