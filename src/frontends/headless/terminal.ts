// The lines that a person types while a run goes on. The terminal stays in its ordinary line mode:
// nothing has to be restored, whatever ends the program.

import { openSync } from "node:fs";
import type { ReadStream } from "node:tty";
import { isTerminal, type Libc, loadLibc } from "#base/os";

export interface Terminal {
  /** Hands over each typed line, and undefined once at the end of input. */
  onLine(handler: (line: string | undefined) => void): void;
  /** Throws away what was typed so far, also the beginning of a line. */
  discardTyped(): void;
  write(text: string): void;
  close(): void;
}

const STANDARD_INPUT = 0;
const STANDARD_ERROR = 2;

/** The one who can be asked: a terminal, or nobody. */
export type Conversationalist = Terminal | undefined;

/**
 * Opens the terminal of whoever started the program: standard input when that is one, else the
 * controlling terminal when messages still go to one (a request was piped in). Undefined: nobody.
 */
export async function openTerminal(): Promise<Conversationalist> {
  if (await isTerminal(STANDARD_INPUT)) return new LineTerminal(process.stdin, STANDARD_INPUT);
  if (!(await isTerminal(STANDARD_ERROR))) return undefined;
  try {
    const descriptor = openSync("/dev/tty", "r");
    const { ReadStream } = await import("node:tty");
    return new LineTerminal(new ReadStream(descriptor), descriptor);
  } catch {
    // No controlling terminal: nobody can be asked, and that is an answer.
    return undefined;
  }
}

class LineTerminal implements Terminal {
  readonly #input: ReadStream | NodeJS.ReadStream;
  readonly #descriptor: number;
  #typed = "";
  #handler: ((line: string | undefined) => void) | undefined;
  #hasEnded = false;
  /** Elsewhere than on Linux what was typed ahead is read, and only the reading time guards. */
  #libc: Libc | undefined;

  constructor(input: ReadStream | NodeJS.ReadStream, descriptor: number) {
    this.#input = input;
    this.#descriptor = descriptor;
  }

  onLine(handler: (line: string | undefined) => void): void {
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
    this.#libc?.discardTyped(this.#descriptor);
  }

  write(text: string): void {
    process.stderr.write(text);
  }

  close(): void {
    this.#handler = undefined;
    this.#input.pause();
    this.#input.destroy();
  }

  #take(piece: string): void {
    this.#typed += piece;
    for (;;) {
      const end = this.#typed.search(/[\r\n]/);
      if (end < 0) return;
      const line = this.#typed.slice(0, end);
      this.#typed = this.#typed.slice(end + 1);
      this.#handler?.(line);
    }
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#handler?.(undefined);
  }
}
