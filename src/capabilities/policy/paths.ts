// Path rules for the file tools: what they read and write is known before they run.

import type { Effect } from "#agent/ports";
import { type PathOptions, whyNotRead, whyNotWritten } from "./private-paths";

export type PathVerdict =
  | { kind: "free" }
  | { kind: "ask"; reason: string }
  | { kind: "deny"; reason: string };

/** Reads are free, writes ask; what is private or guarded is neither, whoever approves. */
export function judgePaths(
  effect: Extract<Effect, { kind: "read" | "write" }>,
  options: PathOptions,
): PathVerdict {
  const why = effect.kind === "read" ? whyNotRead : whyNotWritten;
  for (const path of effect.paths) {
    const reason = why(path, options);
    if (reason !== undefined) return { kind: "deny", reason };
  }
  if (effect.kind === "read") return { kind: "free" };
  return { kind: "ask", reason: `it changes ${effect.paths.join(", ")}` };
}

/** For tools that walk a folder: whether this file (absolute path) may be read at all. */
export function mayReadPath(
  path: string,
  options: PathOptions & { cwd?: string; root?: string },
): boolean {
  return whyNotRead(path, options) === undefined;
}
