// npm start: runs Bosun from the checkout, installing what is missing first.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { BUN, prepare, ROOT } from "./prepare.mjs";

prepare();
// The agent works where npm was called, not where the checkout lies.
const cwd = process.env.INIT_CWD ?? process.cwd();
// Its settings for Bun and its .env must not reach the program: it may be a stranger's repository.
const own = [`--config=${join(ROOT, "bunfig.toml")}`, "--no-env-file"];
const args = [...own, join(ROOT, "src", "main.ts"), ...process.argv.slice(2)];
const child = spawn(BUN, args, { stdio: "inherit", cwd });
// Ctrl+C reaches the child by itself: it decides. Other signals are handed on.
process.on("SIGINT", () => undefined);
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`Cannot run Bosun: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? (signal ? 130 : 1)));
