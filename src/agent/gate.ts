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
  /** While it waited for its turn the owner gave new guidance. */
  | { kind: "overtaken" }
  | { kind: "stopped" };

type Answer = Extract<Command, { kind: "approve" | "reject" | "suggest" }>;

export interface GateOptions {
  approver: Approver;
  emit(body: EventBody): void;
  setPhase(phase: Phase): void;
}

export class Gate {
  readonly #options: GateOptions;
  #pending: { call: CallId; resolve(answer: Answer | "stopped" | "reconsider"): void } | undefined;
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

  /** Auto-approve was switched on: policy is asked again about what waits. */
  reconsider(): void {
    this.#pending?.resolve("reconsider");
  }

  pass(
    call: ToolCall,
    effect: Effect,
    preview: Preview | undefined,
    signal: AbortSignal,
    isOvertaken: () => boolean = () => false,
  ): Promise<Passage> {
    const passage = this.#queue.then((): Passage | Promise<Passage> =>
      isOvertaken() ? { kind: "overtaken" } : this.#judge(call, effect, preview, signal),
    );
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
    for (;;) {
      const answer = await this.#wait(call.id, signal);
      if (answer !== "reconsider") return this.#conclude(call, effect, answer);
      // A rule of the owner may ask even now: then the question stays.
      const again = await approver.decide(call, effect);
      if (again.kind === "allow") return this.#conclude(call, effect, "allowed");
      emit({ type: "approval.asked", call: call.id, preview: shown });
    }
  }

  async #wait(call: CallId, signal: AbortSignal): Promise<Answer | "stopped" | "reconsider"> {
    this.#options.setPhase("waiting for approval");
    const { promise, resolve } = Promise.withResolvers<Answer | "stopped" | "reconsider">();
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
  const { reason, rule } = verdict;
  const shown = preview ?? { kind: "text", text: `${call.name} ${JSON.stringify(call.args)}` };
  return { ...shown, reason, rule };
}
