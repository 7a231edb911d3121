// The bash grammar and its runtime, embedded: `with { type: "file" }` gives a path that works from
// source and inside the standalone executable, wherever that is run.

import bash from "tree-sitter-bash/tree-sitter-bash.wasm" with { type: "file" };
import runtime from "web-tree-sitter/web-tree-sitter.wasm" with { type: "file" };
import type { GrammarBytes } from "#capabilities/policy";

/** Reads both files; about 1.6 MB, asked for only when a command needs the grammar. */
export async function loadGrammar(): Promise<GrammarBytes> {
  const [runtimeBytes, bashBytes] = await Promise.all([
    Bun.file(runtime).bytes(),
    Bun.file(bash).bytes(),
  ]);
  return { runtime: runtimeBytes, bash: bashBytes };
}
