// The tool `read_file`: lines of a text file with their numbers, in memory bounded by what is
// shown, however large the file is.

import type { FileHandle } from "node:fs/promises";
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from "#agent/ports";
import { OUTPUT_BYTES_MAX, type Workspace } from "#capabilities/exec";
import { about, optional, text, tuning, whole } from "./fields";
import {
  FILE_BYTES_MAX,
  failureOf,
  fingerprintOf,
  openRegular,
  readBounded,
} from "./file-snapshot";
import type { Ledger } from "./ledger";
import { LineWindow } from "./line-window";
import { type ArgumentsOf, lenientParameters } from "./parameters";
import { checkStopped, JudgedPaths, missingFile, pathForModel } from "./paths";
import description from "./read-file.md" with { type: "text" };
import { lineEndsOf } from "./replacement";
import { counted, decodeText, kindOf, showControls, sizeInWords, wholeCharacters } from "./text";

const parameters = lenientParameters("read_file", {
  path: text(),
  offset: about("first line, from 1", optional(whole({ min: 1 }))),
  limit: tuning(optional(whole({ min: 1 }))),
});

type ReadArgs = ArgumentsOf<typeof parameters>;

/** Lines shown without `limit`, and at most with it. */
const LINES_MAX = 2000;

/** Of one line, so many bytes are shown: longer ones are data, not text that is read. */
const LINE_BYTES_MAX = 2000;

/** A file is worth more room than other output: its text is what edits are copied from. */
const OUTPUT_FACTOR = 3;

/** Read at once from a large file. */
const CHUNK_BYTES = 256 * 1024;

/** A large file is read on for the sake of its number of lines up to here, about half a second. */
const COUNTED_BYTES_MAX = 256 * 1024 * 1024;

export interface ReadOptions {
  workspace: Workspace;
  ledger: Ledger;
  /** What the result of one read may hold; three times the usual output when absent. */
  readBytesMax?: number;
  outputBytesMax?: number;
}

export function createReadFileTool(options: ReadOptions): Tool<ReadArgs> {
  const paths = new JudgedPaths();
  return {
    name: "read_file",
    summary: "Read a text file.",
    description,
    tags: ["read"],
    parameters,
    effect: (args) => ({
      kind: "read",
      paths: [paths.judge(options.workspace, args, args.path)],
    }),
    run: (args: ReadArgs, context: ToolContext) => readLines(options, paths, args, context),
  };
}

/** What was read, before it is put into words. */
interface ReadText {
  window: LineWindow;
  /** False when the file goes on behind what was counted. */
  isCounted: boolean;
  notes: string[];
}

async function readLines(
  options: ReadOptions,
  paths: JudgedPaths,
  args: ReadArgs,
  context: ToolContext,
): Promise<ToolResult> {
  const { workspace } = options;
  if (args.path.trim() === "") throw new ToolFailure("path: is empty; name a file.");
  const real = paths.confirm(workspace, args, args.path);
  const shown = pathForModel(workspace, real);
  const opened = await openRegular(real, shown);
  if (!opened) throw await missingFile(workspace, args.path);
  const { handle, stats } = opened;
  try {
    const isLarge = stats.size > BigInt(FILE_BYTES_MAX);
    const text = isLarge
      ? await readLarge(options, args, handle, shown, context)
      : await readWhole(options, args, handle, real, shown);
    return present(text, args, shown);
  } catch (error) {
    throw failureOf(error, shown);
  } finally {
    await handle.close();
  }
}

function windowFor(options: ReadOptions, args: ReadArgs, lineEnd: number): LineWindow {
  const { outputBytesMax = OUTPUT_BYTES_MAX } = options;
  return new LineWindow({
    first: args.offset ?? 1,
    linesMax: Math.min(args.limit ?? LINES_MAX, LINES_MAX),
    bytesMax: options.readBytesMax ?? outputBytesMax * OUTPUT_FACTOR,
    lineBytesMax: LINE_BYTES_MAX,
    lineEnd,
  });
}

async function readWhole(
  options: ReadOptions,
  args: ReadArgs,
  handle: FileHandle,
  real: string,
  shown: string,
): Promise<ReadText> {
  const { bytes, more } = await readBounded(handle, FILE_BYTES_MAX);
  const kind = kindOf(bytes, true);
  const notes: string[] = [];
  let text = bytes;
  if (kind.kind === "binary") throw binaryFailure(shown, kind.what, bytes.length);
  if (kind.kind === "utf16") {
    const label = kind.littleEndian ? "utf-16le" : "utf-16be";
    text = Buffer.from(new TextDecoder(label).decode(bytes));
    notes.push("UTF-16, shown as UTF-8; it cannot be edited here");
  } else {
    text = bytes.subarray(kind.bom);
    if (kind.bom > 0) notes.push("begins with a byte order mark, not shown and kept by edits");
    if (!kind.isUtf8) notes.push("not UTF-8: bytes shown as \ufffd are kept by edits");
  }
  const ends = lineEndsOf(text.toString("latin1"));
  if (ends === "crlf") notes.push("CRLF line ends, kept by edits");
  if (ends === "cr") notes.push("CR line ends, kept by edits");
  if (ends === "mixed") notes.push("mixed LF and CRLF line ends, kept by edits");
  if (more) notes.push(`only the first ${sizeInWords(FILE_BYTES_MAX)} were read`);
  const window = windowFor(options, args, ends === "cr" ? 0x0d : 0x0a);
  window.push(text);
  window.finish();
  if (!more) options.ledger.saw(real, fingerprintOf(bytes));
  return { window, isCounted: !more, notes };
}

async function readLarge(
  options: ReadOptions,
  args: ReadArgs,
  handle: FileHandle,
  shown: string,
  context: ToolContext,
): Promise<ReadText> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const window = windowFor(options, args, 0x0a);
  const { size } = await handle.stat();
  let position = 0;
  let isCounted = true;
  for (;;) {
    checkStopped(context);
    const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) break;
    let piece = chunk.subarray(0, bytesRead);
    if (position === 0) {
      const kind = kindOf(piece, false);
      if (kind.kind === "binary") throw binaryFailure(shown, kind.what, size);
      if (kind.kind === "utf16") throw binaryFailure(shown, "UTF-16 text", size);
      piece = piece.subarray(kind.bom);
    }
    window.push(piece);
    position += bytesRead;
    if (window.isClosed && position >= COUNTED_BYTES_MAX) {
      isCounted = position >= size;
      break;
    }
  }
  if (isCounted) window.finish();
  return { window, isCounted, notes: [`${sizeInWords(size)}: too large to edit here`] };
}

function binaryFailure(shown: string, what: string, size: number): ToolFailure {
  return new ToolFailure(
    `${shown} is binary (${what}, ${sizeInWords(size)}) and cannot be read as text. ` +
      "Use a command that knows the format.",
  );
}

function present(text: ReadText, args: ReadArgs, shown: string): ToolResult {
  const { window, isCounted, notes } = text;
  const { lines, total } = window;
  const last = lines.at(-1);
  if (!last) {
    if (total === 0) return { content: "[empty file]", ok: true };
    throw new ToolFailure(
      `offset ${args.offset ?? 1} is behind the end: ${shown} has ${counted(total, "line")}.`,
    );
  }
  const body = lines.map((line) => {
    const kept = line.cut > 0 ? wholeCharacters(line.bytes, line.bytes.length) : line.bytes.length;
    const words = decodeText(line.bytes.subarray(0, kept)).replace(/\r$/, "");
    const cut = line.cut + line.bytes.length - kept;
    const more = cut > 0 ? `… [${counted(cut, "more byte")} in this line]` : "";
    return `${line.number}\t${showControls(words)}${more}`;
  });
  if (lines.some((line) => line.cut > 0)) {
    notes.push("long lines are cut: see the rest with search or a command");
  }
  if (body.some((line) => /[\u2400-\u241f\u2421]|<U\+/.test(line))) {
    notes.push("control characters are shown as symbols such as \u241b");
  }
  const first = lines[0]?.number ?? 1;
  const isEnd = isCounted && last.number === total;
  if (isEnd && !window.endsWithLineEnd) notes.push("no line end at the end of the file");
  const all = isCounted ? counted(total, "line") : `over ${counted(total, "line")}`;
  const range = first === 1 && isEnd ? all : `lines ${first}-${last.number} of ${all}`;
  const next = isEnd ? "" : `; read on with offset=${last.number + 1}`;
  const head = [`${range}${next}`, ...notes].join("; ");
  return { content: `${body.join("\n")}\n[${head}]`, ok: true, truncated: !isEnd };
}
