// One reply of the model: streams it to the watchers and hands back what it came to.

import type { EventBody, Phase } from "#base/protocol";
import type { Model, ModelFailure, ModelReply, ModelRequest } from "./ports";

export type Plan =
  | { kind: "reply"; reply: ModelReply }
  | { kind: "failure"; failure: ModelFailure };

export interface PlanOptions {
  model: Model;
  request: ModelRequest;
  signal: AbortSignal;
  emit(body: EventBody): void;
  setPhase(phase: Phase): void;
}

export async function plan({ model, request, signal, emit, setPhase }: PlanOptions): Promise<Plan> {
  setPhase("thinking");
  for await (const event of model.stream(request, signal)) {
    switch (event.kind) {
      case "reasoning":
        setPhase("thinking");
        emit({ type: "reasoning.delta", text: event.text });
        break;
      case "text":
        setPhase("writing");
        emit({ type: "text.delta", text: event.text });
        break;
      case "retry":
        setPhase("retrying");
        emit({
          type: "retry",
          attempt: event.attempt,
          waitMs: event.waitMs,
          reason: event.reason,
        });
        break;
      case "notice":
        emit({ type: "notice", level: event.level, text: event.text });
        break;
      case "reply":
        return { kind: "reply", reply: event.reply };
      case "failure":
        return { kind: "failure", failure: event.failure };
    }
  }
  throw new Error("The model's stream ended with neither a reply nor a failure.");
}
