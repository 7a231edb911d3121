// One shell in a terminal and a session of its own: the only place that starts a process for a
// command. It is started without a command, which may come much later (a warm shell) or at once.

import { closeSync, writeSync } from "node:fs";
import { COLUMNS, ROWS } from "./clean";
import { createReportScanner, type EndReport } from "./report";
import { bashSetup, CHANNEL, plainScript, SHELL_NAME, waitingScript } from "./script";

/** End of input, as the terminal's line discipline takes it. */
const END_OF_INPUT = "\x04";

export interface ShellListener {
  output(bytes: Uint8Array): void;
  /** The command has ended; the shell is stopped or about to be, and leads its session still. */
  reported(report: EndReport): void;
  /** The shell is gone and all its output has been given; no report came before. */
  exited(exitCode: number | null, signal: string | null): void;
}

export interface ShellStart {
  /** The shell's absolute path. */
  shell: string;
  /** Words in front of the shell: a program that prepares its surroundings and executes it. */
  launcher: readonly string[];
  environment: Readonly<Record<string, string>>;
  cwd: string;
}

export interface ShellCommand {
  command: string;
  cwd: string;
  variables: Readonly<Record<string, string>>;
  /** A file that holds the command, for those too long for the channel. */
  commandFile: string | undefined;
  listener: ShellListener;
}

export interface Shell {
  /** Also the id of its session. */
  readonly pid: number;
  /** False once the process is gone. */
  readonly isAlive: boolean;
  /** Resolves when it is. */
  readonly gone: Promise<void>;
  /** Hands over the command; false when the shell could not take it and another must. */
  begin(command: ShellCommand): boolean;
  /** Lets the next reads from the terminal meet the end of input. */
  endInput(times: number): void;
  /** The terminal's local modes: what c_lflag holds. */
  localModes(): number;
  kill(): void;
}

/** After the shell is gone its output ends at once, unless the system holds the terminal. */
const OUTPUT_END_MS = 100;

/** Bash waits for its command. Throws when the process cannot be started. */
export function startShell(start: ShellStart): Shell {
  return new BashShell(start);
}

/** For a shell that has no descriptor to wait at: it starts with its command. */
export function startPlainShell(start: ShellStart, command: ShellCommand): Shell {
  return new PlainShell(start, command);
}

abstract class TerminalShell implements Shell {
  isAlive = true;
  readonly gone: Promise<void>;
  protected readonly nonce = crypto.randomUUID().replaceAll("-", "");
  protected process: Bun.Subprocess | undefined;
  protected listener: ShellListener | undefined;
  readonly #scanner = createReportScanner(this.nonce);
  /** Output from before the command, such as bash's complaint about a locale. */
  #early: Uint8Array[] = [];
  #hasReported = false;
  #hasOutputEnded = false;
  #exit: { code: number | null; signal: string | null } | undefined;
  readonly #resolveGone: () => void;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gone = promise;
    this.#resolveGone = resolve;
  }

  get pid(): number {
    return this.process?.pid ?? 0;
  }

  abstract begin(command: ShellCommand): boolean;

  endInput(times: number): void {
    if (this.isAlive) this.process?.terminal?.write(END_OF_INPUT.repeat(times));
  }

  localModes(): number {
    return this.process?.terminal?.localFlags ?? 0;
  }

  kill(): void {
    if (this.isAlive) this.process?.kill("SIGKILL");
  }

  protected spawn(start: ShellStart, words: readonly string[], channel: "pipe" | "ignore"): void {
    this.process = Bun.spawn([...start.launcher, start.shell, ...words], {
      cwd: start.cwd,
      env: start.environment,
      // The terminal takes the place of the first three.
      stdio: channel === "pipe" ? [null, null, null, "pipe"] : [null, null, null],
      terminal: {
        cols: COLUMNS,
        rows: ROWS,
        data: (_terminal, bytes) => this.#take(bytes),
        exit: () => this.#outputEnded(),
      },
      onExit: (_process, code, signal) => this.#processExited(code, signal),
    });
  }

  /** From here on the listener gets everything. */
  protected listen(listener: ShellListener): void {
    this.listener = listener;
    for (const bytes of this.#early) this.#take(bytes);
    this.#early = [];
  }

  #take(bytes: Uint8Array): void {
    const { listener } = this;
    if (!listener) {
      this.#early.push(bytes.slice());
      return;
    }
    // What comes behind the report is of no interest, but the terminal must be kept drained.
    if (this.#hasReported) return;
    const report = this.#scanner.write(bytes, (output) => listener.output(output));
    if (!report) return;
    this.#hasReported = true;
    listener.reported(report);
  }

  #processExited(code: number | null, signal: NodeJS.Signals | number | null): void {
    this.isAlive = false;
    this.#resolveGone();
    this.#exit = { code, signal: signal === null ? null : String(signal) };
    if (this.#hasOutputEnded) this.#finish();
    else setTimeout(() => this.#outputEnded(), OUTPUT_END_MS).unref();
  }

  #outputEnded(): void {
    if (this.#hasOutputEnded) return;
    this.#hasOutputEnded = true;
    if (this.#exit) this.#finish();
  }

  #finish(): void {
    const terminal = this.process?.terminal;
    if (terminal && !terminal.closed) terminal.close();
    if (this.#hasReported || !this.#exit) return;
    this.listener?.output(this.#scanner.rest());
    this.listener?.exited(this.#exit.code, this.#exit.signal);
  }
}

class BashShell extends TerminalShell {
  #channel: number | undefined;

  constructor(start: ShellStart) {
    super();
    this.spawn(
      start,
      ["--norc", "--noprofile", "-c", waitingScript(this.nonce), SHELL_NAME],
      "pipe",
    );
    const channel = this.process?.stdio[CHANNEL];
    // Reading the property makes the descriptor ours to close.
    if (typeof channel === "number") this.#channel = channel;
    this.process?.unref();
    this.process?.terminal?.unref();
  }

  begin(command: ShellCommand): boolean {
    if (!this.isAlive || this.#channel === undefined) return false;
    this.process?.ref();
    this.process?.terminal?.ref();
    const options = { ...command, nonce: this.nonce };
    const setup = bashSetup(options, command.command);
    const parts = command.commandFile ? `${setup}\0` : `${setup}\0${command.command}\0`;
    try {
      const bytes = Buffer.from(parts);
      const written = writeSync(this.#channel, bytes);
      if (written < bytes.length) throw new Error("the channel is full");
    } catch {
      // A shell that has just died, or is stuck: another one takes the command.
      this.kill();
      return false;
    } finally {
      this.#closeChannel();
    }
    this.listen(command.listener);
    return true;
  }

  override kill(): void {
    this.#closeChannel();
    super.kill();
  }

  #closeChannel(): void {
    if (this.#channel === undefined) return;
    closeSync(this.#channel);
    this.#channel = undefined;
  }
}

class PlainShell extends TerminalShell {
  constructor(start: ShellStart, command: ShellCommand) {
    super();
    const options = { ...command, nonce: this.nonce };
    const script = plainScript(options, command.command);
    this.spawn({ ...start, cwd: command.cwd }, ["-c", script], "ignore");
    this.listen(command.listener);
  }

  begin(): boolean {
    return false;
  }
}
