// Exact replacement of text inside a file's bytes. Pure: bytes in, bytes out.
//
// The file is handled as a string of bytes (latin1), so that whatever is not matched comes out as
// it went in, in any encoding. Line ends are compared as LF, as the model saw them, and each line
// keeps the line end that it had.

import { diffArrays } from "diff";

/** `cr`: the old Mac's, only when the file has no line feed at all. `none`: a single line. */
export type LineEnds = "none" | "lf" | "crlf" | "cr" | "mixed";

export interface EditedRange {
  /** Lines in the new file, from 1. */
  first: number;
  last: number;
}

export type Replacement =
  | { kind: "replaced"; bytes: Buffer; count: number; ranges: EditedRange[] }
  | { kind: "missing" }
  /** `lines` holds the first ones only; `count` stops at COUNT_MAX. */
  | { kind: "ambiguous"; count: number; lines: number[] }
  | { kind: "unchanged" }
  | { kind: "too large" };

/** Matches are counted up to here; more need no exact number. */
export const COUNT_MAX = 1000;

/** Line numbers told for an ambiguous match. */
const LINES_TOLD_MAX = 20;

/** Places that one call may replace: beyond it, a command does it better. */
const REPLACED_MAX = 100_000;

/** Ranges remembered for the result; the others are only counted. */
const RANGES_MAX = 20;

/** Edits between the lines of a match and its replacement; beyond it they are told by place. */
const LINE_EDITS_MAX = 2000;

/** The longest run of the line comparison. */
const LINE_DIFF_MS_MAX = 200;

export interface ReplaceRequest {
  /** The file without its byte order mark. */
  bytes: Buffer;
  oldText: string;
  newText: string;
  all: boolean;
  /** The new content may not be larger. */
  bytesMax: number;
}

export function lineEndsOf(raw: string): LineEnds {
  if (!raw.includes("\r")) return raw.includes("\n") ? "lf" : "none";
  if (!raw.includes("\n")) return "cr";
  if (!raw.includes("\r\n")) return "lf";
  return hasBareLineFeed(raw) ? "mixed" : "crlf";
}

/** A line feed without CR before it; searched for by hand, for files are large. */
export function hasBareLineFeed(raw: string): boolean {
  for (let at = raw.indexOf("\n"); at >= 0; at = raw.indexOf("\n", at + 1)) {
    if (raw[at - 1] !== "\r") return true;
  }
  return false;
}

/** The text with every line end as LF: what the model was shown. */
export function withLineFeeds(text: string, ends: LineEnds): string {
  if (ends === "cr") return text.replaceAll(/\r\n?/g, "\n");
  return ends === "none" ? text : text.replaceAll("\r\n", "\n");
}

export function replaceText(request: ReplaceRequest): Replacement {
  const raw = request.bytes.toString("latin1");
  const ends = lineEndsOf(raw);
  const view = withLineFeeds(raw, ends);
  const wanted = withLineFeeds(Buffer.from(request.oldText).toString("latin1"), ends);
  const given = withLineFeeds(Buffer.from(request.newText).toString("latin1"), ends);
  const found = findPlaces(view, wanted, request.all);
  if (found.kind !== "places") return found;
  const { places } = found;
  // Asked before anything is built: a short text replaced by a long one may not fit into memory.
  const grown = raw.length + places.length * (given.length - wanted.length);
  if (grown > request.bytesMax && given.length > wanted.length) return { kind: "too large" };
  const cursor = new RawCursor(raw, ends);
  const pieces: string[] = [];
  let kept = 0;
  for (const place of places) {
    const from = cursor.moveTo(place);
    const to = cursor.moveTo(place + wanted.length);
    pieces.push(raw.slice(kept, from), giveLineEnds(raw, from, to, given, ends));
    kept = to;
  }
  pieces.push(raw.slice(kept));
  const result = pieces.join("");
  if (result === raw) return { kind: "unchanged" };
  if (result.length > request.bytesMax) return { kind: "too large" };
  const ranges = rangesOf(view, places, wanted, given);
  return { kind: "replaced", bytes: Buffer.from(result, "latin1"), count: places.length, ranges };
}

type Places = { kind: "places"; places: number[] };

function findPlaces(
  view: string,
  wanted: string,
  all: boolean,
): Places | Exclude<Replacement, { kind: "replaced" }> {
  const places: number[] = [];
  // Overlapping places count as different ones when a single one is wanted: which is meant?
  const stride = all ? wanted.length : 1;
  const max = all ? REPLACED_MAX + 1 : COUNT_MAX;
  for (let at = view.indexOf(wanted); at >= 0 && places.length < max; ) {
    places.push(at);
    at = view.indexOf(wanted, at + stride);
  }
  if (places.length === 0) return { kind: "missing" };
  if (places.length > REPLACED_MAX) return { kind: "too large" };
  if (!all && places.length > 1) {
    const lines = lineNumbers(view, places.slice(0, LINES_TOLD_MAX));
    return { kind: "ambiguous", count: places.length, lines };
  }
  return { kind: "places", places };
}

/** Line numbers, from 1, of rising positions. */
export function lineNumbers(view: string, positions: readonly number[]): number[] {
  let line = 1;
  let from = 0;
  return positions.map((position) => {
    for (let at = view.indexOf("\n", from); at >= 0 && at < position; ) {
      line++;
      from = at + 1;
      at = view.indexOf("\n", from);
    }
    return line;
  });
}

/** Lines of the new file that the first replacements cover. */
function rangesOf(
  view: string,
  places: readonly number[],
  wanted: string,
  given: string,
): EditedRange[] {
  const count = (text: string): number => text.split("\n").length - 1;
  const grows = count(given) - count(wanted);
  // Text that ends with a line feed does not reach into the line behind it.
  const height = Math.max(0, count(given) - (given.endsWith("\n") ? 1 : 0));
  return lineNumbers(view, places.slice(0, RANGES_MAX)).map((line, index) => {
    const first = line + index * grows;
    return { first, last: first + height };
  });
}

/** Walks the raw text along with positions of the view, where CRLF counts as one. */
class RawCursor {
  #raw: number;
  #view: number;
  readonly #text: string;
  readonly #isNarrow: boolean;

  constructor(text: string, ends: LineEnds) {
    this.#raw = 0;
    this.#view = 0;
    this.#text = text;
    this.#isNarrow = ends === "crlf" || ends === "mixed";
  }

  /** Only forwards. A position at a line feed of the view is that of its CR in the raw text. */
  moveTo(position: number): number {
    if (!this.#isNarrow) return position;
    for (;;) {
      const at = this.#text.indexOf("\r\n", this.#raw);
      if (at < 0 || this.#view + (at - this.#raw) >= position) {
        this.#raw += position - this.#view;
        this.#view = position;
        return this.#raw;
      }
      this.#view += at - this.#raw;
      this.#raw = at + 1;
    }
  }
}

/** `given` with the line ends that belong at its place, between `from` and `to` of the file. */
function giveLineEnds(
  raw: string,
  from: number,
  to: number,
  given: string,
  ends: LineEnds,
): string {
  if (ends === "none" || ends === "lf" || !given.includes("\n")) return given;
  if (ends === "cr") return given.replaceAll("\n", "\r");
  if (ends === "crlf") return given.replaceAll("\n", "\r\n");
  return alignLineEnds(raw.slice(from, to), given, endAround(raw, from, to));
}

/** The line end of the line that the match lies in; for a last line, of the one before. */
function endAround(raw: string, from: number, to: number): string {
  const behind = raw.indexOf("\n", Math.max(from, to - 1));
  if (behind >= 0) return raw[behind - 1] === "\r" ? "\r\n" : "\n";
  const before = raw.lastIndexOf("\n");
  return before > 0 && raw[before - 1] === "\r" ? "\r\n" : "\n";
}

/**
 * `given` (LF) with the line ends of `old` (mixed): a line that stays keeps its own, a changed one
 * takes that of the line in its place, an added one that of the line before it.
 */
export function alignLineEnds(old: string, given: string, around: string): string {
  const oldEnds = [...old.matchAll(/\r?\n/g)].map(([end]) => end);
  const oldLines = old.split(/\r?\n/);
  const lines = given.split("\n");
  const counterparts = pairLines(oldLines, lines);
  let previous = oldEnds[0] ?? around;
  return lines
    .map((line, index) => {
      if (index === lines.length - 1) return line;
      const counterpart = counterparts[index];
      const own = counterpart === undefined ? previous : (oldEnds[counterpart] ?? around);
      previous = own;
      return line + own;
    })
    .join("");
}

/** For each new line the old line that it is, or stands in the place of. */
function pairLines(oldLines: string[], lines: string[]): (number | undefined)[] {
  const limits = { maxEditLength: LINE_EDITS_MAX, timeout: LINE_DIFF_MS_MAX };
  const changes = diffArrays(oldLines, lines, limits);
  if (!changes) return lines.map((_, index) => Math.min(index, oldLines.length - 1));
  const pairs: (number | undefined)[] = [];
  let old = 0;
  let removed = 0;
  for (const change of changes) {
    const { length } = change.value;
    if (change.removed) {
      removed = length;
      continue;
    }
    for (let at = 0; at < length; at++) {
      const isPaired = !change.added || at < removed;
      pairs.push(isPaired ? old + (change.added ? 0 : removed) + at : undefined);
    }
    old += change.added ? removed : removed + length;
    removed = 0;
  }
  return pairs;
}
