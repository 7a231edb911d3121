// npm run build: makes the standalone executable dist/bosun.

import { BUN, prepare, run } from "./prepare.mjs";

prepare();
process.exit(run(BUN, ["scripts/build.ts"]));
