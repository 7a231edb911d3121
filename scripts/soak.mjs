// npm run soak: builds the executable, then kills and resumes it a thousand times.

import { BUN, prepare, run } from "./prepare.mjs";

prepare();
if (run(BUN, ["scripts/build.ts"]) !== 0) process.exit(1);
process.exit(run(BUN, ["bench/soak.ts", ...process.argv.slice(2)]));
