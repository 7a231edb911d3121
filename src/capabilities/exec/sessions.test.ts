import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning, listProcesses, readProcess } from "#base/os";
import { createTestRunner, type TestRunner, until } from "./fakes";
import { describeEnd } from "./wording";

/** The pid that a command wrote to this file. */
function pidIn(world: TestRunner, file: string): number {
  return Number(readFileSync(join(world.root, file), "utf8"));
}

const isGone = (pid: number) => () => !isRunning(pid);

describe("a child that outlives its command", () => {
  const commands: Record<string, string> = {
    "in the background": "sleep 300 & echo $! >pid",
    "in a subshell": "(sleep 300 & echo $! >pid)",
    "with nohup": "nohup sleep 300 >/dev/null 2>&1 & echo $! >pid",
    "in a session of its own":
      "setsid sh -c 'echo $$ >pid; exec sleep 300' & while ! test -s pid; do :; done",
    "as a daemon": "setsid sh -c 'sleep 300 & echo $! >pid'",
    "as a daemon without terminal":
      "(setsid sh -c 'sleep 300 </dev/null >/dev/null 2>&1 & echo $! >pid' &) ; while ! test -s pid; do :; done; sleep 0.05",
    "behind an EXIT trap": "trap 'echo bye' EXIT; sleep 300 & echo $! >pid",
    disowned: "sleep 300 & echo $! >pid; disown",
  };
  for (const [name, command] of Object.entries(commands)) {
    test(`${name}: it is told, lives on, and ends with Bosun`, async () => {
      const world = createTestRunner();
      const startedAt = performance.now();
      const result = await world.run(`echo hi; ${command}`);
      expect(performance.now() - startedAt).toBeLessThan(1000);
      expect(result).toMatchObject({ ended: "exited", exitCode: 0, stillRunning: 1 });
      expect(result.text).toStartWith("hi\n");
      expect(describeEnd(result, world.root)).toContain("1 child still running");

      const pid = pidIn(world, "pid");
      // A later command does not count it as its own, and does not hurt it.
      expect(await world.run("true")).toMatchObject({ stillRunning: 0 });
      await Bun.sleep(50);
      expect(isRunning(pid)).toBe(true);
      await world[Symbol.asyncDispose]();
      expect(await until(isGone(pid))).toBe(true);
    });
  }

  test("several are counted", async () => {
    await using world = createTestRunner();
    const result = await world.run("sleep 300 & sleep 300 & (sleep 300 &)");
    expect(result.stillRunning).toBe(3);
    expect(describeEnd(result, world.root)).toContain("3 children still running");
  });

  test("what ends with its command is not counted", async () => {
    await using world = createTestRunner();
    for (const command of [
      "sleep 0.05 & wait",
      "true & wait",
      "sleep 0 | cat",
      "x=$(sleep 0.01)",
    ]) {
      expect(await world.run(command)).toMatchObject({ ended: "exited", stillRunning: 0 });
    }
  });

  test("it can go on writing, and is let go of when it ends", async () => {
    await using world = createTestRunner();
    await world.run("(for i in 1 2 3 4 5 6; do echo noise; sleep 0.1; done; echo end >end) &");
    expect(await until(() => existsSync(join(world.root, "end")))).toBe(true);
    const stopped = () =>
      listProcesses().filter((entry) => entry.parent === process.pid && entry.state === "T");
    await Bun.sleep(2200);
    expect(stopped()).toEqual([]);
  }, 10_000);
});

describe("nothing is left behind", () => {
  test("no process of any session, no file", async () => {
    const world = createTestRunner();
    await world.runner.warmUp();
    const before = new Set(listProcesses().map((entry) => entry.pid));
    await world.run("sleep 301 & setsid sleep 302 & (sleep 303 &) ; echo $$ >pid");
    const session = pidIn(world, "pid");
    await world.runner.jobs.start({ command: "sleep 304 | cat", cwd: world.root });
    const running = world.run("sleep 305 | cat");
    await Bun.sleep(100);
    expect(listProcesses().filter((entry) => entry.session === session).length).toBeGreaterThan(0);
    await world[Symbol.asyncDispose]();
    expect((await running).ended).toBe("stopped");
    const children = listProcesses().filter(
      (entry) => entry.parent === process.pid && !before.has(entry.pid),
    );
    expect(children).toEqual([]);
    const sleeps = listProcesses().filter((entry) => entry.session === session);
    expect(sleeps).toEqual([]);
    expect(existsSync(world.temporary)).toBe(false);
    expect(await world.run("true")).toMatchObject({ ended: "stopped" });
  });

  test("nothing after the program was killed", async () => {
    const program = `
      const { createTestRunner } = await import(${JSON.stringify(join(import.meta.dir, "fakes"))});
      const world = createTestRunner();
      await world.runner.warmUp();
      await Bun.sleep(50);
      world.run("bash -c 'sleep 306 | cat'");
      await Bun.sleep(200);
      world.runner.warmUp();
      await Bun.sleep(50);
      console.log("ready");
      await Bun.sleep(60_000);`;
    await using outer = createTestRunner();
    const child = Bun.spawn([process.execPath, "-e", program], {
      stdout: "pipe",
      env: { ...process.env, TMPDIR: outer.root },
    });
    await child.stdout.getReader().read();
    const family = listProcesses().filter((entry) => entry.parent === child.pid);
    // One that works and at least one that waits.
    expect(family.length).toBeGreaterThanOrEqual(2);
    child.kill("SIGKILL");
    await child.exited;
    const left = () =>
      listProcesses().filter((entry) => family.some((shell) => shell.pid === entry.session));
    expect(await until(() => left().every((entry) => entry.state === "Z"))).toBe(true);
  });

  test("who watches is told of each session and of its end, and is no command's child", async () => {
    const told: string[] = [];
    const watcher = Bun.spawn(["sleep", "300"], { env: process.env, detached: true });
    const world = createTestRunner({
      watch: {
        pid: watcher.pid,
        begun: (session) => told.push(`begun ${session}`),
        ended: (session) => told.push(`ended ${session}`),
      },
    });
    expect(await world.run("echo $$ >pid; sleep 300 &")).toMatchObject({ stillRunning: 1 });
    const session = pidIn(world, "pid");
    expect(told).toContain(`begun ${session}`);
    expect(told).not.toContain(`ended ${session}`);
    await world[Symbol.asyncDispose]();
    const sessions = (word: string) =>
      told.flatMap((line) => (line.startsWith(word) ? [line.split(" ")[1] ?? ""] : [])).sort();
    expect(sessions("ended")).toEqual(sessions("begun"));
    expect(new Set(sessions("begun")).size).toBe(sessions("begun").length);
    expect(isRunning(watcher.pid)).toBe(true);
    watcher.kill();
  });

  test("no zombie stays", async () => {
    await using world = createTestRunner();
    await world.run("(sleep 0.2 &)");
    await world.run("setsid sh -c 'sleep 0.2 & exit'");
    expect(
      await until(() =>
        listProcesses().every((entry) => entry.parent !== process.pid || entry.state !== "Z"),
      ),
    ).toBe(false);
    await Bun.sleep(4500);
    const zombies = listProcesses().filter(
      (entry) => entry.parent === process.pid && entry.state === "Z",
    );
    expect(zombies).toEqual([]);
    expect(readProcess(process.pid)).toBeDefined();
  }, 15_000);
});
