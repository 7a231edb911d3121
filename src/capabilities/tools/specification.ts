// A tool as the model gets to see it, in as few bytes as it can be told.

import * as z from "zod";
import type { Tool, ToolSpecification } from "#agent/ports";

/** Keys that say nothing to a model: bounds are checked, and told only where one needs them. */
const NOISE = new Set([
  "$schema",
  "additionalProperties",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "tuning",
]);

/**
 * `brief`: the summary instead of the description, parameters by name and type alone, and none
 * that only tune.
 */
export function toSpecification(tool: Tool, options: { brief: boolean }): ToolSpecification {
  const schema = z.toJSONSchema(tool.parameters, { io: "output" });
  const parameters = compactSchema(schema, options.brief);
  return {
    name: tool.name,
    description: options.brief ? tool.summary : tool.description.trim(),
    parameters: "properties" in parameters ? parameters : { ...parameters, properties: {} },
  };
}

function compactSchema(schema: object, brief: boolean, isNested = false): Record<string, unknown> {
  const compact: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (NOISE.has(key) || (brief && key === "description")) continue;
    // What is missing inside of a value is understood or asked for when it is.
    if (brief && isNested && key === "required") continue;
    // Here keys are parameters' names, whatever they are.
    if (key === "properties") compact[key] = compactEach(value, brief);
    else if (Array.isArray(value)) compact[key] = value.map((part) => compactPart(part, brief));
    else compact[key] = compactPart(value, brief);
  }
  return compact;
}

function compactEach(properties: object, brief: boolean): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([, schema]) => !(brief && schema.tuning === true))
      .map(([name, schema]) => [name, compactPart(schema, brief)]),
  );
}

function compactPart(part: unknown, brief: boolean): unknown {
  return typeof part === "object" && part !== null && !Array.isArray(part)
    ? compactSchema(part, brief, true)
    : part;
}
