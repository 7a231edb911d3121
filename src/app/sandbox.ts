// The sandbox of an agent's commands: the policy of this run, and when its walls are measured.

import { mkdirSync } from "node:fs";
import { createSandbox, missingWalls, sandboxPolicy } from "#capabilities/sandbox";
import type { Configuration } from "./config";

export interface RunSandbox {
  readonly state: "on" | "off";
  /** The words in front of a command; throws until `measured`, or when the walls do not stand. */
  launcher(): readonly string[];
  /** Done before any command may run: what the owner must know of the walls, if anything. */
  readonly measured: Promise<string | undefined>;
  close(): void;
}

export interface SandboxSurroundings {
  configuration: Configuration;
  cwd: string;
}

/** The walls are measured after this time, when the first request is on its way. */
export async function openSandbox(
  { configuration, cwd }: SandboxSurroundings,
  { delayMs }: { delayMs: number },
): Promise<RunSandbox> {
  if (configuration.settings.disableSandbox) {
    const measured = Promise.resolve(undefined);
    return { state: "off", launcher: () => [], measured, close: () => undefined };
  }
  makeHome(configuration.home);
  const policy = commandPolicy({ configuration, cwd });
  const sandbox = await createSandbox({ policy, confineSignals: true });
  const measured = Bun.sleep(delayMs).then(async () => missingWalls(await sandbox.measure()));
  return {
    state: sandbox.state,
    launcher: () => sandbox.launcher(),
    measured,
    close: () => sandbox.close(),
  };
}

/** What commands may do in this directory. */
export function commandPolicy({ configuration, cwd }: SandboxSurroundings) {
  return sandboxPolicy({
    workspace: cwd,
    home: configuration.home,
    userId: process.getuid?.() ?? 0,
    environment: process.env,
    network: configuration.settings.sandboxNetwork === "none" ? "none" : "all",
  });
}

/** What is made later would lie bare before the commands that run already. */
function makeHome(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
  } catch {
    // Not ours to make: then nothing private will lie there either.
  }
}
