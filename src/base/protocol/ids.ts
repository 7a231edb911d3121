// Names for things that live longer than a call: sessions, agents, tool calls.

/** `20261130_204620_3f9a`: the local start time, then four hex digits against collisions. */
export type SessionId = string;

/** `main`, or a worker's own name. */
export type AgentId = string;

/** The id of one tool call, unique within a session's history. */
export type CallId = string;

/** A position in a session's log; the first event has 1. */
export type Sequence = number;

const pad = (value: number, width: number): string => String(value).padStart(width, "0");

/** Makes a session id from a point in time (milliseconds since the epoch). */
export function makeSessionId(atMs: number): SessionId {
  const at = new Date(atMs);
  const day = `${at.getFullYear()}${pad(at.getMonth() + 1, 2)}${pad(at.getDate(), 2)}`;
  const time = `${pad(at.getHours(), 2)}${pad(at.getMinutes(), 2)}${pad(at.getSeconds(), 2)}`;
  const tail = crypto.randomUUID().slice(0, 4);
  return `${day}_${time}_${tail}`;
}

/** Makes an id for a tool call whose provider sent none, or one that was taken already. */
export function makeCallId(): CallId {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
}
