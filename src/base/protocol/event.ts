// Everything that happens, as one union: the loop says it, the journal keeps it, `--json` prints
// it and a screen folds it. Within version 1 a type may gain fields but never loses one.

import type { AgentId, CallId, SessionId } from "./ids";
import type { Message } from "./message";

export const EVENT_VERSION = 1;

export type RunStatus = "complete" | "error" | "limit" | "stopped";
export type NoticeLevel = "info" | "warning" | "error";

/** How an approval was answered, by its owner or by policy. */
export type ApprovalDecision = "allow" | "always" | "deny" | "suggest";

export interface TodoItem {
  text: string;
  state: "pending" | "current" | "done";
}

/** Tokens of one reply. `billable` is input without its cached part, plus output. */
export interface Usage {
  input: number;
  output: number;
  cached: number;
  billable: number;
}

/** What an approval shows before anything happens. */
export type Preview =
  /** A command, whole, with control characters made visible. */
  | { kind: "command"; command: string; cwd: string; reason: string; rule: string }
  /** A change to one file as a unified diff; `created` when the file does not exist yet. */
  | ({ kind: "diff"; path: string; diff: string; created: boolean } & {
      added: number;
      removed: number;
    } & PreviewWords)
  /** Anything else, in words. */
  | ({ kind: "text"; text: string } & PreviewWords);

/** Why it is asked, and the narrow rule that "always" would store, with its scope. */
export interface PreviewWords {
  reason?: string;
  rule?: string;
}

/** The part of an event that says what happened. */
export type EventBody =
  | {
      type: "run.started";
      session: SessionId;
      request: string;
      model: string;
      cwd: string;
      /** `on`, or `off`: whether commands run inside an operating-system sandbox. */
      sandbox: "on" | "off";
    }
  | { type: "step.started"; step: number }
  | { type: "reasoning.delta"; text: string }
  | { type: "text.delta"; text: string }
  | { type: "message"; message: Message }
  | {
      type: "tool.started";
      call: CallId;
      name: string;
      args: Record<string, unknown>;
      preview?: Preview;
    }
  | { type: "approval.asked"; call: CallId; preview: Preview }
  | { type: "approval.answered"; call: CallId; decision: ApprovalDecision; note: string }
  | { type: "tool.output"; call: CallId; text: string }
  | {
      type: "tool.finished";
      call: CallId;
      name: string;
      ok: boolean;
      /** The command's exit status; null when the tool runs no command or it was killed. */
      exitCode: number | null;
      ms: number;
      truncated: boolean;
      /** What the model gets. */
      result: string;
    }
  | { type: "todo"; items: TodoItem[] }
  | ({ type: "usage" } & Usage)
  | { type: "compaction"; strategy: string; before: number; after: number }
  | { type: "retry"; attempt: number; waitMs: number; reason: string }
  | { type: "verify"; ok: boolean; exitCode: number | null; output: string }
  | { type: "loop.iteration"; n: number; max: number }
  | {
      type: "job";
      id: string;
      state: "running" | "exited" | "killed";
      exitCode: number | null;
      tail: string;
    }
  | { type: "changes"; files: string[] }
  | { type: "steer"; text: string }
  | { type: "notice"; level: NoticeLevel; text: string }
  | { type: "error"; kind: string; message: string }
  | {
      type: "run.finished";
      status: RunStatus;
      summary: string;
      steps: number;
      usage: Usage;
      /** The exit status that a headless front end ends with. */
      exit: number;
    };

/** An event as watchers get it: version, time (ISO 8601, UTC), agent, and its body. */
export type Event = { v: typeof EVENT_VERSION; at: string; agent: AgentId } & EventBody;

/** The event of one type. */
export type EventOf<Type extends EventBody["type"]> = Extract<Event, { type: Type }>;
