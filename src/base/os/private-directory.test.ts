import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPrivateDirectory, removeStaleDirectories } from "./private-directory";
import { readProcess } from "./processes";

test("it is readable by its owner only, and removed with what is in it", () => {
  const directory = createPrivateDirectory();
  expect(statSync(directory.path).mode & 0o777).toBe(0o700);
  mkdirSync(join(directory.path, "deep"));
  writeFileSync(join(directory.path, "deep", "file"), "x");
  directory.remove();
  expect(existsSync(directory.path)).toBe(false);
  directory.remove();
});

test("it is removed when its process ends", () => {
  const source = join(import.meta.dir, "private-directory");
  const program = `const { createPrivateDirectory } = await import(${JSON.stringify(source)});
    console.log(createPrivateDirectory().path); process.exit(0);`;
  const child = Bun.spawnSync([process.execPath, "-e", program]);
  const path = child.stdout.toString().trim();
  expect(path).toMatch(/^\/(?:var\/)?tmp\/bosun-/);
  expect(existsSync(path)).toBe(false);
});

test("what dead processes left is removed, what living ones use is not", () => {
  const parent = mkdtempSync(join(tmpdir(), "bosun-stale-test-"));
  const dead = Bun.spawnSync(["true"]).pid;
  const start = readProcess(process.pid)?.start;
  const names = {
    ofTheDead: `bosun-${dead}-12345-abcdef`,
    ofAnEarlierProcessWithOurPid: `bosun-${process.pid}-1-abcdef`,
    ours: `bosun-${process.pid}-${start}-abcdef`,
    ofSomethingElse: "bosun-exec-abcdef",
  };
  for (const name of Object.values(names)) mkdirSync(join(parent, name));
  expect(removeStaleDirectories(parent)).toBe(2);
  expect(existsSync(join(parent, names.ours))).toBe(true);
  expect(existsSync(join(parent, names.ofSomethingElse))).toBe(true);
  rmSync(parent, { recursive: true });
});
