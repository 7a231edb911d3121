// What the agent acts with: the runner of commands and the tools. Loaded while the first request is
// on its way, since nothing of it is needed to ask a model.

import type { JobNews, Verification } from "#agent";
import type { Tool } from "#agent/ports";
import {
  type CommandRunner,
  type CommandRunnerOptions,
  CREDENTIAL_NAMES,
  createCommandRunner,
  type Job,
  runVerification,
} from "#capabilities/exec";
import { understandCall } from "#capabilities/tools";
import { createTools, type ToolSurroundings } from "./tools";

export interface HandsOptions extends Omit<ToolSurroundings, "runner"> {
  commands: CommandRunnerOptions;
}

export interface Hands {
  runner: CommandRunner;
  tools: readonly Tool[];
  understand: typeof understandCall;
  verify(command: string, cwd: string, signal: AbortSignal): Promise<Verification>;
  watchJobs(tell: (job: JobNews) => void): void;
  /** What of the jobs that ended the model has not been told yet. */
  takeNews(): string[];
}

export function createHands({ commands, ...surroundings }: HandsOptions): Hands {
  const secretNames = [...CREDENTIAL_NAMES, ...(commands.secretNames ?? [])];
  const runner = createCommandRunner({ ...commands, secretNames });
  return {
    runner,
    tools: createTools({ ...surroundings, runner }),
    understand: understandCall,
    verify: (command, cwd, signal) => runVerification({ runner, command, cwd, signal }),
    watchJobs: (tell) => runner.jobs.onChange((job) => tell(jobNews(job))),
    takeNews: () => runner.jobs.drainNews().map(describeJob),
  };
}

function jobNews({ id, state, exitCode, tail }: Job): JobNews {
  return { type: "job", id, state, exitCode, tail };
}

function describeJob({ id, command, state, exitCode, tail, logFile }: Job): string {
  const end = state === "killed" ? "was killed" : `ended with exit status ${exitCode ?? "unknown"}`;
  return `[Background job ${id} ${end}: ${command}]\n${tail}\n[whole log: ${logFile}]`;
}
