// Token counts out of the many shapes that endpoints send them in. The last usage object of a
// reply wins and is never added to another: some send a growing one with every chunk.

import type { Usage } from "#base/protocol";
import { isObject, type JsonObject } from "./json";

function firstNumber(...values: unknown[]): number | undefined {
  for (const value of values) {
    if (typeof value === "number" && Number.isFinite(value)) return Math.max(0, value);
  }
  return undefined;
}

function objectAt(holder: JsonObject, field: string): JsonObject {
  const value = holder[field];
  return isObject(value) ? value : {};
}

/** The counts of one usage object, or undefined when it tells nothing. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const input = firstNumber(value.prompt_tokens, value.input_tokens);
  const total = firstNumber(value.total_tokens);
  const output = firstNumber(value.completion_tokens, value.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const known = input ?? Math.max(0, (total ?? 0) - (output ?? 0));
  const written = output ?? Math.max(0, (total ?? 0) - known);
  const cached = firstNumber(
    objectAt(value, "prompt_tokens_details").cached_tokens,
    objectAt(value, "input_tokens_details").cached_tokens,
    value.prompt_cache_hit_tokens,
    value.cached_tokens,
    value.cache_read_input_tokens,
  );
  const reused = Math.min(cached ?? 0, known);
  return { input: known, output: written, cached: reused, billable: known - reused + written };
}

/** The usage of a chunk, wherever the endpoint puts it. */
export function usageOfChunk(chunk: JsonObject): Usage | undefined {
  const choice = Array.isArray(chunk.choices) ? chunk.choices[0] : undefined;
  return (
    readUsage(chunk.usage) ??
    readUsage(objectAt(chunk, "x_groq").usage) ??
    (isObject(choice) ? readUsage(choice.usage) : undefined)
  );
}
