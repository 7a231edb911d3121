// All that the loop knows of the world: five small interfaces, received and never looked up.
// Each has a fake in fakes.ts. Whoever implements one keeps its contract to the letter.

import type {
  AssistantMessage,
  CallId,
  Event,
  Message,
  Preview,
  TodoItem,
  Usage,
} from "#base/protocol";

// --- Model -------------------------------------------------------------------------------------

/** A tool as the model gets to see it; `parameters` is a JSON Schema of type object. */
export interface ToolSpecification {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
}

export interface ModelRequest {
  /** The same objects as in the request before, with new ones behind: never changed in place. */
  messages: readonly Message[];
  tools: readonly ToolSpecification[];
}

/** Arguments as the model wrote them, after lenient parsing. */
export type CallArguments =
  | { kind: "valid"; value: Record<string, unknown> }
  /** Broken JSON that could be read in only one way; `how` says what was mended. */
  | { kind: "repaired"; value: Record<string, unknown>; how: string }
  /** Must not run; `problem` says what is wrong and where, for the model. */
  | { kind: "broken"; problem: string };

export interface RequestedCall {
  /** Unique within the reply, and the same as in `message.tool_calls`. */
  id: CallId;
  name: string;
  arguments: CallArguments;
}

/** A whole reply. */
export interface ModelReply {
  /** Goes into the history as it stands; argument strings in it are always valid JSON. */
  message: AssistantMessage;
  calls: readonly RequestedCall[];
  /** The provider's finish reason, as sent. */
  finish: string | null;
  /** The reply hit the token limit: what is in it may be cut. */
  cutByLength: boolean;
  /** The finish reason announced calls, but none arrived. */
  announcedCalls: boolean;
  usage: Usage | null;
}

export type FailureKind =
  | "aborted"
  | "auth"
  | "model_not_found"
  | "context_overflow"
  | "rate_limit"
  | "quota"
  | "unsupported_parameter"
  | "bad_request"
  | "tool_call_failed"
  | "overloaded"
  | "server_error"
  | "network"
  | "incomplete";

export interface ModelFailure {
  kind: FailureKind;
  /** One or two lines for a person, with the provider's own words; no markup, no credential. */
  message: string;
  /** Text that was already streamed when it failed. */
  partialText: string;
}

export type ModelEvent =
  | { kind: "reasoning"; text: string }
  | { kind: "text"; text: string }
  /** The attempt failed and is made again after `waitMs`; text streamed so far does not count. */
  | { kind: "retry"; attempt: number; waitMs: number; reason: string }
  | { kind: "notice"; level: "info" | "warning"; text: string }
  | { kind: "reply"; reply: ModelReply }
  | { kind: "failure"; failure: ModelFailure };

/**
 * Streams one reply. Never throws: the last event is always a `reply` or a `failure`, and a
 * failure of kind `aborted` follows within moments of the signal. Retries are the model's own.
 */
export interface Model {
  readonly name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

// --- Tool --------------------------------------------------------------------------------------

/** What a call would do, for policy to judge. Paths are absolute, links resolved where possible. */
export type Effect =
  | { kind: "none" }
  | { kind: "read"; paths: readonly string[] }
  | { kind: "write"; paths: readonly string[] }
  | { kind: "run"; command: string; cwd: string };

export interface ToolContext {
  call: CallId;
  signal: AbortSignal;
  /** Shows output while the tool runs; the result is given separately. */
  output(text: string): void;
  /** The preview that was shown for this call; `run` must do that and nothing else. */
  shown?: Preview;
}

export interface ToolResult {
  /** What the model gets. */
  content: string;
  /** False when the tool ran and its work failed; the model still gets `content`. */
  ok: boolean;
  exitCode?: number | null;
  truncated?: boolean;
  /** A new task list. */
  todo?: readonly TodoItem[];
  /** Files that the call changed, relative to the workspace where they lie inside it. */
  changed?: readonly string[];
}

/** An expected failure of a tool. Its message is for the model; only act.ts catches it. */
export class ToolFailure extends Error {
  override name = "ToolFailure";
}

/** Thrown by `run` when the world is no longer what `shown` showed: preview and ask again. */
export class PreviewStale extends Error {
  override name = "PreviewStale";
}

/** What a tool's arguments are: told to the model, and read before anything else is done. */
export interface ToolParameters<Args> {
  /** JSON Schema of type object. */
  readonly schema: Record<string, unknown>;
  /** Names of those that only tune: left out of the briefest specification. */
  readonly tuning: readonly string[];
  safeParse(
    value: unknown,
  ):
    | { success: true; data: Args }
    | { success: false; error: { issues: readonly ArgumentIssue[] } };
}

export interface ArgumentIssue {
  path: readonly PropertyKey[];
  message: string;
}

/**
 * One thing that a model can do. `effect` and `preview` change nothing. `preview` may refuse with
 * a ToolFailure before anyone is asked. Method syntax lets a list hold tools of all arguments.
 */
export interface Tool<Args extends object = object> {
  readonly name: string;
  /** One sentence; all that `--fast` sends. */
  readonly summary: string;
  /** What the model reads before it uses the tool. */
  readonly description: string;
  readonly tags: readonly ("read" | "write" | "run" | "control")[];
  readonly parameters: ToolParameters<Args>;
  effect(args: Args): Effect;
  preview?(args: Args, context: ToolContext): Promise<Preview>;
  run(args: Args, context: ToolContext): Promise<ToolResult>;
}

// --- Approver ----------------------------------------------------------------------------------

export interface ToolCall {
  id: CallId;
  name: string;
  args: Record<string, unknown>;
}

export type Verdict =
  | { kind: "allow"; reason: string }
  | { kind: "deny"; reason: string }
  /** `rule` is the narrow rule that "always" would store, in words, with its scope. */
  | { kind: "ask"; reason: string; rule: string };

export interface Approver {
  autoApprove: boolean;
  decide(call: ToolCall, effect: Effect): Promise<Verdict>;
  /** Stores the rule that the verdict's `rule` described, for this session. */
  remember(call: ToolCall, effect: Effect): void;
}

// --- Journal and clock -------------------------------------------------------------------------

export interface Journal {
  /**
   * When it returns, whatever may follow from this event may happen: what has to last does. Throws
   * a StoreFailure when it cannot keep it; the event is kept with the next one that it can.
   */
  append(event: Event): void;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal is aborted; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}
