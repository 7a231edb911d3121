// What the model is told of the tools, worked out when the program is bundled: the tools themselves
// are loaded while the first request is on its way.

import type { ToolSpecification } from "#agent/ports";
import { toSpecification } from "#capabilities/tools";
import { createTools, type ToolSurroundings } from "./tools";

/** A macro: only its result is in the program. Specifications depend on no surroundings. */
export function toolSpecifications(): { whole: ToolSpecification[]; brief: ToolSpecification[] } {
  const nowhere = { runner: {}, workspace: {}, artifacts: {} } as unknown as ToolSurroundings;
  const tools = createTools(nowhere);
  return {
    whole: tools.map((tool) => toSpecification(tool, { brief: false })),
    brief: tools.map((tool) => toSpecification(tool, { brief: true })),
  };
}
