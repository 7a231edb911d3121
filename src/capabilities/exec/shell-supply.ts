// Gives each command its shell: the warm one, else a fresh one, else, where there is no bash, a
// plain sh. Long commands travel in a file, the others over the shell's channel.

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RUN_MARK } from "#base/os";
import type { Sessions } from "./sessions";
import {
  type Shell,
  type ShellListener,
  type ShellStart,
  startPlainShell,
  startShell,
} from "./shell";
import { createWarmShell } from "./warm-shell";

/** A channel takes that much at once, with room for the setup. */
const CHANNEL_COMMAND_BYTES_MAX = 32 * 1024;
/** Longer ones are not commands any more. */
export const COMMAND_BYTES_MAX = 1024 * 1024;

export interface SupplyRequest {
  command: string;
  cwd: string;
  variables: Readonly<Record<string, string>>;
  listener: ShellListener;
}

export interface ShellSupply {
  /** Loads what the first command needs, and gets a shell ready. */
  prepare(): Promise<void>;
  /** Runs a command in a shell. Throws when no process can be started. */
  start(request: SupplyRequest): Shell;
  /** To be called after a command: gets the next shell ready. */
  refill(): void;
  close(): Promise<void>;
}

export interface ShellSupplyOptions {
  /** Absolute; only one whose name ends in `bash` can wait for its command. */
  shell: string;
  /** The words in front of a shell; may throw. */
  launcher(): readonly string[];
  environment: Readonly<Record<string, string>>;
  /** A directory that exists as long as Bosun runs. */
  root: string;
  /** The private directory for the files of this run. */
  temporary: string;
  /** What each command's mark begins with. */
  runMark: string;
  sessions: Sessions;
}

export function createShellSupply(options: ShellSupplyOptions): ShellSupply {
  const { shell, environment, sessions, runMark } = options;
  const startOptions = (): ShellStart => {
    return { shell, launcher: options.launcher(), environment, cwd: options.root };
  };
  const isBash = shell.endsWith("bash");
  const warm = createWarmShell(() => {
    const waiting = startShell(startOptions());
    sessions.add(waiting);
    return waiting;
  });
  let count = 0;
  let isPrepared = false;

  const startWith = (command: Parameters<Shell["begin"]>[0]): Shell => {
    if (!isBash) return startPlainShell(startOptions(), command);
    for (let ready = warm.take(); ready; ready = warm.take()) {
      if (ready.begin(command)) return ready;
    }
    const fresh = startShell(startOptions());
    if (!fresh.begin(command)) throw new Error("the shell ended before it took its command");
    return fresh;
  };
  return {
    async prepare() {
      if (isPrepared) return;
      isPrepared = true;
      await sessions.prepare();
      if (isBash) warm.refill("after command");
    },
    start(request) {
      count += 1;
      const mark = `${runMark}.${count}`;
      const isLong = Buffer.byteLength(request.command) > CHANNEL_COMMAND_BYTES_MAX;
      const commandFile = isLong ? join(options.temporary, `command-${count}`) : undefined;
      if (commandFile) writeFileSync(commandFile, request.command, { mode: 0o600 });
      const variables = { ...request.variables, [RUN_MARK]: mark };
      const started = startWith({ ...request, variables, commandFile });
      sessions.add(started, mark);
      if (commandFile) started.gone.then(() => rmSync(commandFile, { force: true }));
      if (isBash) warm.refill("beside command");
      return started;
    },
    refill() {
      if (isBash) warm.refill("after command");
    },
    close: () => warm.close(),
  };
}
