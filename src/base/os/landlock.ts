// Landlock and the little else that a sandbox needs of the kernel in this very process, through
// bun:ffi, which is loaded at first use: about 2 ms. Sources: landlock(7), memfd_create(2),
// fcntl(2), <linux/landlock.h>.

import { closeSync, writeSync } from "node:fs";

const LIBRARIES = ["libc.so.6", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`];

const NUMBERS = {
  memfdCreate: process.arch === "arm64" ? 279 : 319,
  fcntl: process.arch === "arm64" ? 25 : 72,
  prctl: process.arch === "arm64" ? 167 : 157,
  createRuleset: 444,
  restrictSelf: 446,
};
const CREATE_RULESET_VERSION = 1;
const CREATE_RULESET_ERRATA = 2;
const CLOSE_ON_EXEC = 1;
const ALLOW_SEALING = 2;
const EXECUTABLE = 0x10;
const F_ADD_SEALS = 1033;
/** Neither written nor made larger or smaller, nor may that be allowed again. */
const ALL_SEALS = 15;
const PR_SET_NO_NEW_PRIVS = 38;
const SCOPE_SIGNAL = 2n;
/** The ABI that has scopes. */
const SCOPE_ABI = 6;
/**
 * Without this correction a confined thread may not signal the others of its own process, which
 * the garbage collector does.
 */
const THREAD_SIGNALS_ERRATUM = 2;

export interface Kernel {
  /** The version of Landlock's interface; 0 where there is none or it is switched off. */
  readonly landlockAbi: number;
  /**
   * An executable in memory that nobody can change any more, as long as we run. Undefined when the
   * system does not have it.
   */
  makeExecutable(image: Uint8Array): { path: string; close(): void } | undefined;
  /**
   * From now on this thread, and what is started from it, may not signal processes outside of the
   * program. Cannot be undone; false where the kernel cannot do it.
   */
  confineSignals(): boolean;
}

let loading: Promise<Kernel | undefined> | undefined;

/** Undefined where it is not Linux or has no libc that we know; never throws. */
export function loadKernel(): Promise<Kernel | undefined> {
  loading ??= open();
  return loading;
}

async function open(): Promise<Kernel | undefined> {
  if (process.platform !== "linux") return undefined;
  const { dlopen, ptr } = await import("bun:ffi");
  for (const name of LIBRARIES) {
    try {
      const { symbols } = dlopen(name, {
        syscall: { args: ["i64", "i64", "i64", "i64", "i64", "i64"], returns: "i64" },
      });
      const call = (number: number, ...args: (number | Uint8Array | BigUint64Array)[]): number => {
        const words = args.map((arg) => (typeof arg === "number" ? arg : ptr(arg)));
        const [a = 0, b = 0, c = 0, d = 0, e = 0] = words;
        return Number(symbols.syscall(number, a, b, c, d, e));
      };
      return kernelOf(call);
    } catch {
      // This C library is not on this machine: the next name may be.
    }
  }
  return undefined;
}

type SystemCall = (number: number, ...args: (number | Uint8Array | BigUint64Array)[]) => number;

function kernelOf(call: SystemCall): Kernel {
  const landlockAbi = Math.max(0, call(NUMBERS.createRuleset, 0, 0, CREATE_RULESET_VERSION));
  return {
    landlockAbi,
    makeExecutable(image) {
      const name = Buffer.from("bosun-sandbox\0");
      const flags = CLOSE_ON_EXEC | ALLOW_SEALING;
      let fd = call(NUMBERS.memfdCreate, name, flags | EXECUTABLE);
      // Kernels before 6.3 do not know the flag: there all of them are executable.
      if (fd < 0) fd = call(NUMBERS.memfdCreate, name, flags);
      if (fd < 0) return undefined;
      const close = (): void => closeSync(fd);
      if (
        writeSync(fd, image) !== image.length ||
        call(NUMBERS.fcntl, fd, F_ADD_SEALS, ALL_SEALS) < 0
      ) {
        close();
        return undefined;
      }
      // Named by the child itself, which holds it until it executes: our own number is closed to it
      // once there are no dumps of us.
      return { path: `/proc/self/fd/${fd}`, close };
    },
    confineSignals() {
      if (landlockAbi < SCOPE_ABI) return false;
      const errata = call(NUMBERS.createRuleset, 0, 0, CREATE_RULESET_ERRATA);
      if (errata < 0 || (errata & THREAD_SIGNALS_ERRATUM) === 0) return false;
      const attributes = new BigUint64Array([0n, 0n, SCOPE_SIGNAL]);
      const ruleset = call(NUMBERS.createRuleset, attributes, attributes.byteLength, 0);
      if (ruleset < 0) return false;
      try {
        if (call(NUMBERS.prctl, PR_SET_NO_NEW_PRIVS, 1) < 0) return false;
        return call(NUMBERS.restrictSelf, ruleset, 0) >= 0;
      } finally {
        closeSync(ruleset);
      }
    },
  };
}
