// A window of lines out of a stream of bytes, in memory bounded by the window: the rest is only
// counted. Lines end at one byte, LF or (old Mac) CR.

export interface WindowLine {
  number: number;
  /** The line without its end, at most `lineBytesMax` of it. */
  bytes: Buffer;
  /** Bytes of the line that are not in `bytes`. */
  cut: number;
}

export interface LineWindowOptions {
  /** The first line wanted, from 1. */
  first: number;
  linesMax: number;
  /** The window closes before it would exceed this, but always holds one line. */
  bytesMax: number;
  lineBytesMax: number;
  lineEnd: number;
}

export class LineWindow {
  readonly lines: WindowLine[] = [];
  /** Whole lines seen so far, and after `finish` all lines. */
  total = 0;
  /** The last byte seen was a line end, or nothing was seen. */
  endsWithLineEnd = true;
  readonly #options: LineWindowOptions;
  #used = 0;
  #isClosed = false;
  /** The beginning of a line whose end has not come yet. */
  #open: Buffer[] = [];
  #openBytes = 0;
  #openKept = 0;

  constructor(options: LineWindowOptions) {
    this.#options = options;
  }

  /** True when nothing more will enter the window. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  push(chunk: Buffer): void {
    const { lineEnd } = this.#options;
    let from = 0;
    for (let at = chunk.indexOf(lineEnd); at >= 0; at = chunk.indexOf(lineEnd, from)) {
      this.#extend(chunk.subarray(from, at));
      this.#closeLine();
      from = at + 1;
    }
    this.#extend(chunk.subarray(from));
    if (chunk.length > 0) this.endsWithLineEnd = from === chunk.length;
  }

  finish(): void {
    if (!this.endsWithLineEnd) this.#closeLine();
  }

  #isWanted(): boolean {
    return !this.#isClosed && this.total + 1 >= this.#options.first;
  }

  #extend(piece: Buffer): void {
    this.#openBytes += piece.length;
    if (!this.#isWanted() || piece.length === 0) return;
    const room = this.#options.lineBytesMax - this.#openKept;
    if (room <= 0) return;
    // Copied: the chunk's memory is used again.
    const kept = Buffer.from(piece.subarray(0, room));
    this.#open.push(kept);
    this.#openKept += kept.length;
  }

  #closeLine(): void {
    if (this.#isWanted()) this.#keepLine();
    this.total++;
    this.#open = [];
    this.#openBytes = 0;
    this.#openKept = 0;
  }

  #keepLine(): void {
    const { linesMax, bytesMax } = this.#options;
    const isFull = this.lines.length >= linesMax;
    if (isFull || (this.lines.length > 0 && this.#used + this.#openKept > bytesMax)) {
      this.#isClosed = true;
      return;
    }
    const bytes = Buffer.concat(this.#open);
    this.#used += bytes.length;
    this.lines.push({ number: this.total + 1, bytes, cut: this.#openBytes - bytes.length });
    if (this.lines.length >= linesMax) this.#isClosed = true;
  }
}
