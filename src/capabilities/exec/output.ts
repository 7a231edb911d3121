// From the bytes of a terminal to text: decoded across the borders of chunks, cleaned, without
// credentials. The finished part goes on at once, the live view gets it as it appears.

import type { Scrubber } from "#base/kit";
import { createTerminalCleaner, type TerminalCleaner } from "./clean";
import { createLiveText, type LiveText } from "./live";

export interface OutputPipe {
  write(bytes: Uint8Array): void;
  /** Gives on what is left; afterwards nothing may be written. */
  finish(): void;
  /** As it came, redraws and all. */
  rawBytes(): number;
  /** The length of the cleaned text so far, in characters. */
  textLength(): number;
  /** What has not been given to `onText` yet. */
  pending(): string;
  /** By performance.now(). */
  lastAt(): number;
}

export interface OutputPipeOptions {
  scrubber: Scrubber | undefined;
  /** Gets the text that is final, in order. */
  onText: (text: string) => void;
  live?: { emit: (text: string) => void; intervalMs?: number } | undefined;
}

export function createOutputPipe(options: OutputPipeOptions): OutputPipe {
  // A byte order mark is data here, and invalid bytes become U+FFFD.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const scrub = options.scrubber?.stream();
  let live: LiveText | undefined;
  const cleaner: TerminalCleaner = createTerminalCleaner(
    options.live ? (line) => live?.line(line) : undefined,
  );
  if (options.live) {
    live = createLiveText({ ...options.live, cleaner, scrubber: options.scrubber });
  }
  let rawBytes = 0;
  let doneLength = 0;
  let lastAt = performance.now();
  const give = (text: string) => {
    if (text === "") return;
    doneLength += text.length;
    options.onText(text);
  };
  return {
    write(bytes) {
      if (bytes.length === 0) return;
      rawBytes += bytes.length;
      lastAt = performance.now();
      const text = cleaner.write(decoder.decode(bytes, { stream: true }));
      give(scrub ? scrub.write(text) : text);
      live?.touch();
    },
    finish() {
      const last = cleaner.write(decoder.decode());
      live?.finish();
      const text = last + cleaner.end();
      give(scrub ? scrub.write(text) + scrub.end() : text);
    },
    rawBytes: () => rawBytes,
    textLength: () => doneLength + cleaner.pendingLength(),
    pending: () => options.scrubber?.text(cleaner.pending()) ?? cleaner.pending(),
    lastAt: () => lastAt,
  };
}
