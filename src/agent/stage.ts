// A stage for tests of the loop: an agent on fakes, and what it says collected.

import { expect } from "bun:test";
import type { Event, EventBody, EventOf } from "#base/protocol";
import { FakeApprover, makeReply, noJournal, ScriptedModel, StillClock } from "./fakes";
import { Agent } from "./loop";
import type { AgentOptions } from "./options";
import type { Effect, Tool } from "./ports";

export interface ToolFields {
  name: string;
  tags?: Tool["tags"];
  effect?: Effect;
  preview?: Tool["preview"];
  run?: Tool["run"];
}

export function makeTool({ name, tags = ["run"], effect, preview, run }: ToolFields): Tool {
  return {
    name,
    summary: name,
    description: name,
    tags,
    parameters: {
      schema: { type: "object", properties: { command: {} } },
      tuning: [],
      safeParse: (value) => ({ success: true, data: Object(value) }),
    },
    effect: () => effect ?? { kind: "none" },
    ...(preview ? { preview } : {}),
    run: run ?? (async () => ({ content: `${name} done`, ok: true })),
  };
}

export interface Stage {
  agent: Agent;
  model: ScriptedModel;
  events: Event[];
  ended(): Promise<EventOf<"run.finished">>;
  all<Type extends EventBody["type"]>(type: Type): EventOf<Type>[];
}

export function stage(
  script: ConstructorParameters<typeof ScriptedModel>[0],
  { tools, ...options }: Partial<Omit<AgentOptions, "tools">> & { tools?: readonly Tool[] } = {},
): Stage {
  const model = new ScriptedModel(script);
  const agent = new Agent({
    id: "main",
    session: "s",
    model,
    tools: () => tools ?? [makeTool({ name: "shell" }), makeTool({ name: "look", tags: ["read"] })],
    specifications: [],
    approver: new FakeApprover(),
    journal: noJournal,
    clock: new StillClock(),
    systemPrompt: "system",
    sandbox: "off",
    stepsMax: 50,
    replyTokensMax: 100,
    cwd: () => "/somewhere",
    verify: undefined,
    takeNews: () => [],
    watchJobs: () => undefined,
    understand: () => undefined,
    scrub: (text) => text.replaceAll("hunter22", "[credential]"),
    scrubStream: () => ({ push: (text) => text, end: () => "" }),
    ...options,
  });
  const events: Event[] = [];
  agent.watch((event) => events.push(event));
  return {
    agent,
    model,
    events,
    ended: () => {
      const { promise, resolve } = Promise.withResolvers<EventOf<"run.finished">>();
      const unwatch = agent.watch((event) => {
        if (event.type !== "run.finished") return;
        unwatch();
        resolve(event);
      });
      return promise;
    },
    all: (type) => events.filter((event) => event.type === type) as never,
  };
}

export async function runOnce(stage: Stage, request = "do it"): Promise<EventOf<"run.finished">> {
  const ended = stage.ended();
  stage.agent.send({ kind: "prompt", text: request });
  return ended;
}

export const call = (name: string, args: Record<string, unknown> = {}, id = `c_${name}`) => ({
  id,
  name,
  args,
});

export const complete = (summary = "all done") =>
  makeReply({ calls: [call("task_complete", { summary }, "c_end")] });

/** Every assistant call has exactly one answer, directly behind its turn. */
export function expectAnswered(
  messages: readonly { role: string; [field: string]: unknown }[],
): void {
  messages.forEach((message, index) => {
    const calls = (message.tool_calls ?? []) as { id: string }[];
    const answers = messages.slice(index + 1, index + 1 + calls.length);
    expect(answers.map((answer) => answer.tool_call_id).sort()).toEqual(
      calls.map(({ id }) => id).sort(),
    );
  });
}
