// What a front end may ask of an agent. A command never answers: its effect is seen in events.

import type { CallId, SessionId } from "./ids";

export type Command =
  /** A request when idle; a steering message for the next step when a run is on. */
  | { kind: "prompt"; text: string }
  /** Ends the run now: a pending reply is cut, the running command is killed. */
  | { kind: "stop" }
  /** Holds the run after its current step; the step itself finishes. */
  | { kind: "pause" }
  | { kind: "resume" }
  /** Answers a pending approval. `always` also stores the narrow rule that was shown. */
  | { kind: "approve"; call: CallId; always: boolean }
  | { kind: "reject"; call: CallId; note: string }
  /** Skips the call and steers the run with `text`. */
  | { kind: "suggest"; call: CallId; text: string }
  | { kind: "autoApprove"; on: boolean }
  /** Of the conversations that are kept; all but `list`, `show` and `clear` want an idle agent. */
  | { kind: "session"; action: SessionAction; id?: SessionId };

export type SessionAction =
  | "list"
  | "show"
  | "new"
  /** Ends the run first. */
  | "clear"
  | "fork"
  /** Reads the session file again. */
  | "reload"
  | "resume";
