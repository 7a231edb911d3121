// The one handle that every front end holds: three verbs. Nothing else reaches an agent.

import type { Command } from "./command";
import type { Event, TodoItem, Usage } from "./event";
import type { CallId, SessionId } from "./ids";

/** What the agent is doing at this moment. */
export type Phase =
  | "idle"
  | "thinking"
  | "writing"
  | "running"
  | "waiting for approval"
  | "retrying"
  | "paused";

export interface AgentState {
  session: SessionId;
  phase: Phase;
  /** Steps of the current or the last run. */
  step: number;
  autoApprove: boolean;
  pausing: boolean;
  /** The call that waits for its owner, if any. */
  pendingApproval: CallId | null;
  /** The directory that the next command starts in. */
  cwd: string;
  usage: Usage;
  todo: readonly TodoItem[];
}

export type Query = { kind: "state" };

export type Watcher = (event: Event) => void;

export interface AgentHandle {
  /** Never throws and never waits; the effect shows in events. */
  send(command: Command): void;
  /** Calls `watcher` for every event from now on, in order; returns how to stop it. */
  watch(watcher: Watcher): () => void;
  ask(query: Query): AgentState;
}
