// What an agent is made of: app/ builds this by hand, and nothing in agent/ looks further.

import type { AgentId, EventBody, Message, SessionId, TodoItem } from "#base/protocol";
import type { ActOptions } from "./act";
import type { Approver, Clock, Journal, Model, Tool, ToolSpecification } from "./ports";

export interface Verification {
  ok: boolean;
  exitCode: number | null;
  output: string;
}

export interface Restored {
  messages: readonly Message[];
  todo: readonly TodoItem[];
}

export type JobNews = Extract<EventBody, { type: "job" }>;

export interface AgentOptions extends Pick<ActOptions, "understand" | "scrub" | "scrubStream"> {
  id: AgentId;
  session: SessionId;
  model: Model;
  /** Asked for when the first call of a reply is looked at. */
  tools: () => readonly Tool[];
  specifications: readonly ToolSpecification[];
  approver: Approver;
  journal: Journal;
  clock: Clock;
  systemPrompt: string;
  /** What an earlier run left, without a system prompt; a history that strict providers accept. */
  restored?: Restored | undefined;
  sandbox: "on" | "off";
  /** Steps before a run ends with status `limit`. */
  stepsMax: number;
  /** Tokens a reply may have: named to a model whose reply was cut off there. */
  replyTokensMax: number;
  cwd(): string;
  /** The gate that a completion has to pass; absent when the owner set none. */
  verify: ((signal: AbortSignal) => Promise<Verification>) | undefined;
  /** What happened beside the run since it was last asked (jobs that ended), for the model. */
  takeNews(): string[];
  /** Calls back whenever a background job starts or ends. */
  watchJobs(tell: (job: JobNews) => void): void;
}
