// What one setting is: its names on the command line, in the environment and in the config file,
// how its value is read, and who may set it. The table in settings.ts is made of these.

export interface Problem {
  problem: string;
}

export interface Setting<Value> {
  /** Heading under which `--help` and the documentation show it. */
  group: Group;
  /** `--model`; settings without a flag come from the environment or the config only. */
  flag?: string;
  /** Other spellings of the flag that switch the same thing on. */
  aliases?: readonly string[];
  /** The name of the value in `--help`; a setting without one is a switch. */
  placeholder?: string;
  /** The value may be left out: the next word is one only when it looks like this. */
  optionalValue?: RegExp;
  /** Environment variables, the first that is set wins. */
  env: readonly string[];
  /** The key in config.toml. */
  key?: string;
  help: string;
  default: Value;
  parse(text: string): Value | Problem;
  /** Whether a repository's own config may set it: only what can neither harm nor loosen. */
  projectMay: ProjectMay;
  /** Never shown, never passed on to a command. */
  secret?: boolean;
  /** A config file may give a list instead of words with commas. */
  isList?: boolean;
  /** Why it cannot be used yet; giving it is refused. */
  unavailable?: string;
}

/** `tighten`: a switch may be turned on, a number made smaller, and nothing else. */
export type ProjectMay = "never" | "tighten" | "set";

export type Group = "Endpoint" | "Approval and safety" | "Limits" | "How it runs" | "Elsewhere";

type Common = Pick<Setting<unknown>, "group" | "help"> &
  Partial<
    Pick<
      Setting<unknown>,
      | "flag"
      | "aliases"
      | "env"
      | "key"
      | "projectMay"
      | "secret"
      | "unavailable"
      | "placeholder"
      | "optionalValue"
      | "isList"
    >
  >;

export function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "problem" in value;
}

function common(fields: Common): Omit<Setting<never>, "default" | "parse"> {
  return { env: [], projectMay: "never", ...fields };
}

const WORDS_FOR_TRUE = ["1", "true", "yes", "on"];
const WORDS_FOR_FALSE = ["0", "false", "no", "off"];

export function onOff(fields: Common & { default?: boolean }): Setting<boolean> {
  return {
    ...common(fields),
    default: fields.default ?? false,
    parse: (text) => {
      const word = text.toLowerCase();
      if (WORDS_FOR_TRUE.includes(word)) return true;
      if (WORDS_FOR_FALSE.includes(word)) return false;
      return { problem: `must be on or off (1 or 0), not "${text}"` };
    },
  };
}

export function text<Default extends string | undefined>(
  fields: Common & { default: Default; check?(text: string): string | undefined },
): Setting<string | Default> {
  return {
    ...common(fields),
    default: fields.default,
    parse: (value) => {
      const problem = fields.check?.(value);
      return problem === undefined ? value : { problem };
    },
  };
}

export function oneOf<Word extends string>(
  fields: Common & { default: Word; words: readonly Word[] },
): Setting<Word> {
  return {
    ...common(fields),
    default: fields.default,
    parse: (value) =>
      fields.words.find((word) => word === value) ?? {
        problem: `must be one of ${fields.words.join(", ")}, not "${value}"`,
      },
  };
}

/** A whole number within bounds, both included. */
export function count(
  fields: Common & { default: number; min: number; max?: number },
): Setting<number> {
  const max = fields.max ?? Number.MAX_SAFE_INTEGER;
  return {
    ...common(fields),
    default: fields.default,
    parse: (value) => {
      const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
      if (number >= fields.min && number <= max) return number;
      const bounds =
        fields.max === undefined ? `of at least ${fields.min}` : `from ${fields.min} to ${max}`;
      return { problem: `must be a whole number ${bounds}, not "${value}"` };
    },
  };
}

/** A number within bounds, both included. */
export function amount(
  fields: Common & { default: number; min: number; max: number },
): Setting<number> {
  return {
    ...common(fields),
    default: fields.default,
    parse: (value) => {
      const number = /^\d*\.?\d+$/.test(value) ? Number(value) : Number.NaN;
      if (number >= fields.min && number <= fields.max) return number;
      return { problem: `must be a number from ${fields.min} to ${fields.max}, not "${value}"` };
    },
  };
}
