// Notices that a command waits for input that nobody can give: its terminal takes a password
// (line mode without echo), or one of its processes is blocked reading from the terminal. Such a
// read is given the end of input a few times; what goes on waiting is given up.
// Sources: termios(3) for c_lflag; proc_pid_syscall(5); the numbers from the kernel's tables.

import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from "node:fs";
import { childrenOf } from "#base/os";
import type { Shell } from "./shell";

/** The first look comes after everyday commands are through. */
const LOOK_INTERVAL_MS = 1000;
const PASSWORD_QUIET_MS = 900;
const READ_QUIET_MS = 1900;
const ENDS_OF_INPUT_MAX = 3;
/** A command with more processes than that does something else than wait for a key. */
const PROCESSES_MAX = 64;

const isMac = process.platform === "darwin";
const LINE_MODE = isMac ? 0x100 : 0x2;
const ECHO = 0x8;

/** System calls that can wait for input, by machine. */
const CALLS: Record<string, { read: number[]; select: number[]; poll: number[] }> = {
  x64: { read: [0, 19], select: [23, 270], poll: [7, 271] },
  arm64: { read: [63, 65], select: [72], poll: [73] },
};

export interface InputWatch {
  stop(): void;
}

export function watchForInput(options: {
  shell: Shell;
  lastOutputAt: () => number;
  giveUp: () => void;
  /** Called at every look, whatever it finds. */
  onLook: () => void;
}): InputWatch {
  const { shell } = options;
  let ends = 0;
  const look = () => {
    options.onLook();
    const quietMs = performance.now() - options.lastOutputAt();
    if (quietMs < PASSWORD_QUIET_MS) return;
    const modes = shell.localModes();
    const isPassword = (modes & LINE_MODE) !== 0 && (modes & ECHO) === 0;
    if (!isPassword && quietMs < READ_QUIET_MS) return;
    const reader = findReader(shell.pid);
    if (reader === "none" || (reader === "unknown" && !isPassword)) return;
    if (ends >= ENDS_OF_INPUT_MAX) {
      options.giveUp();
      return;
    }
    ends += 1;
    shell.endInput(1);
  };
  const timer = setInterval(look, LOOK_INTERVAL_MS);
  return { stop: () => clearInterval(timer) };
}

/** Whether a process below the shell, or the shell, is blocked reading from the terminal. */
function findReader(shellPid: number): "found" | "none" | "unknown" {
  if (process.platform !== "linux") return "unknown";
  let isSure = true;
  const queue = [shellPid];
  for (let at = 0; at < queue.length && at < PROCESSES_MAX; at += 1) {
    const pid = queue[at] ?? 0;
    queue.push(...childrenOf(pid));
    const answer = readsTerminal(pid);
    if (answer === "yes") return "found";
    if (answer === "hidden") isSure = false;
  }
  return isSure ? "none" : "unknown";
}

/** `hidden` for a process that may not be looked into: another user's, such as sudo. */
function readsTerminal(pid: number): "yes" | "no" | "hidden" {
  try {
    const threads = readdirSync(`/proc/${pid}/task`).slice(0, PROCESSES_MAX);
    return threads.some((thread) => isWaiting(pid, thread)) ? "yes" : "no";
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
    return isGone ? "no" : "hidden";
  }
}

function isWaiting(pid: number, thread: string): boolean {
  const words = readFileSync(`/proc/${pid}/task/${thread}/syscall`, "latin1").trim().split(" ");
  const calls = CALLS[process.arch];
  // `running` stands here for a thread that is not blocked.
  if (!calls || words.length < 7) return false;
  const [call = -1, first = 0, second = 0, third = 0, , fifth = 0] = words.map(Number);
  if (calls.read.includes(call)) return isTerminal(pid, first);
  // Only a wait without end, for nothing but one descriptor, is a wait for input.
  if (calls.select.includes(call)) return first === 1 && fifth === 0 && isTerminal(pid, 0);
  if (!calls.poll.includes(call) || second !== 1) return false;
  const isEndless =
    call === calls.poll[0] && calls.poll.length > 1 ? isMinusOne(third) : third === 0;
  return isEndless && isTerminal(pid, readDescriptor(pid, first));
}

const isMinusOne = (value: number): boolean => value === 0xffffffff || value > 2 ** 53;

/** The first field of a struct pollfd in another process. */
function readDescriptor(pid: number, address: number): number {
  const file = openSync(`/proc/${pid}/mem`, "r");
  try {
    const bytes = Buffer.alloc(4);
    readSync(file, bytes, 0, 4, address);
    return bytes.readInt32LE();
  } finally {
    closeSync(file);
  }
}

function isTerminal(pid: number, descriptor: number): boolean {
  const target = readlinkSync(`/proc/${pid}/fd/${descriptor}`);
  return target === "/dev/tty" || target.startsWith("/dev/pts/");
}
