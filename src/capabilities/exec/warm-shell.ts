// Keeps one shell that has already started, so that a command does not wait for that. It has no
// command, no effect and nothing to read until it is taken; it ends by itself when Bosun does,
// since its channel and its terminal end then.

import { isRunning } from "#base/os";
import type { Shell } from "./shell";

/** Starting one takes a core for 4 ms: not beside a command that is just starting, too. */
const BESIDE_COMMAND_MS = 50;
/** After a command its result goes on its way first. */
const AFTER_COMMAND_MS = 1;

export interface WarmShell {
  /** A shell that is ready, or soon will be; undefined when there is none. */
  take(): Shell | undefined;
  /** Starts one, unless there is one: soon, or when the command that began now takes longer. */
  refill(when: "beside command" | "after command"): void;
  close(): Promise<void>;
}

/** `start` may throw: then there is no warm shell, and the next command says why. */
export function createWarmShell(start: () => Shell): WarmShell {
  let shell: Shell | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  const fill = () => {
    timer = undefined;
    if (isClosed || shell?.isAlive) return;
    try {
      shell = start();
    } catch {
      // Too many processes or open files just now; the next command tries it again, and reports.
      shell = undefined;
    }
  };
  return {
    take() {
      // Its end may not have come through yet: a command must not go into a dead shell.
      const taken = shell?.isAlive && isRunning(shell.pid) ? shell : undefined;
      shell = undefined;
      return taken;
    },
    refill(when) {
      if (isClosed || shell?.isAlive) return;
      clearTimeout(timer);
      timer = setTimeout(fill, when === "after command" ? AFTER_COMMAND_MS : BESIDE_COMMAND_MS);
      timer.unref();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      shell?.kill();
      await shell?.gone;
      shell = undefined;
    },
  };
}
