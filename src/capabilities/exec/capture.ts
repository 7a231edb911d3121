// Collects the cleaned output of one command for the model, in bounded memory: everything up to
// a limit (it becomes the artifact), behind that only a tail.

import type { ArtifactStore } from "#stores/artifacts";
import { countLines, cutOutput } from "./cut";

/** What is kept whole of one output. Beyond it only the tail is known. */
export const KEPT_BYTES_MAX = 16 * 1024 * 1024;
/** Most outputs fit; larger ones double it as they grow. */
const FIRST_BYTES = 16 * 1024;

export interface Captured {
  text: string;
  truncated: boolean;
  artifactId?: string;
}

export interface Capture {
  add(text: string): void;
  /** What the model gets; the whole is kept as an artifact when that had to be cut. */
  finish(): Promise<Captured>;
}

export function createCapture(options: {
  bytesMax: number;
  artifacts: Pick<ArtifactStore, "put"> | undefined;
}): Capture {
  const { bytesMax } = options;
  const kept = new Growing(KEPT_BYTES_MAX);
  const tail = new Tail(bytesMax);
  return {
    add(text) {
      if (tail.isEmpty && kept.add(text)) return;
      tail.add(Buffer.from(text));
    },
    async finish() {
      const whole = kept.bytes();
      if (whole.length <= bytesMax && tail.isEmpty) {
        return { text: whole.toString("utf8"), truncated: false };
      }
      const artifactId = await options.artifacts?.put(whole);
      const end = tail.isEmpty ? whole : tail.bytes();
      const text = cutOutput(whole, end, { bytesMax, artifactId, dropped: tail.dropped });
      return { text, truncated: true, ...(artifactId !== undefined && { artifactId }) };
    },
  };
}

/** Text as bytes in one buffer: thousands of small ones would wait for the garbage collector. */
class Growing {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  constructor(readonly bytesMax: number) {}

  /** False, and nothing added, when it would be too much. */
  add(text: string): boolean {
    const needed = this.#length + Buffer.byteLength(text);
    if (needed > this.bytesMax) return false;
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    this.#length += this.#buffer.write(text, this.#length);
    return true;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

/** The last pieces, together at least `bytesMax`, and what was dropped before them. */
class Tail {
  readonly dropped = { bytes: 0, lines: 0 };
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(readonly bytesMax: number) {}

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
    while (this.#length - (this.#pieces[0]?.length ?? 0) >= this.bytesMax) {
      const gone = this.#pieces.shift() ?? Buffer.alloc(0);
      this.#length -= gone.length;
      this.dropped.bytes += gone.length;
      this.dropped.lines += countLines(gone, 0, gone.length);
    }
  }

  bytes(): Buffer {
    return Buffer.concat(this.#pieces);
  }
}
