// Search without ripgrep: our own walk, line by line with JavaScript's engine. Slower, the same
// answers.
//
// A pattern that backtracks without end cannot hold it: the engine gives up on one line by itself
// after about 0.6 s (measured), and between lines the deadline is asked.

import type { FileHandle } from "node:fs/promises";
import { ToolFailure } from "#agent/ports";
import { openRegular } from "./file-snapshot";
import type { FoundFile, FoundLine } from "./findings";
import { Walk, walkFiles } from "./folder-walk";
import type { SearchRequest } from "./search-request";
import { kindOf } from "./text";

/** Read at once. */
const CHUNK_BYTES = 1024 * 1024;

/** A longer line is not searched: it is data. */
const LINE_CHARACTERS_MAX = 1024 * 1024;

/** A search of one line that takes longer has been given up by the engine, or is about to. */
const LINE_MS_MAX = 250;

/** After so much work others get their turn. */
const TURN_MS = 30;

/** Files looked at. */
const ENTRIES_MAX = 200_000;

export interface WalkOutcome {
  /** A limit ended the search before all was seen. */
  isCut: boolean;
}

export async function searchByWalking(
  regex: RegExp,
  request: SearchRequest,
  take: (file: FoundFile) => boolean,
): Promise<WalkOutcome> {
  const deadline = performance.now() + request.msMax;
  const search = new FileSearch(regex, request, deadline);
  if (!request.isFolder) {
    await search.file(request.real, take);
    return { isCut: search.isLate };
  }
  const walk = new Walk({
    entriesMax: ENTRIES_MAX,
    msMax: request.msMax,
    signal: request.signal,
  });
  for await (const entry of walkFiles(walk, request.real)) {
    if (entry.kind !== "file" || !request.isWanted(entry.path)) continue;
    if (!(await search.file(entry.path, take)) || search.isLate) break;
  }
  return { isCut: walk.isCut || search.isLate };
}

class FileSearch {
  isLate = false;
  readonly #regex: RegExp;
  readonly #request: SearchRequest;
  readonly #deadline: number;
  #turnEnds = performance.now() + TURN_MS;

  constructor(regex: RegExp, request: SearchRequest, deadline: number) {
    this.#regex = regex;
    this.#request = request;
    this.#deadline = deadline;
  }

  /** False when no more is wanted. */
  async file(path: string, take: (file: FoundFile) => boolean): Promise<boolean> {
    let handle: FileHandle | undefined;
    try {
      handle = (await openRegular(path, path))?.handle;
      if (!handle) return true;
      const collector = new LineCollector(this.#request.context, this.#request.matchesMax);
      const isText = await this.#lines(path, handle, collector);
      if (!isText || collector.lines.length === 0) return true;
      return take({ path, lines: collector.lines });
    } catch (error) {
      // Not ours to read, or gone: a search goes on without it.
      if (error instanceof ToolFailure) return true;
      throw error;
    } finally {
      await handle?.close();
    }
  }

  /** Searches the lines of a file; false when it turns out to be binary. */
  async #lines(path: string, handle: FileHandle, collector: LineCollector): Promise<boolean> {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let decoder: TextDecoder | undefined;
    let isUtf16 = false;
    let open = "";
    let number = 0;
    for (;;) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, null);
      const piece = chunk.subarray(0, bytesRead);
      if (!decoder) {
        const kind = kindOf(piece, false);
        isUtf16 = kind.kind === "utf16";
        const isLittle = kind.kind === "utf16" && kind.littleEndian;
        decoder = new TextDecoder(isUtf16 ? (isLittle ? "utf-16le" : "utf-16be") : "utf-8");
      }
      if (!isUtf16 && piece.includes(0)) return false;
      open += decoder.decode(piece, { stream: bytesRead > 0 });
      const lines = open.split("\n");
      open = bytesRead > 0 ? (lines.pop() ?? "") : "";
      if (bytesRead === 0 && lines.at(-1) === "") lines.pop();
      for (const line of lines) {
        number++;
        if (!(await this.#line(path, { line, number }, collector))) return true;
      }
      if (bytesRead === 0) return true;
      if (open.length > LINE_CHARACTERS_MAX) open = open.slice(0, LINE_CHARACTERS_MAX);
    }
  }

  /** False when the file need not be searched further. */
  async #line(
    path: string,
    { line, number }: { line: string; number: number },
    collector: LineCollector,
  ): Promise<boolean> {
    const text = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (text.length >= LINE_CHARACTERS_MAX) {
      this.#request.skipped(path);
      return true;
    }
    const started = performance.now();
    const match = this.#regex.exec(text);
    const now = performance.now();
    if (now - started > LINE_MS_MAX && !match) this.#request.skipped(path);
    if (now > this.#turnEnds) {
      await new Promise((resolve) => setImmediate(resolve));
      this.#turnEnds = performance.now() + TURN_MS;
    }
    collector.add({ line: number, text, matchAt: match?.index });
    if (this.#request.signal.aborted || now > this.#deadline) this.isLate = true;
    return !this.isLate && !collector.isFull;
  }
}

/** Keeps the matches of one file and the lines around them. */
class LineCollector {
  readonly lines: FoundLine[] = [];
  isFull = false;
  readonly #context: number;
  readonly #matchesMax: number;
  #before: FoundLine[] = [];
  #after = 0;
  #matches = 0;

  constructor(context: number, matchesMax: number) {
    this.#context = context;
    this.#matchesMax = matchesMax;
  }

  add(line: FoundLine): void {
    if (line.matchAt !== undefined) {
      this.lines.push(...this.#before, line);
      this.#before = [];
      this.#after = this.#context;
      this.#matches++;
      // One more than fits shows that there are more.
      if (this.#matches > this.#matchesMax) this.isFull = true;
    } else if (this.#after > 0) {
      this.#after--;
      this.lines.push(line);
    } else if (this.#context > 0) {
      this.#before.push(line);
      if (this.#before.length > this.#context) this.#before.shift();
    }
  }
}
