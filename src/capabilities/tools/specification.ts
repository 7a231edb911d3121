// A tool as the model gets to see it, in as few bytes as it can be told.

import type { Tool, ToolSpecification } from "#agent/ports";

/**
 * `brief`: the summary instead of the description, parameters by name and type alone, and none
 * that only tune.
 */
export function toSpecification(tool: Tool, options: { brief: boolean }): ToolSpecification {
  const { schema, tuning } = tool.parameters;
  const { brief } = options;
  return {
    name: tool.name,
    description: brief ? tool.summary : tool.description.trim(),
    parameters: brief ? withoutWords(schema, tuning) : schema,
  };
}

function withoutWords(
  schema: Record<string, unknown>,
  hidden: readonly string[],
  isNested = false,
): Record<string, unknown> {
  const brief: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "description") continue;
    // What is missing inside of a value is understood or asked for when it is.
    if (isNested && key === "required") continue;
    // Here keys are parameters' names, whatever they are.
    if (key === "properties") brief[key] = eachWithoutWords(value, hidden);
    else brief[key] = isSchema(value) ? withoutWords(value, [], true) : value;
  }
  return brief;
}

function eachWithoutWords(properties: unknown, hidden: readonly string[]): unknown {
  if (!isSchema(properties)) return properties;
  const told = Object.entries(properties).filter(([name]) => !hidden.includes(name));
  return Object.fromEntries(
    told.map(([name, value]) => [name, isSchema(value) ? withoutWords(value, [], true) : value]),
  );
}

function isSchema(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
