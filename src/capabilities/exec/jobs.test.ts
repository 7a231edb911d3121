import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createScrubber } from "#base/kit";
import { isRunning } from "#base/os";
import { createTestRunner, type TestRunner, until } from "./fakes";
import { JOBS_RUNNING_MAX, type Job } from "./jobs";

async function startJob(world: TestRunner, command: string): Promise<Job> {
  const start = await world.runner.jobs.start({ command, cwd: world.root });
  if (start.kind !== "started") throw new Error(start.reason);
  return start.job;
}

describe("a background job", () => {
  test("starts at once, writes a log, and is news once when it ended", async () => {
    await using world = createTestRunner();
    const { jobs } = world.runner;
    const changes: string[] = [];
    const stopWatching = jobs.onChange((job) => changes.push(`${job.id} ${job.state}`));
    const startedAt = performance.now();
    const job = await startJob(world, "pwd; sleep 0.3; printf '\\e[31mred\\e[0m\\n'; exit 3");
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(job).toMatchObject({ id: "job1", state: "running", exitCode: null });
    expect(isRunning(job.pid)).toBe(true);
    expect(statSync(job.logFile).mode & 0o777).toBe(0o600);
    expect(await until(() => readFileSync(job.logFile, "utf8") === `${world.root}\n`)).toBe(true);
    expect(jobs.list()).toMatchObject([{ id: "job1", tail: world.root }]);
    expect(jobs.drainNews()).toEqual([]);

    expect(await until(() => jobs.list()[0]?.state === "exited")).toBe(true);
    expect(readFileSync(job.logFile, "utf8")).toBe(`${world.root}\nred\n`);
    const ended = { ...job, state: "exited", exitCode: 3, tail: `${world.root}\nred` } as const;
    expect(jobs.drainNews()).toEqual([ended]);
    expect(jobs.drainNews()).toEqual([]);
    expect(jobs.list()).toEqual([ended]);
    expect(changes).toEqual(["job1 running", "job1 exited"]);
    stopWatching();
  });

  test("can be killed, with all that it started", async () => {
    await using world = createTestRunner();
    const { jobs } = world.runner;
    const job = await startJob(world, "echo up; sleep 300 | cat");
    expect(await until(() => jobs.list()[0]?.tail === "up")).toBe(true);
    expect(await jobs.kill(job.id)).toBe(true);
    expect(isRunning(job.pid)).toBe(false);
    expect(jobs.drainNews()).toMatchObject([{ state: "killed", exitCode: null, tail: "up" }]);
    expect(await jobs.kill(job.id)).toBe(false);
  });

  test("does not meet the end of input, and is not given up", async () => {
    await using world = createTestRunner();
    await startJob(world, "cat");
    await Bun.sleep(300);
    expect(world.runner.jobs.list()[0]?.state).toBe("running");
  });

  test("may leave children, which end with Bosun", async () => {
    const world = createTestRunner();
    await startJob(world, "sleep 300 & echo $!");
    expect(await until(() => world.runner.jobs.list()[0]?.state === "exited")).toBe(true);
    const pid = Number(world.runner.jobs.list()[0]?.tail);
    expect(isRunning(pid)).toBe(true);
    await world[Symbol.asyncDispose]();
    expect(await until(() => !isRunning(pid))).toBe(true);
  });

  test("ends when the runner closes, and its log is gone with the directory", async () => {
    const world = createTestRunner();
    const job = await startJob(world, "sleep 300");
    await world[Symbol.asyncDispose]();
    expect(isRunning(job.pid)).toBe(false);
    expect(existsSync(job.logFile)).toBe(false);
    expect(world.runner.jobs.list()).toMatchObject([{ state: "killed" }]);
  });

  test("shows redraws below one another in its log, and its last state in its tail", async () => {
    await using world = createTestRunner();
    const job = await startJob(
      world,
      "printf '10%%'; sleep 0.3; printf '\\r20%%'; sleep 0.3; echo",
    );
    expect(await until(() => world.runner.jobs.list()[0]?.state === "exited")).toBe(true);
    expect(readFileSync(job.logFile, "utf8")).toBe("10%\n20%\n");
    expect(world.runner.jobs.list()[0]?.tail).toBe("20%");
  });

  test("tells no credential", async () => {
    await using world = createTestRunner({ scrubber: createScrubber(["sk-secret-0123456789"]) });
    const job = await startJob(world, "echo a sk-secret-0123456789; sleep 0.4; echo b");
    expect(await until(() => world.runner.jobs.list()[0]?.tail === "a [credential]")).toBe(true);
    expect(await until(() => world.runner.jobs.list()[0]?.state === "exited")).toBe(true);
    expect(readFileSync(job.logFile, "utf8")).toBe("a [credential]\nb\n");
  });
});

test("a tail is short", async () => {
  await using world = createTestRunner();
  await startJob(world, "seq 1 1000");
  expect(await until(() => world.runner.jobs.list()[0]?.state === "exited")).toBe(true);
  const lines = world.runner.jobs.list()[0]?.tail.split("\n") ?? [];
  expect(lines).toEqual(Array.from({ length: 20 }, (_, at) => String(981 + at)));
});

test("too many at once are refused", async () => {
  await using world = createTestRunner();
  for (let count = 0; count < JOBS_RUNNING_MAX; count += 1) await startJob(world, "sleep 300");
  expect(await world.runner.jobs.start({ command: "true", cwd: world.root })).toEqual({
    kind: "refused",
    reason: "32 background jobs run already",
  });
}, 20_000);
