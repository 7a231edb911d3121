// npm test: everything that must hold - types, lint, unused code, the build, and all tests against
// the built executable. Ends with one line that counts what passed and what failed.

import { CHECKS } from "./checks.mjs";
import { BUN, prepare, run } from "./prepare.mjs";

prepare();
const steps = [
  ...CHECKS,
  { name: "build", args: ["scripts/build.ts"] },
  { name: "tests", args: ["test", "--timeout", "30000", ...process.argv.slice(2)] },
];
const failed = [];
for (const { name, args } of steps) {
  console.log(`\n== ${name}`);
  if (run(BUN, args) !== 0) failed.push(name);
}
if (failed.length > 0) console.error(`\nFailed: ${failed.join(", ")}`);
console.log(`\n${steps.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length > 0 ? 1 : 0);
