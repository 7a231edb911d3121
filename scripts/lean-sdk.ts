// A build plugin: leaves out of the vendor's SDK the hundreds of API groups that nobody here calls.
// Its client constructs every one of them, which costs a tenth of the time to the first request.

import type { BunPlugin } from "bun";

/** One file for each API group; the index files beside them only hand on. */
const API_GROUP = /\/openai\/resources\/(?!.*index\.mjs$).*\.mjs$/;

const EXPORTED = /^export (?:class|const|function|async function) (\w+)|^export \{([^}]*)\}/gm;

/** Fewer than this, and the SDK lies elsewhere by now: the build must not pass in silence. */
const API_GROUPS_MIN = 20;

/** The same names, as empty classes. Only the client's own `post` is called; see `connection.ts`. */
function emptyClasses(source: string): string {
  const names = new Set<string>();
  for (const [, declared, listed = ""] of source.matchAll(EXPORTED)) {
    const named = listed.split(",").map(
      (part) =>
        part
          .trim()
          .split(/\s+as\s+/)
          .at(-1) ?? "",
    );
    for (const name of [declared ?? "", ...named]) if (name !== "") names.add(name);
  }
  return [...names].map((name) => `export class ${name} {}`).join("\n");
}

export function leanSdk(): BunPlugin {
  return {
    name: "lean-sdk",
    setup(build) {
      let groups = 0;
      build.onLoad({ filter: API_GROUP }, async ({ path }) => {
        groups++;
        return { contents: emptyClasses(await Bun.file(path).text()), loader: "js" };
      });
      build.onEnd(() => {
        if (groups >= API_GROUPS_MIN) return;
        throw new Error(`Only ${groups} API groups of the openai package were found to leave out.`);
      });
    },
  };
}
