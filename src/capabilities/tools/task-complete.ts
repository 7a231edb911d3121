// The tool `task_complete`: the model's word that it is finished. The loop decides what follows.

import type { Tool } from "#agent/ports";
import { about, optional, text, yesNo } from "./fields";
import { type ArgumentsOf, lenientParameters } from "./parameters";
import description from "./task-complete.md" with { type: "text" };

const parameters = lenientParameters("task_complete", {
  summary: text(),
  objective_complete: about("in a loop: all is reached", optional(yesNo())),
});

type CompleteArgs = ArgumentsOf<typeof parameters>;

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
