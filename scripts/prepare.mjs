// Installs what is missing, so that every npm script works on a fresh clone: the packages of the
// lock file, and the Bun runtime that the project runs on. Plain Node, nothing else is there yet.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..");
export const BUN = join(ROOT, "node_modules", "bun", "bin", "bun.exe");

const STAMP = join(ROOT, "node_modules", ".bosun-lock-hash");

/** Runs a program with the terminal of its caller; returns its exit status. */
export function run(command, args, options = {}) {
  const child = spawnSync(command, args, { stdio: "inherit", cwd: ROOT, ...options });
  if (child.error) {
    console.error(`Cannot run ${command}: ${child.error.message}`);
    return 1;
  }
  return child.status ?? 1;
}

function lockHash() {
  return createHash("sha256")
    .update(readFileSync(join(ROOT, "package-lock.json")))
    .digest("hex");
}

function works(program) {
  return existsSync(program) && spawnSync(program, ["--version"]).status === 0;
}

function isUpToDate() {
  return existsSync(STAMP) && readFileSync(STAMP, "utf8") === lockHash() && works(BUN);
}

/** Installs if needed; ends the process with a clear line when that fails. */
export function prepare() {
  if (isUpToDate()) return;
  console.error("Installing packages (once) ...");
  // Everything goes to stderr: `npm start -- --json` promises nothing but events on stdout.
  const stdio = ["ignore", 2, 2];
  const status = run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    stdio,
    shell: isWindows(),
  });
  if (status !== 0) fail("npm ci failed; see above. Check the network and try again.");
  // Bun's package brings the runtime with a script, which some npm settings do not run.
  if (!works(BUN))
    run(process.execPath, [join(ROOT, "node_modules", "bun", "install.js")], { stdio });
  if (!works(BUN)) fail("The Bun runtime could not be installed (package bun).");
  writeFileSync(STAMP, lockHash());
}

function isWindows() {
  return process.platform === "win32";
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
