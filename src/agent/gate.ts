// The approval gate: asks policy, and where policy says "ask", waits for the owner's word. Whoever
// answers does so by a command; silence, a stop or an unattended run never approves anything.

import type { CallId, Command, EventBody, Phase, Preview } from "#base/protocol";
import type { Approver, Effect, ToolCall } from "./ports";

export type Passage =
  | { kind: "allowed"; byOwner: boolean }
  /** `note` is for the model: why the call does not run. */
  | { kind: "denied"; note: string }
  /** The owner would rather have something else; the call does not run. */
  | { kind: "redirected"; guidance: string }
  | { kind: "stopped" };

type Answer = Extract<Command, { kind: "approve" | "reject" | "suggest" }>;

export interface GateOptions {
  approver: Approver;
  emit(body: EventBody): void;
  setPhase(phase: Phase): void;
}

export class Gate {
  readonly #options: GateOptions;
  #pending: { call: CallId; resolve(answer: Answer | "stopped" | "allowed"): void } | undefined;
  /** Calls that run side by side still ask one after the other. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  get pendingCall(): CallId | null {
    return this.#pending?.call ?? null;
  }

  /** Answers the pending approval; an answer to any other call is too late and does nothing. */
  answer(command: Answer): void {
    if (this.#pending?.call === command.call) this.#pending.resolve(command);
  }

  /** Auto-approve was switched on: what waits is let through. */
  approvePending(): void {
    this.#pending?.resolve("allowed");
  }

  pass(
    call: ToolCall,
    effect: Effect,
    preview: Preview | undefined,
    signal: AbortSignal,
  ): Promise<Passage> {
    const passage = this.#queue.then(() => this.#judge(call, effect, preview, signal));
    this.#queue = passage.catch(() => undefined);
    return passage;
  }

  async #judge(
    call: ToolCall,
    effect: Effect,
    preview: Preview | undefined,
    signal: AbortSignal,
  ): Promise<Passage> {
    const { approver, emit } = this.#options;
    const verdict = await approver.decide(call, effect);
    if (signal.aborted) return { kind: "stopped" };
    if (verdict.kind === "allow") return { kind: "allowed", byOwner: false };
    if (verdict.kind === "deny") {
      emit({
        type: "approval.answered",
        call: call.id,
        decision: "deny",
        note: verdict.reason,
      });
      return { kind: "denied", note: verdict.reason };
    }
    const shown = completePreview(call, preview, verdict);
    emit({ type: "approval.asked", call: call.id, preview: shown });
    const answer = await this.#wait(call.id, signal);
    return this.#conclude(call, effect, answer);
  }

  async #wait(call: CallId, signal: AbortSignal): Promise<Answer | "stopped" | "allowed"> {
    this.#options.setPhase("waiting for approval");
    const { promise, resolve } = Promise.withResolvers<Answer | "stopped" | "allowed">();
    const onAbort = (): void => resolve("stopped");
    signal.addEventListener("abort", onAbort, { once: true });
    this.#pending = { call, resolve };
    const answer = await promise;
    this.#pending = undefined;
    signal.removeEventListener("abort", onAbort);
    return answer;
  }

  #conclude(call: ToolCall, effect: Effect, answer: Answer | "stopped" | "allowed"): Passage {
    const { approver, emit } = this.#options;
    const say = (decision: "allow" | "always" | "deny" | "suggest", note: string): void =>
      emit({ type: "approval.answered", call: call.id, decision, note });
    if (answer === "stopped") {
      say("deny", "The run was stopped before an answer came.");
      return { kind: "stopped" };
    }
    if (answer === "allowed") {
      say("allow", "Auto-approve was switched on.");
      return { kind: "allowed", byOwner: true };
    }
    switch (answer.kind) {
      case "approve":
        if (answer.always) approver.remember(call, effect);
        say(answer.always ? "always" : "allow", "");
        return { kind: "allowed", byOwner: true };
      case "reject":
        say("deny", answer.note);
        return { kind: "denied", note: answer.note || "The owner said no. The call did not run." };
      case "suggest":
        say("suggest", answer.text);
        return { kind: "redirected", guidance: answer.text };
    }
  }
}

/** Puts the verdict's words where the owner reads them. */
function completePreview(
  call: ToolCall,
  preview: Preview | undefined,
  verdict: { reason: string; rule: string },
): Preview {
  if (preview?.kind === "command") {
    return { ...preview, reason: verdict.reason, rule: verdict.rule };
  }
  return preview ?? { kind: "text", text: `${call.name} ${JSON.stringify(call.args)}` };
}
