// Cuts a long output for the model: the first 30 % and the last 70 % of the limit, at whole
// lines where there are any, never inside a character, with a marker between.

/** The literal last line of every cut output. */
export const TRUNCATION_SENTINEL = "output too long: truncated";
/** What marker and sentinel may add to the limit. */
export const CUT_OVERHEAD_BYTES = 320;

const HEAD_SHARE = 0.3;
const LINE_FEED = 0x0a;

export interface CutOptions {
  bytesMax: number;
  /** Where the whole output can be read; none when it was not kept. */
  artifactId: string | undefined;
  /** Bytes and lines that are in neither part: the caller had dropped them before. */
  dropped?: { bytes: number; lines: number };
}

/** `head` and `tail` may be the same bytes, when the whole output is at hand. */
export function cutOutput(head: Uint8Array, tail: Uint8Array, options: CutOptions): string {
  const isWhole = head === tail;
  const headEnd = endOfHead(head, Math.floor(options.bytesMax * HEAD_SHARE));
  const tailMax = options.bytesMax - Math.floor(options.bytesMax * HEAD_SHARE);
  const tailStart = startOfTail(tail, Math.max(0, tail.length - tailMax));
  const between = isWhole
    ? { bytes: tailStart - headEnd, lines: countLines(head, headEnd, tailStart) }
    : {
        bytes: head.length - headEnd + tailStart + (options.dropped?.bytes ?? 0),
        lines:
          countLines(head, headEnd, head.length) +
          countLines(tail, 0, tailStart) +
          (options.dropped?.lines ?? 0),
      };
  const first = text(head, 0, headEnd);
  const last = text(tail, tailStart, tail.length);
  const marker = describeGap(between, options.artifactId, headEnd);
  return `${endLine(first)}${marker}\n${endLine(last)}${TRUNCATION_SENTINEL}`;
}

function describeGap(
  gap: { bytes: number; lines: number },
  artifactId: string | undefined,
  offset: number,
): string {
  const size = `${gap.bytes} bytes, ${gap.lines} lines left out`;
  if (artifactId === undefined) return `[... ${size} ...]`;
  const call = `read_artifact {"id": "${artifactId}", "offset": ${offset}}`;
  return `[... ${size}; the whole output: ${call} ...]`;
}

/** Behind the last whole line that fits; a line longer than that is cut between characters. */
function endOfHead(bytes: Uint8Array, max: number): number {
  if (bytes.length <= max) return bytes.length;
  // A negative position would be counted from the end.
  if (max === 0) return 0;
  const newline = bytes.lastIndexOf(LINE_FEED, max - 1);
  return newline >= 0 ? newline + 1 : characterBefore(bytes, max);
}

function startOfTail(bytes: Uint8Array, min: number): number {
  if (min === 0) return 0;
  const newline = bytes.indexOf(LINE_FEED, min - 1);
  if (newline >= 0 && newline + 1 < bytes.length) return newline + 1;
  let at = min;
  while (at < bytes.length && isContinuation(bytes[at])) at += 1;
  return at;
}

function characterBefore(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && isContinuation(bytes[start])) start -= 1;
  return start;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

export function countLines(bytes: Uint8Array, from: number, to: number): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_FEED, from); at >= 0 && at < to; lines += 1) {
    at = bytes.indexOf(LINE_FEED, at + 1);
  }
  return lines;
}

function text(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString("utf8");
}

function endLine(part: string): string {
  return part === "" || part.endsWith("\n") ? part : `${part}\n`;
}
