// Reads the command line: flags by the table of settings, then either a subcommand or a request.

import { nearestName } from "#base/kit";
import { isProblem, type Setting } from "./setting";
import { SETTING_LIST, type SettingName } from "./settings";

/** Words that name another face of the program when they come first. */
export const SUBCOMMANDS = {
  run: "Answer one request and exit.",
  policy: "Say what would happen to a command, and why.",
  doctor: "Show settings, runtime, sandbox, terminal and endpoint.",
  repl: undefined,
  sessions: "List the conversations of this directory, or all; fork ID copies one to it.",
  models: undefined,
  scheduler: undefined,
  telegram: undefined,
  install: undefined,
  acp: undefined,
  export: undefined,
  pacman: undefined,
} as const satisfies Record<string, string | undefined>;

export type Subcommand = keyof typeof SUBCOMMANDS;

export interface Arguments {
  values: Map<SettingName, unknown>;
  /** Names as they were written, for messages and `doctor`. */
  flags: Map<SettingName, string>;
  subcommand: Subcommand | undefined;
  words: string[];
  wants: "help" | "version" | undefined;
}

/** sysexits.h: the command was used incorrectly. */
export const EXIT_USAGE = 64;

/** A mistake of the person at the command line: one line, exit status 64. */
export class UsageError extends Error {
  override name = "UsageError";
}

interface FlagEntry {
  name: SettingName;
  setting: Setting<unknown>;
}

function findFlag(flag: string): FlagEntry {
  for (const [name, setting] of SETTING_LIST) {
    if (setting.flag === flag || setting.aliases?.includes(flag)) return { name, setting };
  }
  const flags = SETTING_LIST.flatMap(([, entry]) => (entry.flag ? [entry.flag] : []));
  const nearest = nearestName(flag, [...flags, "--help", "--version"]);
  const hint = nearest ? ` Did you mean ${nearest}?` : "";
  throw new UsageError(`There is no flag ${flag}.${hint} See bosun --help.`);
}

function readFlag(argument: string, rest: string[], into: Arguments): void {
  const equals = argument.indexOf("=");
  const flag = equals < 0 ? argument : argument.slice(0, equals);
  const { name, setting } = findFlag(flag);
  if (setting.unavailable) throw new UsageError(`${flag} ${setting.unavailable}.`);
  let text = equals < 0 ? undefined : argument.slice(equals + 1);
  if (text === undefined && setting.placeholder === undefined) text = "on";
  if (text === undefined) {
    text = takeValue(setting, flag, rest);
  }
  const value = setting.parse(text);
  if (isProblem(value)) throw new UsageError(`${flag} ${value.problem}.`);
  into.values.set(name, value);
  into.flags.set(name, flag);
}

function takeValue(setting: Setting<unknown>, flag: string, rest: string[]): string {
  const next = rest[0];
  if (setting.optionalValue) {
    return next !== undefined && setting.optionalValue.test(next) ? (rest.shift() ?? "") : "";
  }
  if (next === undefined || next.startsWith("--")) {
    throw new UsageError(`${flag} needs a value: ${flag} ${setting.placeholder}.`);
  }
  return rest.shift() ?? "";
}

export function readArguments(argv: readonly string[]): Arguments {
  const rest = [...argv];
  const found: Arguments = {
    values: new Map(),
    flags: new Map(),
    subcommand: undefined,
    words: [],
    wants: undefined,
  };
  while (rest.length > 0) {
    const argument = rest.shift() ?? "";
    // A command to judge or to run has flags of its own: they are not ours.
    const isLastJson = argument === "--json" && rest.length === 0;
    const takesAll = found.subcommand === "policy" || found.subcommand === "run";
    const isOwn = !takesAll || found.words.length === 0 || isLastJson;
    // A flag is one word: what holds a blank is a request that begins with a dash.
    const isFlag = /^-\S+$/.test(argument.split("=")[0] ?? "");
    if (argument === "--" && isOwn) {
      found.words.push(...rest.splice(0));
    } else if (isOwn && (argument === "--help" || argument === "-h")) {
      found.wants = "help";
    } else if (isOwn && (argument === "--version" || argument === "-V")) {
      found.wants = "version";
    } else if (isOwn && isFlag) {
      readFlag(argument, rest, found);
    } else if (
      found.words.length === 0 &&
      !found.subcommand &&
      Object.hasOwn(SUBCOMMANDS, argument)
    ) {
      found.subcommand = argument as Subcommand;
    } else {
      found.words.push(argument);
    }
  }
  return found;
}
