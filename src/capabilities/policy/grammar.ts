// Loads the bash grammar at its first use: about 80 ms and 37 MB, which everyday commands never
// pay. The bytes are injected, for this module does no input or output.

import type { Parser } from "web-tree-sitter";

export interface GrammarBytes {
  /** web-tree-sitter's own WebAssembly. */
  runtime: Uint8Array;
  /** tree-sitter-bash's WebAssembly. */
  bash: Uint8Array;
}

export type LoadGrammar = () => Promise<GrammarBytes>;

const parsers = new WeakMap<LoadGrammar, Promise<Parser>>();

async function makeParser(load: LoadGrammar): Promise<Parser> {
  const [{ Language, Parser }, bytes] = await Promise.all([import("web-tree-sitter"), load()]);
  await Parser.init({ wasmBinary: bytes.runtime.slice().buffer });
  const parser = new Parser();
  parser.setLanguage(await Language.load(bytes.bash));
  return parser;
}

/** The one parser of this loader; a failure to load is tried again at the next command. */
export function bashParser(load: LoadGrammar): Promise<Parser> {
  const known = parsers.get(load);
  if (known) return known;
  const made = makeParser(load);
  parsers.set(load, made);
  made.catch(() => parsers.delete(load));
  return made;
}
