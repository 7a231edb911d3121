import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning, listProcesses } from "./processes";

/** The directory of a program that is killed, in one of this test. */
let parent: string;
let directory: string;
let started: Bun.Subprocess[] = [];

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "watchdog-test-"));
  directory = join(parent, "bosun-1-2-abcdef");
  mkdirSync(directory);
});

afterEach(() => {
  for (const child of started) child.kill("SIGKILL");
  started = [];
  rmSync(parent, { recursive: true });
});

const MARK = `BOSUN_TEST=${crypto.randomUUID()}`;
const SLEEP = ["sh", "-c", "trap '' TERM HUP; while :; do sleep 1; done"];

/** A process in a session of its own that only SIGKILL ends. */
function sleeper(env: Record<string, string> = {}): Bun.Subprocess {
  const child = Bun.spawn(SLEEP, { detached: true, env: { PATH: process.env.PATH ?? "", ...env } });
  started.push(child);
  return child;
}

/** Starts a program that has a watchdog and does this; resolves when it is under way. */
async function program(source: string) {
  const path = JSON.stringify(join(import.meta.dir, "watchdog"));
  const options = JSON.stringify({ mark: MARK, directory });
  const child = Bun.spawn(
    [
      process.execPath,
      "-e",
      `const { createWatchdog } = await import(${path});
      const watchdog = createWatchdog(${options});
      ${source}
      console.log(watchdog.pid);
      await Bun.sleep(60_000);`,
    ],
    { stdout: "pipe", stderr: "ignore", env: { ...process.env, SECRET: "sk-1" } },
  );
  started.push(child);
  const { value } = await child.stdout.getReader().read();
  const watchdog = Number(new TextDecoder().decode(value));
  return {
    watchdog,
    async kill(signal: NodeJS.Signals = "SIGKILL") {
      child.kill(signal);
      await child.exited;
      expect(await until(() => !isRunning(watchdog))).toBe(true);
    },
  };
}

async function until(isTrue: () => boolean): Promise<boolean> {
  for (let waited = 0; waited < 5000 && !isTrue(); waited += 20) await Bun.sleep(20);
  return isTrue();
}

const gone = (child: Bun.Subprocess) => until(() => !isRunning(child.pid));

describe("when its program is killed", () => {
  test("it ends what it was told of, what is marked, and what descends from that", async () => {
    const [told, marked] = [sleeper(), sleeper({ BOSUN_TEST: `${MARK.split("=")[1]}.7` })];
    const [ended, stranger] = [sleeper(), sleeper({ BOSUN_TEST: "another" })];
    const run = await program(`
      watchdog.begun(${ended.pid});
      watchdog.begun(${told.pid});
      watchdog.arm(undefined);
      watchdog.start();
      watchdog.ended(${ended.pid});`);
    const below = listProcesses().filter((entry) => entry.parent === told.pid);
    await run.kill();
    expect(await gone(told)).toBe(true);
    expect(await gone(marked)).toBe(true);
    expect(below.length).toBe(1);
    expect(below.some((entry) => isRunning(entry.pid))).toBe(false);
    expect(isRunning(ended.pid)).toBe(true);
    expect(isRunning(stranger.pid)).toBe(true);
    expect(existsSync(directory)).toBe(false);
    expect(existsSync(parent)).toBe(true);
  });

  test.each(["SIGSEGV", "SIGABRT", "SIGQUIT"] as const)("also by %s", async (signal) => {
    const run = await program("watchdog.arm(undefined); watchdog.start();");
    await run.kill(signal);
    expect(existsSync(directory)).toBe(false);
  });

  test("an exit of its own without farewell counts as well", async () => {
    const marked = sleeper({ BOSUN_TEST: MARK.split("=")[1] ?? "" });
    const run = await program(`
      watchdog.arm(undefined);
      watchdog.start();
      setTimeout(() => process.exit(1), 100);`);
    expect(await until(() => !isRunning(run.watchdog))).toBe(true);
    expect(await gone(marked)).toBe(true);
  });

  test("signals do not keep it from its work", async () => {
    const run = await program("watchdog.arm(undefined); watchdog.start(); await Bun.sleep(100);");
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGTSTP"] as const) {
      process.kill(run.watchdog, signal);
    }
    await Bun.sleep(50);
    await run.kill();
    expect(existsSync(directory)).toBe(false);
  });
});

describe("it does nothing", () => {
  test("after a farewell, and is gone before its program", async () => {
    const told = sleeper();
    const run = await program(`
      watchdog.begun(${told.pid});
      watchdog.arm(undefined);
      watchdog.start();
      await watchdog.close();
      await watchdog.close();
      watchdog.start();`);
    expect(isRunning(run.watchdog)).toBe(false);
    await run.kill();
    await Bun.sleep(200);
    expect(isRunning(told.pid)).toBe(true);
    expect(existsSync(directory)).toBe(true);
  });

  test("for a program that never got under way", async () => {
    const told = sleeper();
    const run = await program(`watchdog.begun(${told.pid}); watchdog.start();`);
    await run.kill();
    expect(isRunning(told.pid)).toBe(true);
    expect(existsSync(directory)).toBe(true);
  });

  test("to directories of others", async () => {
    const other = join(parent, "precious");
    mkdirSync(other);
    directory = other;
    const run = await program("watchdog.arm(undefined); watchdog.start();");
    await run.kill();
    expect(existsSync(other)).toBe(true);
  });
});
