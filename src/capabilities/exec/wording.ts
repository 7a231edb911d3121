// How a command ended, in words for a model.

import type { CommandResult } from "./command";

/** One line in brackets, with what to do where that is not plain. */
export function describeEnd(result: CommandResult, startedIn: string): string {
  const parts = [reasonOf(result)];
  if (result.stillRunning > 0) {
    const what = result.stillRunning === 1 ? "1 child" : `${result.stillRunning} children`;
    parts.push(`${what} still running (killed when Bosun exits; use background for a job)`);
  }
  if (result.cwd !== startedIn) parts.push(`now in ${result.cwd}`);
  return `[${[...parts, ...result.notes].join("; ")}]`;
}

function reasonOf(result: CommandResult): string {
  const seconds = `${(result.ms / 1000).toFixed(1)} s`;
  switch (result.ended) {
    case "exited":
      if (result.exitCode !== null) return `exit ${result.exitCode}, ${seconds}`;
      return `the shell was killed by ${result.signal ?? "a signal"}, ${seconds}`;
    case "timed out":
      return `timed out and killed after ${seconds}; give a longer timeout, or use background`;
    case "stopped":
      return `stopped by the user after ${seconds}`;
    case "too much output":
      return `killed after ${seconds}: too much output; filter it, or send it to a file`;
    case "waited for input":
      return (
        `killed after ${seconds}: the command waited for input that nobody can give; ` +
        "use options that do not ask"
      );
    case "not started":
      return "not started";
    default:
      return result.ended satisfies never;
  }
}
