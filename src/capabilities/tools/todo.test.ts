import { expect, test } from "bun:test";
import { callTool } from "./fakes";
import { createTaskCompleteTool } from "./task-complete";
import { createTodoTool } from "./todo";

const todo = createTodoTool();

/** What is wrong with these arguments, as the loop tells it. */
function problems(args: Record<string, unknown>): string[] {
  const parsed = todo.parameters.safeParse(args);
  const issues = parsed.success ? [] : parsed.error.issues;
  return issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
}

test("the list is taken whole, and its progress told", async () => {
  const items = [
    { text: "read", state: "done" },
    { text: "edit", state: "current" },
    { text: "test", state: "pending" },
  ];
  expect(await callTool(todo, { items })).toEqual({
    content: "1/3 done; current: edit",
    ok: true,
    todo: [
      { text: "read", state: "done" },
      { text: "edit", state: "current" },
      { text: "test", state: "pending" },
    ],
  });
  const progress = async (...states: string[]) =>
    (await callTool(todo, { items: states.map((state) => ({ text: "a", state })) })).content;
  expect(await progress("done", "done")).toBe("2/2 done: all of it.");
  expect(await progress("done", "pending")).toBe("1/2 done; none is current; next: a");
  expect(await progress()).toBe("The task list is empty now.");
});

test("the words of other agents mean the same", async () => {
  const { todo: items } = await callTool(todo, {
    todos: [
      { content: "a", status: "completed", activeForm: "Doing a" },
      { step: "b", status: "in_progress" },
      { title: "c", status: "Not-Started" },
      { task: "d", done: true },
      "e",
    ],
  });
  expect(items).toEqual([
    { text: "a", state: "done" },
    { text: "b", state: "current" },
    { text: "c", state: "pending" },
    { text: "d", state: "done" },
    { text: "e", state: "pending" },
  ]);
  expect((await callTool(todo, { items: '[{"text":"a","state":"done"}]' })).todo).toHaveLength(1);
});

test("what could mean two things is refused in words", () => {
  expect(problems({ items: [{ text: "a", state: "cancelled" }] })).toEqual([
    "items.0.state: must be pending, current or done",
  ]);
  expect(problems({ items: [{ state: "done" }] })).toEqual([
    "items.0.text: say what is to be done",
  ]);
  expect(problems({ items: "buy milk" })).toHaveLength(1);
  expect(problems({})).toHaveLength(1);
  expect(problems({ items: Array.from({ length: 51 }, () => "a") })).toHaveLength(1);
});

test("finishing is accepted; what follows is the loop's", async () => {
  const tool = createTaskCompleteTool();
  expect(await callTool(tool, { result: "all done", objective_complete: "true" })).toEqual({
    content: "accepted",
    ok: true,
  });
  expect(tool.effect({ summary: "" })).toEqual({ kind: "none" });
  expect(tool.parameters.safeParse({}).success).toBe(false);
});
