// The output while it appears, for a person: cleaned, and coalesced so that a chatty command does
// not become thousands of events. A carriage return in it means: the line it is in begins anew.

import type { Scrubber } from "#base/kit";
import type { TerminalCleaner } from "./clean";

/** About two frames: nobody sees a difference, and a burst becomes one event. */
export const LIVE_INTERVAL_MS = 30;
/** More than that is given out at once. */
export const LIVE_CHARACTERS_MAX = 4096;

export interface LiveText {
  /** A line that the cursor left, or several at once with line feeds between. */
  line(text: string): void;
  /** Something was written: it appears within the interval. */
  touch(): void;
  /** Gives out everything now and stops the timer. */
  finish(): void;
}

export function createLiveText(options: {
  emit: (text: string) => void;
  cleaner: TerminalCleaner;
  scrubber: Scrubber | undefined;
  intervalMs?: number;
}): LiveText {
  const scrub = options.scrubber?.stream();
  let waiting = "";
  /** What of the current line was given out. */
  let shown = "";
  let timer: ReturnType<typeof setTimeout> | undefined;

  const show = (text: string, ending: string) => {
    waiting += text.startsWith(shown) ? text.slice(shown.length) : `\r${text}`;
    waiting += ending;
    shown = ending === "" ? text : "";
  };
  const flush = (isLast: boolean) => {
    clearTimeout(timer);
    timer = undefined;
    const text = scrub ? scrub.write(waiting) + (isLast ? scrub.end() : "") : waiting;
    waiting = "";
    if (text !== "") options.emit(text);
  };
  const give = (isLast: boolean) => {
    // A line that never ends is shown by its beginning; the result has all of it.
    show(options.cleaner.currentLine().slice(0, LIVE_CHARACTERS_MAX), "");
    flush(isLast);
  };
  return {
    line(text) {
      show(text.includes("\n") ? text : text.slice(0, LIVE_CHARACTERS_MAX), "\n");
      // Not the current line: the cursor is still leaving the one that was just taken.
      if (waiting.length >= LIVE_CHARACTERS_MAX) flush(false);
    },
    touch() {
      timer ??= setTimeout(() => give(false), options.intervalMs ?? LIVE_INTERVAL_MS);
    },
    finish: () => give(true),
  };
}
