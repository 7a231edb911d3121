// Names for things that live longer than a call: sessions, agents, tool calls.

/** `20261130_204620_3f9a`: the start time (UTC), then four hex digits against collisions. */
export type SessionId = string;

/** `main`, or a worker's own name. */
export type AgentId = string;

/** The id of one tool call, unique within a session's history. */
export type CallId = string;

/**
 * Makes a session id from a point in time (milliseconds since the epoch). In UTC: the first look at
 * the local time zone costs 10 ms, which is a sixth of what the start may take.
 */
export function makeSessionId(atMs: number): SessionId {
  const [day = "", time = ""] = new Date(atMs).toISOString().slice(0, 19).split("T");
  const tail = crypto.randomUUID().slice(0, 4);
  return `${day.replaceAll("-", "")}_${time.replaceAll(":", "")}_${tail}`;
}

/** Makes an id for a tool call whose provider sent none, or one that was taken already. */
export function makeCallId(): CallId {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
}
