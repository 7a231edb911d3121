// The tool `shell`: runs a command, or starts a background job. What the owner is shown is the
// whole command with everything that could hide in it made visible.

import { PreviewStale, type Tool, ToolFailure, type ToolResult } from "#agent/ports";
import type { Preview } from "#base/protocol";
import { type CommandRunner, describeEnd, type Jobs, type Workspace } from "#capabilities/exec";
import { about, number, optional, text, tuning, yesNo } from "./fields";
import { type ArgumentsOf, lenientParameters } from "./parameters";
import description from "./shell.md" with { type: "text" };
import { showControls } from "./text";

/** Longer work belongs into the background, where nobody waits for it. */
export const TIMEOUT_SECONDS_MAX = 3600;

/** What a screen would not show, or show as something else; tab, line feed and blank may stay. */
const HIDDEN = /[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

const parameters = lenientParameters("shell", {
  command: text(),
  background: optional(yesNo()),
  timeout: tuning(about("seconds", optional(number()))),
});

type ShellArgs = ArgumentsOf<typeof parameters>;

export interface ShellToolOptions {
  runner: Pick<CommandRunner, "run">;
  jobs: Pick<Jobs, "start">;
  workspace: Workspace;
  timeoutMs?: number;
  outputBytesMax?: number;
  /** Whether policy holds the command for one that only reads: then git may start no program. */
  isReadOnly?: (command: string, cwd: string) => boolean | Promise<boolean>;
}

export function createShellTool(options: ShellToolOptions): Tool<ShellArgs> {
  const { workspace } = options;
  const preview = (args: ShellArgs): Preview => {
    requireCommand(args);
    const command = showCommand(args.command);
    return { kind: "command", command, cwd: workspace.cwd, reason: "", rule: "" };
  };
  return {
    name: "shell",
    summary: "Run a shell command; cd carries over, background starts a job.",
    description: description.trim(),
    tags: ["run"],
    parameters,
    effect: (args) => ({ kind: "run", command: args.command, cwd: workspace.cwd }),
    preview: async (args) => preview(args),
    async run(args, context) {
      requireCommand(args);
      const { shown } = context;
      if (shown?.kind === "command" && shown.cwd !== workspace.cwd) {
        throw new PreviewStale(`the directory is now ${workspace.cwd}`);
      }
      if (args.background) return startJob(options, args.command);
      const { cwd } = workspace;
      const timeoutMs = timeoutOf(args) ?? options.timeoutMs;
      const result = await options.runner.run({
        command: args.command,
        cwd,
        signal: context.signal,
        onOutput: context.output,
        harden: (await options.isReadOnly?.(args.command, cwd)) ?? false,
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...(options.outputBytesMax !== undefined && { outputBytesMax: options.outputBytesMax }),
      });
      workspace.cwd = result.cwd;
      const separator = result.text === "" || result.text.endsWith("\n") ? "" : "\n";
      return {
        content: result.text + separator + describeEnd(result, cwd),
        ok: result.ended === "exited" && result.exitCode === 0,
        exitCode: result.exitCode,
        truncated: result.truncated,
      };
    },
  };
}

async function startJob(options: ShellToolOptions, command: string): Promise<ToolResult> {
  const start = await options.jobs.start({ command, cwd: options.workspace.cwd });
  if (start.kind === "refused") throw new ToolFailure(start.reason);
  const { id, pid, logFile } = start.job;
  const content = `[${id} started: pid ${pid}, log ${logFile}; you are told when it ends]`;
  return { content, ok: true, exitCode: null };
}

function requireCommand(args: ShellArgs): void {
  if (args.command.trim() === "") throw new ToolFailure("command is empty: give one to run.");
  if (args.command.includes("\0")) {
    throw new ToolFailure("command holds a NUL character: no shell takes that. Use printf '\\0'.");
  }
}

function timeoutOf(args: ShellArgs): number | undefined {
  if (args.timeout === undefined) return undefined;
  if (!(args.timeout > 0)) throw new ToolFailure("timeout must be more than 0 seconds.");
  return Math.min(args.timeout, TIMEOUT_SECONDS_MAX) * 1000;
}

/** The command as its owner must see it. */
export function showCommand(command: string): string {
  return showControls(command).replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}
