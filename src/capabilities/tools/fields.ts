// The kinds of values that a tool's parameters have: what the model is told of each (JSON Schema)
// and how a value is read. Small models write 10 as "10" and nothing as null: what can only mean
// one thing is understood, the rest is refused in words.
// Our own and not a schema library: building the schemas of nine tools with one took 25 of the
// 60 ms that the program may take to its first request.

export interface Issue {
  path: (string | number)[];
  message: string;
}

export type Reading<Value> = { ok: true; value: Value } | { ok: false; issues: Issue[] };

export interface Field<Value> {
  /** What the model is told. */
  readonly schema: Record<string, unknown>;
  /** It only tunes: not told where every byte counts, but still taken. */
  readonly isTuning: boolean;
  readonly isOptional: boolean;
  read(value: unknown): Reading<Value>;
}

export interface OptionalField<Value> extends Field<Value> {
  readonly isOptional: true;
}

type Shape = Record<string, Field<unknown>>;

type ValueOf<F> = F extends Field<infer Value> ? Value : never;
type OptionalNames<S> = {
  [Name in keyof S]: S[Name] extends OptionalField<unknown> ? Name : never;
}[keyof S];

/** The value of a record with these fields. */
export type RecordOf<S> = {
  [Name in Exclude<keyof S, OptionalNames<S>>]: ValueOf<S[Name]>;
} & { [Name in OptionalNames<S>]?: ValueOf<S[Name]> | undefined };

const refuse = (message: string): Reading<never> => ({
  ok: false,
  issues: [{ path: [], message }],
});

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function field<Value>(
  schema: Record<string, unknown>,
  read: (value: unknown) => Reading<Value>,
): Field<Value> {
  return { schema, isTuning: false, isOptional: false, read };
}

/** `missing` is said instead of the usual words when the text is missing or empty. */
export function text(options: { missing?: string } = {}): Field<string> {
  return field({ type: "string" }, (value) => {
    if (typeof value !== "string")
      return refuse(options.missing ?? `must be text, not ${kindOf(value)}`);
    if (options.missing !== undefined && value === "") return refuse(options.missing);
    return { ok: true, value };
  });
}

export function number(): Field<number> {
  return field({ type: "number" }, (value) => {
    const number = toNumber(value);
    return number === undefined
      ? refuse(`must be a number, not ${kindOf(value)}`)
      : { ok: true, value: number };
  });
}

export function whole(options: { min: number; max?: number }): Field<number> {
  const { min, max = Number.MAX_SAFE_INTEGER } = options;
  const bounds = options.max === undefined ? `at least ${min}` : `from ${min} to ${max}`;
  return field({ type: "integer" }, (value) => {
    const number = toNumber(value);
    if (number === undefined || !Number.isSafeInteger(number) || number < min || number > max) {
      return refuse(`must be a whole number, ${bounds}`);
    }
    return { ok: true, value: number };
  });
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value)) return Number(value);
  return undefined;
}

export function yesNo(): Field<boolean> {
  return field({ type: "boolean" }, (value) => {
    if (typeof value === "boolean") return { ok: true, value };
    const word = typeof value === "string" ? value.trim().toLowerCase() : "";
    if (["true", "yes", "1"].includes(word)) return { ok: true, value: true };
    if (["false", "no", "0"].includes(word)) return { ok: true, value: false };
    return refuse("must be true or false");
  });
}

export function choice<Word extends string>(words: readonly Word[]): Field<Word> {
  const last = words.at(-1);
  return field({ type: "string", enum: words }, (value) => {
    const word = words.find((candidate) => candidate === value);
    if (word !== undefined) return { ok: true, value: word };
    return refuse(`must be ${words.slice(0, -1).join(", ")} or ${last}`);
  });
}

/** `understand` turns what other agents' models write into a list of our items. */
export function list<Value>(
  item: Field<Value>,
  options: { max: number; understand?(value: unknown): unknown },
): Field<Value[]> {
  return field({ type: "array", items: item.schema }, (given) => {
    const value = options.understand ? options.understand(given) : given;
    if (!Array.isArray(value)) return refuse(`must be a list, not ${kindOf(value)}`);
    if (value.length > options.max) return refuse(`must have at most ${options.max} items`);
    const readings = value.map((part) => item.read(part));
    const issues = readings.flatMap((reading, index) => below(index, reading));
    if (issues.length > 0) return { ok: false, issues };
    return { ok: true, value: readings.flatMap((reading) => (reading.ok ? [reading.value] : [])) };
  });
}

/** A record with these fields; what else it has is dropped. */
export function record<S extends Shape>(shape: S): Field<RecordOf<S>> {
  const names = Object.keys(shape);
  const required = names.filter((name) => !shape[name]?.isOptional);
  const properties = Object.fromEntries(names.map((name) => [name, shape[name]?.schema]));
  const schema = { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
  return field(schema, (value) => readRecord(shape, value));
}

function readRecord<S extends Shape>(shape: S, value: unknown): Reading<RecordOf<S>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refuse(`must be an object, not ${kindOf(value)}`);
  }
  const issues: Issue[] = [];
  const found: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(shape)) {
    const given: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined;
    if (part.isOptional && (given === undefined || given === null)) continue;
    const reading = part.read(given);
    if (reading.ok) found[name] = reading.value;
    else issues.push(...below(name, reading));
  }
  // Each field of the shape was read by its own kind just above.
  return issues.length > 0 ? { ok: false, issues } : { ok: true, value: found as RecordOf<S> };
}

function below(step: string | number, reading: Reading<unknown>): Issue[] {
  if (reading.ok) return [];
  return reading.issues.map(({ path, message }) => ({ path: [step, ...path], message }));
}

export function optional<Value>(inner: Field<Value>): OptionalField<Value> {
  return { ...inner, isOptional: true };
}

export function tuning<F extends Field<unknown>>(inner: F): F {
  return { ...inner, isTuning: true };
}

/** Adds what the name does not say. */
export function about<F extends Field<unknown>>(description: string, inner: F): F {
  return { ...inner, schema: { ...inner.schema, description } };
}
