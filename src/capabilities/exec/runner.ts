// Runs commands for an agent: each in a shell, a terminal and a session of its own. Only the
// working directory carries over from one to the next.

import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Scrubber } from "#base/kit";
import type { ArtifactStore } from "#stores/artifacts";
import { createCapture } from "./capture";
import type { CommandRequest, CommandResult } from "./command";
import { CREDENTIAL_NAMES, commandEnvironment } from "./environment";
import { execute, type Outcome } from "./execution";
import { hardenedGit } from "./git-hardening";
import { createJobs, type Jobs } from "./jobs";
import { createOutputPipe } from "./output";
import { createSessions, type SessionWatch } from "./sessions";
import { COMMAND_BYTES_MAX, createShellSupply, type ShellSupply } from "./shell-supply";

export const TIMEOUT_MS = 120_000;
export const OUTPUT_BYTES_MAX = 10_240;
/** A command is killed past that, or past so many times its output limit. */
const KILL_BYTES_MIN = 1024 * 1024;
const KILL_OUTPUT_FACTOR = 5;

export interface CommandRunnerOptions {
  /** Where Bosun was started: commands fall back to it when their directory is gone. */
  root: string;
  /** The private directory for files of this run; whoever made it removes it. */
  temporary: string;
  /** Keeps whole outputs; without it a cut output is lost. */
  artifacts?: Pick<ArtifactStore, "put">;
  scrubber?: Scrubber;
  /** Default: process.env. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Default: CREDENTIAL_NAMES. */
  secretNames?: readonly string[];
  timeoutMs?: number;
  outputBytesMax?: number;
  /** Default: 1 MiB, or five times the output limit if that is more. */
  killBytesMax?: number;
  /** An absolute path; default: bash from PATH, /bin/sh where there is none. */
  shell?: string;
  /**
   * Words in front of a shell, such as a program that puts it into a sandbox; asked for each one.
   * When it throws no shell is started, and the command's result says why.
   */
  launcher?: () => readonly string[];
  /** Marks every command in its environment, as RUN_MARK; default: a random text. */
  runMark?: string;
  watch?: SessionWatch;
}

export interface CommandRunner {
  /** Runs one command. Never rejects: what could not be started is a result, too. */
  run(request: CommandRequest): Promise<CommandResult>;
  readonly jobs: Jobs;
  /** For an idle moment after the start: the first command is as quick as the others then. */
  warmUp(): Promise<void>;
  /** Ends every command, job and leftover. */
  close(): Promise<void>;
}

export function createCommandRunner(options: CommandRunnerOptions): CommandRunner {
  const sessions = createSessions(options.watch);
  const supply = createShellSupply({
    shell: options.shell ?? findShell(),
    launcher: options.launcher ?? (() => []),
    environment: commandEnvironment({
      from: options.environment ?? process.env,
      secretNames: options.secretNames ?? CREDENTIAL_NAMES,
    }),
    root: options.root,
    temporary: options.temporary,
    runMark: options.runMark ?? crypto.randomUUID(),
    sessions,
  });
  const jobs = createJobs({ ...options, supply, sessions });
  const closing = new AbortController();
  return {
    jobs,
    run: (request) =>
      runCommand({ ...options, supply, sessions, closing: closing.signal }, request),
    warmUp: () => supply.prepare(),
    async close() {
      closing.abort();
      await Promise.all([supply.close(), jobs.close()]);
      await sessions.close();
    },
  };
}

type RunnerParts = CommandRunnerOptions & {
  supply: ShellSupply;
  sessions: ReturnType<typeof createSessions>;
  closing: AbortSignal;
};

async function runCommand(parts: RunnerParts, request: CommandRequest): Promise<CommandResult> {
  const startedAt = performance.now();
  const bytesMax = request.outputBytesMax ?? parts.outputBytesMax ?? OUTPUT_BYTES_MAX;
  const notes: string[] = [];
  const problem = problemOf(request.command);
  if (problem !== undefined) return notStarted(request.cwd, problem);
  const signals = [parts.closing, ...(request.signal ? [request.signal] : [])];
  const signal = signals.length > 1 ? AbortSignal.any(signals) : parts.closing;
  if (signal.aborted) return { ...notStarted(request.cwd, ""), ended: "stopped" };
  await parts.supply.prepare();
  const cwd = usableDirectory(request.cwd, parts.root, notes);
  const hardening = request.harden ? await hardenedGit(request.command, cwd) : {};
  const variables = { ...request.variables, ...hardening };

  const capture = createCapture({ bytesMax, artifacts: parts.artifacts });
  const pipe = createOutputPipe({
    scrubber: parts.scrubber,
    onText: capture.add,
    live: request.onOutput && { emit: request.onOutput },
  });
  let outcome: Outcome;
  try {
    outcome = await execute({
      start: (listener) =>
        parts.supply.start({ command: request.command, cwd, variables, listener }),
      sessions: parts.sessions,
      pipe,
      timeoutMs: request.timeoutMs ?? parts.timeoutMs ?? TIMEOUT_MS,
      killBytesMax: parts.killBytesMax ?? Math.max(KILL_BYTES_MIN, bytesMax * KILL_OUTPUT_FACTOR),
      signal,
    });
  } catch (error) {
    return notStarted(cwd, `no shell could be started: ${messageOf(error)}`);
  }
  parts.supply.refill();
  pipe.finish();
  const { directory, ...rest } = outcome;
  return {
    ...rest,
    ...(await capture.finish()),
    cwd: usableDirectory(directory ?? cwd, parts.root, notes),
    ms: performance.now() - startedAt,
    notes,
  };
}

/** The directory itself, or the root when it is not there any more: then a note says so. */
function usableDirectory(wanted: string, root: string, notes: string[]): string {
  if (isAbsolute(wanted) && isDirectory(wanted)) return wanted;
  notes.push(`the directory ${wanted} is gone; commands go on in ${root}`);
  return root;
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // Not there, or not reachable: no command can start in it.
    return false;
  }
}

function problemOf(command: string): string | undefined {
  if (command.includes("\0")) return "the command holds a NUL character; no shell takes that";
  const bytes = Buffer.byteLength(command);
  if (bytes <= COMMAND_BYTES_MAX) return undefined;
  return `the command has ${bytes} bytes, more than ${COMMAND_BYTES_MAX}: write a file instead`;
}

function notStarted(cwd: string, note: string): CommandResult {
  const notes = note === "" ? [] : [note];
  const nothing = { exitCode: null, signal: null, text: "", truncated: false, stillRunning: 0 };
  return { ended: "not started", ...nothing, cwd, ms: 0, notes };
}

function findShell(): string {
  return Bun.which("bash") ?? "/bin/sh";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
