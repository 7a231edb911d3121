// A small sh beside the program that cleans up when the program is killed: ends what its commands
// left, removes its private directory, puts its terminal in order and says how to go on. It learns
// of our death from the end of a channel that nobody else holds, whatever we died of.

import { closeSync, writeSync } from "node:fs";
import { isTerminal } from "./output";
import { readProcess } from "./processes";
import SCRIPT from "./watchdog.sh" with { type: "text" };

export interface Watchdog {
  /** Undefined before it is started, and where it cannot be. */
  readonly pid: number | undefined;
  /** Everything in this session is to be ended; until `ended`. */
  begun(session: number): void;
  ended(session: number): void;
  /** From now on our end is unexpected unless `close` comes first; `offer` says how to go on. */
  arm(offer: string | undefined): void;
  /** Starts it; never throws. What was said before is told now. */
  start(): void;
  /** Sends it away; resolves when it is gone. */
  close(): Promise<void>;
}

export interface WatchdogOptions {
  /** Whoever has this in its environment (`NAME=beginning of value`) is to be ended. */
  mark: string;
  /** A directory of createPrivateDirectory, to be removed. */
  directory: string;
  /** Default: the terminal that the program was started from, if any. */
  terminal?: number;
}

const SHELL = "/bin/sh";
/** First, so that its few tools are the system's; elsewhere they may lie behind the user's own. */
const SYSTEM_PATH = "/usr/bin:/bin";
/** The descriptor that it reads from. */
const CHANNEL = 3;
/** It is gone within a few milliseconds, unless the machine is very busy. */
const CLOSE_MS_MAX = 200;
/** Where a line for the owner is seen best. */
const STANDARD_DESCRIPTORS = [2, 1, 0];

/** Comments explain the script to its reader, not to whoever lists processes. */
const PROGRAM = SCRIPT.replaceAll(/^\s*#.*\n/gm, "");

export function createWatchdog(options: WatchdogOptions): Watchdog {
  return new ShellWatchdog(options);
}

class ShellWatchdog implements Watchdog {
  #terminal: number | undefined;
  #process: Bun.Subprocess | undefined;
  #channel: number | undefined;
  #pending: string;
  #isOver = false;

  constructor({ mark, directory, terminal }: WatchdogOptions) {
    this.#pending = `mark ${mark}\n`;
    if (!/\s/.test(directory)) this.#pending += `directory ${directory}\n`;
    this.#terminal = terminal;
    if (terminal === undefined) void this.#findTerminal();
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  begun(session: number): void {
    this.#tell(`begun ${session}`);
  }

  ended(session: number): void {
    this.#tell(`ended ${session}`);
  }

  arm(offer: string | undefined): void {
    this.#tell(`armed ${offer ?? ""}`);
  }

  start(): void {
    if (this.#process || this.#isOver) return;
    const own = readProcess(process.pid);
    const stdio: ["ignore" | number, "ignore" | number, "ignore" | number, "pipe"] = [
      "ignore",
      "ignore",
      "ignore",
      "pipe",
    ];
    const terminal = this.#terminal;
    // Bun hands on a standard descriptor in its own place only.
    if (terminal !== undefined) stdio[terminal < CHANNEL ? terminal : 0] = terminal;
    const group = String(own?.group ?? "");
    try {
      this.#process = Bun.spawn(
        [SHELL, "-c", PROGRAM, "bosun-watchdog", group, String(own?.session ?? "")],
        {
          cwd: "/",
          env: { PATH: `${SYSTEM_PATH}:${process.env.PATH ?? ""}`, TERM: process.env.TERM ?? "" },
          stdio,
          // A session of its own: what is sent to our group or typed at our terminal is not for it.
          detached: true,
        },
      );
    } catch {
      // No sh, or no more processes: the program goes on without, as the system lets it.
      this.#give();
      return;
    }
    this.#process.unref();
    const channel = this.#process.stdio[CHANNEL];
    if (typeof channel === "number") this.#channel = channel;
    this.#flush();
  }

  async close(): Promise<void> {
    this.#tell("bye");
    const gone = this.#process?.exited;
    this.#give();
    if (gone) await Promise.race([gone, Bun.sleep(CLOSE_MS_MAX)]);
    if (this.#channel !== undefined) closeSync(this.#channel);
    this.#channel = undefined;
  }

  /** No more is told. */
  #give(): void {
    this.#isOver = true;
    this.#pending = "";
  }

  #tell(line: string): void {
    if (this.#isOver) return;
    this.#pending += `${line}\n`;
    this.#flush();
  }

  #flush(): void {
    if (this.#channel === undefined) return;
    try {
      const bytes = Buffer.from(this.#pending);
      const written = writeSync(this.#channel, bytes);
      this.#pending = bytes.subarray(written).toString();
    } catch (error) {
      // Full, since it is held up: told with the next line. Anything else: it is gone.
      if (!isBusy(error)) this.#give();
    }
  }

  async #findTerminal(): Promise<void> {
    for (const descriptor of STANDARD_DESCRIPTORS) {
      if (this.#terminal === undefined && (await isTerminal(descriptor))) {
        this.#terminal = descriptor;
      }
    }
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EAGAIN";
}
