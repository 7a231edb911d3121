import { expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadFileLock, type TryLock } from "./file-lock";

const SOURCE = join(import.meta.dir, "file-lock");

async function world() {
  const directory = mkdtempSync(join(tmpdir(), "bosun-lock-test-"));
  const tryLock = await loadFileLock();
  if (!tryLock) throw new Error("no locks on this system");
  const path = join(directory, "lock");
  return { path, tryLock, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}

/** Another process that holds the lock, with a child of its own that lives on for a while. */
async function startHolder(path: string) {
  const program = `
    const { loadFileLock } = await import(${JSON.stringify(SOURCE)});
    const { openSync } = await import("node:fs");
    const tryLock = await loadFileLock();
    const outcome = tryLock(openSync(${JSON.stringify(path)}, "a+"));
    const child = Bun.spawn(["sleep", "60"], { stdio: ["ignore", "ignore", "ignore"] });
    console.log(JSON.stringify({ outcome, child: child.pid }));
    setInterval(() => {}, 1000);`;
  const holder = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
  const { value } = await holder.stdout.getReader().read();
  const said = JSON.parse(new TextDecoder().decode(value)) as { outcome: object; child: number };
  return { holder, ...said };
}

function attempt(tryLock: TryLock, path: string): ReturnType<TryLock> {
  const descriptor = openSync(path, "a+");
  const outcome = tryLock(descriptor);
  closeSync(descriptor);
  return outcome;
}

test("a second open of the file is refused, in one process too, until the first is closed", async () => {
  using place = await world();
  const descriptor = openSync(place.path, "a+");
  expect(place.tryLock(descriptor)).toEqual({ kind: "taken" });
  expect(place.tryLock(descriptor)).toEqual({ kind: "taken" });
  expect(attempt(place.tryLock, place.path)).toEqual({ kind: "held" });
  closeSync(descriptor);
  expect(attempt(place.tryLock, place.path)).toEqual({ kind: "taken" });
});

test("another process holds it, and SIGKILL gives it back though its child lives on", async () => {
  using place = await world();
  const { holder, outcome, child } = await startHolder(place.path);
  try {
    expect(outcome).toEqual({ kind: "taken" });
    expect(attempt(place.tryLock, place.path)).toEqual({ kind: "held" });
    holder.kill("SIGKILL");
    await holder.exited;
    expect(() => process.kill(child, 0)).not.toThrow();
    expect(attempt(place.tryLock, place.path)).toEqual({ kind: "taken" });
  } finally {
    holder.kill("SIGKILL");
    process.kill(child, "SIGKILL");
  }
});

test("what is no open file is refused with the system's number", async () => {
  using place = await world();
  expect(place.tryLock(99_999)).toEqual({ kind: "refused", errno: 9 });
});
