import { expect, test } from "bun:test";
import type { Tool } from "#agent/ports";
import { createEditFileTool } from "./edit-file";
import { argumentsOf } from "./fakes";
import { createReadLedger } from "./ledger";
import { createListFilesTool } from "./list-files";
import { createReadFileTool } from "./read-file";
import { createSearchTool } from "./search";
import { toSpecification } from "./specification";
import { createTaskCompleteTool } from "./task-complete";
import { createTodoTool } from "./todo";
import { createWriteFileTool } from "./write-file";

const surroundings = { workspace: { root: "/", cwd: "/" }, ledger: createReadLedger() };
const tools: Tool[] = [
  createReadFileTool(surroundings),
  createEditFileTool(surroundings),
  createWriteFileTool(surroundings),
  createListFilesTool(surroundings),
  createSearchTool(surroundings),
  createTodoTool(),
  createTaskCompleteTool(),
];

const bytesOf = (brief: boolean): number =>
  Buffer.byteLength(JSON.stringify(tools.map((tool) => toSpecification(tool, { brief }))));

test("a specification is plain JSON Schema, without noise", () => {
  expect(tools.slice(0, 1).map((tool) => toSpecification(tool, { brief: false }))).toEqual([
    {
      name: "read_file",
      description: expect.stringContaining("Read a text file."),
      parameters: {
        type: "object",
        properties: {
          path: { type: "string" },
          offset: { type: "integer", description: "first line, from 1" },
          limit: { type: "integer" },
        },
        required: ["path"],
      },
    },
  ]);
});

test("the brief one leaves out descriptions and what only tunes; the tool still takes it", () => {
  const [read] = tools;
  expect(read && toSpecification(read, { brief: true })).toEqual({
    name: "read_file",
    description: "Read a text file.",
    parameters: {
      type: "object",
      properties: { path: { type: "string" }, offset: { type: "integer" } },
      required: ["path"],
    },
  });
  expect(read && argumentsOf(read, { path: "a", limit: 3 })).toEqual({ path: "a", limit: 3 });
});

test("the context that tools take is bounded", () => {
  // With the shell and read_artifact, about 3.6 KB and 1.9 KB in all.
  expect(bytesOf(false)).toBeLessThan(2650);
  expect(bytesOf(true)).toBeLessThan(1550);
  for (const tool of tools) {
    expect(Buffer.byteLength(tool.description)).toBeLessThanOrEqual(300);
    expect(Buffer.byteLength(tool.summary)).toBeLessThanOrEqual(90);
  }
});

test("arguments are read as what they can only mean", () => {
  const parse = (index: number, args: Record<string, unknown>) =>
    tools[index]?.parameters.safeParse(args);
  const dataOf = (index: number, args: Record<string, unknown>) => {
    const parsed = parse(index, args);
    return parsed?.success ? parsed.data : undefined;
  };
  expect(dataOf(0, { path: "a", offset: "10", limit: null, more: 1 })).toEqual({
    path: "a",
    offset: 10,
  });
  expect(dataOf(1, { path: "a", old_string: "1", new_string: "2", replace_all: "true" })).toEqual({
    path: "a",
    old_string: "1",
    new_string: "2",
    replace_all: true,
  });
  const refused: [number, Record<string, unknown>][] = [
    [0, { path: "a", offset: "ten" }],
    [0, { path: "a", offset: 0 }],
    [0, { path: "a", offset: 1.5 }],
    [0, { path: ["a"] }],
    [0, { path: null }],
    [1, { path: "a", old_string: "1", new_string: "2", replace_all: "maybe" }],
    [1, { path: "a", old_string: 1, new_string: "2" }],
    [2, { path: "a", content: { json: true } }],
    [4, { pattern: "a", context: 1001 }],
  ];
  for (const [index, args] of refused)
    expect([args, parse(index, args)?.success]).toEqual([args, false]);
});
