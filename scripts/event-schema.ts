// The published schema of `--json`: docs/events.schema.json is made from it, and the stories
// validate every line against it. The types at the end keep it equal to the program's own.

import { z } from "zod";
import type { Event } from "../src/base/protocol";

const message = z.looseObject({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.string().nullable(),
});

const usage = {
  input: z.number(),
  output: z.number(),
  cached: z.number(),
  billable: z.number(),
};

const preview = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("command"),
    command: z.string(),
    cwd: z.string(),
    reason: z.string(),
    rule: z.string(),
  }),
  z.strictObject({
    kind: z.literal("diff"),
    path: z.string(),
    diff: z.string(),
    created: z.boolean(),
    added: z.number(),
    removed: z.number(),
    reason: z.string().optional(),
    rule: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal("text"),
    text: z.string(),
    reason: z.string().optional(),
    rule: z.string().optional(),
  }),
]);

const todoItem = z.strictObject({
  text: z.string(),
  state: z.enum(["pending", "current", "done"]),
});

function event<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.strictObject({
    v: z.literal(1),
    at: z.iso.datetime(),
    agent: z.string(),
    type: z.literal(type),
    ...fields,
  });
}

const exitCode = z.number().nullable();

export const eventSchema = z.discriminatedUnion("type", [
  event("run.started", {
    session: z.string(),
    request: z.string(),
    model: z.string(),
    cwd: z.string(),
    sandbox: z.enum(["on", "off"]),
  }),
  event("step.started", { step: z.number() }),
  event("reasoning.delta", { text: z.string() }),
  event("text.delta", { text: z.string() }),
  event("message", { message }),
  event("tool.started", {
    call: z.string(),
    name: z.string(),
    args: z.record(z.string(), z.unknown()),
    preview: preview.optional(),
  }),
  event("approval.asked", { call: z.string(), preview }),
  event("approval.answered", {
    call: z.string(),
    decision: z.enum(["allow", "always", "deny", "suggest"]),
    note: z.string(),
  }),
  event("tool.output", { call: z.string(), text: z.string() }),
  event("tool.finished", {
    call: z.string(),
    name: z.string(),
    ok: z.boolean(),
    exitCode,
    ms: z.number(),
    truncated: z.boolean(),
    result: z.string(),
  }),
  event("todo", { items: z.array(todoItem) }),
  event("usage", usage),
  event("compaction", { strategy: z.string(), before: z.number(), after: z.number() }),
  event("retry", { attempt: z.number(), waitMs: z.number(), reason: z.string() }),
  event("verify", { ok: z.boolean(), exitCode, output: z.string() }),
  event("loop.iteration", { n: z.number(), max: z.number() }),
  event("job", {
    id: z.string(),
    state: z.enum(["running", "exited", "killed"]),
    exitCode,
    tail: z.string(),
  }),
  event("changes", { files: z.array(z.string()) }),
  event("steer", { text: z.string() }),
  event("notice", { level: z.enum(["info", "warning", "error"]), text: z.string() }),
  event("error", { kind: z.string(), message: z.string() }),
  event("run.finished", {
    status: z.enum(["complete", "error", "limit", "stopped"]),
    summary: z.string(),
    steps: z.number(),
    usage: z.strictObject(usage),
    exit: z.number(),
  }),
]);

type Described = z.infer<typeof eventSchema>;

/** Fails to compile when the program says an event type that the schema does not have, or back. */
type Same<Left, Right> = [Left] extends [Right] ? ([Right] extends [Left] ? true : never) : never;
export const schemaIsComplete: Same<Described["type"], Event["type"]> = true;

/** The page docs/events.schema.json. */
export function eventSchemaPage(): string {
  const schema = z.toJSONSchema(eventSchema, { target: "draft-2020-12" });
  return `${JSON.stringify({ title: "Bosun event, version 1", ...schema }, null, 2)}\n`;
}
