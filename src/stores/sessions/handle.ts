// One session in the hands of its owner. Whoever lost the session to a newer owner can neither read
// nor write it nor let go of it: every step asks for the token that the claim left in the store.

import type { Database } from "bun:sqlite";
import { StoreFailure } from "#base/kit";
import type { Event, Message, SessionId } from "#base/protocol";
import { describeStoreFault } from "./failure";
import { readSession } from "./reading";
import { EMPTY_STATE, type LoadedSession, makeTitle, type SessionState } from "./records";

/** What is written: an event, or a new live context in place of all before. */
export type Entry = Event | { type: "context"; at: string; messages: readonly Message[] };

export interface SessionHandle {
  readonly id: SessionId;
  /**
   * Writes the entries, and the state behind them, in one commit; they are on the disk when it
   * returns the last one's sequence. Throws a StoreFailure, and nothing of it is written.
   */
  append(entries: readonly Entry[], state: SessionState): number;
  load(): LoadedSession;
  setTitle(title: string): void;
  /** Lets go of the session; without effect when it belongs to somebody else by now. */
  release(): void;
}

interface HandleOptions {
  database: Database;
  path: string;
  id: SessionId;
  token: string;
  /** Makes the session's row, in the commit of its first entries: one commit less at the start. */
  insert?: () => void;
}

export function createHandle({ database, path, id, token, insert }: HandleOptions): SessionHandle {
  let isThere = insert === undefined;
  const statements = prepare(database);
  const guard = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      throw describeStoreFault(error, path);
    }
  };
  const ownRow = (): { last_seq: number; title: string } => {
    const row = statements.own.get(id, token);
    if (!row) {
      throw new StoreFailure(
        `Session ${id} was taken over by another Bosun. Resume it here when that one has ended.`,
      );
    }
    return row;
  };
  const write = database.transaction((entries: readonly Entry[], state: SessionState): number => {
    if (!isThere) insert?.();
    const row = ownRow();
    let { title } = row;
    let sequence = row.last_seq;
    for (const entry of entries) {
      sequence++;
      statements.insert.run(id, sequence, entry.at, entry.type, JSON.stringify(entry));
      if (title === "" && entry.type === "run.started") title = makeTitle(entry.request);
      if (entry.type === "context") state = { ...state, contextFrom: sequence };
    }
    statements.snapshot.run(id, sequence, JSON.stringify(state));
    statements.touch.run(sequence, Date.now(), title, id);
    return sequence;
  });
  return {
    id,
    append: (entries, state) =>
      guard(() => {
        const sequence = write.immediate(entries, state);
        isThere = true;
        return sequence;
      }),
    load: () =>
      guard(() => {
        if (!isThere) {
          write.immediate([], EMPTY_STATE);
          isThere = true;
        }
        ownRow();
        return readSession(database, id);
      }),
    setTitle(title) {
      guard(() => statements.title.run(title, id, token));
    },
    release() {
      guard(() => statements.release.run(id, token));
    },
  };
}

function prepare(database: Database) {
  return {
    own: database.query<{ last_seq: number; title: string }, [string, string]>(
      "SELECT last_seq, title FROM sessions WHERE id = ? AND owner_token = ?",
    ),
    insert: database.query<void, [string, number, string, string, string]>(
      "INSERT INTO events (session, seq, at, kind, body) VALUES (?, ?, ?, ?, ?)",
    ),
    snapshot: database.query<void, [string, number, string]>(
      `INSERT INTO snapshots (session, seq, body) VALUES (?, ?, ?)
       ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, body = excluded.body`,
    ),
    touch: database.query<void, [number, number, string, string]>(
      "UPDATE sessions SET last_seq = ?, updated = ?, title = ? WHERE id = ?",
    ),
    title: database.query<void, [string, string, string]>(
      "UPDATE sessions SET title = ? WHERE id = ? AND owner_token = ?",
    ),
    release: database.query<void, [string, string]>(
      `UPDATE sessions SET owner_pid = NULL, owner_start = NULL, owner_token = NULL
       WHERE id = ? AND owner_token = ?`,
    ),
  };
}
