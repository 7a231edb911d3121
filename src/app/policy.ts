// Policy for an agent, loaded when the first call is to be judged: its tables of commands are large,
// and no request has to wait for them.

import type { Approver, Effect, ToolCall, Verdict } from "#agent/ports";
import type * as policyModule from "#capabilities/policy";
import type { ApproverOptions, CommandVerdict } from "#capabilities/policy";

type Policy = typeof policyModule;

export interface LazyPolicy {
  approver: Approver;
  /** Loads it ahead of the first call. */
  load(): Promise<unknown>;
  isReadOnly(command: string, cwd: string): Promise<boolean>;
  /** Tools ask this while they run, when their call has been judged already. */
  mayRead(path: string): boolean;
}

export function createLazyPolicy(options: ApproverOptions): LazyPolicy {
  let loaded: { policy: Policy; approver: Approver } | undefined;
  let loading: Promise<{ policy: Policy; approver: Approver }> | undefined;
  let autoApprove = options.autoApprove;
  const load = (): Promise<{ policy: Policy; approver: Approver }> => {
    loading ??= import("#capabilities/policy").then((policy) => {
      loaded = { policy, approver: policy.createApprover({ ...options, autoApprove }) };
      return loaded;
    });
    return loading;
  };
  const approver: Approver = {
    get autoApprove() {
      return loaded?.approver.autoApprove ?? autoApprove;
    },
    set autoApprove(on) {
      autoApprove = on;
      if (loaded) loaded.approver.autoApprove = on;
    },
    async decide(call: ToolCall, effect: Effect): Promise<Verdict> {
      return (await load()).approver.decide(call, effect);
    },
    remember(call, effect) {
      loaded?.approver.remember(call, effect);
    },
  };
  return {
    approver,
    load,
    async isReadOnly(command, cwd) {
      const { policy } = await load();
      const verdict: CommandVerdict = await policy.judgeCommand(command, { ...options, cwd });
      return verdict.verdict === "read-only";
    },
    mayRead(path) {
      if (!loaded) throw new Error("A tool ran before its call was judged.");
      return loaded.policy.mayReadPath(path, { ...options, root: options.workspace.root });
    },
  };
}
