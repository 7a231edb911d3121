// "Always", for this session: narrow rules, each shown in words before it is stored.

import type { Effect, ToolCall } from "#agent/ports";
import type { Analysis } from "./judge";
import { safePrefix } from "./prefix";
import { matchesWords } from "./rules";

type Narrow =
  | { kind: "prefix"; tool: string; words: readonly string[] }
  | { kind: "command"; tool: string; command: string; cwd: string }
  | { kind: "paths"; tool: string; change: "read" | "write"; paths: readonly string[] }
  | { kind: "tool"; tool: string };

function narrowRule(call: ToolCall, effect: Effect): Narrow {
  const { name: tool } = call;
  switch (effect.kind) {
    case "run": {
      const words = safePrefix(effect.command);
      return words
        ? { kind: "prefix", tool, words }
        : { kind: "command", tool, command: effect.command, cwd: effect.cwd };
    }
    case "read":
    case "write":
      return { kind: "paths", tool, change: effect.kind, paths: effect.paths };
    default:
      return { kind: "tool", tool };
  }
}

export class Remembered {
  readonly #rules: Narrow[] = [];

  /** What `add` would store for this call, in words, with its scope. */
  describe(call: ToolCall, effect: Effect): string {
    const rule = narrowRule(call, effect);
    switch (rule.kind) {
      case "prefix":
        return `shell commands that start with "${rule.words.join(" ")}", in this session`;
      case "command":
        return "exactly this command, in this directory, in this session";
      case "paths": {
        const verb = rule.change === "write" ? "changes of" : "reads of";
        return `${verb} ${rule.paths.join(", ")} by ${rule.tool}, in this session`;
      }
      case "tool":
        return `calls of ${rule.tool}, in this session`;
    }
  }

  add(call: ToolCall, effect: Effect): void {
    this.#rules.push(narrowRule(call, effect));
  }

  covers(call: ToolCall, effect: Effect, analysis: Analysis | undefined): boolean {
    const rules = this.#rules.filter((rule) => rule.tool === call.name);
    if (effect.kind === "run") return coversCommand(rules, effect, analysis);
    return rules.some((rule) => {
      if (rule.kind !== "paths") return rule.kind === "tool" && effect.kind === "none";
      const isSame = effect.kind === rule.change;
      return isSame && effect.paths.every((path) => rule.paths.includes(path));
    });
  }
}

function coversCommand(
  rules: readonly Narrow[],
  { command, cwd }: Extract<Effect, { kind: "run" }>,
  analysis: Analysis | undefined,
): boolean {
  if (
    rules.some((rule) => rule.kind === "command" && rule.command === command && rule.cwd === cwd)
  ) {
    return true;
  }
  if (!analysis?.isWhole || analysis.commands.length === 0) return false;
  const others = analysis.commands.filter(({ finding }) => finding.verdict !== "read-only");
  return (
    others.length > 0 &&
    others.every(
      ({ command: simple, extras }) =>
        extras === null &&
        rules.some((rule) => rule.kind === "prefix" && matchesWords(rule.words, simple.words)),
    )
  );
}
