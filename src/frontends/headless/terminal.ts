// The lines that a person types while a run goes on. The terminal stays in its ordinary line mode:
// nothing has to be restored, whatever ends the program. Lines that come in one burst were pasted:
// they are handed over as one, and marked.

import { openSync, writeSync } from "node:fs";
import type { ReadStream } from "node:tty";
import { isTerminal, type Libc, loadLibc } from "#base/os";

export interface TypedText {
  text: string;
  /** Several lines at once: no person types like that. */
  isPasted: boolean;
}

export interface Terminal {
  /** Hands over what was typed, and undefined once at the end of input. */
  onText(handler: (typed: TypedText | undefined) => void): void;
  /** Throws away what was typed so far, also the beginning of a line. */
  discardTyped(): void;
  /** Never throws: a terminal that went away hears nothing. */
  write(text: string): void;
  close(): void;
}

/** The one who can be asked: a terminal, or nobody. */
export type Conversationalist = Terminal | undefined;

const STANDARD_INPUT = 0;
const STANDARD_ERROR = 2;

/** A terminal that takes nothing for so long is stopped or gone. */
const WRITE_MS_MAX = 2000;
const BUSY_PAUSE_MS = 5;

/** The lines of a paste follow each other within this time; a person needs longer for one. */
const PASTE_GAP_MS = 60;

/**
 * Opens the terminal of whoever started the program: standard input when that is one, else the
 * controlling terminal when messages still go to one (a request was piped in). Undefined: nobody.
 */
export async function openTerminal(): Promise<Conversationalist> {
  const showsErrors = await isTerminal(STANDARD_ERROR);
  if (await isTerminal(STANDARD_INPUT)) {
    return new LineTerminal(process.stdin, STANDARD_INPUT, questionsDescriptor(showsErrors));
  }
  if (!showsErrors) return undefined;
  try {
    const descriptor = openSync("/dev/tty", "r");
    const { ReadStream } = await import("node:tty");
    return new LineTerminal(new ReadStream(descriptor), descriptor, STANDARD_ERROR);
  } catch {
    // No controlling terminal: nobody can be asked, and that is an answer.
    return undefined;
  }
}

/** Questions must be seen: with standard error in a file they go to the terminal itself. */
function questionsDescriptor(showsErrors: boolean): number {
  if (showsErrors) return STANDARD_ERROR;
  try {
    return openSync("/dev/tty", "w");
  } catch {
    // The terminal that is read from can be written to as well, nearly always.
    return STANDARD_INPUT;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}

class LineTerminal implements Terminal {
  readonly #input: ReadStream | NodeJS.ReadStream;
  readonly #descriptor: number;
  readonly #output: number;
  #typed = "";
  #lines: string[] = [];
  #burst: ReturnType<typeof setTimeout> | undefined;
  #handler: ((typed: TypedText | undefined) => void) | undefined;
  #hasEnded = false;
  /** Elsewhere than on Linux what was typed ahead is read, and only the reading time guards. */
  #libc: Libc | undefined;

  constructor(input: ReadStream | NodeJS.ReadStream, descriptor: number, output: number) {
    this.#input = input;
    this.#descriptor = descriptor;
    this.#output = output;
  }

  onText(handler: (typed: TypedText | undefined) => void): void {
    this.#handler = handler;
    this.#input.setEncoding("utf8");
    this.#input.on("data", (piece: string) => this.#take(piece));
    this.#input.on("end", () => this.#end());
    // A hung-up terminal reports an error instead of an end.
    this.#input.on("error", () => this.#end());
    void loadLibc().then((libc) => {
      this.#libc = libc;
    });
  }

  discardTyped(): void {
    this.#typed = "";
    this.#lines = [];
    clearTimeout(this.#burst);
    this.#libc?.discardTyped(this.#descriptor);
  }

  write(text: string): void {
    const bytes = Buffer.from(text);
    const deadline = performance.now() + WRITE_MS_MAX;
    for (let at = 0; at < bytes.length && performance.now() < deadline; ) {
      try {
        at += writeSync(this.#output, bytes, at);
      } catch (error) {
        // Input and output of a terminal share their settings: one that is read without waiting is
        // written without waiting, too, and may be full.
        if (!isBusy(error)) return;
        Bun.sleepSync(BUSY_PAUSE_MS);
      }
    }
  }

  close(): void {
    this.#handler = undefined;
    clearTimeout(this.#burst);
    this.#input.pause();
    this.#input.destroy();
  }

  #take(piece: string): void {
    const lines = (this.#typed + piece).split(/\r\n|[\r\n]/);
    this.#typed = lines.pop() ?? "";
    if (lines.length === 0) return;
    this.#lines.push(...lines);
    clearTimeout(this.#burst);
    this.#burst = setTimeout(() => this.#handOver(), PASTE_GAP_MS);
  }

  #handOver(): void {
    clearTimeout(this.#burst);
    if (this.#lines.length === 0) return;
    const isPasted = this.#lines.length > 1;
    const text = this.#lines.join("\n");
    this.#lines = [];
    this.#handler?.({ text, isPasted });
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#handOver();
    this.#handler?.(undefined);
  }
}
