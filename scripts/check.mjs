// npm run check: the quick checks of a change - types, lint, unused code, the import table.

import { CHECKS } from "./checks.mjs";
import { BUN, prepare, run } from "./prepare.mjs";

prepare();
for (const { name, args } of [...CHECKS, { name: "tidy", args: ["test", "test/tidy.test.ts"] }]) {
  if (run(BUN, args) !== 0) {
    console.error(`${name} failed.`);
    process.exit(1);
  }
}
