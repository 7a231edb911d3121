// The tool `todo`: the model's task list, always whole.

import type { Tool, ToolResult } from "#agent/ports";
import type { TodoItem } from "#base/protocol";
import { choice, list, record, text } from "./fields";
import { type ArgumentsOf, isPlainObject, lenientParameters } from "./parameters";
import { cutAtCharacter } from "./text";
import description from "./todo.md" with { type: "text" };

/** More is no plan; the list is shown whole on the screen and in every context. */
const ITEMS_MAX = 50;

/** Of one item's text so much is kept. */
const TEXT_CHARACTERS_MAX = 300;

const STATES = ["pending", "current", "done"] as const;

/** Words of other agents' lists, and of people, in lower case and without separators. */
const STATE_WORDS: Record<TodoItem["state"], readonly string[]> = {
  pending: ["pending", "todo", "open", "notstarted", "queued"],
  current: ["current", "inprogress", "active", "doing", "started", "working"],
  done: ["done", "completed", "complete", "finished"],
};

const TEXT_NAMES = ["content", "title", "task", "step", "description", "name"];
const STATE_NAMES = ["status"];

function understandState(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const word = value.toLowerCase().replace(/[\s_-]/g, "");
  return STATES.find((state) => STATE_WORDS[state].includes(word)) ?? value;
}

function firstOf(item: Record<string, unknown>, names: readonly string[]): unknown {
  return names.map((name) => item[name]).find((value) => value !== undefined);
}

function understandItem(item: unknown): unknown {
  if (typeof item === "string") return { text: item, state: "pending" };
  if (!isPlainObject(item)) return item;
  const text = firstOf(item, ["text", ...TEXT_NAMES]);
  const state = firstOf(item, ["state", ...STATE_NAMES]);
  if (state === undefined && typeof item.done === "boolean") {
    return { text, state: item.done ? "done" : "pending" };
  }
  return { text, state: state === undefined ? "pending" : understandState(state) };
}

function understandItems(value: unknown): unknown {
  let items = value;
  if (typeof value === "string" && value.trim().startsWith("[")) {
    try {
      items = JSON.parse(value);
    } catch {
      // No JSON: the schema says what is expected.
      return value;
    }
  }
  return Array.isArray(items) ? items.map(understandItem) : items;
}

const item = record({ text: text({ missing: "say what is to be done" }), state: choice(STATES) });

const parameters = lenientParameters("todo", {
  items: list(item, { max: ITEMS_MAX, understand: understandItems }),
});

type TodoArgs = ArgumentsOf<typeof parameters>;

export function createTodoTool(): Tool<TodoArgs> {
  return {
    name: "todo",
    summary: "Set the whole task list.",
    description,
    tags: ["control"],
    parameters,
    effect: () => ({ kind: "none" }),
    run: async (args: TodoArgs): Promise<ToolResult> => {
      const todo = args.items.map(({ text, state }) => ({
        text: cutAtCharacter(text.replace(/\s+/g, " ").trim(), TEXT_CHARACTERS_MAX),
        state,
      }));
      return { content: progressOf(todo), ok: true, todo };
    },
  };
}

function progressOf(items: readonly TodoItem[]): string {
  if (items.length === 0) return "The task list is empty now.";
  const done = items.filter(({ state }) => state === "done").length;
  const progress = `${done}/${items.length} done`;
  if (done === items.length) return `${progress}: all of it.`;
  const current = items.filter(({ state }) => state === "current").map(({ text }) => text);
  if (current.length > 0) return `${progress}; current: ${current.join("; ")}`;
  const next = items.find(({ state }) => state === "pending")?.text ?? "";
  return `${progress}; none is current; next: ${next}`;
}
