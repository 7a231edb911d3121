// What a session is, as plain data.

import type { Event, Message, SessionId, TodoItem, Usage } from "#base/protocol";

export type SessionKind = "main" | "fork" | "worker";

/** What a new session is given. */
export interface SessionStart {
  id: SessionId;
  kind: SessionKind;
  /** The session it was forked from, or whose worker it is. */
  parent?: SessionId;
  model: string;
  /** The endpoint without its credentials: opaque parts of messages belong to it. */
  route: string;
  /** The real path of the directory it works in. */
  workspace: string;
}

export interface SessionRecord extends SessionStart {
  /** Made from the first request; empty before that. */
  title: string;
  /** Milliseconds since the epoch. */
  created: number;
  updated: number;
  /** The process that works on it at this moment; undefined when none does. */
  owner: number | undefined;
}

/** What a session was when its last entry was written. */
export interface SessionState {
  usage: Usage;
  todo: readonly TodoItem[];
  cwd: string | null;
  step: number;
  /** The entry that the live context begins with. */
  contextFrom: number;
}

export interface LoadedSession {
  record: SessionRecord;
  state: SessionState;
  /** The live context, verbatim and in order; not repaired. */
  messages: Message[];
  /** Calls that were about to run, with their results; undefined: whether it ran is not known. */
  calls: ReadonlyMap<string, string | undefined>;
  /** Entries that could not be read. */
  damaged: number;
}

export const EMPTY_STATE: SessionState = {
  usage: { input: 0, output: 0, cached: 0, billable: 0 },
  todo: [],
  cwd: null,
  step: 0,
  contextFrom: 1,
};

/** The state after one more event. */
export function foldState(state: SessionState, event: Event): SessionState {
  switch (event.type) {
    case "usage": {
      const { usage } = state;
      return {
        ...state,
        usage: {
          input: usage.input + event.input,
          output: usage.output + event.output,
          cached: usage.cached + event.cached,
          billable: usage.billable + event.billable,
        },
      };
    }
    case "todo":
      return { ...state, todo: event.items };
    case "step.started":
      return { ...state, step: state.step + 1 };
    default:
      return state;
  }
}

const TITLE_LENGTH_MAX = 72;

/** The first line of a request that says something, cut at a word. */
export function makeTitle(request: string): string {
  const line =
    request
      .split("\n")
      .map((text) => text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim())
      .find((text) => text !== "") ?? "";
  if (line.length <= TITLE_LENGTH_MAX) return line;
  const cut = line.slice(0, TITLE_LENGTH_MAX - 1);
  const blank = cut.lastIndexOf(" ");
  return `${(blank > TITLE_LENGTH_MAX / 2 ? cut.slice(0, blank) : cut).trimEnd()}…`;
}
