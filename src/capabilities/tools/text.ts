// What kind of text a file holds, and how text is shown to a model: nothing here changes a file.
// Byte order marks, magic numbers: the Unicode standard 23.8, and each format's own specification.

import { isUtf8 } from "node:buffer";

/** Where binary files show themselves; the same length as git looks at. */
const HEAD_BYTES = 8000;

export type FileKind =
  | { kind: "text"; bom: number; isUtf8: boolean }
  | { kind: "utf16"; littleEndian: boolean }
  | { kind: "binary"; what: string };

/** First bytes of well-known formats. Those that could begin a text are left out. */
const MAGIC: readonly (readonly [string, string])[] = [
  ["PNG image", "\x89PNG\r\n\x1a\n"],
  ["JPEG image", "\xff\xd8\xff"],
  ["GIF image", "GIF87a"],
  ["GIF image", "GIF89a"],
  ["PDF document", "%PDF-"],
  ["ZIP archive (or Office document, jar)", "PK\x03\x04"],
  ["empty ZIP archive", "PK\x05\x06"],
  ["gzip data", "\x1f\x8b"],
  ["bzip2 data", "BZh91AY&SY"],
  ["xz data", "\xfd7zXZ\0"],
  ["zstd data", "\x28\xb5\x2f\xfd"],
  ["7z archive", "7z\xbc\xaf\x27\x1c"],
  ["ELF program or library", "\x7fELF"],
  ["Mach-O program or library", "\xcf\xfa\xed\xfe"],
  ["Mach-O program or Java class", "\xca\xfe\xba\xbe"],
  ["WebAssembly module", "\0asm"],
  ["SQLite database", "SQLite format 3\0"],
  ["Ogg media", "OggS\0"],
  ["FLAC audio", "fLaC\0"],
  ["MP3 audio", "ID3\x02"],
  ["MP3 audio", "ID3\x03"],
  ["MP3 audio", "ID3\x04"],
  ["WOFF font", "wOFF"],
  ["WOFF2 font", "wOF2"],
  ["icon", "\0\0\x01\0"],
];

/** Formats that are sure only together with a NUL byte, with the offset of their mark. */
const MAGIC_WITH_NUL: readonly (readonly [string, number, string])[] = [
  ["Windows program or library", 0, "MZ"],
  ["RIFF media (WebP, WAV, AVI)", 0, "RIFF"],
  ["MP4 or QuickTime media", 4, "ftyp"],
  ["tar archive", 257, "ustar"],
  ["BMP image", 0, "BM"],
];

/** Tells text from binary by the first bytes; `whole` says that `bytes` is the entire file. */
export function kindOf(bytes: Uint8Array, whole: boolean): FileKind {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES));
  const start = head.toString("latin1", 0, 300);
  if (start.startsWith("\xef\xbb\xbf")) {
    return { kind: "text", bom: 3, isUtf8: whole ? isUtf8(bytes) : true };
  }
  if (start.startsWith("\xff\xfe\0\0") || start.startsWith("\0\0\xfe\xff")) {
    return { kind: "binary", what: "UTF-32 text" };
  }
  if (start.startsWith("\xff\xfe")) return { kind: "utf16", littleEndian: true };
  if (start.startsWith("\xfe\xff")) return { kind: "utf16", littleEndian: false };
  const magic = MAGIC.find(([, mark]) => start.startsWith(mark));
  if (magic) return { kind: "binary", what: magic[0] };
  if (head.includes(0)) {
    const named = MAGIC_WITH_NUL.find(([, at, mark]) => start.startsWith(mark, at));
    if (named) return { kind: "binary", what: named[0] };
    return { kind: "binary", what: looksLikeUtf16(head) ? "UTF-16 text without mark" : "data" };
  }
  return { kind: "text", bom: 0, isUtf8: whole ? isUtf8(bytes) : true };
}

/** Half of the bytes are NUL, and all of them on one side of each pair: plain text in UTF-16. */
function looksLikeUtf16(head: Buffer): boolean {
  let even = 0;
  let odd = 0;
  head.forEach((byte, index) => {
    if (byte !== 0) return;
    if (index % 2 === 0) even++;
    else odd++;
  });
  return Math.min(even, odd) === 0 && Math.max(even, odd) > head.length * 0.4;
}

/** "3 bytes", "12.4 KB", "1.5 GB": as people say it. */
export function sizeInWords(bytes: number): string {
  if (bytes < 1024) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/**
 * Makes control characters visible, as the pictures that Unicode has for them, and the C1 ones by
 * number. Tab and line feed stay. The text stays otherwise as it is, so that it can be copied
 * into an edit; no escape sequence of a file reaches a terminal or a model through it.
 */
export function showControls(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, (character) => {
    const code = character.charCodeAt(0);
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : numbered(code);
  });
}

/**
 * The same, and also what makes text look other than it is: bidirectional controls, invisible
 * characters. For what an owner is asked to approve.
 */
export function showDeceptive(text: string): string {
  return showControls(text).replace(
    /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu,
    (character) => numbered(character.codePointAt(0) ?? 0),
  );
}

function numbered(code: number): string {
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Tabs as →, blanks at the end of a line as ·: for telling two nearly equal lines apart. */
export function showBlanks(line: string): string {
  return showControls(line)
    .replaceAll("\t", "→")
    .replace(/[ \u00a0]+$/, (blanks) => "·".repeat(blanks.length))
    .replaceAll("\u00a0", "<U+00A0>");
}

/** The longest beginning of `text` within `unitsMax` that does not split a character. */
export function cutAtCharacter(text: string, unitsMax: number): string {
  if (text.length <= unitsMax) return text;
  const last = text.charCodeAt(unitsMax - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? unitsMax - 1 : unitsMax);
}

/** `text` within `unitsMax`, and how much was left out. */
export function shorten(text: string, unitsMax: number): string {
  const kept = cutAtCharacter(text, unitsMax);
  const left = text.length - kept.length;
  return left === 0 ? text : `${kept}… [${left.toLocaleString("en")} more characters]`;
}

/** The end of the last whole UTF-8 character at or before `end`. */
export function wholeCharacters(bytes: Uint8Array, end: number): number {
  let start = end;
  while (start > 0 && end - start < 4) {
    start--;
    const byte = bytes[start] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return start + length > end ? start : end;
  }
  return end;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes as text; each byte that is no UTF-8 becomes U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** "1 line", "2 lines": counts as people read them. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
