// What a search found, collected within limits and put into words: the same for both engines.

import { counted, cutAtCharacter, showControls } from "./text";

export interface FoundLine {
  line: number;
  text: string;
  /** Where the first match begins, in characters; undefined for a line of context. */
  matchAt: number | undefined;
}

export interface FoundFile {
  /** The real path. */
  path: string;
  lines: FoundLine[];
}

/** Of a line so many characters are shown, around its first match. */
const LINE_CHARACTERS_MAX = 300;

/** Of those, so many before the match. */
const BEFORE_MATCH_CHARACTERS = 80;

/** Files named whose lines could not be searched. */
const SKIPPED_TOLD_MAX = 5;

export interface FindingsLimits {
  matchesMax: number;
  bytesMax: number;
  /** How a path is told. */
  name(path: string): string;
}

export class Findings {
  matches = 0;
  files = 0;
  /** True when a match had to be left out: the search may end. */
  isFull = false;
  /** Why the search ended early, in words. */
  ended: string | undefined;
  /** Files with lines that could not be searched, or not be shown. */
  readonly skipped = new Set<string>();
  readonly #limits: FindingsLimits;
  readonly #rows: string[] = [];
  #bytes = 0;
  #hasContext = false;

  constructor(limits: FindingsLimits) {
    this.#limits = limits;
  }

  /** Matches that may still be added. */
  get room(): number {
    return this.#limits.matchesMax - this.matches;
  }

  add(file: FoundFile): void {
    if (this.isFull || !file.lines.some((line) => line.matchAt !== undefined)) return;
    this.files++;
    const name = this.#nameOf(file.path);
    let previous: number | undefined;
    for (const line of file.lines) {
      const isMatch = line.matchAt !== undefined;
      if (!isMatch) this.#hasContext = true;
      if (isMatch && this.matches >= this.#limits.matchesMax) {
        this.isFull = true;
        return;
      }
      const isGap = previous !== undefined && line.line > previous + 1;
      if (this.#hasContext && (isGap || (previous === undefined && this.#rows.length > 0))) {
        this.#push("--");
      }
      const [mark, text] = isMatch ? [":", aroundMatch(line)] : ["-", wholeOrStart(line.text)];
      if (!this.#push(`${name}${mark}${line.line}${mark} ${text}`)) return;
      if (isMatch) this.matches++;
      previous = line.line;
    }
  }

  #nameOf(path: string): string {
    return showControls(this.#limits.name(path)).replaceAll("\n", "\u240a");
  }

  #push(row: string): boolean {
    const bytes = Buffer.byteLength(row) + 1;
    if (this.#bytes + bytes > this.#limits.bytesMax && this.#rows.length > 0) {
      this.isFull = true;
      return false;
    }
    this.#bytes += bytes;
    this.#rows.push(row);
    return true;
  }

  inWords(nothing: string): string {
    const notes: string[] = [];
    if (this.skipped.size > 0) {
      const names = [...this.skipped].slice(0, SKIPPED_TOLD_MAX).map((path) => this.#nameOf(path));
      const more = this.skipped.size > names.length ? ", …" : "";
      notes.push(`lines too long or too slow to search in: ${names.join(", ")}${more}`);
    }
    if (this.ended) notes.push(this.ended);
    if (this.matches === 0) return notes.length > 0 ? `${nothing}\n[${notes.join("; ")}]` : nothing;
    const total = `${counted(this.matches, "match", "matches")} in ${counted(this.files, "file")}`;
    const head = this.isFull
      ? `the first ${total}; for more narrow path, glob or pattern, or raise limit`
      : total;
    return `${this.#rows.join("\n")}\n[${[head, ...notes].join("; ")}]`;
  }
}

function wholeOrStart(text: string): string {
  const cut = cutAtCharacter(text, LINE_CHARACTERS_MAX);
  return showControls(cut) + (cut.length < text.length ? "…" : "");
}

function aroundMatch(line: FoundLine): string {
  const { text, matchAt = 0 } = line;
  if (text.length <= LINE_CHARACTERS_MAX) return showControls(text);
  let from = Math.max(
    0,
    Math.min(matchAt - BEFORE_MATCH_CHARACTERS, text.length - LINE_CHARACTERS_MAX),
  );
  // Not inside of a surrogate pair.
  if (/[\udc00-\udfff]/.test(text[from] ?? "")) from++;
  return (from > 0 ? "…" : "") + wholeOrStart(text.slice(from));
}
