// Commands in the background: started and left alone, their output in a log file, their end
// reported once. They live until they end, are killed, or the runner closes.

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Scrubber } from "#base/kit";
import { createOutputPipe, type OutputPipe } from "./output";
import { KILL_GRACE_MS, type Sessions } from "./sessions";
import type { Shell } from "./shell";
import type { ShellSupply } from "./shell-supply";

/** At once; a model that needs more has lost count. */
export const JOBS_RUNNING_MAX = 32;
/** Ended jobs stay in the list for the screen, up to that many. */
const JOBS_ENDED_MAX = 50;
/** Behind that the log says that it is full, and the job goes on. */
export const JOB_LOG_BYTES_MAX = 16 * 1024 * 1024;
/** A job that writes that much is killed: taking its output would slow everything else down. */
const JOB_RAW_BYTES_MAX = 256 * 1024 * 1024;
const LOG_INTERVAL_MS = 100;
const TAIL_LINES = 20;
const TAIL_CHARACTERS = 2000;

export interface Job {
  readonly id: string;
  /** Also its process group and session. */
  readonly pid: number;
  readonly command: string;
  readonly logFile: string;
  readonly startedAt: number;
  readonly state: "running" | "exited" | "killed";
  readonly exitCode: number | null;
  /** Its last lines, cleaned. */
  readonly tail: string;
}

export type JobStart = { kind: "started"; job: Job } | { kind: "refused"; reason: string };

export interface Jobs {
  start(request: {
    command: string;
    cwd: string;
    variables?: Readonly<Record<string, string>>;
  }): Promise<JobStart>;
  /** Oldest first, ended ones too. */
  list(): Job[];
  /** The jobs that ended since the last call. */
  drainNews(): Job[];
  /** Calls back at each start and end; returns how to stop that. */
  onChange(listener: (job: Job) => void): () => void;
  /** Resolves when the job is gone; false when none of that id runs. */
  kill(id: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface JobsOptions {
  temporary: string;
  scrubber?: Scrubber;
  supply: ShellSupply;
  sessions: Sessions;
}

export function createJobs(options: JobsOptions): Jobs {
  const jobs: RunningJob[] = [];
  const listeners = new Set<(job: Job) => void>();
  let news: RunningJob[] = [];
  let count = 0;
  const running = () => jobs.filter((job) => job.state === "running");
  const changed = (job: RunningJob) => {
    if (job.state !== "running") news.push(job);
    for (const listener of listeners) listener(job.show());
    const ended = jobs.filter((other) => other.state !== "running");
    if (ended.length > JOBS_ENDED_MAX && ended[0]) jobs.splice(jobs.indexOf(ended[0]), 1);
  };
  return {
    async start(request) {
      if (running().length >= JOBS_RUNNING_MAX) {
        return { kind: "refused", reason: `${JOBS_RUNNING_MAX} background jobs run already` };
      }
      await options.supply.prepare();
      count += 1;
      try {
        const job = new RunningJob({ ...options, ...request, id: `job${count}`, changed });
        jobs.push(job);
        changed(job);
        return { kind: "started", job: job.show() };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return { kind: "refused", reason: `no shell could be started: ${reason}` };
      }
    },
    list: () => jobs.map((job) => job.show()),
    drainNews() {
      const drained = news.map((job) => job.show());
      news = [];
      return drained;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async kill(id) {
      const job = running().find((candidate) => candidate.id === id);
      await job?.kill();
      return job !== undefined;
    },
    async close() {
      await Promise.all(running().map((job) => job.kill()));
    },
  };
}

interface RunningJobOptions extends JobsOptions {
  id: string;
  command: string;
  cwd: string;
  variables?: Readonly<Record<string, string>>;
  changed: (job: RunningJob) => void;
}

class RunningJob {
  readonly id: string;
  readonly logFile: string;
  readonly startedAt = Date.now();
  state: Job["state"] = "running";
  exitCode: number | null = null;
  readonly #shell: Shell;
  readonly #pipe: OutputPipe;
  #recent = "";
  #logBytes = 0;
  #isBeingKilled = false;

  constructor(readonly options: RunningJobOptions) {
    this.id = options.id;
    this.logFile = join(options.temporary, `${options.id}.log`);
    writeFileSync(this.logFile, "", { mode: 0o600 });
    this.#pipe = createOutputPipe({
      scrubber: options.scrubber,
      onText: (text) => {
        this.#recent = (this.#recent + text).slice(-TAIL_CHARACTERS);
      },
      live: { emit: (text) => this.#log(text), intervalMs: LOG_INTERVAL_MS },
    });
    this.#shell = options.supply.start({
      command: options.command,
      cwd: options.cwd,
      variables: options.variables ?? {},
      listener: {
        output: (bytes) => this.#take(bytes),
        reported: (report) => {
          this.#end(report.exitCode);
          options.sessions.settle(this.#shell);
        },
        exited: (exitCode) => this.#end(exitCode),
      },
    });
  }

  show(): Job {
    const { id, logFile, startedAt, state, exitCode } = this;
    const text = this.state === "running" ? this.#recent + this.#pipe.pending() : this.#recent;
    const { command } = this.options;
    return {
      id,
      pid: this.#shell.pid,
      command,
      logFile,
      startedAt,
      state,
      exitCode,
      tail: tailOf(text),
    };
  }

  async kill(): Promise<void> {
    this.#isBeingKilled = true;
    await this.options.sessions.end(this.#shell, { graceMs: KILL_GRACE_MS });
    this.#end(null);
  }

  #take(bytes: Uint8Array): void {
    if (this.state !== "running") return;
    this.#pipe.write(bytes);
    if (this.#pipe.rawBytes() > JOB_RAW_BYTES_MAX && !this.#isBeingKilled) void this.kill();
  }

  #end(exitCode: number | null): void {
    if (this.state !== "running") return;
    this.#pipe.finish();
    this.exitCode = this.#isBeingKilled ? null : exitCode;
    this.state = this.#isBeingKilled ? "killed" : "exited";
    this.options.changed(this);
  }

  /** In a log a redrawn line stands below the one that it replaced. */
  #log(text: string): void {
    if (this.#logBytes >= JOB_LOG_BYTES_MAX) return;
    const lines = text.replace(/^\r/, this.#logBytes === 0 ? "" : "\n").replaceAll("\r", "\n");
    this.#logBytes += Buffer.byteLength(lines);
    const isFull = this.#logBytes >= JOB_LOG_BYTES_MAX;
    const note = "\n[this log is full: later output is not in it]\n";
    appendFileSync(this.logFile, isFull ? lines + note : lines);
  }
}

function tailOf(text: string): string {
  return text.trimEnd().slice(-TAIL_CHARACTERS).split("\n").slice(-TAIL_LINES).join("\n");
}
