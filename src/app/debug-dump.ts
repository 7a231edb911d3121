// `--debug`: writes the whole history to a file before each request, for people who want to see
// what the model sees.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Model, ModelRequest } from "#agent/ports";
import type { Message } from "#base/protocol";

/** The usual rule of thumb, on the safe side: this many characters make a token. */
const CHARACTERS_PER_TOKEN = 3;

export interface DebugDumpOptions {
  /** Tried in order: the first that can be written to is used. */
  directories: readonly string[];
  session: string;
  scrub(text: string): string;
}

export function withDebugDumps(model: Model, options: DebugDumpOptions): Model {
  let requests = 0;
  return {
    name: model.name,
    async *stream(request, signal) {
      requests += 1;
      const problem = writeDump(request, requests, options);
      if (problem) yield { kind: "notice", level: "warning", text: problem };
      yield* model.stream(request, signal);
    },
  };
}

function writeDump(
  request: ModelRequest,
  number: number,
  { directories, session, scrub }: DebugDumpOptions,
): string | undefined {
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const name = `bosun-debug-${session}-${stamp}-${String(number).padStart(4, "0")}.txt`;
  const text = scrub(request.messages.map(describe).join("\n\n"));
  let problem = "";
  for (const directory of directories) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(join(directory, name), text, { mode: 0o600 });
      return undefined;
    } catch (error) {
      // The next directory may do; the last one's reason is told.
      problem = error instanceof Error ? error.message : String(error);
    }
  }
  return `--debug could not write ${name}: ${problem}`;
}

function describe(message: Message, index: number): string {
  const calls =
    message.role === "assistant"
      ? (message.tool_calls ?? []).map(
          (call) => `-> ${call.function.name} ${call.function.arguments} (${call.id})`,
        )
      : [];
  const tokens = Math.ceil(JSON.stringify(message).length / CHARACTERS_PER_TOKEN);
  const answers = message.role === "tool" ? ` for ${message.tool_call_id}` : "";
  const thinking =
    message.role === "assistant" && message.reasoning_content
      ? [`[thinking]\n${message.reasoning_content}\n[/thinking]`]
      : [];
  return [
    `--- ${index + 1} ${message.role}${answers}, about ${tokens} tokens`,
    ...thinking,
    ...(message.content === null ? [] : [message.content]),
    ...calls,
  ].join("\n");
}
