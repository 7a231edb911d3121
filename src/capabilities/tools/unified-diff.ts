// The change to one file as a unified diff, bounded in time and size: what its owner approves.

import { structuredPatch } from "diff";
import { hasBareLineFeed } from "./replacement";
import { counted, decodeText, showDeceptive } from "./text";

export interface FileDiff {
  diff: string;
  added: number;
  removed: number;
}

/** Unchanged lines around a change, as everywhere. */
const CONTEXT_LINES = 3;

/** Beyond so many changed lines a minimal diff costs more than it tells. */
const LINE_EDITS_MAX = 4000;

/** The longest run of the comparison; the screen waits for it. */
const DIFF_MS_MAX = 300;

/** A diff larger than this is cut with a note: it travels in events and nobody reads it whole. */
const DIFF_BYTES_MAX = 256 * 1024;

/** `before` is undefined for a new file. `path` is the name in the diff's head. */
export function diffFiles(
  path: string,
  before: Uint8Array | undefined,
  after: Uint8Array,
): FileDiff {
  const old = before ?? new Uint8Array();
  const { from, oldTo, newTo } = changedRange(old, after);
  const [oldText, newText] = comparable(old.subarray(from, oldTo), after.subarray(from, newTo));
  const hunks = compare(oldText, newText, countLineFeeds(old, from));
  const lines = hunks.flatMap((hunk) => hunk.lines);
  const name = showDeceptive(path);
  const head = `--- ${before ? `a/${name}` : "/dev/null"}\n+++ b/${name}\n`;
  return {
    diff: head + formatHunks(hunks),
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}

const LINE_FEED = 0x0a;

/** The whole lines that differ, with context: all that has to be taken apart of a large file. */
function changedRange(
  old: Uint8Array,
  now: Uint8Array,
): { from: number; oldTo: number; newTo: number } {
  const max = Math.min(old.length, now.length);
  let same = 0;
  while (same < max && old[same] === now[same]) same++;
  let end = 0;
  while (end < max - same && old[old.length - 1 - end] === now[now.length - 1 - end]) end++;
  let from = same;
  for (let lines = 0; from > 0; from--) {
    if (old[from - 1] === LINE_FEED && lines++ === CONTEXT_LINES) break;
  }
  let to = old.length - end;
  for (let lines = 0; to < old.length; to++) {
    if (old[to] === LINE_FEED && lines++ === CONTEXT_LINES) break;
  }
  // Behind the line feed, so that both ranges end with whole lines.
  if (to < old.length) to++;
  return { from, oldTo: to, newTo: now.length - (old.length - to) };
}

function countLineFeeds(bytes: Uint8Array, to: number): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0 && at < to; ) {
    count++;
    at = bytes.indexOf(LINE_FEED, at + 1);
  }
  return count;
}

interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: string[];
}

/** Both as text; a mark or line ends that both keep are no part of the change. */
function comparable(before: Uint8Array, after: Uint8Array): [string, string] {
  let oldText = decodeText(before);
  let newText = decodeText(after);
  if (oldText.startsWith("\ufeff") && newText.startsWith("\ufeff")) {
    oldText = oldText.slice(1);
    newText = newText.slice(1);
  }
  const keepsCrlf =
    oldText.includes("\r\n") && !hasBareLineFeed(oldText) && !hasBareLineFeed(newText);
  if (keepsCrlf) return [oldText.replaceAll("\r\n", "\n"), newText.replaceAll("\r\n", "\n")];
  const isCr = oldText.includes("\r") && !oldText.includes("\n") && !newText.includes("\n");
  if (isCr) return [oldText.replaceAll("\r", "\n"), newText.replaceAll("\r", "\n")];
  return [oldText, newText];
}

/** Compares the parts that differ; `from` is how many equal lines were left out before them. */
function compare(oldText: string, newText: string, from: number): Hunk[] {
  const limits = { maxEditLength: LINE_EDITS_MAX, timeout: DIFF_MS_MAX };
  const patch = structuredPatch("", "", oldText, newText, "", "", {
    context: CONTEXT_LINES,
    ...limits,
  });
  if (!patch) return [wholeHunk(splitLines(oldText), splitLines(newText), from)];
  return patch.hunks.map((hunk) => ({
    ...hunk,
    oldStart: hunk.oldStart + from,
    newStart: hunk.newStart + from,
  }));
}

/** Lines with their line feed; the last one may lack it. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Everything out, everything in: true, if not minimal. */
function wholeHunk(oldLines: string[], newLines: string[], from: number): Hunk {
  const mark = (sign: string, lines: string[]): string[] =>
    lines.flatMap((line) =>
      line.endsWith("\n")
        ? [sign + line.slice(0, -1)]
        : [sign + line, "\\ No newline at end of file"],
    );
  return {
    oldStart: from + 1,
    oldLines: oldLines.length,
    newStart: from + 1,
    newLines: newLines.length,
    lines: [...mark("-", oldLines), ...mark("+", newLines)],
  };
}

function formatHunks(hunks: readonly Hunk[]): string {
  // An empty range is told by the line before it.
  const range = (start: number, count: number): string =>
    count === 1 ? `${start}` : `${count === 0 ? start - 1 : start},${count}`;
  const out: string[] = [];
  let left = DIFF_BYTES_MAX;
  let hidden = 0;
  for (const hunk of hunks) {
    const rows = [
      `@@ -${range(hunk.oldStart, hunk.oldLines)} +${range(hunk.newStart, hunk.newLines)} @@`,
      ...hunk.lines,
    ];
    for (const row of rows) {
      if (left < row.length) {
        hidden++;
        continue;
      }
      const shown = showDeceptive(row);
      left -= shown.length + 1;
      out.push(shown);
    }
    if (hidden > 0) left = 0;
  }
  if (hidden > 0) out.push(`\\ ${counted(hidden, "more line")} not shown`);
  return `${out.join("\n")}\n`;
}
