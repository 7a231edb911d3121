// Walks folders as git sees them: ignored entries and .git left out, links never followed, sorted
// by name. Bounded in entries and time, so that a walk of / ends, too.

import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { IgnoreRules } from "./ignored";

export interface WalkEntry {
  path: string;
  kind: "file" | "folder" | "link" | "other";
}

export interface WalkLimits {
  entriesMax: number;
  msMax: number;
  signal: AbortSignal;
  /** False for what the owner keeps from tools. */
  mayRead?(path: string): boolean;
}

export interface Folder {
  path: string;
  rules: IgnoreRules;
}

/** Counts what was seen and says when to end; shared by all folders of one walk. */
export class Walk {
  /** Set when a limit ended the walk before all was seen. */
  isCut = false;
  readonly #limits: WalkLimits;
  readonly #deadline: number;
  #seen = 0;

  constructor(limits: WalkLimits) {
    this.#limits = limits;
    this.#deadline = performance.now() + limits.msMax;
  }

  start(path: string): Folder {
    return { path, rules: IgnoreRules.at(path) };
  }

  /** The entries of one folder; empty when it cannot be read or a limit is reached. */
  async read(folder: Folder): Promise<{ entries: WalkEntry[]; inside(path: string): Folder }> {
    const names = this.#mayGoOn() ? await entriesOf(folder.path) : [];
    const rules = folder.rules.enter(
      folder.path,
      names.some((entry) => entry.name === ".gitignore"),
    );
    const entries: WalkEntry[] = [];
    for (const name of names) {
      if (!this.#mayGoOn()) break;
      this.#seen++;
      const path = join(folder.path, name.name);
      const kind = kindOfEntry(name);
      if (name.name === ".git" || rules.isIgnored(path, kind === "folder")) continue;
      if (this.#limits.mayRead?.(path) === false) continue;
      entries.push({ path, kind });
    }
    return { entries, inside: (path) => ({ path, rules }) };
  }

  #mayGoOn(): boolean {
    const { entriesMax, signal } = this.#limits;
    if (signal.aborted || this.#seen >= entriesMax || performance.now() > this.#deadline) {
      this.isCut = true;
    }
    return !this.isCut;
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  } catch {
    // Gone, or not ours to read: a walk goes on without it.
    return [];
  }
}

function kindOfEntry(entry: Dirent): WalkEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

/** All files below `start` in the order of their paths, folders opened where their name stands. */
export async function* walkFiles(walk: Walk, start: string): AsyncGenerator<WalkEntry> {
  const stack: { entries: WalkEntry[]; inside(path: string): Folder }[] = [
    await walk.read(walk.start(start)),
  ];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const entry = top.entries.shift();
    if (!entry) {
      stack.pop();
    } else if (entry.kind === "folder") {
      stack.push(await walk.read(top.inside(entry.path)));
    } else {
      yield entry;
    }
  }
}
