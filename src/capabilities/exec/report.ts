// The end report of a shell, inside its terminal output: so it is in order behind all that the
// command wrote. `ESC ] NONCE ; STATUS ; DIRECTORY BEL`, an OSC sequence with a random word that
// no output can contain by chance. What it says is checked by whoever uses it.

export interface EndReport {
  exitCode: number;
  directory: string;
}

export interface ReportScanner {
  /** Gives on what is output, holding back what may be the beginning of a report. */
  write(chunk: Uint8Array, output: (bytes: Uint8Array) => void): EndReport | undefined;
  /** What was held back after all. */
  rest(): Uint8Array;
}

/** Longer than any path that the system allows. */
const REPORT_BYTES_MAX = 8192;
const BELL = 0x07;
const ESCAPE = 0x1b;

export function createReportScanner(nonce: string): ReportScanner {
  const opening = Buffer.from(`\x1b]${nonce};`, "latin1");
  let held = Buffer.alloc(0);
  return {
    write(chunk, output) {
      const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : asBuffer(chunk);
      held = Buffer.alloc(0);
      const start = findOpening(bytes, opening);
      if (start < 0) {
        output(bytes);
        return undefined;
      }
      if (start > 0) output(bytes.subarray(0, start));
      const report = bytes.subarray(start);
      const end = report.indexOf(BELL);
      if (end >= 0 && report.length >= opening.length) {
        const parsed = parse(report.subarray(opening.length, end));
        if (parsed) return parsed;
      } else if (report.length < REPORT_BYTES_MAX) {
        // The terminal's buffers are reused: what stays here must be a copy.
        held = Buffer.from(report);
        return undefined;
      }
      output(report);
      return undefined;
    },
    rest: () => held,
  };
}

/** Where a report begins, or where the last bytes may be the beginning of one; else -1. */
function findOpening(bytes: Buffer, opening: Buffer): number {
  const whole = bytes.indexOf(opening);
  if (whole >= 0) return whole;
  const from = Math.max(0, bytes.length - opening.length + 1);
  for (let at = bytes.indexOf(ESCAPE, from); at >= 0; at = bytes.indexOf(ESCAPE, at + 1)) {
    const ending = bytes.subarray(at);
    if (opening.subarray(0, ending.length).equals(ending)) return at;
  }
  return -1;
}

function parse(report: Buffer): EndReport | undefined {
  const match = /^(\d{1,3});(.*)$/s.exec(report.toString("utf8"));
  if (!match) return undefined;
  // The terminal writes a line feed inside a name as CR LF.
  const directory = (match[2] ?? "").replaceAll("\r\n", "\n");
  return { exitCode: Number(match[1]), directory };
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
}
