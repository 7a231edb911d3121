// What tests of commands need: a runner on real processes, in a directory of its own.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPrivateDirectory } from "#base/os";
import { createArtifactStore } from "#stores/artifacts";
import type { CommandRequest, CommandResult } from "./command";
import { type CommandRunner, type CommandRunnerOptions, createCommandRunner } from "./runner";

export interface TestRunner extends AsyncDisposable {
  readonly root: string;
  readonly temporary: string;
  readonly runner: CommandRunner;
  readonly artifacts: ReturnType<typeof createArtifactStore>;
  run(command: string, request?: Partial<CommandRequest>): Promise<CommandResult>;
}

/** Closed and removed by `await using`. */
export function createTestRunner(options: Partial<CommandRunnerOptions> = {}): TestRunner {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "bosun-exec-")));
  const temporary = createPrivateDirectory();
  const artifacts = createArtifactStore(join(temporary.path, "artifacts"));
  const runner = createCommandRunner({ root, temporary: temporary.path, artifacts, ...options });
  return {
    root,
    temporary: temporary.path,
    runner,
    artifacts,
    run: (command, request = {}) => runner.run({ command, cwd: root, ...request }),
    async [Symbol.asyncDispose]() {
      await runner.close();
      temporary.remove();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

/** Waits until `isTrue`, at most two seconds; says whether it came true. */
export async function until(isTrue: () => boolean): Promise<boolean> {
  for (let waited = 0; waited < 2000; waited += 20) {
    if (isTrue()) return true;
    await Bun.sleep(20);
  }
  return isTrue();
}
