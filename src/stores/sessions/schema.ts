// The database: its tables, how it is opened, and what is done with one that is damaged.
// `synchronous=FULL` syncs the log at every commit: a commit that returned survives a power cut.

import { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { StoreFailure } from "#base/kit";
import { describeStoreFault } from "./failure";

const SCHEMA_VERSION = 1;

/** Commits take less than a millisecond; whoever holds the lock for this long is stuck. */
const LOCK_WAIT_MS = 5000;
const LOCK_RETRY_MS = 10;

const TABLES = `
  CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, parent TEXT, parent_seq INTEGER NOT NULL DEFAULT 0, kind TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '', model TEXT NOT NULL, route TEXT NOT NULL,
    workspace TEXT NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL,
    last_seq INTEGER NOT NULL DEFAULT 0,
    owner_pid INTEGER, owner_start INTEGER, owner_token TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS events (
    session TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, kind TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS events_by_seq ON events (session, seq);
  CREATE TABLE IF NOT EXISTS snapshots (
    session TEXT PRIMARY KEY, seq INTEGER NOT NULL, body TEXT NOT NULL
  ) STRICT;
  PRAGMA user_version = ${SCHEMA_VERSION};
`;

/** Opens the database, and makes it when there is none. Throws a StoreFailure. */
export function openDatabase(path: string): Database {
  let database: Database | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Its log and its index get the permissions of the file itself.
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    database = new Database(path, { readwrite: true, create: true, strict: true });
    database.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
    const version = readVersion(database);
    if (version > SCHEMA_VERSION) {
      throw new StoreFailure(
        `The session store ${path} was made by a newer Bosun. Update this one, or use --no-session.`,
      );
    }
    useLog(database);
    database.run("PRAGMA synchronous = FULL");
    if (version < SCHEMA_VERSION) database.transaction(() => database?.run(TABLES)).immediate();
    return database;
  } catch (error) {
    database?.close();
    throw describeStoreFault(error, path);
  }
}

/** Two that open a new store at once hinder each other here, and the lock's own waiting is not used. */
function useLog(database: Database): void {
  for (let waitedMs = 0; ; waitedMs += LOCK_RETRY_MS) {
    try {
      database.run("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      const isBusy = error instanceof Error && "code" in error && error.code === "SQLITE_BUSY";
      if (!isBusy || waitedMs >= LOCK_WAIT_MS) throw error;
      Bun.sleepSync(LOCK_RETRY_MS);
    }
  }
}

function readVersion(database: Database): number {
  const row = database.query<{ user_version: number }, []>("PRAGMA user_version").get();
  return row?.user_version ?? 0;
}

/** Renames the database, its log and its index out of the way; returns the new path. */
export function moveAside(path: string, atMs: number): string {
  const stamp = new Date(atMs).toISOString().replace(/[-:]|\.\d+/g, "");
  let aside = `${path}.corrupt.${stamp}`;
  for (let n = 2; existsSync(aside); n++) aside = `${path}.corrupt.${stamp}.${n}`;
  renameSync(path, aside);
  chmodSync(aside, 0o600);
  for (const ending of ["-wal", "-shm"]) {
    if (existsSync(path + ending)) renameSync(path + ending, aside + ending);
  }
  return aside;
}
