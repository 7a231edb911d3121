// Decides on each call, in the order that the product promises: path rules, the owner's rules,
// reads, the container, what was allowed for this session, and the mode. Deny beats all of it.

import type { Approver, Effect, ToolCall, Verdict } from "#agent/ports";
import { type Analysis, analyse, type CommandOptions } from "./judge";
import { judgePaths } from "./paths";
import { Remembered } from "./remembered";
import type { PolicyRule } from "./rules";
import { type Ruling, ruleOnCall, ruleOnCommand } from "./ruling";

export interface ApproverOptions extends Omit<CommandOptions, "cwd" | "root"> {
  /** Where the agent works; `root` is where it was started. */
  workspace: { readonly root: string };
  /** The user's rules first, then the project's. */
  rules: readonly PolicyRule[];
  confirmReads: boolean;
  autoApprove: boolean;
  /** Whether somebody is there to approve. */
  attended: boolean;
  /** Commands run in an environment that is thrown away, so they need no approval. */
  disposable: boolean;
}

const NOBODY_THERE =
  'nobody is there to approve it; to allow it, start with --auto-approve, or put an "allow" rule into your own config.toml';

interface Judged {
  kind: "free" | "ask" | "deny";
  reason: string;
  ruling: Ruling | undefined;
  analysis: Analysis | undefined;
}

class PolicyApprover implements Approver {
  autoApprove: boolean;
  readonly #options: ApproverOptions;
  readonly #remembered = new Remembered();

  constructor(options: ApproverOptions) {
    this.#options = options;
    this.autoApprove = options.autoApprove;
  }

  async decide(call: ToolCall, effect: Effect): Promise<Verdict> {
    const judged = await this.#judge(call, effect);
    const { kind, reason, ruling } = judged;
    if (kind === "deny") return { kind: "deny", reason };
    if (ruling?.decision === "deny") return { kind: "deny", reason: ruling.reason };
    if (ruling?.decision === "allow") return { kind: "allow", reason: ruling.reason };
    if (this.#remembered.covers(call, effect, judged.analysis)) {
      return { kind: "allow", reason: "you allowed it for this session" };
    }
    // A rule that asks is the owner's word about this very thing: no mode answers it.
    if (ruling?.decision === "ask") return this.#ask(call, effect, ruling.reason);
    if (kind === "free" && !this.#mustConfirm(effect)) return { kind: "allow", reason };
    if (effect.kind === "run" && this.#options.disposable) {
      return { kind: "allow", reason: "it runs in a container that is thrown away" };
    }
    if (this.autoApprove) return { kind: "allow", reason: "auto-approve is on" };
    return this.#ask(call, effect, kind === "free" ? "reads are to be confirmed" : reason);
  }

  remember(call: ToolCall, effect: Effect): void {
    this.#remembered.add(call, effect);
  }

  #mustConfirm(effect: Effect): boolean {
    return this.#options.confirmReads && effect.kind !== "none";
  }

  #ask(call: ToolCall, effect: Effect, reason: string): Verdict {
    if (!this.#options.attended) return { kind: "deny", reason: `${reason}; ${NOBODY_THERE}` };
    return { kind: "ask", reason, rule: this.#remembered.describe(call, effect) };
  }

  async #judge(call: ToolCall, effect: Effect): Promise<Judged> {
    const { rules, workspace, userHome } = this.#options;
    const place = { root: workspace.root, userHome };
    switch (effect.kind) {
      case "run": {
        const { root } = workspace;
        const analysis = await analyse(effect.command, { ...this.#options, cwd: effect.cwd, root });
        const { verdict, reason } = analysis;
        const kind = verdict === "read-only" ? "free" : verdict;
        return { kind, reason, ruling: ruleOnCommand(rules, effect.command, analysis), analysis };
      }
      case "read":
      case "write": {
        const verdict = judgePaths(effect, this.#options);
        const reason = verdict.kind === "free" ? "it only reads" : verdict.reason;
        const ruling = ruleOnCall(rules, call.name, effect, place);
        return { kind: verdict.kind, reason, ruling, analysis: undefined };
      }
      case "none": {
        const ruling = ruleOnCall(rules, call.name, effect, place);
        return { kind: "free", reason: "it changes nothing", ruling, analysis: undefined };
      }
      default:
        return unknownEffect(call);
    }
  }
}

/** Types rule it out; a tool from outside may still get here. */
function unknownEffect(call: ToolCall): Judged {
  const reason = `it is not known what ${call.name} would do`;
  return { kind: "ask", reason, ruling: undefined, analysis: undefined };
}

export function createApprover(options: ApproverOptions): Approver {
  return new PolicyApprover(options);
}
