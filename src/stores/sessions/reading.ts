// Reading a session back: the newest state, then the entries of its live context. What lies before
// the context is not looked at, however much it is.

import type { Database } from "bun:sqlite";
import { StoreFailure } from "#base/kit";
import { readProcess } from "#base/os";
import type { Event, Message, SessionId } from "#base/protocol";
import {
  EMPTY_STATE,
  foldState,
  type LoadedSession,
  type SessionKind,
  type SessionRecord,
  type SessionState,
} from "./records";

/** A fork of a fork and so on: more than this is a loop that somebody made by hand. */
const FORK_DEPTH_MAX = 1000;

export interface SessionRow {
  id: string;
  parent: string | null;
  parent_seq: number;
  kind: string;
  title: string;
  model: string;
  route: string;
  workspace: string;
  created: number;
  updated: number;
  last_seq: number;
  owner_pid: number | null;
  owner_start: number | null;
  owner_token: string | null;
}

export function toRecord(row: SessionRow): SessionRecord {
  return {
    id: row.id,
    kind: (["main", "fork", "worker"] as const).find((kind) => kind === row.kind) ?? "main",
    ...(row.parent === null ? {} : { parent: row.parent }),
    title: row.title,
    model: row.model,
    route: row.route,
    workspace: row.workspace,
    created: row.created,
    updated: row.updated,
    owner: liveOwner(row),
  } satisfies SessionRecord & { kind: SessionKind };
}

/** The owner's process id; undefined when it is dead or another process has its id by now. */
export function liveOwner(row: SessionRow): number | undefined {
  if (row.owner_pid === null || row.owner_token === null) return undefined;
  const entry = readProcess(row.owner_pid);
  if (!entry || entry.state === "Z" || entry.start !== row.owner_start) return undefined;
  return row.owner_pid;
}

export function findRow(database: Database, id: SessionId): SessionRow | undefined {
  const row = database.query<SessionRow, [string]>("SELECT * FROM sessions WHERE id = ?").get(id);
  return row ?? undefined;
}

/** A stretch of one session's entries, both ends included. */
interface Stretch {
  session: SessionId;
  from: number;
  to: number;
}

/** The session's own entries and those it has from its ancestors, oldest first. */
function stretchesOf(database: Database, row: SessionRow, from: number): Stretch[] {
  const stretches: Stretch[] = [];
  let current = row;
  let to = row.last_seq;
  for (let depth = 0; depth < FORK_DEPTH_MAX; depth++) {
    const begins = current.kind === "fork" ? current.parent_seq + 1 : 1;
    stretches.unshift({ session: current.id, from: Math.max(from, begins), to });
    if (current.kind !== "fork" || current.parent === null || from >= begins) return stretches;
    const parent = findRow(database, current.parent);
    if (!parent) return stretches;
    to = current.parent_seq;
    current = parent;
  }
  throw new StoreFailure(`Session ${row.id} has a loop among its ancestors. Use another one.`);
}

/** The newest state at or before the session's end; a fork begins with its parent's. */
function readState(database: Database, row: SessionRow): { state: SessionState; seq: number } {
  const found = database
    .query<{ seq: number; body: string }, [string]>(
      "SELECT seq, body FROM snapshots WHERE session = ?",
    )
    .get(row.id);
  const state = found ? parseState(found.body) : undefined;
  return found && state ? { state, seq: found.seq } : { state: EMPTY_STATE, seq: 0 };
}

function parseState(body: string): SessionState | undefined {
  try {
    return { ...EMPTY_STATE, ...(JSON.parse(body) as Partial<SessionState>) };
  } catch {
    // Damaged: the state is folded from all entries instead.
    return undefined;
  }
}

type StoredEntry = Event | { type: "context"; at: string; messages: Message[] };

export function readSession(database: Database, id: SessionId): LoadedSession {
  const row = findRow(database, id);
  if (!row) throw new StoreFailure(`There is no session ${id} here. See: bosun sessions.`);
  const { state: start, seq } = readState(database, row);
  let state = start;
  let messages: Message[] = [];
  let damaged = 0;
  const calls = new Map<string, string | undefined>();
  const waiting = new Set<string>();
  const query = database.query<{ seq: number; body: string }, [string, number, number]>(
    "SELECT seq, body FROM events WHERE session = ? AND seq BETWEEN ? AND ? ORDER BY seq",
  );
  for (const { session, from, to } of stretchesOf(database, row, start.contextFrom)) {
    for (const entry of query.iterate(session, from, to)) {
      const event = parseEntry(entry.body);
      if (!event) {
        damaged++;
        continue;
      }
      if (event.type === "context") {
        messages = [...event.messages];
        calls.clear();
        state = { ...state, contextFrom: entry.seq };
        continue;
      }
      if (entry.seq > seq) state = foldState(state, event);
      if (event.type === "message") messages.push(event.message);
      // A call that waited for its owner when all ended did not run.
      if (event.type === "approval.asked") waiting.add(event.call);
      if (event.type === "approval.answered") waiting.delete(event.call);
      if (event.type === "tool.started") calls.set(event.call, undefined);
      if (event.type === "tool.finished") calls.set(event.call, event.result);
    }
  }
  for (const call of waiting) calls.delete(call);
  return { record: toRecord(row), state, messages, calls, damaged };
}

function parseEntry(body: string): StoredEntry | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value !== "object" || value === null || !("type" in value)) return undefined;
    const entry = value as StoredEntry;
    if (entry.type === "context" && !Array.isArray(entry.messages)) return undefined;
    if (entry.type === "message" && typeof entry.message?.role !== "string") return undefined;
    return entry;
  } catch {
    return undefined;
  }
}
