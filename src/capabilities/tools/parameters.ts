// A tool's parameters: what the model is told of them, and how its arguments are read. Names of
// other agents' tools are understood, numbers and booleans in quotes, too; unknown keys are dropped.

import type { ToolParameters } from "#agent/ports";
import { type Field, type RecordOf, record } from "./fields";
import { mendArguments } from "./foreign-calls";

/** The arguments that these parameters are read to. */
export type ArgumentsOf<P> = P extends ToolParameters<infer Args> ? Args : never;

export function lenientParameters<S extends Record<string, Field<unknown>>>(
  tool: string,
  shape: S,
): ToolParameters<RecordOf<S>> {
  const whole = record(shape);
  return {
    schema: whole.schema,
    tuning: Object.keys(shape).filter((name) => shape[name]?.isTuning),
    safeParse(value) {
      const reading = whole.read(isPlainObject(value) ? mendArguments(tool, value) : value);
      if (reading.ok) return { success: true, data: reading.value };
      return { success: false, error: { issues: reading.issues } };
    },
  };
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
