// A small repository as one finds them: a module with a mistake, and a test that shows it.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const SLUGIFY = `// Turns a title into a part of an address.
export function slugify(text) {
  return text
    .toLowerCase()
    .trim()
    .replace(/\\s/g, "-");
}
`;

const TEST = `import assert from "node:assert/strict";
import test from "node:test";
import { slugify } from "../src/slugify.js";

test("lowers the case", () => assert.equal(slugify("Hello"), "hello"));
test("joins words with one dash", () => assert.equal(slugify("a  b"), "a-b"));
`;

/** Makes the repository in a directory and commits it. */
export function makeRepository(directory: string): void {
  for (const folder of ["src", "test"]) mkdirSync(join(directory, folder));
  writeFileSync(join(directory, "src", "slugify.js"), SLUGIFY);
  writeFileSync(join(directory, "test", "slugify.test.js"), TEST);
  writeFileSync(
    join(directory, "package.json"),
    `${JSON.stringify({ name: "slugify", type: "module", scripts: { test: "node --test" } }, null, 2)}\n`,
  );
  writeFileSync(join(directory, "AGENTS.md"), "Run the tests with `node --test`.\n");
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "commit", "-qm", "first"],
  ]) {
    Bun.spawnSync(["git", ...args], { cwd: directory });
  }
}

/** Whether the repository's own tests pass now. */
export function testsPass(directory: string): boolean {
  return Bun.spawnSync(["node", "--test"], { cwd: directory }).exitCode === 0;
}
