// npm run bench: builds the executable and measures it; figures go to bench/RESULTS.md.

import { BUN, prepare, run } from "./prepare.mjs";

prepare();
if (run(BUN, ["scripts/build.ts"]) !== 0) process.exit(1);
process.exit(run(BUN, ["bench/bench.ts", ...process.argv.slice(2)]));
