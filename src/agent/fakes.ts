// A fake for each port, for tests: they keep the contracts, and nothing of the world is in them.

import type {
  Approver,
  CallArguments,
  Clock,
  Effect,
  Model,
  ModelEvent,
  ModelReply,
  ModelRequest,
  ToolCall,
  Verdict,
} from "./ports";

export { noJournal } from "./no-journal";

/** A reply with text, calls, or both, as the model port hands it over. */
export function makeReply(fields: {
  text?: string;
  calls?: { id: string; name: string; args: Record<string, unknown> | CallArguments }[];
  finish?: string | null;
  cutByLength?: boolean;
  announcedCalls?: boolean;
}): ModelReply {
  const calls = (fields.calls ?? []).map(({ id, name, args }) => ({
    id,
    name,
    arguments: isCallArguments(args) ? args : ({ kind: "valid", value: args } as const),
  }));
  return {
    message: {
      role: "assistant",
      content: fields.text ?? null,
      ...(calls.length > 0
        ? {
            tool_calls: calls.map((call) => ({
              id: call.id,
              type: "function" as const,
              function: { name: call.name, arguments: argumentsText(call.arguments) },
            })),
          }
        : {}),
    },
    calls,
    finish: fields.finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
    cutByLength: fields.cutByLength ?? false,
    announcedCalls: fields.announcedCalls ?? false,
    usage: null,
  };
}

function isCallArguments(value: Record<string, unknown> | CallArguments): value is CallArguments {
  return value.kind === "valid" || value.kind === "repaired" || value.kind === "broken";
}

function argumentsText(args: CallArguments): string {
  return args.kind === "broken" ? "{}" : JSON.stringify(args.value);
}

type ScriptEntry = ModelReply | ModelEvent[] | ((request: ModelRequest) => ModelReply);

/** Plays its script, one entry a request, and keeps what it was asked. */
export class ScriptedModel implements Model {
  readonly name = "scripted";
  readonly requests: ModelRequest[] = [];
  readonly #script: ScriptEntry[];

  constructor(script: ScriptEntry[]) {
    this.#script = [...script];
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    this.requests.push({ ...request, messages: [...request.messages] });
    const entry = this.#script.shift();
    await Promise.resolve();
    if (signal.aborted) {
      yield { kind: "failure", failure: { kind: "aborted", message: "", partialText: "" } };
    } else if (entry === undefined) {
      const message = "The script has ended.";
      yield { kind: "failure", failure: { kind: "server_error", message, partialText: "" } };
    } else if (Array.isArray(entry)) {
      yield* entry;
    } else {
      yield { kind: "reply", reply: typeof entry === "function" ? entry(request) : entry };
    }
  }
}

/** Answers by a function, and keeps what it was asked and told to remember. */
export class FakeApprover implements Approver {
  autoApprove = false;
  readonly asked: { call: ToolCall; effect: Effect }[] = [];
  readonly remembered: ToolCall[] = [];
  readonly #decide: (call: ToolCall) => Verdict;

  constructor(decide: (call: ToolCall) => Verdict = () => ({ kind: "allow", reason: "" })) {
    this.#decide = decide;
  }

  decide(call: ToolCall, effect: Effect): Promise<Verdict> {
    this.asked.push({ call, effect });
    if (this.autoApprove) return Promise.resolve({ kind: "allow", reason: "" });
    return Promise.resolve(this.#decide(call));
  }

  remember(call: ToolCall): void {
    this.remembered.push(call);
  }
}

/** A clock that stands still until told, and never waits. */
export class StillClock implements Clock {
  #now: number;

  constructor(now = 0) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  sleep(ms: number): Promise<void> {
    this.#now += ms;
    return Promise.resolve();
  }
}
