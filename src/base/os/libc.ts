// The few calls of libc that Bun does not offer, through bun:ffi and only on Linux. Loaded at
// first use: the import and dlopen together cost about 3 ms. Sources: prctl(2), waitpid(2),
// tcflush(3).

const PR_SET_DUMPABLE = 4;
const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const TCIFLUSH = 0;
const LIBRARIES = ["libc.so.6", `libc.musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`];

export interface Libc {
  /** From now on orphans among our descendants become our children; false where refused. */
  becomeSubreaper(): boolean;
  /**
   * From now on our memory is written to no core file, and no process without privilege looks into
   * it; what we start is as it was. False where refused.
   */
  forbidDumps(): boolean;
  /** Collects the exit status of this one child if it has ended; true when it was collected. */
  reap(pid: number): boolean;
  /** Throws away what was typed into a terminal but not read yet, the open line included. */
  discardTyped(descriptor: number): void;
}

let loading: Promise<Libc | undefined> | undefined;

/** Undefined where there is no libc that we know; never throws. */
export function loadLibc(): Promise<Libc | undefined> {
  loading ??= open();
  return loading;
}

async function open(): Promise<Libc | undefined> {
  if (process.platform !== "linux") return undefined;
  const { dlopen } = await import("bun:ffi");
  for (const name of LIBRARIES) {
    try {
      const { symbols } = dlopen(name, {
        prctl: { args: ["int", "u64", "u64", "u64", "u64"], returns: "int" },
        waitpid: { args: ["int", "ptr", "int"], returns: "int" },
        tcflush: { args: ["int", "int"], returns: "int" },
      });
      return {
        becomeSubreaper: () => symbols.prctl(PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n) === 0,
        forbidDumps: () => symbols.prctl(PR_SET_DUMPABLE, 0n, 0n, 0n, 0n) === 0,
        reap: (pid) => symbols.waitpid(pid, null, WNOHANG) === pid,
        discardTyped: (descriptor) => {
          symbols.tcflush(descriptor, TCIFLUSH);
        },
      };
    } catch {
      // This C library is not on this machine: the next name may be.
    }
  }
  return undefined;
}
