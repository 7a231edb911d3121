// Overwrites credentials in this process's own memory of its environment and arguments, which
// every process of the same user can read in /proc/PID/environ and /proc/PID/cmdline. Linux only
// and best effort. Source of the addresses: proc_pid_stat(5), fields 48 to 51.
// A core file would hold them all the same, and whoever may set our limits can make the kernel
// write one: from here on there are none of this process.
// Bun keeps a copy of the environment from its start, and gives that to a child that is spawned
// without `env`: whoever spawns after this passes `env: process.env` or an environment of its own.

import { readFileSync } from "node:fs";
import { loadLibc } from "./libc";

export interface HiddenCredentials {
  /** Names of variables that were taken out of process.env, overwritten where possible. */
  names: string[];
  /** How many arguments were overwritten. */
  arguments: number;
}

/** What is written over a value: visible, so that a reader sees that something was there. */
const COVER = "x".charCodeAt(0);
/** In /proc/self/stat, counted from the field behind the name (field 3). */
const ARGUMENTS_START_FIELD = 48 - 3;

/**
 * Hides the values of these variables and those behind these flags (`--flag VALUE` and
 * `--flag=VALUE`). The caller reads what it needs before. Never throws.
 */
export async function hideCredentials(options: {
  names: readonly string[];
  flags: readonly string[];
}): Promise<HiddenCredentials> {
  const names = options.names.filter((name) => process.env[name] !== undefined);
  const mayHoldFlag = process.argv.some((argument) =>
    options.flags.some((flag) => argument === flag || argument.startsWith(`${flag}=`)),
  );
  let hidden = 0;
  if (process.platform === "linux" && (names.length > 0 || mayHoldFlag)) {
    const memory = await ownMemory();
    if (memory) {
      coverVariables(memory.environment, names);
      hidden = coverArguments(memory.arguments, options.flags);
    }
  }
  for (const name of names) delete process.env[name];
  (await loadLibc())?.forbidDumps();
  return { names, arguments: hidden };
}

async function ownMemory() {
  try {
    const { toArrayBuffer } = await import("bun:ffi");
    const stat = readFileSync("/proc/self/stat", "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const view = (field: number) => {
      const [start, end] = [Number(fields[field]), Number(fields[field + 1])];
      if (!(start > 0 && end > start)) return new Uint8Array();
      return new Uint8Array(toArrayBuffer(start as never, 0, end - start));
    };
    return { arguments: view(ARGUMENTS_START_FIELD), environment: view(ARGUMENTS_START_FIELD + 2) };
  } catch {
    // No /proc or no FFI here: the variables still leave process.env.
    return undefined;
  }
}

function coverVariables(memory: Uint8Array, names: readonly string[]): void {
  for (const { text, start, end } of entriesOf(memory)) {
    const equals = text.indexOf("=");
    if (names.includes(text.slice(0, equals))) memory.fill(COVER, start + equals + 1, end);
  }
}

function coverArguments(memory: Uint8Array, flags: readonly string[]): number {
  let hidden = 0;
  let isValue = false;
  for (const { text, start, end } of entriesOf(memory)) {
    const equals = text.indexOf("=");
    const flag = equals > 0 ? text.slice(0, equals) : "";
    if (isValue) memory.fill(COVER, start, end);
    else if (flags.includes(flag)) memory.fill(COVER, start + equals + 1, end);
    if (isValue || flags.includes(flag)) hidden += 1;
    isValue = !isValue && flags.includes(text);
  }
  return hidden;
}

/** NUL-terminated entries; latin1 keeps byte offsets and character offsets the same. */
function* entriesOf(memory: Uint8Array) {
  let start = 0;
  while (start < memory.length) {
    const found = memory.indexOf(0, start);
    const end = found < 0 ? memory.length : found;
    yield { text: Buffer.from(memory.subarray(start, end)).toString("latin1"), start, end };
    start = end + 1;
  }
}
