// Arguments as small models write them, read as what they can only mean: "10" for 10, null for
// nothing, `file_path` for `path`. What could mean two things is left for the schema to refuse.

import * as z from "zod";
import { mendArguments } from "./foreign-calls";

type Shape = z.ZodRawShape;

/** The schema of a tool's arguments; `shape` tells the parameters' names. */
export type Parameters<S extends Shape> = z.ZodType<z.output<z.ZodObject<S>>> & { shape: S };

/** A schema that first understands and then validates strictly; unknown keys are dropped. */
export function lenientParameters<S extends Shape>(tool: string, shape: S): Parameters<S> {
  const understand = (value: unknown): unknown =>
    isPlainObject(value) ? understandValues(shape, mendArguments(tool, value)) : value;
  return Object.assign(z.preprocess(understand, z.object(shape)), { shape });
}

/** Marks a parameter that only tunes: it is not told where every byte counts, but still taken. */
export function tuning<T extends z.ZodType>(field: T): T {
  return field.meta({ tuning: true });
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function understandValues(shape: Shape, args: Record<string, unknown>): Record<string, unknown> {
  const understood: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(shape)) {
    const value = args[name];
    const isOptional = field instanceof z.ZodOptional;
    if (value === undefined || (value === null && isOptional)) continue;
    understood[name] = understandValue(isOptional ? field.unwrap() : field, value);
  }
  return understood;
}

function understandValue(field: unknown, value: unknown): unknown {
  if (typeof value !== "string") return value;
  const text = value.trim();
  if (field instanceof z.ZodNumber) return /^-?\d+(\.0+)?$/.test(text) ? Number(text) : value;
  if (field instanceof z.ZodBoolean) {
    if (/^(true|yes|1)$/i.test(text)) return true;
    return /^(false|no|0)$/i.test(text) ? false : value;
  }
  return value;
}
