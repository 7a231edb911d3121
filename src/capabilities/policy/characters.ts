// Characters that make a command look different from what runs: a screen would hide or reorder
// text, so a person cannot judge what is shown. Found before anything else, quotes or not.

const NAMES: readonly (readonly [from: number, to: number, name: string])[] = [
  [0x00, 0x08, "a control character"],
  [0x0b, 0x0c, "a control character"],
  [0x0d, 0x0d, "a carriage return"],
  [0x0e, 0x1a, "a control character"],
  [0x1b, 0x1b, "an escape sequence"],
  [0x1c, 0x1f, "a control character"],
  [0x7f, 0x9f, "a control character"],
  [0xa0, 0xa0, "a blank that is no space"],
  [0xad, 0xad, "an invisible character"],
  [0x034f, 0x034f, "an invisible character"],
  [0x061c, 0x061c, "a character that reverses the direction of text"],
  [0x115f, 0x1160, "an invisible character"],
  [0x1680, 0x1680, "a blank that is no space"],
  [0x17b4, 0x17b5, "an invisible character"],
  [0x180b, 0x180f, "an invisible character"],
  [0x2000, 0x200a, "a blank that is no space"],
  [0x200b, 0x200d, "an invisible character"],
  [0x200e, 0x200f, "a character that reverses the direction of text"],
  [0x2028, 0x2029, "a line separator that is no new line"],
  [0x202a, 0x202e, "a character that reverses the direction of text"],
  [0x202f, 0x202f, "a blank that is no space"],
  [0x205f, 0x205f, "a blank that is no space"],
  [0x2060, 0x2065, "an invisible character"],
  [0x2066, 0x2069, "a character that reverses the direction of text"],
  [0x206a, 0x206f, "an invisible character"],
  [0x2800, 0x2800, "a blank that is no space"],
  [0x3000, 0x3000, "a blank that is no space"],
  [0x3164, 0x3164, "an invisible character"],
  [0xd800, 0xdfff, "half a character"],
  [0xfe00, 0xfe0f, "an invisible character"],
  [0xfeff, 0xfeff, "an invisible character"],
  [0xffa0, 0xffa0, "an invisible character"],
  [0xfff9, 0xffff, "an invisible character"],
  [0x1d173, 0x1d17a, "an invisible character"],
  [0xe0000, 0xe0fff, "an invisible character"],
];

/** Nearly every command is plain ASCII: one pass of a regular expression settles those. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/** Why the text cannot be shown as it is, or undefined when it can. */
export function misleadingCharacter(text: string): string | undefined {
  if (PLAIN.test(text)) return undefined;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code === 0x09 || code === 0x0a || (code >= 0x20 && code < 0x7f)) continue;
    const range = NAMES.find(([from, to]) => code >= from && code <= to);
    if (range) {
      const number = code.toString(16).toUpperCase().padStart(4, "0");
      return `the command contains ${range[2]} (U+${number})`;
    }
  }
  return undefined;
}
