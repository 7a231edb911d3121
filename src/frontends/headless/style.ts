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

/** Line ends and tabs stay; every other control character and every direction override goes. */
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;

/** Makes text of a model or a tool safe to show: what would act on the terminal is made visible. */
export function showSafely(text: string): string {
  return text.replace(/\r\n/g, "\n").replace(UNSAFE, (character) => {
    const point = character.charCodeAt(0);
    if (point < 0x20) return String.fromCharCode(0x2400 + point);
    if (point === 0x7f) return "\u2421";
    return `\\u${point.toString(16).padStart(4, "0")}`;
  });
}
