// Reads the table of processes: single entries and children lists for the everyday path (about
// 20 us each), the whole table when something must be found or killed. Linux reads /proc, other
// systems ask ps. Source of the fields: proc_pid_stat(5).

import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

export interface ProcessEntry {
  pid: number;
  parent: number;
  group: number;
  session: number;
  /** One letter; Z is a zombie, T a stopped process. */
  state: string;
  /** In clock ticks since boot; with the pid it names a process for good. 0 when unknown. */
  start: number;
}

const isLinux = process.platform === "linux";

/** Undefined when there is no such process. */
export function readProcess(pid: number): ProcessEntry | undefined {
  if (!isLinux) return listProcesses().find((entry) => entry.pid === pid);
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  // The name may hold blanks and parentheses: the fields begin behind the last one.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    state: fields[0] ?? "",
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    start: Number(fields[19]),
  };
}

export function listProcesses(): ProcessEntry[] {
  if (!isLinux) return listByPs();
  const pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  return pids.map(readProcess).filter((entry) => entry !== undefined);
}

/** The direct children, zombies too. Of this process: also the orphans that came to it. */
export function childrenOf(pid: number): number[] {
  const children = isLinux ? read(`/proc/${pid}/task/${pid}/children`) : undefined;
  if (children !== undefined) return children.split(" ").filter(Boolean).map(Number);
  return listProcesses()
    .filter((entry) => entry.parent === pid)
    .map((entry) => entry.pid);
}

/** The environment that a process was started with, as NUL-separated text; empty when unreadable. */
export function readEnvironment(pid: number): string {
  return (isLinux ? read(`/proc/${pid}/environ`) : undefined) ?? "";
}

/** Where a process is at this moment; undefined when it is gone or may not be looked into. */
export function workingDirectoryOf(pid: number): string | undefined {
  try {
    return isLinux ? readlinkSync(`/proc/${pid}/cwd`) : undefined;
  } catch {
    // Gone, or another user's.
    return undefined;
  }
}

/**
 * Other processes that hold a lock on the file, which everybody may see; none where there is no
 * /proc. Source of the fields: proc_locks(5).
 */
export function lockHoldersOf(path: string): number[] {
  const inode = statSync(path, { throwIfNoEntry: false })?.ino;
  const locks = isLinux && inode !== undefined ? read("/proc/locks") : undefined;
  return (locks ?? "")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[5]?.endsWith(`:${inode}`))
    .map((fields) => Number(fields[4]))
    .filter((pid) => pid > 0 && pid !== process.pid);
}

export function isRunning(pid: number): boolean {
  const entry = readProcess(pid);
  return entry !== undefined && entry.state !== "Z" && entry.state !== "X";
}

/** Sends a signal; false when the process is gone or not ours. */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    // Gone already, or another user's: either way there is nothing left for us to do to it.
    return false;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    // A process may end between two looks; that is an answer, not an error.
    return undefined;
  }
}

function listByPs(): ProcessEntry[] {
  const ps = Bun.spawnSync(["ps", "-A", "-o", "pid=,ppid=,pgid=,state="], {
    env: process.env,
  });
  const lines = ps.stdout.toString().split("\n");
  return lines.flatMap((line) => {
    const [pid, parent, group, state] = line.trim().split(/\s+/);
    if (!pid || !state) return [];
    // Not every ps can tell the session; each command's processes share the leader's group.
    const shared = { parent: Number(parent), group: Number(group), session: Number(group) };
    return [{ pid: Number(pid), ...shared, state: state[0] ?? "", start: 0 }];
  });
}
