// Options by allow-list. A command's notation names all the options that are known to do no harm,
// like getopt's: letters (`n:` takes a value, `M?` may have one glued on), then `/`, then long
// names (`name`, `name=` takes a value, `name?` may have one behind `=`). Anything else asks.

import { isSeveral, mayHideOption, type Word } from "./word";

type Arity = "none" | "required" | "glued";

export interface OptionSpec {
  short: ReadonlyMap<string, Arity>;
  long: ReadonlyMap<string, Arity>;
  /** `-20` is a number of lines. */
  numbers: boolean;
}

export interface FoundOption {
  name: string;
  /** The value's text where it is known; null when there is none or it is not known. */
  value: string | null;
  word: Word;
}

export interface ParsedOptions {
  problem: string | null;
  options: readonly FoundOption[];
  operands: readonly Word[];
  /** A `--` was found: what stands behind it is no option. */
  ended: boolean;
}

const compiled = new Map<string, OptionSpec>();

const ARITIES: Record<string, Arity> = { ":": "required", "=": "required", "?": "glued" };

export function compileOptions(notation: string): OptionSpec {
  const known = compiled.get(notation);
  if (known) return known;
  const [letters = "", names = ""] = notation.split("/");
  const short = new Map<string, Arity>();
  for (const [, letter = "", mark = ""] of letters.matchAll(/([^\s:?#])([:?]?)/g)) {
    if (!short.has(letter)) short.set(letter, ARITIES[mark] ?? "none");
  }
  const long = new Map<string, Arity>([
    ["help", "none"],
    ["version", "none"],
  ]);
  for (const [, name = "", mark = ""] of names.matchAll(/([\w-]+)([=?]?)/g)) {
    if (!long.has(name)) long.set(name, ARITIES[mark] ?? "none");
  }
  const spec = { short, long, numbers: letters.includes("#") };
  compiled.set(notation, spec);
  return spec;
}

interface Parsing {
  program: string;
  words: readonly Word[];
  at: number;
  spec: OptionSpec;
  harmless: boolean;
  options: FoundOption[];
  operands: Word[];
}

/** Takes the next word as the value of an option. */
function takeValue(parsing: Parsing, name: string, word: Word): string | null {
  const value = parsing.words[parsing.at];
  if (!value) return `option \`${name}\` of ${parsing.program} lacks its value`;
  if (isSeveral(value) && !parsing.harmless) {
    return `\`${value.raw}\` may become several words, and an option of ${parsing.program}`;
  }
  // Some programs take a value only where it cannot be an option: then this word would be one.
  if (!parsing.harmless && value.lead.startsWith("-") && !/^-\d*$/.test(value.literal ?? "?")) {
    return `\`${value.raw}\` may be an option of ${parsing.program}`;
  }
  parsing.at++;
  parsing.options.push({ name, value: value.literal, word });
  return null;
}

function takeLong(parsing: Parsing, word: Word): string | null {
  const known = word.literal ?? word.lead;
  const equals = known.indexOf("=");
  const name = equals < 0 ? known : known.slice(0, equals);
  const arity = parsing.spec.long.get(name.slice(2));
  if (!arity || (word.literal === null && equals < 0)) {
    return `option \`${name}\` of ${parsing.program} is not known to only read`;
  }
  if (equals >= 0) {
    if (arity === "none") return `option \`${name}\` of ${parsing.program} takes no value`;
    if (word.splits && !parsing.harmless) {
      return `\`${word.raw}\` may become an option of ${parsing.program}`;
    }
    const value = word.literal === null ? null : known.slice(equals + 1);
    parsing.options.push({ name, value, word });
    return null;
  }
  if (arity === "required") return takeValue(parsing, name, word);
  parsing.options.push({ name, value: null, word });
  return null;
}

function takeShort(parsing: Parsing, word: Word): string | null {
  const known = word.literal ?? word.lead;
  if (parsing.spec.numbers && /^-\d+$/.test(known) && word.literal !== null) {
    parsing.options.push({ name: "-#", value: known.slice(1), word });
    return null;
  }
  for (let index = 1; index < known.length; index++) {
    const name = `-${known[index]}`;
    const arity = parsing.spec.short.get(known[index] ?? "");
    if (!arity) return `option \`${name}\` of ${parsing.program} is not known to only read`;
    if (arity === "none") {
      parsing.options.push({ name, value: null, word });
      continue;
    }
    const rest = known.slice(index + 1);
    const hasValue = rest !== "" || word.literal === null;
    if (!hasValue && arity === "required") return takeValue(parsing, name, word);
    if (word.splits && !parsing.harmless) {
      return `\`${word.raw}\` may become an option of ${parsing.program}`;
    }
    parsing.options.push({ name, value: word.literal === null ? null : rest, word });
    return null;
  }
  // Only flags are known of it, and what the shell adds behind them would be read as flags.
  if (word.literal === null) return `\`${word.raw}\` may become an option of ${parsing.program}`;
  return null;
}

/**
 * Parses the words behind the command's name, options anywhere (as GNU programs do). `harmless`
 * says that no option of the program can do harm, so words that may turn into one are operands.
 */
export function parseOptions(
  program: string,
  words: readonly Word[],
  notation: string,
  { harmless = false, stopAtOperand = false } = {},
): ParsedOptions {
  const spec = compileOptions(notation);
  const parsing: Parsing = { program, words, at: 0, spec, harmless, options: [], operands: [] };
  const { options, operands } = parsing;
  while (parsing.at < words.length) {
    const word = words[parsing.at++];
    if (!word) break;
    const known = word.literal ?? word.lead;
    if (word.literal === "--") {
      operands.push(...words.slice(parsing.at));
      return { problem: null, options, operands, ended: true };
    }
    let problem: string | null = null;
    if (known.startsWith("--") && known.length > 2) problem = takeLong(parsing, word);
    else if (known.startsWith("-") && known.length > 1) problem = takeShort(parsing, word);
    else if (!harmless && mayHideOption(word)) {
      problem = `\`${word.raw}\` may become an option of ${program}`;
    } else {
      operands.push(word);
      if (stopAtOperand) {
        operands.push(...words.slice(parsing.at));
        return { problem: null, options, operands, ended: false };
      }
    }
    if (problem !== null) return { problem, options, operands, ended: false };
  }
  return { problem: null, options, operands, ended: false };
}

export function hasOption(parsed: ParsedOptions, ...names: readonly string[]): boolean {
  return parsed.options.some((option) => names.includes(option.name));
}
