import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MirrorError } from "./error";
import type { MirrorState } from "./format";
import { takeMirror } from "./take";

// Disks that take no more: a small one in memory, which only root may mount.

const directory = mkdtempSync(join(tmpdir(), "bosun-disk-test-"));
const isMounted =
  Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", directory]).exitCode === 0;
if (!isMounted) console.log("(skipped: no small disk can be mounted here; needs root)");

afterAll(() => {
  if (isMounted) Bun.spawnSync(["umount", directory]);
  rmSync(directory, { recursive: true, force: true });
});

function stateOf(length: number): MirrorState {
  return {
    sessionId: "20261130_204620_3f9a",
    model: "m",
    apiBase: "https://api.example.com/v1",
    cwd: "/",
    stepCount: 1,
    usage: { input: 0, output: 0, cached: 0, billable: 0 },
    todo: [],
    messages: [{ role: "system", content: "x".repeat(length) }],
  };
}

function failureOf(work: () => unknown): MirrorError {
  try {
    work();
  } catch (error) {
    if (error instanceof MirrorError) return error;
    throw error;
  }
  throw new Error("it did not fail");
}

test.skipIf(!isMounted)(
  "a full disk: plain words, the old file whole, and on with space",
  async () => {
    const mirror = await takeMirror({ directory });
    mirror.save(stateOf(20_000), "user_request");
    const before = readFileSync(mirror.path, "utf8");
    const names = readdirSync(join(directory, ".bosun")).sort();
    for (const durable of [true, false]) {
      const failure = failureOf(() => mirror.save(stateOf(60_000), "tool_result", { durable }));
      expect(failure.code).toBe("ENOSPC");
      expect(failure.message).toBe(
        `Cannot save the session to ${mirror.path}: the disk is full. Free some space.`,
      );
      expect(readFileSync(mirror.path, "utf8")).toBe(before);
      expect(readdirSync(join(directory, ".bosun")).sort()).toEqual(names);
    }
    const again = mirror.save(stateOf(10_000), "tool_result");
    expect(again.overwroteEdit).toBe(false);
    mirror.release();
  },
);

test.skipIf(!isMounted)("a read-only disk is refused in one line", async () => {
  const mirror = await takeMirror({ directory });
  mirror.load();
  mirror.save(stateOf(10), "user_request");
  mirror.release();
  expect(Bun.spawnSync(["mount", "-o", "remount,ro", directory]).exitCode).toBe(0);
  const refused = await takeMirror({ directory }).catch((error: unknown) => error);
  if (!(refused instanceof MirrorError)) throw new Error("it was not refused");
  expect(refused.message).toBe(
    `Cannot open the lock ${mirror.path}.lock: the file system is read-only. Choose another file.`,
  );
  const made = await takeMirror({ directory: join(directory, "none") }).catch((e: unknown) => e);
  expect(made).toBeInstanceOf(MirrorError);
  expect(Bun.spawnSync(["mount", "-o", "remount,rw", directory]).exitCode).toBe(0);
});

const NOBODY = 65_534;
const canBecomeNobody =
  process.getuid?.() === 0 &&
  Bun.spawnSync(["setpriv", `--reuid=${NOBODY}`, "--clear-groups", process.execPath, "-e", ""])
    .exitCode === 0;
if (!canBecomeNobody) console.log("(skipped: cannot run as another user here; needs root)");

test.skipIf(!canBecomeNobody)("another's directory is refused in one line", () => {
  const foreign = mkdtempSync(join(tmpdir(), "bosun-foreign-test-"));
  try {
    Bun.spawnSync(["chmod", "755", foreign]);
    writeFileSync(join(foreign, "readable"), "");
    const program = `
      const { takeMirror } = await import(${JSON.stringify(join(import.meta.dir, "take"))});
      const outcome = await takeMirror({ directory: ${JSON.stringify(foreign)} }).catch((e) => e);
      console.log(outcome.name, outcome.code, outcome.message);`;
    const child = Bun.spawnSync(
      ["setpriv", `--reuid=${NOBODY}`, "--clear-groups", process.execPath, "-e", program],
      { cwd: join(import.meta.dir, "..", "..", "..") },
    );
    expect(child.stdout.toString()).toBe(
      `MirrorError EACCES Cannot create ${foreign}/.bosun: permission is denied. ` +
        "Make the directory writable, or choose another file.\n",
    );
    expect(readdirSync(foreign)).toEqual(["readable"]);
  } finally {
    rmSync(foreign, { recursive: true });
  }
});
