// From the command line to an exit status: which face of the program is meant, and what it needs.

import { realpathSync } from "node:fs";
import { StoreFailure } from "#base/kit";
import { runAgent } from "./agent-command";
import { type Configuration, resolveConfiguration } from "./config";
import { type Arguments, EXIT_USAGE, readArguments, UsageError } from "./config/arguments";
import { VERSION } from "./version";

const EXIT_DEFECT = 1;

export async function runProgram(argv: readonly string[]): Promise<number> {
  // The runtime itself would print these and go on, with a run that nobody ends any more.
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => process.exit(tellDefect(error)));
  }
  try {
    return await dispatch(readArguments(argv));
  } catch (error) {
    if (error instanceof UsageError) {
      process.stderr.write(`bosun: ${error.message}\n`);
      return EXIT_USAGE;
    }
    if (error instanceof StoreFailure) {
      process.stderr.write(`bosun: ${error.message}\n`);
      return EXIT_DEFECT;
    }
    return tellDefect(error);
  }
}

/** One line for the user; the story for whoever asks for it. */
function tellDefect(error: unknown): number {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  // Whoever read our output has seen enough.
  if (code === "EPIPE") return EXIT_DEFECT;
  const story = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const line = error instanceof Error ? error.message : story;
  const hint = process.env.BOSUN_DEBUG ? `\n${story}` : " (BOSUN_DEBUG=1 shows where.)";
  process.stderr.write(`bosun: a defect: ${line}${hint}\n`);
  return EXIT_DEFECT;
}

async function dispatch(args: Arguments): Promise<number> {
  if (args.wants === "version") {
    await Bun.write(Bun.stdout, `bosun ${VERSION}\n`);
    return 0;
  }
  if (args.wants === "help") {
    const { helpText } = await import("./config/help");
    await Bun.write(Bun.stdout, `${helpText()}\n`);
    return 0;
  }
  const cwd = workingDirectory();
  const configuration = await resolveConfiguration(args, { env: process.env, cwd });
  warn(configuration);
  switch (args.subcommand) {
    case undefined:
    case "run":
      return runAgent({ args, configuration, cwd });
    case "policy": {
      const { runPolicyCommand } = await import("./policy-command");
      return runPolicyCommand({ args, configuration, cwd });
    }
    case "sessions": {
      const { runSessionsCommand } = await import("./sessions/command");
      return runSessionsCommand({ args, configuration, cwd });
    }
    case "doctor": {
      const { runDoctor } = await import("./doctor");
      return runDoctor({ configuration, cwd });
    }
    default:
      throw new UsageError(`bosun ${args.subcommand} is not in this version. See bosun --help.`);
  }
}

function workingDirectory(): string {
  try {
    return realpathSync(process.cwd());
  } catch {
    throw new UsageError("The working directory does not exist any more. Change to one that does.");
  }
}

function warn({ warnings }: Configuration): void {
  for (const warning of warnings) process.stderr.write(`bosun: ${warning}\n`);
}
