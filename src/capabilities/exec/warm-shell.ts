// Keeps two shells that have already started, so that a command does not wait for that: one to take,
// and one for a model that answers faster than a shell starts. They have no command, no effect and
// nothing to read until they are taken; they end by themselves when Bosun does, since their channel
// and their terminal end then.

import type { Shell } from "./shell";

/** Starting one takes a core for 4 ms: not beside a command that is just starting, too. */
const BESIDE_COMMAND_MS = 50;
/** After a command its result goes on its way first. */
const AFTER_COMMAND_MS = 1;
/** Between the two at the start, so that other work gets its turn. */
const NEXT_SPARE_MS = 1;
const SPARES = 2;

export interface WarmShell {
  /** A shell that is ready, or soon will be; undefined when there is none. */
  take(): Shell | undefined;
  /** Starts what is missing: soon, or when the command that began now takes longer. */
  refill(when: "beside command" | "after command"): void;
  close(): Promise<void>;
}

/** `start` may throw: then there is no warm shell, and the next command says why. */
export function createWarmShell(start: () => Shell): WarmShell {
  /** Oldest first: that one is surely ready. */
  let spares: Shell[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;
  /** When the timer fires: what is due sooner is not put off by something later. */
  let dueAt = Number.POSITIVE_INFINITY;
  const schedule = (ms: number): void => {
    const at = performance.now() + ms;
    if (at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    timer = setTimeout(fill, ms);
    timer.unref();
  };
  const isFull = (): boolean => {
    spares = spares.filter((shell) => shell.isAlive);
    return spares.length >= SPARES;
  };
  const fill = (): void => {
    dueAt = Number.POSITIVE_INFINITY;
    if (isClosed || isFull()) return;
    try {
      spares.push(start());
    } catch {
      // Too many processes or open files just now; the next command tries it again, and reports.
      return;
    }
    if (!isFull()) schedule(NEXT_SPARE_MS);
  };
  return {
    take() {
      // One whose end has not come through yet refuses the command: its channel is broken.
      for (let shell = spares.shift(); shell; shell = spares.shift()) {
        if (shell.isAlive) return shell;
      }
      return undefined;
    },
    refill(when) {
      if (isClosed || isFull()) return;
      schedule(when === "after command" ? AFTER_COMMAND_MS : BESIDE_COMMAND_MS);
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      for (const shell of spares) shell.kill();
      await Promise.all(spares.map((shell) => shell.gone));
      spares = [];
    },
  };
}
