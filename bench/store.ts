// What the session store costs: the commits of a step, early and late in a long session, and how
// long it takes to open a session of ten entries and of a million.

import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Event, EventBody } from "../src/base/protocol";
import { openSessionStore, SessionJournal } from "../src/stores/sessions";

const AT = "2026-01-01T00:00:00.000Z";
const OPENINGS = 15;

function event(body: EventBody): Event {
  return { v: 1, at: AT, agent: "main", ...body };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Everything that one step with one command writes. */
function stepEvents(n: number): Event[] {
  const call = `call_${n}`;
  const command = JSON.stringify({ command: `true ${n}` });
  const args = { command: `true ${n}` };
  return [
    event({ type: "step.started", step: n }),
    event({
      type: "message",
      message: {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: call, type: "function", function: { name: "shell", arguments: command } },
        ],
      },
    }),
    event({ type: "usage", input: 100, output: 10, cached: 0, billable: 110 }),
    event({ type: "tool.started", call, name: "shell", args }),
    event({
      type: "tool.finished",
      call,
      name: "shell",
      ok: true,
      exitCode: 0,
      ms: 3,
      truncated: false,
      result: "[exit 0, 0.0 s]",
    }),
    event({
      type: "message",
      message: { role: "tool", tool_call_id: call, content: "[exit 0, 0.0 s]" },
    }),
  ];
}

export interface CommitCost {
  /** Medians of one step's commits together, in milliseconds. */
  early: number;
  late: number;
  /** Bytes of the store for each step, over the first and the last tenth. */
  bytesEarly: number;
  bytesLate: number;
}

/** Writes a session of that many steps, as the agent does. */
export function measureCommits(steps: number): CommitCost {
  const directory = mkdtempSync(join(tmpdir(), "bench-"));
  const path = join(directory, "sessions.db");
  const store = openSessionStore(path);
  const journal = new SessionJournal({ cwd: () => directory });
  const start = { kind: "main" as const, model: "m", route: "r", workspace: directory };
  journal.attach(store.create({ id: "s", ...start }));
  const times: number[] = [];
  const sizes: number[] = [];
  for (let n = 0; n < steps; n++) {
    const events = stepEvents(n);
    const began = performance.now();
    for (const each of events) journal.append(each);
    times.push(performance.now() - began);
    if (n % (steps / 10) === 0) sizes.push(sizeOf(path));
  }
  sizes.push(sizeOf(path));
  journal.close();
  store.close();
  rmSync(directory, { recursive: true });
  const tenth = steps / 10;
  return {
    early: median(times.slice(0, Math.min(200, tenth))),
    late: median(times.slice(-Math.min(200, tenth))),
    bytesEarly: ((sizes[2] ?? 0) - (sizes[1] ?? 0)) / tenth,
    bytesLate: ((sizes[10] ?? 0) - (sizes[9] ?? 0)) / tenth,
  };
}

/** Pages in use: the log beside the file is emptied now and then and says nothing. */
function sizeOf(path: string): number {
  const database = new Database(path, { readonly: true });
  const pages = database.query<{ page_count: number }, []>("PRAGMA page_count").get();
  database.close();
  return (pages?.page_count ?? 0) * 4096;
}

/** Milliseconds to open the store, claim the session and read its live context, median. */
export function measureOpening(entries: number): number {
  const directory = mkdtempSync(join(tmpdir(), "bench-"));
  const path = join(directory, "sessions.db");
  const first = openSessionStore(path);
  const start = { kind: "main" as const, model: "m", route: "r", workspace: directory };
  const journal = new SessionJournal({ cwd: () => directory });
  journal.attach(first.create({ id: "s", ...start }));
  for (const each of stepEvents(1)) journal.append(each);
  fill(path, entries - 20);
  // The live context is what a compaction left: it is bounded, the transcript is not.
  const context = stepEvents(2).flatMap((each) => (each.type === "message" ? [each.message] : []));
  journal.replaceContext(context, AT);
  for (const each of stepEvents(3)) journal.append(each);
  journal.close();
  first.close();
  const times: number[] = [];
  for (let n = 0; n < OPENINGS; n++) {
    const began = performance.now();
    const store = openSessionStore(path);
    const { handle, loaded } = store.claim("s");
    times.push(performance.now() - began);
    if (loaded.messages.length !== 4) throw new Error("The context is not what was written.");
    handle.release();
    store.close();
  }
  rmSync(directory, { recursive: true });
  return median(times);
}

/** Writes entries at once: through the journal a million of them would take half an hour. */
function fill(path: string, count: number): void {
  if (count <= 0) return;
  const database = new Database(path);
  const last = database
    .query<{ last_seq: number }, []>("SELECT last_seq FROM sessions WHERE id = 's'")
    .get()?.last_seq;
  if (last === undefined) throw new Error("The session is not there.");
  database
    .query(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO events (session, seq, at, kind, body)
       SELECT 's', ? + i, ?, 'message', ? FROM n`,
    )
    .run(count, last, AT, JSON.stringify(stepEvents(0)[5]));
  database.query("UPDATE sessions SET last_seq = last_seq + ? WHERE id = 's'").run(count);
  database.close();
}
