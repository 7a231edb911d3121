// What tests of the tools need: a workspace in a directory of its own, and a call to run.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from "#agent/ports";
import type { Preview } from "#base/protocol";
import type { Workspace } from "#capabilities/exec";

export interface TemporaryWorkspace extends Workspace {
  path(name: string): string;
  [Symbol.dispose](): void;
}

export function temporaryWorkspace(): TemporaryWorkspace {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "bosun-tools-")));
  return {
    root,
    cwd: root,
    path: (name) => join(root, name),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

export function callContext(parts: { shown?: Preview; signal?: AbortSignal } = {}): ToolContext {
  return {
    call: "call_1",
    signal: parts.signal ?? new AbortController().signal,
    output: () => undefined,
    ...(parts.shown ? { shown: parts.shown } : {}),
  };
}

/** As the loop does it: arguments through the schema, preview, effect, run with what was shown. */
export async function callTool(tool: Tool, given: Record<string, unknown>): Promise<ToolResult> {
  const args = argumentsOf(tool, given);
  const shown = await tool.preview?.(args, callContext());
  tool.effect(args);
  return tool.run(args, callContext(shown ? { shown } : {}));
}

/** The message with which the tool refuses; fails the test when it does not. */
export async function refusal(tool: Tool, given: Record<string, unknown>): Promise<string> {
  try {
    const result = await callTool(tool, given);
    return `NOT REFUSED: ${result.content}`;
  } catch (error) {
    if (error instanceof ToolFailure) return error.message;
    throw error;
  }
}

/** The arguments as the tool reads them; throws where it would refuse them. */
export function argumentsOf<Args extends object>(tool: Tool<Args>, given: unknown): Args {
  const parsed = tool.parameters.safeParse(given);
  if (!parsed.success) throw new TypeError(JSON.stringify(parsed.error.issues));
  return parsed.data;
}
