// The sessions of one project: made, listed, claimed, forked. Several processes may hold the same
// store at once; a session belongs to one of them at a time.

import type { Database } from "bun:sqlite";
import { StoreFailure } from "#base/kit";
import { lockHoldersOf, readProcess } from "#base/os";
import type { SessionId } from "#base/protocol";
import { describeStoreFault } from "./failure";
import { createHandle, type SessionHandle } from "./handle";
import { findRow, liveOwner, readSession, type SessionRow, toRecord } from "./reading";
import type { LoadedSession, SessionRecord, SessionStart } from "./records";
import { salvage } from "./salvage";
import { moveAside, openDatabase } from "./schema";

export interface SessionStore {
  readonly path: string;
  /** What happened at opening that its owner should know, one sentence each. */
  readonly notices: readonly string[];
  create(start: SessionStart): SessionHandle;
  /**
   * Takes a session that nobody works on, and reads it; damage that shows by that is mended as at
   * opening. Throws a StoreFailure when somebody works on it.
   */
  claim(id: SessionId): { handle: SessionHandle; loaded: LoadedSession };
  /** Most recently updated first. */
  list(): SessionRecord[];
  find(id: SessionId): SessionRecord | undefined;
  /** Reads without owning: for lists, exports and copies. */
  peek(id: SessionId): LoadedSession;
  /** A copy of `parent` as it is now; nothing is written twice. */
  fork(parent: SessionId, start: SessionStart): SessionHandle;
  close(): void;
}

/** Opens the store, makes it, or saves what can be saved of it. Throws a StoreFailure. */
export function openSessionStore(
  path: string,
  /** Whether a damaged one is moved aside and saved; otherwise it is a failure. */
  { mends = true }: { mends?: boolean } = {},
): SessionStore {
  const notices: string[] = [];
  let database: Database;
  try {
    database = openDatabase(path);
    probe(database);
  } catch (error) {
    const failure = describeStoreFault(error, path);
    if (!failure.isDamaged || !mends) throw failure;
    database = openInPlaceOf(path, notices);
  }
  return new Store(path, database, notices);
}

/** The first pages are damaged more often than others; reading all would take too long. */
function probe(database: Database): void {
  database.query("SELECT count(*) FROM sessions").get();
  database.query("SELECT seq FROM events ORDER BY rowid DESC LIMIT 1").get();
}

function openInPlaceOf(path: string, notices: string[]): Database {
  // Others that have it open would write on into the one that is moved aside; each of them holds a
  // lock on this file for as long.
  const [holder] = lockHoldersOf(`${path}-shm`);
  if (holder !== undefined) {
    throw new StoreFailure(
      `The session store ${path} is damaged, but another Bosun (process ${holder}) works with it. ` +
        "End that one, then try again.",
    );
  }
  try {
    const aside = moveAside(path, Date.now());
    const database = openDatabase(path);
    const saved = salvage(aside, database);
    notices.push(
      `The session store was damaged. ${saved.sessions} sessions with ${saved.events} entries were ` +
        `saved into a new one, with ${saved.gaps} gaps; the damaged file is kept as ${aside}.`,
    );
    return database;
  } catch (error) {
    throw describeStoreFault(error, path);
  }
}

class Store implements SessionStore {
  readonly path: string;
  readonly notices: string[];
  #database: Database;

  constructor(path: string, database: Database, notices: string[]) {
    this.path = path;
    this.#database = database;
    this.notices = notices;
  }

  create(start: SessionStart): SessionHandle {
    const token = crypto.randomUUID();
    return createHandle({
      database: this.#database,
      path: this.path,
      id: start.id,
      token,
      insert: () => this.#insert(start, undefined, { token }),
    });
  }

  fork(parent: SessionId, start: SessionStart): SessionHandle {
    return this.#guard(() => {
      const token = crypto.randomUUID();
      const copy = this.#database.transaction(() => {
        const row = findRow(this.#database, parent);
        if (!row) throw missing(parent);
        this.#insert({ ...start, parent, kind: "fork" }, row, { token });
      });
      copy.immediate();
      return this.#handle(start.id, token);
    });
  }

  claim(id: SessionId): { handle: SessionHandle; loaded: LoadedSession } {
    try {
      return this.#take(id);
    } catch (error) {
      if (!(error instanceof StoreFailure && error.isDamaged)) throw error;
      this.#mend();
      return this.#take(id);
    }
  }

  #take(id: SessionId): { handle: SessionHandle; loaded: LoadedSession } {
    return this.#guard(() => {
      const token = crypto.randomUUID();
      const take = this.#database.transaction(() => {
        const row = findRow(this.#database, id);
        if (!row) throw missing(id);
        const owner = liveOwner(row);
        if (owner !== undefined) {
          throw new StoreFailure(
            `Session ${id} is at work in another Bosun (process ${owner}). End that one, or copy ` +
              `the session: bosun sessions fork ${id}.`,
          );
        }
        this.#database
          .query("UPDATE sessions SET owner_pid = ?, owner_start = ?, owner_token = ? WHERE id = ?")
          .run(process.pid, ownStart(), token, id);
      });
      take.immediate();
      const handle = this.#handle(id, token);
      return { handle, loaded: handle.load() };
    });
  }

  #mend(): void {
    this.#database.close();
    this.#database = openInPlaceOf(this.path, this.notices);
  }

  list(): SessionRecord[] {
    return this.#guard(() =>
      this.#database
        .query<SessionRow, []>("SELECT * FROM sessions ORDER BY updated DESC, id DESC")
        .all()
        .map(toRecord),
    );
  }

  find(id: SessionId): SessionRecord | undefined {
    return this.#guard(() => {
      const row = findRow(this.#database, id);
      return row ? toRecord(row) : undefined;
    });
  }

  peek(id: SessionId): LoadedSession {
    return this.#guard(() => readSession(this.#database, id));
  }

  close(): void {
    this.#database.close();
  }

  #insert(start: SessionStart, parent: SessionRow | undefined, { token }: { token: string }): void {
    const now = Date.now();
    const parentSeq = parent?.last_seq ?? 0;
    this.#database
      .query(`INSERT INTO sessions (id, parent, parent_seq, kind, title, model, route,
        workspace, created, updated, last_seq, owner_pid, owner_start, owner_token)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
      .run(
        start.id,
        start.parent ?? null,
        parentSeq,
        start.kind,
        parent?.title ?? "",
        start.model,
        start.route,
        start.workspace,
        now,
        now,
        parentSeq,
        process.pid,
        ownStart(),
        token,
      );
    if (!parent) return;
    this.#database
      .query("INSERT INTO snapshots SELECT ?, seq, body FROM snapshots WHERE session = ?")
      .run(start.id, parent.id);
  }

  #handle(id: SessionId, token: string): SessionHandle {
    return createHandle({ database: this.#database, path: this.path, id, token });
  }

  #guard<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      throw describeStoreFault(error, this.path);
    }
  }
}

function missing(id: SessionId): StoreFailure {
  return new StoreFailure(`There is no session ${id} here. See: bosun sessions.`);
}

/** With the process id it names this process for good. */
function ownStart(): number {
  return readProcess(process.pid)?.start ?? 0;
}
