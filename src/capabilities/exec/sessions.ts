// Knows every session that a command was given, and what still runs in it or has left it: orphans
// (they come to us, the subreaper), daemons with a session of their own (found by the mark in
// their environment). Counts them, ends them, leaves none behind.

import {
  childrenOf,
  isRunning,
  type Libc,
  listProcesses,
  loadLibc,
  type ProcessEntry,
  RUN_MARK,
  readEnvironment,
  readProcess,
  signalProcess,
} from "#base/os";
import type { Shell } from "./shell";

/** From SIGTERM to SIGKILL; a stop must be through within a second. */
export const KILL_GRACE_MS = 400;
/** When to look, within the grace, whether all is gone. */
const LOOK_AFTER_MS = [10, 30, 60, 100, 200];
/** Something forks while it is killed: look again, but not for ever. */
const KILL_ROUNDS_MAX = 5;
const KILL_ROUND_MS = 20;
/** How often what was left behind is looked at. */
const SWEEP_INTERVAL_MS = 2000;

export interface Sessions {
  /** To be called before the first command; loads libc. */
  prepare(): Promise<void>;
  /** `mark` is the value of RUN_MARK in the environment of its command; none while it waits. */
  add(shell: Shell, mark?: string): void;
  /**
   * Its command has ended: how many of its processes still run. None in its session: the shell is
   * ended, too. Otherwise it stays, stopped, since its end would hang up the terminal on them.
   */
  settle(shell: Shell): number;
  /** Ends everything in the shell's session, what descends from it and what left it. */
  end(shell: Shell, options: { graceMs: number }): Promise<void>;
  /** Ends everything of every session. */
  close(): Promise<void>;
}

/** Is told which sessions there are, to end them should this program be killed. */
export interface SessionWatch {
  /** A child of ours that is no command's. */
  readonly pid: number | undefined;
  begun(session: number): void;
  ended(session: number): void;
}

export function createSessions(watch?: SessionWatch): Sessions {
  return new SessionTable(watch);
}

/** Those that were not closed yet. */
const open = new Set<object>();

class SessionTable implements Sessions {
  /** By session, which is the shell's pid: the shells that are there, and their marks. */
  readonly #shells = new Map<number, { shell: Shell; mark: string }>();
  /** Processes outside of any session of ours, known by their mark, and their start times. */
  readonly #escaped = new Map<number, number>();
  /** Dead children that nobody had collected at the last look. */
  #dead = new Map<number, number>();
  #libc: Libc | undefined;
  #sweeping: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly watch: SessionWatch | undefined) {
    open.add(this);
  }

  async prepare(): Promise<void> {
    this.#libc ??= await loadLibc();
    this.#libc?.becomeSubreaper();
  }

  add(shell: Shell, mark = ""): void {
    const { pid } = shell;
    if (!this.#shells.has(pid)) {
      this.watch?.begun(pid);
      shell.gone.then(() => this.#gone(pid));
    }
    this.#shells.set(pid, { shell, mark });
  }

  settle(shell: Shell): number {
    const mark = this.#shells.get(shell.pid)?.mark ?? "";
    const inside = childrenOf(shell.pid).filter(isRunning).length;
    let held = 0;
    let escaped = 0;
    for (const orphan of this.#orphans()) {
      if (orphan.session === shell.pid) held += 1;
      else if (hasMarkSurely(orphan.pid, mark)) {
        escaped += 1;
        this.#escaped.set(orphan.pid, orphan.start);
      }
    }
    // Its result goes on its way first: ending it takes longer than that.
    if (inside + held === 0) setImmediate(() => shell.kill());
    if (inside + held + escaped > 0) this.#sweepSoon();
    return inside + held + escaped;
  }

  async end(shell: Shell, { graceMs }: { graceMs: number }): Promise<void> {
    const mark = this.#shells.get(shell.pid)?.mark ?? "";
    const ended = await endProcesses(
      () => familyOf((entry) => entry.session === shell.pid || hasMark(entry.pid, mark)),
      graceMs,
    );
    this.#collect(ended);
    this.#sweepSoon();
  }

  async close(): Promise<void> {
    clearTimeout(this.#sweeping);
    open.delete(this);
    const isAnyoneLeft = this.#shells.size + this.#escaped.size > 0 || this.#strays().size > 0;
    if (!isAnyoneLeft) return;
    const marks = [...this.#shells.values()].map((entry) => entry.mark);
    const ended = await endProcesses(() => {
      const strays = this.#strays();
      return familyOf(
        (entry) =>
          this.#shells.has(entry.session) ||
          strays.has(entry.pid) ||
          this.#escaped.get(entry.pid) === entry.start ||
          marks.some((mark) => hasMark(entry.pid, mark)),
      );
    }, KILL_GRACE_MS);
    await Promise.all([...this.#shells.values()].map((entry) => entry.shell.gone));
    this.#collect(ended);
  }

  /**
   * What dropped its mark and its session still came to us when its parents ended. Whose it was is
   * not known: it is left to the last that closes.
   */
  #strays(): ReadonlySet<number> {
    return new Set(open.size > 0 ? [] : this.#orphans().map(({ pid }) => pid));
  }

  #gone(pid: number): void {
    this.#shells.delete(pid);
    this.watch?.ended(pid);
  }

  /** Our living children that no module of ours started as such: a shell's, left behind. */
  #orphans(): ProcessEntry[] {
    const unknown = childrenOf(process.pid).filter(
      (pid) => !this.#shells.has(pid) && pid !== this.watch?.pid,
    );
    if (unknown.length === 0) return [];
    const own = readProcess(process.pid)?.session;
    return unknown
      .map(readProcess)
      .filter((entry) => entry !== undefined)
      .filter((entry) => entry.session !== own && entry.state !== "Z");
  }

  /** As long as something was left behind: collects what died, lets go of shells not needed. */
  #sweepSoon(): void {
    if (this.#sweeping !== undefined) return;
    this.#sweeping = setTimeout(() => {
      this.#sweeping = undefined;
      this.#collectDead();
      for (const [pid, start] of this.#escaped) {
        if (readProcess(pid)?.start !== start) this.#escaped.delete(pid);
      }
      let isAnythingHeld = this.#escaped.size > 0 || this.#dead.size > 0;
      const orphans = this.#orphans();
      for (const { shell } of this.#shells.values()) {
        // Only a shell that has reported is stopped; all others are at work.
        if (readProcess(shell.pid)?.state !== "T") continue;
        const isHeld =
          childrenOf(shell.pid).some(isRunning) ||
          orphans.some((orphan) => orphan.session === shell.pid);
        if (isHeld) isAnythingHeld = true;
        else shell.kill();
      }
      if (isAnythingHeld) this.#sweepSoon();
    }, SWEEP_INTERVAL_MS);
    this.#sweeping.unref();
  }

  /** The exit status of those among them that had come to us; shells are Bun's to collect. */
  #collect(ended: ReadonlySet<number>): void {
    for (const pid of ended) {
      if (this.#shells.has(pid)) continue;
      const entry = readProcess(pid);
      if (entry?.state === "Z" && entry.parent === process.pid) this.#libc?.reap(pid);
    }
  }

  /** Dead orphans stay until their new parent, which we are, collects them; Bun does not. */
  #collectDead(): void {
    const before = this.#dead;
    this.#dead = new Map();
    for (const pid of childrenOf(process.pid)) {
      if (pid === this.watch?.pid) continue;
      const entry = readProcess(pid);
      if (entry?.state !== "Z" || this.#shells.has(pid)) continue;
      // Bun collects its own children within moments; what lies there longer is an orphan.
      const isOrphan = this.#shells.has(entry.session) || before.get(pid) === entry.start;
      if (!isOrphan || !this.#libc?.reap(pid)) this.#dead.set(pid, entry.start);
    }
  }
}

function hasMark(pid: number, mark: string): boolean {
  return readEnvironment(pid).split("\0").includes(`${RUN_MARK}=${mark}`);
}

/** A process has no environment for a moment while it becomes another program: look again. */
function hasMarkSurely(pid: number, mark: string): boolean {
  for (let look = 0; look < 3 && readEnvironment(pid) === ""; look += 1) Bun.sleepSync(1);
  return hasMark(pid, mark);
}

/** The processes that belong, and everything below them. */
function familyOf(belongs: (entry: ProcessEntry) => boolean): ProcessEntry[] {
  const table = listProcesses().filter((entry) => entry.state !== "Z");
  const others = table.filter((entry) => entry.pid !== process.pid);
  const chosen = new Map(others.filter(belongs).map((entry) => [entry.pid, entry]));
  // Children may stand before their parents in the table: go on until nothing is added.
  for (let size = -1; size !== chosen.size; ) {
    size = chosen.size;
    for (const entry of others) if (chosen.has(entry.parent)) chosen.set(entry.pid, entry);
  }
  return [...chosen.values()];
}

/** Still at it. A shell of ours that ended in the ordinary way has stopped itself: that is all. */
function isEnding(pid: number): boolean {
  const state = readProcess(pid)?.state ?? "Z";
  return state !== "Z" && state !== "X" && state !== "T";
}

/**
 * SIGTERM, then SIGKILL until nothing is left. A stopped process is woken, or it could not end.
 * Returns whom it sent anything.
 */
async function endProcesses(find: () => ProcessEntry[], graceMs: number): Promise<Set<number>> {
  const all = new Set<number>();
  if (graceMs > 0) {
    for (const { pid } of find()) all.add(pid);
    for (const pid of all) signalProcess(pid, "SIGTERM");
    for (const pid of all) signalProcess(pid, "SIGCONT");
    let waited = 0;
    for (const pause of LOOK_AFTER_MS) {
      if (![...all].some(isEnding) || waited >= graceMs) break;
      await Bun.sleep(pause);
      waited += pause;
    }
  }
  for (let round = 0; round < KILL_ROUNDS_MAX; round += 1) {
    const left = find();
    if (left.length === 0) break;
    for (const { pid } of left) {
      all.add(pid);
      signalProcess(pid, "SIGKILL");
    }
    await Bun.sleep(KILL_ROUND_MS);
  }
  return all;
}
