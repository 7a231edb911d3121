// One command from its start to its end: output, time limit, stop, output limit and the watch for
// input come together here, and whichever ends the command first is what the result says.

import { workingDirectoryOf } from "#base/os";
import type { CommandEnd } from "./command";
import { type InputWatch, watchForInput } from "./input-watch";
import type { OutputPipe } from "./output";
import { KILL_GRACE_MS, type Sessions } from "./sessions";
import type { Shell, ShellListener } from "./shell";

/** Reads from the terminal meet the end of input at once, this many times. */
const ENDS_OF_INPUT_AHEAD = 4;
/** Redraws count less than text, but not for nothing: so many raw bytes for each that may stay. */
const RAW_BYTES_FACTOR = 16;
/** How long the last output of a killed command is waited for. */
const LAST_OUTPUT_MS = 200;
/** A directory is looked up that often at most, for the shells that cannot report it. */
const DIRECTORY_INTERVAL_MS = 50;

export interface Outcome {
  ended: CommandEnd;
  exitCode: number | null;
  signal: string | null;
  /** Unchecked; undefined when it is not known. */
  directory: string | undefined;
  stillRunning: number;
}

export interface ExecutionOptions {
  start: (listener: ShellListener) => Shell;
  sessions: Sessions;
  pipe: OutputPipe;
  timeoutMs: number;
  /** The command is killed past that much text. */
  killBytesMax: number;
  signal: AbortSignal | undefined;
}

/** Throws when no process can be started. */
export function execute(options: ExecutionOptions): Promise<Outcome> {
  return new Execution(options).outcome;
}

class Execution implements ShellListener {
  readonly outcome: Promise<Outcome>;
  readonly #resolve: (outcome: Outcome) => void;
  readonly #shell: Shell;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #watch: InputWatch;
  #forced: CommandEnd | undefined;
  #exit = { exitCode: null as number | null, signal: null as string | null };
  #directory: string | undefined;
  #directoryAt = 0;

  constructor(readonly options: ExecutionOptions) {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.outcome = promise;
    this.#resolve = resolve;
    this.#shell = options.start(this);
    this.#shell.endInput(ENDS_OF_INPUT_AHEAD);
    this.#timer = setTimeout(() => this.#force("timed out", KILL_GRACE_MS), options.timeoutMs);
    this.#watch = watchForInput({
      shell: this.#shell,
      lastOutputAt: options.pipe.lastAt,
      giveUp: () => this.#force("waited for input", KILL_GRACE_MS),
      onLook: () => this.#lookUpDirectory(),
    });
    options.signal?.addEventListener("abort", this.#stop);
  }

  output(bytes: Uint8Array): void {
    const { pipe, killBytesMax } = this.options;
    if (this.#forced === "too much output") return;
    pipe.write(bytes);
    this.#lookUpDirectory();
    if (pipe.textLength() > killBytesMax || pipe.rawBytes() > killBytesMax * RAW_BYTES_FACTOR) {
      this.#force("too much output", 0);
    }
  }

  reported(report: { exitCode: number; directory: string }): void {
    // The shell of a command that is being ended may get to its report; that is no exit status.
    if (this.#forced) return;
    this.#exit = { exitCode: report.exitCode, signal: null };
    this.#directory = report.directory;
    this.#finish("exited", this.options.sessions.settle(this.#shell));
  }

  exited(exitCode: number | null, signal: string | null): void {
    if (this.#forced) return;
    this.#exit = { exitCode, signal };
    this.#finish("exited", 0);
  }

  readonly #stop = (): void => void this.#force("stopped", KILL_GRACE_MS);

  async #force(why: CommandEnd, graceMs: number): Promise<void> {
    if (this.#forced) return;
    this.#forced = why;
    this.#clear();
    this.#directory = workingDirectoryOf(this.#shell.pid) ?? this.#directory;
    await this.options.sessions.end(this.#shell, { graceMs });
    this.#shell.kill();
    await Promise.race([this.#shell.gone, Bun.sleep(LAST_OUTPUT_MS)]);
    this.#finish(why, 0);
  }

  #finish(ended: CommandEnd, stillRunning: number): void {
    this.#clear();
    this.#resolve({ ended, ...this.#exit, directory: this.#directory, stillRunning });
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#watch.stop();
    this.options.signal?.removeEventListener("abort", this.#stop);
  }

  /** `exec` and `kill -9 $$` leave no report: what was last seen has to do for them. */
  #lookUpDirectory(): void {
    const now = performance.now();
    if (now - this.#directoryAt < DIRECTORY_INTERVAL_MS) return;
    this.#directoryAt = now;
    this.#directory = workingDirectoryOf(this.#shell?.pid ?? 0) ?? this.#directory;
  }
}
