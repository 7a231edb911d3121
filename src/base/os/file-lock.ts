// An exclusive lock on an open file that the kernel takes back when its owner dies, however that
// happens. Bun has no call for it, so libc's own through bun:ffi, loaded at first use (about 3 ms).
// Source: flock(2). The lock belongs to the open file: a second open of the same file in the same
// process contends like another process, and closing the descriptor releases.

const LOCK_EXCLUSIVE_NOW = 2 | 4;

/** The number for "another holds it", and where each system keeps the number of the last error. */
const SYSTEMS: Partial<Record<NodeJS.Platform, System>> = {
  linux: {
    libraries: ["libc.so.6", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`],
    errorSymbol: "__errno_location",
    wouldBlock: 11,
  },
  darwin: { libraries: ["libSystem.B.dylib"], errorSymbol: "__error", wouldBlock: 35 },
};

interface System {
  libraries: string[];
  errorSymbol: "__errno_location" | "__error";
  wouldBlock: number;
}

export type LockAttempt =
  | { kind: "taken" }
  /** Another open file has it. */
  | { kind: "held" }
  /** The file system knows no locks, or the descriptor is no file; `errno` as errno(3) has it. */
  | { kind: "refused"; errno: number };

/** Tries to lock the open file; never waits and never throws. */
export type TryLock = (descriptor: number) => LockAttempt;

let loading: Promise<TryLock | undefined> | undefined;

/** Undefined where there is no libc that we know; never throws. */
export function loadFileLock(): Promise<TryLock | undefined> {
  loading ??= open();
  return loading;
}

async function open(): Promise<TryLock | undefined> {
  const system = SYSTEMS[process.platform];
  if (!system) return undefined;
  const { dlopen, read } = await import("bun:ffi");
  for (const library of system.libraries) {
    try {
      const { symbols } = dlopen(library, {
        flock: { args: ["int", "int"], returns: "int" },
        [system.errorSymbol]: { args: [], returns: "ptr" },
      });
      const place = symbols[system.errorSymbol];
      return (descriptor) => {
        if (symbols.flock(descriptor, LOCK_EXCLUSIVE_NOW) === 0) return { kind: "taken" };
        const address = place?.();
        const errno = address ? read.i32(address, 0) : 0;
        return errno === system.wouldBlock ? { kind: "held" } : { kind: "refused", errno };
      };
    } catch {
      // This C library is not on this machine: the next name may be.
    }
  }
  return undefined;
}
