// Runs the command that decides whether work is done. It runs where Bosun was started, with the
// limits of every command, and asks nobody: it is the user's own.

import type { CommandRunner } from "./runner";
import { describeEnd } from "./wording";

export interface Verification {
  ok: boolean;
  exitCode: number | null;
  /** The output and a line on how it ended, for the model. */
  output: string;
  ms: number;
}

export async function runVerification(options: {
  runner: Pick<CommandRunner, "run">;
  command: string;
  cwd: string;
  timeoutMs?: number;
  signal?: AbortSignal;
  onOutput?: (text: string) => void;
}): Promise<Verification> {
  const { runner, ...request } = options;
  const result = await runner.run(request);
  const end = describeEnd({ ...result, cwd: request.cwd }, request.cwd);
  const separator = result.text === "" || result.text.endsWith("\n") ? "" : "\n";
  return {
    ok: result.ended === "exited" && result.exitCode === 0,
    exitCode: result.exitCode,
    output: result.text + separator + end,
    ms: result.ms,
  };
}
