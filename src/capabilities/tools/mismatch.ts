// Says why a text was not found in a file: the nearest lines, with blanks made visible, and in
// what they differ. Only explains; nothing is ever replaced by likeness.

import { lineNumbers } from "./replacement";
import { shorten, showBlanks } from "./text";

/** Lines shown of the place that comes nearest. */
const LINES_SHOWN_MAX = 8;

/** Characters shown of one line. */
const LINE_CHARACTERS_MAX = 200;

/** Lines compared one by one for likeness: bounds the time on large files. */
const LINES_COMPARED_MAX = 50_000;

/** Characters of a line that count for likeness. */
const COMPARED_CHARACTERS_MAX = 200;

/** From here on (of 1) two lines are called near. */
const LIKENESS_MIN = 0.5;

const unifyQuotes = (text: string): string =>
  text.replace(/[\u2018\u2019\u201a\u2032]/g, "'").replace(/[\u201c\u201d\u201e\u2033]/g, '"');
const unifyDashes = (text: string): string =>
  text.replace(/[\u2010-\u2015\u2212]/g, "-").replaceAll("\u2026", "...");
const unifyBlanks = (text: string): string => text.replace(/[\u00a0\u2000-\u200a\u202f]/g, " ");
const dropInvisible = (text: string): string => text.replace(/[\u00ad\u200b-\u200d\ufeff]/g, "");
// By lines and not by one expression, which would be quadratic in long runs of blanks.
const dropTrailing = (text: string): string =>
  text
    .split("\n")
    .map((line) => (/[ \t]$/.test(line) ? line.trimEnd() : line))
    .join("\n");
const dropLeading = (text: string): string => text.replace(/^[ \t]+/gm, "");
const squeeze = (text: string): string => dropLeading(dropTrailing(text)).replace(/[ \t]+/g, " ");

interface Difference {
  /** Makes both texts equal in this one respect; keeps the number of lines. */
  unify(text: string): string;
  hint: string;
}

/** Tried in order, narrow ones first. */
const DIFFERENCES: readonly Difference[] = [
  { unify: dropTrailing, hint: "It differs in blanks at the end of lines (shown as ·)." },
  {
    unify: dropLeading,
    hint: "It differs in indentation (a tab is shown as →): copy it exactly.",
  },
  { unify: unifyQuotes, hint: "It differs in quotes: the file's are not the same characters." },
  { unify: unifyDashes, hint: "It differs in dashes or dots: not the same characters." },
  { unify: unifyBlanks, hint: "The file has no-break or other special blanks there." },
  {
    unify: (text) => text.normalize("NFC"),
    hint: "It looks the same, but its accents are encoded in another way (NFC or NFD).",
  },
  { unify: dropInvisible, hint: "The file has invisible characters there." },
  { unify: squeeze, hint: "It differs in white space: tabs (→), blanks, indentation." },
  { unify: (text) => text.toLowerCase(), hint: "It differs in upper and lower case." },
  {
    unify: (text) =>
      squeeze(dropInvisible(unifyDashes(unifyQuotes(unifyBlanks(text.normalize("NFKC")))))),
    hint: "It differs in white space and in special characters.",
  },
];

/** Ways in which a model mangles what it read; `mend` undoes them. */
const MANGLINGS: readonly { mend(text: string): string; hint: string }[] = [
  {
    mend: (text) => text.replace(/^ *\d+(?:\t|→|: ?| ?\| ?)/gm, ""),
    hint: "old_string holds the line numbers of read_file's output: leave them out.",
  },
  {
    mend: (text) =>
      text.replace(/\\([nt"'\\])/g, (_, code: string) =>
        code === "n" ? "\n" : code === "t" ? "\t" : code,
      ),
    hint: 'old_string is escaped once too often (\\n, \\t or \\" as two characters).',
  },
  {
    mend: (text) =>
      text
        .replaceAll("&lt;", "<")
        .replaceAll("&gt;", ">")
        .replaceAll("&quot;", '"')
        .replaceAll("&amp;", "&"),
    hint: "old_string is HTML-escaped (&lt; for <): write the characters themselves.",
  },
  {
    mend: (text) => text.replace(/^\n{1,9}/, "").replace(/\n{1,9}$/, ""),
    hint: "old_string begins or ends with a line break that is not there in the file.",
  },
  {
    mend: (text) => text.replace(/^[+-]/gm, ""),
    hint: "old_string holds the + or - of a diff: leave them out.",
  },
];

/** Of a larger file only the beginning is compared: it is folded many times. */
const VIEW_CHARACTERS_MAX = 1_000_000;

/** `text` is the file's text with LF line ends, `wanted` the text that is not in it. */
export function explainMismatch(text: string, wanted: string): string {
  if (text === "") return "The file is empty.";
  const view = text.slice(0, VIEW_CHARACTERS_MAX);
  for (const { mend, hint } of MANGLINGS) {
    const mended = mend(wanted);
    if (mended === wanted || mended.trim() === "") continue;
    const at = view.indexOf(mended);
    if (at >= 0) return `${hint}\n${showPlace(view, at, mended)}`;
  }
  for (const { unify, hint } of DIFFERENCES) {
    const unified = unify(wanted);
    if (unified.trim() === "") continue;
    const folded = unify(view);
    const at = folded.indexOf(unified);
    if (at < 0) continue;
    const [line = 1] = lineNumbers(folded, [at]);
    return `${hint}\n${showLines(view.split("\n"), line, unified.split("\n").length)}`;
  }
  return nearestLines(view, wanted) ?? "No line of the file comes near it. Read the file again.";
}

function showPlace(view: string, at: number, text: string): string {
  const [line = 1] = lineNumbers(view, [at]);
  return showLines(view.split("\n"), line, text.split("\n").length);
}

function showLines(lines: readonly string[], first: number, count: number): string {
  const shown = lines
    .slice(first - 1, first - 1 + Math.min(count, LINES_SHOWN_MAX))
    .map((line, index) => `${first + index}\t${showBlanks(shorten(line, LINE_CHARACTERS_MAX))}`);
  return `The nearest lines of the file:\n${shown.join("\n")}`;
}

function nearestLines(view: string, wanted: string): string | undefined {
  const wantedLines = wanted.split("\n");
  // The longest line says most about the place.
  const lead = wantedLines.reduce((best, line) => (line.length > best.length ? line : best), "");
  const offset = wantedLines.indexOf(lead);
  const pairs = pairsOf(lead);
  if (pairs.size === 0) return undefined;
  const lines = view.split("\n");
  let best = { index: -1, likeness: LIKENESS_MIN };
  lines.slice(0, LINES_COMPARED_MAX).forEach((line, index) => {
    if (line.length * 3 < lead.length) return;
    const likeness = likenessOf(pairs, pairsOf(line));
    if (likeness > best.likeness) best = { index, likeness };
  });
  if (best.index < 0) return undefined;
  const first = Math.max(1, best.index + 1 - offset);
  return showLines(lines, first, wantedLines.length);
}

/** The neighbouring pairs of characters in a line, without its blanks. */
function pairsOf(line: string): Set<string> {
  const text = squeeze(line.slice(0, COMPARED_CHARACTERS_MAX)).toLowerCase();
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at++) pairs.add(text.slice(at, at + 2));
  return pairs;
}

/** Dice's coefficient: 1 for the same pairs, 0 for none in common. */
function likenessOf(left: ReadonlySet<string>, right: ReadonlySet<string>): number {
  let both = 0;
  for (const pair of right) if (left.has(pair)) both++;
  return (2 * both) / (left.size + right.size || 1);
}
