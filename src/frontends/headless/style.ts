// Colours with a meaning, for terminals; plain text elsewhere. And what may never reach a terminal:
// control characters of others, which could move the cursor or rewrite what was shown.

export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
  accent(text: string): string;
}

const sgr =
  (open: number, close: number) =>
  (text: string): string =>
    text === "" ? "" : `\u001b[${open}m${text}\u001b[${close}m`;

const plain = (text: string): string => text;

export const COLOURED: Style = {
  dim: sgr(2, 22),
  bold: sgr(1, 22),
  good: sgr(32, 39),
  bad: sgr(31, 39),
  warn: sgr(33, 39),
  accent: sgr(36, 39),
};

export const PLAIN: Style = {
  dim: plain,
  bold: plain,
  good: plain,
  bad: plain,
  warn: plain,
  accent: plain,
};

/** Line ends and tabs stay; other control characters, direction marks and the like go. */
const ACTING = /(?![\n\t])[\p{Cc}\u200b\u200e\u200f\u061c\u202a-\u202e\u2060-\u2069\ufeff]/gu;

/** All that a screen does not show, or shows as something else. */
const HIDDEN = /(?![\n\t])(?:[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|\u034f)/gu;

function makeVisible(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  if (point < 0x20) return String.fromCharCode(0x2400 + point);
  if (point === 0x7f) return "\u2421";
  return `\\u{${point.toString(16)}}`;
}

/** Makes prose safe to show: what would act on the terminal is made visible. */
export function showSafely(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(ACTING, makeVisible);
}

/** The same for what is approved or refused by how it reads: commands, changes, paths, names. */
export function showExactly(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(HIDDEN, makeVisible);
}
