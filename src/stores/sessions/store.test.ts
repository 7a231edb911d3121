import { afterEach, expect, test } from "bun:test";
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreFailure } from "#base/kit";
import type { Event, EventBody, Message } from "#base/protocol";
import {
  openSessionStore,
  SessionJournal,
  type SessionStart,
  type SessionStore,
} from "../sessions";
import { EMPTY_STATE, makeTitle } from "./records";

const directories: string[] = [];
const stores: SessionStore[] = [];

afterEach(() => {
  for (const store of stores.splice(0)) store.close();
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "bosun-sessions-"));
  directories.push(directory);
  return directory;
}

function open(directory: string): SessionStore {
  const store = openSessionStore(join(directory, "deep", "sessions.db"));
  stores.push(store);
  return store;
}

function start(id: string): SessionStart {
  return { id, kind: "main", model: "m", route: "http://x/v1", workspace: "/w" };
}

function event(body: EventBody): Event {
  return { v: 1, at: "2026-01-01T00:00:00.000Z", agent: "main", ...body };
}

function say(text: string): Event {
  return event({ type: "message", message: { role: "user", content: text } });
}

/** A store with one session of 400 entries, closed. */
function fill(path: string): void {
  const store = openSessionStore(path);
  const handle = store.create(start("a"));
  for (let n = 0; n < 400; n++) handle.append([say(`${n} `.padEnd(2000, "y"))], EMPTY_STATE);
  handle.release();
  store.close();
}

function texts(messages: readonly Message[]): unknown[] {
  return messages.map((message) => message.content);
}

test("what was appended is read back in order, with the state behind it", () => {
  const store = open(makeDirectory());
  const handle = store.create(start("a"));
  const todo = [{ text: "t", state: "current" as const }];
  handle.append([say("one"), say("two")], { ...EMPTY_STATE, todo, cwd: "/w/sub", step: 3 });
  const loaded = handle.load();
  expect(texts(loaded.messages)).toEqual(["one", "two"]);
  expect(loaded.state).toMatchObject({ todo, cwd: "/w/sub", step: 3 });
  expect(loaded.record).toMatchObject({ id: "a", owner: process.pid });
});

test("the files are their owner's alone", () => {
  const directory = makeDirectory();
  const store = open(directory);
  store.create(start("a")).append([say("one")], EMPTY_STATE);
  expect(statSync(join(directory, "deep")).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(join(directory, "deep"))) {
    expect([name, statSync(join(directory, "deep", name)).mode & 0o777]).toEqual([name, 0o600]);
  }
});

test("a live owner's session cannot be claimed; a dead owner's can", async () => {
  const directory = makeDirectory();
  const path = join(directory, "deep", "sessions.db");
  const script = `
    const { openSessionStore } = await import(${JSON.stringify(join(import.meta.dir, "..", "sessions.ts"))});
    const store = openSessionStore(${JSON.stringify(path)});
    const { EMPTY_STATE } = await import(${JSON.stringify(join(import.meta.dir, "records.ts"))});
    store.create(${JSON.stringify(start("a"))}).append([${JSON.stringify(say("theirs"))}], EMPTY_STATE);
    console.log("ready");
    await Bun.sleep(60000);`;
  const other = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", env: process.env });
  const reader = other.stdout.getReader();
  await reader.read();
  const store = open(directory);
  expect(() => store.claim("a")).toThrow(`process ${other.pid}`);
  expect(store.list()[0]?.owner).toBe(other.pid);
  other.kill("SIGKILL");
  await other.exited;
  expect(store.list()[0]?.owner).toBeUndefined();
  expect(texts(store.claim("a").loaded.messages)).toEqual(["theirs"]);
});

test("a stale handle can neither read nor write nor release a newer owner's claim", () => {
  const store = open(makeDirectory());
  const stale = store.create(start("a"));
  stale.append([say("old")], EMPTY_STATE);
  stale.release();
  const owner = store.claim("a").handle;
  expect(() => stale.append([say("mixed in")], EMPTY_STATE)).toThrow("taken over");
  expect(() => stale.load()).toThrow("taken over");
  stale.release();
  owner.append([say("new")], EMPTY_STATE);
  expect(texts(owner.load().messages)).toEqual(["old", "new"]);
});

test("a fork has what its parent had then, and neither sees what the other says later", () => {
  const store = open(makeDirectory());
  const parent = store.create(start("a"));
  parent.append([say("shared")], { ...EMPTY_STATE, step: 2 });
  const child = store.fork("a", start("b"));
  parent.append([say("parent's")], EMPTY_STATE);
  child.append([say("child's")], EMPTY_STATE);
  const grandchild = store.fork("b", start("c"));
  expect(texts(parent.load().messages)).toEqual(["shared", "parent's"]);
  expect(texts(child.load().messages)).toEqual(["shared", "child's"]);
  expect(texts(grandchild.load().messages)).toEqual(["shared", "child's"]);
  expect(grandchild.load().record).toMatchObject({ parent: "b", kind: "fork" });
});

test("a replaced context stands for all before it, in forks too", () => {
  const store = open(makeDirectory());
  const handle = store.create(start("a"));
  const journal = new SessionJournal({ cwd: () => "/w" });
  journal.append(say("long ago"));
  journal.attach(handle);
  journal.replaceContext([{ role: "user", content: "summary" }], "2026-01-01T00:00:00.000Z");
  journal.append(say("after"));
  expect(texts(handle.load().messages)).toEqual(["summary", "after"]);
  const child = store.fork("a", start("b"));
  child.append([say("child's")], handle.load().state);
  expect(texts(child.load().messages)).toEqual(["summary", "after", "child's"]);
});

test("calls without a result are told from those with one and those that never began", () => {
  const store = open(makeDirectory());
  const handle = store.create(start("a"));
  const begun = (call: string): Event =>
    event({ type: "tool.started", call, name: "shell", args: {} });
  const finished = event({
    type: "tool.finished",
    call: "done",
    name: "shell",
    ok: true,
    exitCode: 0,
    ms: 1,
    truncated: false,
    result: "its output",
  });
  handle.append([begun("done"), begun("cut"), finished], EMPTY_STATE);
  expect([...handle.load().calls]).toEqual([
    ["done", "its output"],
    ["cut", undefined],
  ]);
});

test("a journal that was closed keeps nothing, and says so", () => {
  const store = open(makeDirectory());
  const journal = new SessionJournal({ cwd: () => "/w" });
  journal.attach(store.create(start("a")));
  journal.append(say("one"));
  journal.close();
  expect(() => journal.append(say("two"))).toThrow("closed");
});

test("a context that could not be written does not come true later", () => {
  const store = open(makeDirectory());
  const handle = store.create(start("a"));
  const journal = new SessionJournal({ cwd: () => "/w" });
  journal.attach(handle);
  journal.append(say("one"));
  const write = handle.append;
  handle.append = () => {
    throw new StoreFailure("no space");
  };
  expect(() => journal.replaceContext([], "t")).toThrow("no space");
  handle.append = write;
  journal.append(say("two"));
  expect(texts(handle.load().messages)).toEqual(["one", "two"]);
});

test("what did not fit on the disk stays waiting and is written when there is room", () => {
  const directory = makeDirectory();
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", directory]);
  if (mounted.exitCode !== 0) {
    console.warn("No small disk can be mounted here: not tested.");
    return;
  }
  try {
    const store = openSessionStore(join(directory, "sessions.db"));
    const handle = store.create(start("a"));
    const journal = new SessionJournal({ cwd: () => "/w" });
    journal.attach(handle);
    journal.append(say("kept"));
    expect(() => {
      for (let n = 0; n < 100; n++) journal.append(say(`${n} `.padEnd(10_000, "x")));
    }).toThrow("The disk is full");
    const before = handle.load().messages.length;
    expect(before).toBeGreaterThan(0);
    Bun.spawnSync(["mount", "-o", "remount,size=8m", directory]);
    journal.append(say("last"));
    const { messages } = handle.load();
    expect(messages.length).toBe(before + 2);
    expect(texts(messages).at(-1)).toBe("last");
    store.close();
  } finally {
    Bun.spawnSync(["umount", "-l", directory]);
  }
});

test.each([
  [
    "its first bytes",
    (file: number, _size: number) => writeSync(file, Buffer.alloc(100), 0, 100, 0),
  ],
  ["its end", (file: number, size: number) => ftruncateSync(file, Math.trunc(size * 0.6))],
])("a store that lost %s: what is left of it is saved, the file is kept", (_name, damage) => {
  const directory = makeDirectory();
  const path = join(directory, "sessions.db");
  fill(path);
  const file = openSync(path, "r+");
  damage(file, statSync(path).size);
  closeSync(file);
  const mended = openSessionStore(path);
  stores.push(mended);
  expect(mended.notices[0]).toContain("damaged");
  const { messages } = mended.claim("a").loaded;
  expect(texts(messages)[0]).toStartWith("0 ");
  expect(messages.length).toBeGreaterThan(150);
  const names = readdirSync(directory);
  expect(names.some((name) => /\.corrupt\.[0-9TZ]+$/.test(name))).toBe(true);
  expect(names.some((name) => name.includes("mending"))).toBe(false);
});

test("a damaged page amid the events loses that page and no more", () => {
  const directory = makeDirectory();
  const path = join(directory, "sessions.db");
  fill(path);
  const file = openSync(path, "r+");
  // Two pages of rows; the first page, with the schema, stays whole.
  writeSync(file, new Uint8Array(8192).fill(0xff), 0, 8192, 4096 * 120);
  closeSync(file);
  const damaged = openSessionStore(path);
  stores.push(damaged);
  const messages = damaged.claim("a").loaded.messages;
  expect(messages.length).toBeGreaterThan(380);
  expect(texts(messages).at(-1)).toStartWith("399");
});

test("processes, agents and a fork on one store: no entry is lost or mixed", async () => {
  const directory = makeDirectory();
  const path = join(directory, "sessions.db");
  const modulePath = JSON.stringify(join(import.meta.dir, "..", "sessions.ts"));
  const script = (prefix: string): string => `
    const { openSessionStore, SessionJournal } = await import(${modulePath});
    const store = openSessionStore(${JSON.stringify(path)});
    const start = (id) => ({ id, kind: "main", model: "m", route: "r", workspace: "/w" });
    const say = (content) => ({ v: 1, at: "t", agent: "a", type: "message", message: { role: "user", content } });
    const journals = ["1", "2", "3"].map((n) => {
      const journal = new SessionJournal({ cwd: () => "/w" });
      journal.attach(store.create(start("${prefix}" + n)));
      return journal;
    });
    for (let n = 0; n < 150; n++) {
      journals.forEach((journal, index) => journal.append(say("${prefix}" + (index + 1) + ":" + n)));
      if (n === 74) {
        const journal = new SessionJournal({ cwd: () => "/w" });
        journal.attach(store.fork("${prefix}1", start("${prefix}fork")));
        journals.push(journal);
      }
      await Bun.sleep(0);
    }
    journals.forEach((journal) => journal.close());
    store.close();`;
  const children = ["a", "b"].map((prefix) =>
    Bun.spawn([process.execPath, "-e", script(prefix)], { env: process.env, stderr: "inherit" }),
  );
  for (const child of children) expect(await child.exited).toBe(0);
  const store = openSessionStore(path);
  stores.push(store);
  expect(store.list().length).toBe(8);
  const numbers = (name: string, from: number, to: number): string[] =>
    Array.from({ length: to - from }, (_, n) => `${name}:${from + n}`);
  for (const prefix of ["a", "b"]) {
    for (const n of ["1", "2", "3"]) {
      expect(texts(store.peek(prefix + n).messages)).toEqual(numbers(prefix + n, 0, 150));
    }
    expect(texts(store.peek(`${prefix}fork`).messages)).toEqual([
      ...numbers(`${prefix}1`, 0, 75),
      ...numbers(`${prefix}4`, 75, 150),
    ]);
  }
});

test("a damaged store that another process works with is left where it is", async () => {
  const directory = makeDirectory();
  const path = join(directory, "sessions.db");
  const script = `
    const { openSessionStore } = await import(${JSON.stringify(join(import.meta.dir, "..", "sessions.ts"))});
    const { EMPTY_STATE } = await import(${JSON.stringify(join(import.meta.dir, "records.ts"))});
    const store = openSessionStore(${JSON.stringify(path)});
    store.create(${JSON.stringify(start("a"))}).append([${JSON.stringify(say("theirs"))}], EMPTY_STATE);
    const { Database } = await import("bun:sqlite");
    const second = new Database(${JSON.stringify(path)});
    second.run("PRAGMA wal_checkpoint(TRUNCATE)");
    second.close();
    console.log("ready");
    await Bun.sleep(60000);`;
  const other = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", env: process.env });
  await other.stdout.getReader().read();
  const file = openSync(path, "r+");
  writeSync(file, new Uint8Array(100), 0, 100, 0);
  closeSync(file);
  expect(() => openSessionStore(path)).toThrow(`process ${other.pid}`);
  expect(readdirSync(directory).some((name) => name.includes("corrupt"))).toBe(false);
  other.kill("SIGKILL");
  await other.exited;
});

test("a store of a newer version is refused and left as it is", async () => {
  const directory = makeDirectory();
  const path = join(directory, "sessions.db");
  const { Database } = await import("bun:sqlite");
  const newer = new Database(path, { create: true });
  newer.run("PRAGMA user_version = 999");
  newer.close();
  expect(() => openSessionStore(path)).toThrow("newer Bosun");
  expect(readdirSync(directory)).toEqual(["sessions.db"]);
});

test("a directory that cannot be written is a failure in plain words", () => {
  expect(() => openSessionStore("/proc/nothing/sessions.db")).toThrow(StoreFailure);
});

test("titles are one short line", () => {
  expect(makeTitle("\n  fix \u001b[31m the\tbug \nplease")).toBe("fix [31m the bug");
  expect(makeTitle("word ".repeat(40)).length).toBeLessThanOrEqual(72);
});
