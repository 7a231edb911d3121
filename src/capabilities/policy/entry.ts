// The shape of the list of read-only commands: for each, a judge that says why a call of it may
// do more than read, and what kind of thing its words name.

import { type ParsedOptions, parseOptions } from "./options";
import type { Word } from "./word";
import { type Place, whyNotSearched } from "./word-paths";

export interface Call {
  program: string;
  /** The words behind the command's name. */
  words: readonly Word[];
  place: Place;
  /** What comes in through the pipe: names of files found by a lister, or anything. */
  input: "names" | "anything";
  /** A `cd` stands before it in the same command. */
  moved: boolean;
  /** Judges a command that this one runs. */
  judgeInner(words: readonly Word[]): string | null;
}

/** Why the call may do more than read; null when it only reads. */
export type Judge = (call: Call) => string | null;

export interface Entry {
  judge: Judge;
  /** Words are plain text, or names of files of which only the name, or the content, is read. */
  reads: "text" | "names" | "content";
  /** No option of the program can do harm. */
  harmless: boolean;
}

export interface PlainSettings {
  harmless?: boolean;
  reads?: Entry["reads"];
  operandsMax?: number;
  /** With these options it reads all that lies below its operands. */
  recursive?: readonly string[];
  /** A last look at what was parsed. */
  check?: (parsed: ParsedOptions, call: Call) => string | null;
}

function judgePlain(call: Call, notation: string, settings: PlainSettings): string | null {
  const { program } = call;
  const harmless = settings.harmless ?? false;
  const parsed = parseOptions(program, call.words, notation, { harmless });
  if (parsed.problem !== null) return parsed.problem;
  const { operandsMax } = settings;
  if (operandsMax !== undefined) {
    const several = parsed.operands.find((word) => word.splits || word.multiplies);
    if (several)
      return `\`${several.raw}\` may become several words, and ${program} writes to some`;
    // Some programs end their options at the first operand: what follows is one more of those.
    const last = parsed.operands.at(-1);
    if (operandsMax === 1 && last && call.words.at(-1) !== last) {
      return `the words behind \`${last.raw}\` may name a file that ${program} writes`;
    }
    if (parsed.operands.length > operandsMax) {
      return operandsMax === 0
        ? `${program} with an operand can change something`
        : `${program} writes to operand ${operandsMax + 1}`;
    }
  }
  if (parsed.options.some((option) => settings.recursive?.includes(option.name))) {
    const roots = parsed.operands.length > 0 ? parsed.operands : [undefined];
    for (const root of roots) {
      const why = whyNotSearched(root, call.place);
      if (why) return why;
    }
  }
  return settings.check?.(parsed, call) ?? null;
}

/** A command that is judged by its options alone. */
export function plain(notation: string, settings: PlainSettings = {}): Entry {
  return {
    judge: (call) => judgePlain(call, notation, settings),
    reads: settings.reads ?? "content",
    harmless: settings.harmless ?? false,
  };
}

/** A command with a judge of its own. */
export function special(judge: Judge, reads: Entry["reads"] = "content"): Entry {
  return { judge, reads, harmless: false };
}
