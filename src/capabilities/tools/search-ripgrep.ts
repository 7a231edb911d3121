// Search with ripgrep: a child of its own, read as its JSON lines. No configuration of the user
// or the workspace reaches it, and no option of it that runs programs is used.
// Source of the format: the documentation of the Rust crate grep-printer, "JSON".

import { basename, dirname, join } from "node:path";
import * as z from "zod";
import type { FoundFile, FoundLine } from "./findings";
import { splitGlobs } from "./glob";
import { IgnoreRules } from "./ignored";
import type { SearchRequest } from "./search-request";

/** Output of one search that is taken in; what is dropped at once does not count. */
const OUTPUT_BYTES_MAX = 32 * 1024 * 1024;

/** One JSON line that is read whole; a longer one is a line of text that nobody reads. */
const RECORD_BYTES_MAX = 4 * 1024 * 1024;

/** Of its complaints so much is kept. */
const COMPLAINT_BYTES_MAX = 4096;

export type RipgrepOutcome =
  /** `isCut`: it had more to say than is taken in. */
  | { kind: "done"; isCut: boolean }
  /** Its engine does not accept the pattern. */
  | { kind: "refused" }
  | { kind: "failed"; complaint: string };

const textOrBytes = z.union([z.object({ text: z.string() }), z.object({ bytes: z.string() })]);

const record = z.discriminatedUnion("type", [
  z.object({ type: z.literal("begin"), data: z.object({ path: textOrBytes }) }),
  z.object({
    type: z.enum(["match", "context"]),
    data: z.object({
      lines: textOrBytes,
      line_number: z.number(),
      submatches: z.array(z.object({ start: z.number() })),
    }),
  }),
  z.object({ type: z.literal("end"), data: z.object({ binary_offset: z.number().nullable() }) }),
  z.object({ type: z.literal("summary") }),
]);

/** The program's path, if it is one that the workspace cannot have planted. */
export function findRipgrep(workspaceRoot: string): string | null {
  const found = Bun.which("rg");
  if (found === null || !found.startsWith("/") || found.startsWith(`${workspaceRoot}/`))
    return null;
  return found;
}

function argumentsFor(request: SearchRequest): string[] {
  const { pattern, real, isFolder, context, glob } = request;
  const rules = IgnoreRules.at(isFolder ? real : dirname(real));
  const args = ["--no-config", "--json", "--sort=path", "--hidden", "--no-messages", "--crlf"];
  args.push("--no-ignore-dot", "--glob=!.git", `--context=${context}`);
  if (rules.repository === undefined) {
    args.push("--no-require-git", "--no-ignore-global", "--no-ignore-exclude");
  }
  if (rules.repository === undefined || rules.isStartHidden) args.push("--no-ignore-parent");
  // A glob would make it search ignored files, too; a type does not. It knows names only, so that
  // the whole glob is applied to what it finds.
  const names = glob === undefined ? [] : splitGlobs(glob).map((part) => part.split("/").at(-1));
  if (names.length > 0 && names.every((name) => /^[\w.*?{},-]+$/.test(name ?? ""))) {
    for (const name of names) args.push(`--type-add=wanted:${name === "**" ? "*" : name}`);
    args.push("--type=wanted");
  }
  // Whatever follows on the line belongs to the match: one match a line, not a million of them.
  args.push(`--regexp=(?:${pattern}).*`, "--", isFolder ? "./" : `./${basename(real)}`);
  return args;
}

/** Runs the search and hands over file by file, until `take` says that it is enough. */
export async function searchWithRipgrep(
  program: string,
  request: SearchRequest,
  take: (file: FoundFile) => boolean,
): Promise<RipgrepOutcome> {
  const folder = request.isFolder ? request.real : dirname(request.real);
  const child = Bun.spawn([program, ...argumentsFor(request)], {
    cwd: folder,
    // Where git's own excludes are; nothing else of our environment.
    env: pick(["HOME", "XDG_CONFIG_HOME"]),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const kill = (): void => child.kill("SIGKILL");
  request.signal.addEventListener("abort", kill, { once: true });
  if (request.signal.aborted) kill();
  const complaint = firstBytes(child.stderr);
  const reader = new RecordReader(folder, request, take);
  try {
    for await (const chunk of child.stdout) {
      if (!reader.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))) break;
    }
    reader.end();
  } finally {
    kill();
    request.signal.removeEventListener("abort", kill);
  }
  await child.exited;
  const words = await complaint;
  if (
    words.includes("regex parse error") ||
    /compiled regex exceeds size|not allowed in a regex/.test(words)
  ) {
    return { kind: "refused" };
  }
  if (words !== "" && !reader.hasFound && child.exitCode === 2) {
    return { kind: "failed", complaint: words.trim() };
  }
  return { kind: "done", isCut: reader.takenBytes > OUTPUT_BYTES_MAX };
}

function pick(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

async function firstBytes(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of stream) {
    if (text.length < COMPLAINT_BYTES_MAX) text += Buffer.from(chunk).toString("utf8");
  }
  return text.slice(0, COMPLAINT_BYTES_MAX);
}

/** Takes the output apart; holds one record and one file's lines at a time. */
class RecordReader {
  hasFound = false;
  takenBytes = 0;
  readonly #folder: string;
  readonly #request: SearchRequest;
  readonly #take: (file: FoundFile) => boolean;
  #open: Buffer[] = [];
  #openBytes = 0;
  #file: FoundFile | undefined;
  #matches = 0;
  #goesOn = true;

  constructor(folder: string, request: SearchRequest, take: (file: FoundFile) => boolean) {
    this.#folder = folder;
    this.#request = request;
    this.#take = take;
  }

  /** False when no more is wanted. */
  push(chunk: Buffer): boolean {
    let from = 0;
    for (let at = chunk.indexOf(0x0a); at >= 0 && this.#goesOn; at = chunk.indexOf(0x0a, from)) {
      this.#extend(chunk.subarray(from, at));
      this.#close();
      from = at + 1;
    }
    if (this.#goesOn) this.#extend(chunk.subarray(from));
    return this.#goesOn;
  }

  /** The output ended, perhaps in the middle of a file: what is there counts. */
  end(): void {
    if (this.#file) this.#hand(this.#file);
  }

  #extend(piece: Buffer): void {
    this.#openBytes += piece.length;
    if (this.#openBytes <= RECORD_BYTES_MAX && piece.length > 0)
      this.#open.push(Buffer.from(piece));
  }

  #close(): void {
    if (this.#openBytes <= RECORD_BYTES_MAX) {
      this.takenBytes += this.#openBytes;
      this.#read(Buffer.concat(this.#open).toString("utf8"));
      if (this.takenBytes > OUTPUT_BYTES_MAX) this.#goesOn = false;
    } else if (this.#file) {
      this.#request.skipped(this.#file.path);
    }
    this.#open = [];
    this.#openBytes = 0;
  }

  #read(json: string): void {
    if (json === "") return;
    const parsed = record.safeParse(JSON.parse(json));
    if (!parsed.success) return;
    const { data } = parsed;
    switch (data.type) {
      case "begin":
        this.#file = { path: join(this.#folder, wordsOf(data.data.path)), lines: [] };
        this.#matches = 0;
        return;
      case "match":
      case "context":
        this.#line(data.type === "match", data.data);
        return;
      case "end":
        // A file with a NUL byte is binary, whatever came before it.
        if (this.#file && data.data.binary_offset === null) this.#hand(this.#file);
        this.#file = undefined;
        return;
      case "summary":
        return;
    }
  }

  #line(
    isMatch: boolean,
    data: {
      lines: z.output<typeof textOrBytes>;
      line_number: number;
      submatches: { start: number }[];
    },
  ): void {
    if (!this.#file || this.#matches > this.#request.matchesMax) return;
    if (isMatch) this.#matches++;
    const text = wordsOf(data.lines).replace(/\r?\n$/, "");
    const line: FoundLine = { line: data.line_number, text, matchAt: undefined };
    if (isMatch) {
      const start = data.submatches[0]?.start ?? 0;
      line.matchAt = bytesOf(data.lines).subarray(0, start).toString("utf8").length;
    }
    this.#file.lines.push(line);
    // One match more than fits shows that there are more; the rest of the file need not come.
    if (this.#matches > this.#request.matchesMax) {
      this.#hand(this.#file);
      this.#file = undefined;
      this.#goesOn = false;
    }
  }

  #hand(file: FoundFile): void {
    if (file.lines.length === 0 || !this.#request.isWanted(file.path)) return;
    this.hasFound = true;
    if (!this.#take(file)) this.#goesOn = false;
  }
}

function bytesOf(part: z.output<typeof textOrBytes>): Buffer {
  return "text" in part ? Buffer.from(part.text) : Buffer.from(part.bytes, "base64");
}

function wordsOf(part: z.output<typeof textOrBytes>): string {
  return "text" in part ? part.text : bytesOf(part).toString("utf8");
}
