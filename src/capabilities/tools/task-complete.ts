// The tool `task_complete`: the model's word that it is finished. The loop decides what follows.

import * as z from "zod";
import type { Tool } from "#agent/ports";
import { lenientParameters } from "./parameters";
import description from "./task-complete.md" with { type: "text" };

const parameters = lenientParameters("task_complete", {
  summary: z.string(),
  objective_complete: z.boolean().optional().describe("in a loop: all is reached"),
});

type CompleteArgs = z.output<typeof parameters>;

export function createTaskCompleteTool(): Tool<CompleteArgs> {
  return {
    name: "task_complete",
    summary: "Finish, with a summary.",
    description,
    tags: ["control"],
    parameters,
    effect: () => ({ kind: "none" }),
    run: async () => ({ content: "accepted", ok: true }),
  };
}
