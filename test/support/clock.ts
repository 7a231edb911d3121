// A clock for tests of waiting: sleeping takes no time and is written down.

import type { Clock } from "#agent/ports";

export interface RecordingClock extends Clock {
  /** The waits that were asked for, in order. */
  readonly slept: number[];
}

/** Time stands still but for the sleeps, which pass at once. */
export function recordingClock(startMs = Date.now()): RecordingClock {
  const slept: number[] = [];
  let nowMs = startMs;
  return {
    slept,
    now: () => nowMs,
    sleep: async (ms, signal) => {
      slept.push(ms);
      // A turn of the event loop, so that a server may come up meanwhile.
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (!signal.aborted) nowMs += ms;
    },
  };
}

/** Real time, cut short by the signal. */
export const realClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const timer = setTimeout(resolve, ms);
      signal.addEventListener(
        "abort",
        () => {
          clearTimeout(timer);
          resolve();
        },
        { once: true },
      );
    }),
};
