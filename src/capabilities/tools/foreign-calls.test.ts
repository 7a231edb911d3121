import { describe, expect, test } from "bun:test";
import { understandCall } from "./foreign-calls";

/** Our call for another agent's. */
function ours(name: string, args: Record<string, unknown> = {}) {
  const understood = understandCall(name, args);
  return understood && [understood.name, understood.mapArguments(args)];
}

describe("a call of another agent", () => {
  const cases: [string, Record<string, unknown>, string, Record<string, unknown>][] = [
    ["Bash", { command: "ls", timeout: 120000 }, "shell", { command: "ls", timeout: 120 }],
    [
      "Bash",
      { command: "ls", run_in_background: true },
      "shell",
      { command: "ls", background: true },
    ],
    [
      "execute_bash",
      { command: "ls", background: true },
      "shell",
      { command: "ls", background: true },
    ],
    ["shell", { command: ["bash", "-lc", "a | b"] }, "shell", { command: "a | b" }],
    ["exec_command", { cmd: "ls", timeout_ms: 1500 }, "shell", { command: "ls", timeout: 2 }],
    ["local_shell", { command: ["echo", "it's"] }, "shell", { command: "echo 'it'\\''s'" }],
    ["Read", { file_path: "a", offset: 3 }, "read_file", { path: "a", offset: 3 }],
    ["cat", { filename: "a" }, "read_file", { path: "a" }],
    ["view", { path: "a", view_range: [2, 5] }, "read_file", { path: "a", offset: 2, limit: 4 }],
    ["view", { path: "a", view_range: [2, -1] }, "read_file", { path: "a", offset: 2 }],
    [
      "read_file",
      { path: "a", start_line: 2, end_line: 5 },
      "read_file",
      { path: "a", offset: 2, limit: 4 },
    ],
    [
      "str_replace",
      { path: "a", old_str: "x", new_str: "y" },
      "edit_file",
      { path: "a", old_string: "x", new_string: "y" },
    ],
    [
      "Edit",
      { file_path: "a", old_string: "x", new_string: "y" },
      "edit_file",
      { path: "a", old_string: "x", new_string: "y" },
    ],
    ["str_replace_editor", { command: "view", path: "a" }, "read_file", { path: "a" }],
    [
      "str_replace_editor",
      { command: "create", path: "a", file_text: "t" },
      "write_file",
      { path: "a", content: "t" },
    ],
    ["write_to_file", { path: "a", content: "t" }, "write_file", { path: "a", content: "t" }],
    ["LS", { path: "a" }, "list_files", { path: "a" }],
    ["Glob", { pattern: "*.ts" }, "list_files", { pattern: "*.ts" }],
    ["list_dir", { target_directory: "a" }, "list_files", { path: "a" }],
    [
      "Grep",
      { pattern: "x", glob: "*.ts", "-C": 2 },
      "search",
      { pattern: "x", glob: "*.ts", context: 2 },
    ],
    ["Grep", { pattern: "x", "-i": true }, "search", { pattern: "(?i)x" }],
    [
      "grep_search",
      { query: "x", include_pattern: "*.ts" },
      "search",
      { pattern: "x", glob: "*.ts" },
    ],
    ["TodoWrite", { todos: [] }, "todo", { items: [] }],
    ["update_plan", { plan: [] }, "todo", { items: [] }],
    ["attempt_completion", { result: "r" }, "task_complete", { summary: "r" }],
  ];
  for (const [name, args, tool, expected] of cases) {
    test(`${name} ${JSON.stringify(args)}`, () =>
      expect(ours(name, args)).toEqual([tool, expected]));
  }
});

test("a parameter may be called anything", () => {
  const args = { path: "a", constructor: 1, ["__proto__"]: { polluted: true }, toString: 2 };
  expect(ours("cat", args)).toEqual(["read_file", { path: "a", constructor: 1, toString: 2 }]);
  expect(ours("str_replace_editor", { command: "constructor" })).toBeUndefined();
});

test("our own parameter wins over its alias", () => {
  expect(ours("Read", { file_path: "b", path: "a" })).toEqual(["read_file", { path: "a" }]);
});

test("a name that is not well known is not guessed at", () => {
  for (const name of [
    "",
    "delete_file",
    "constructor",
    "toString",
    "apply_patch",
    "python",
    "web",
  ]) {
    expect(understandCall(name)).toBeUndefined();
  }
});

test("an insertion of the str_replace editor is not mistaken for a replacement", () => {
  expect(
    ours("str_replace_editor", { command: "insert", path: "a", insert_line: 1 }),
  ).toBeUndefined();
});
