// Copies what can still be read out of a damaged database into a new one. A damaged page makes the
// rows on it unreadable, not those before and behind: so the gap is jumped over.

import { Database } from "bun:sqlite";
import { closeSync, copyFileSync, openSync, readSync, rmSync, statSync, writeSync } from "node:fs";

const TABLES = ["sessions", "events", "snapshots"] as const;

/** Rows that are read at once while all is well. */
const BATCH = 500;

/** A jump this far past the last readable row finds nothing more. */
const JUMP_MAX = 2 ** 40;

export interface Salvage {
  sessions: number;
  events: number;
  /** A hint of what is lost: gaps that had to be jumped over, or a table that says nothing. */
  gaps: number;
}

type Row = Record<string, string | number | Uint8Array | null> & { rowid: number };

/** Never throws for damage: what cannot be read is counted as a gap. */
export function salvage(damagedPath: string, target: Database): Salvage {
  const plain = copyTables(damagedPath, target);
  if (plain.sessions + plain.events > 0) return plain;
  // Nothing at all: it may be only the first bytes that are damaged, or the end that is cut off.
  const copy = `${damagedPath}.mending`;
  copyFileSync(damagedPath, copy);
  try {
    graftHeader(copy, target.filename);
    return copyTables(copy, target);
  } finally {
    for (const ending of ["", "-wal", "-shm"]) rmSync(copy + ending, { force: true });
  }
}

const HEADER_BYTES = 100;
const PAGE_BYTES = 4096;

/** Gives a file the header of a sound one, with its own size. Source: sqlite.org, "File Format". */
function graftHeader(path: string, soundPath: string): void {
  const header = Buffer.alloc(HEADER_BYTES);
  const sound = openSync(soundPath, "r");
  readSync(sound, header, 0, HEADER_BYTES, 0);
  closeSync(sound);
  header.writeUInt32BE(Math.trunc(statSync(path).size / PAGE_BYTES), 28);
  // No list of free pages, and a count of changes that says the size is right.
  header.fill(0, 32, 40);
  header.copy(header, 92, 24, 28);
  const file = openSync(path, "r+");
  writeSync(file, header, 0, HEADER_BYTES, 0);
  closeSync(file);
}

function copyTables(damagedPath: string, target: Database): Salvage {
  const result: Salvage = { sessions: 0, events: 0, gaps: 0 };
  let source: Database;
  try {
    source = new Database(damagedPath, { readwrite: true, create: false });
  } catch {
    // Not even its first page is one of a database.
    return { ...result, gaps: TABLES.length };
  }
  try {
    for (const table of TABLES) {
      const { copied, gaps } = copyTable(source, target, table);
      result.gaps += gaps;
      if (table === "sessions" || table === "events") result[table] = copied;
    }
  } finally {
    source.close();
  }
  target.run("UPDATE sessions SET owner_pid = NULL, owner_start = NULL, owner_token = NULL");
  target.run(`INSERT OR IGNORE INTO sessions (id, kind, model, route, workspace, created, updated)
    SELECT DISTINCT session, 'main', '', '', '', 0, 0 FROM events`);
  target.run(`UPDATE sessions SET last_seq = max(last_seq,
    coalesce((SELECT max(seq) FROM events WHERE session = sessions.id), 0))`);
  return result;
}

function copyTable(
  source: Database,
  target: Database,
  table: string,
): { copied: number; gaps: number } {
  const insert = inserter(target, table);
  const read = (after: number, limit: number): Row[] | undefined => {
    try {
      return source
        .query<Row, [number, number]>(
          `SELECT rowid, * FROM ${table} NOT INDEXED WHERE rowid > ? ORDER BY rowid LIMIT ?`,
        )
        .all(after, limit);
    } catch {
      return undefined;
    }
  };
  let copied = 0;
  let gaps = 0;
  let last = 0;
  for (let size = BATCH; ; ) {
    const rows = read(last, size);
    if (rows === undefined) {
      // Smaller steps up to the gap, then over it.
      if (size > 1) {
        size = size > 8 ? Math.trunc(size / 8) : 1;
        continue;
      }
      gaps++;
      const beyond = findBeyond(last, (after) => read(after, 1));
      if (beyond === undefined) break;
      last = beyond;
      continue;
    }
    if (rows.length === 0) break;
    try {
      insert(rows);
      copied += rows.length;
    } catch {
      // Values of a kind that the table does not take: they are damage, too.
      gaps++;
    }
    last = rows.at(-1)?.rowid ?? last;
    size = Math.min(BATCH, size * 2);
  }
  return { copied, gaps };
}

/** The lowest row id behind `last` from which reading works again; undefined when none is found. */
function findBeyond(
  last: number,
  read: (after: number) => readonly Row[] | undefined,
): number | undefined {
  let works = 1;
  for (; read(last + works) === undefined; works *= 2) if (works >= JUMP_MAX) return undefined;
  let fails = works / 2;
  while (works - fails > 1) {
    const middle = Math.trunc((works + fails) / 2);
    if (read(last + middle) === undefined) fails = middle;
    else works = middle;
  }
  return last + works;
}

function inserter(target: Database, table: string): (rows: Row[]) => void {
  const columns = target.query<{ name: string }, []>(`PRAGMA table_info(${table})`).all();
  const known = new Set(columns.map(({ name }) => name));
  return target.transaction((rows: Row[]) => {
    for (const { rowid: _, ...row } of rows) {
      const names = Object.keys(row).filter((name) => known.has(name));
      const marks = names.map(() => "?").join(", ");
      target
        .query(`INSERT OR IGNORE INTO ${table} (${names.join(", ")}) VALUES (${marks})`)
        .run(...names.map((name) => row[name] ?? null));
    }
  });
}
