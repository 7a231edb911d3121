import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "#base/os";
import { CUT_OVERHEAD_BYTES, TRUNCATION_SENTINEL } from "./cut";
import { createTestRunner, until } from "./fakes";
import { describeEnd } from "./wording";

describe("the time limit", () => {
  const stubborn = "trap '' TERM HUP INT; while :; do sleep 0.05; done";
  const commands = {
    "a sleeping command": "sleep 300",
    "a pipeline": "sleep 300 | cat",
    "a shell in a shell": "bash -c 'bash -c \"sleep 300; true\"; true'",
    "one that ignores SIGTERM": stubborn,
    "a child that ignores SIGTERM": `bash -c "${stubborn}"; true`,
    "a child with a session of its own": "setsid sleep 300 & echo $! >pid; sleep 300",
    "a daemon": "setsid sh -c 'sleep 300 & echo $! >pid'; sleep 300",
    "a busy loop": "while :; do :; done",
    "a stopped command": "sleep 300 & kill -STOP $!; wait",
  };
  for (const [name, command] of Object.entries(commands)) {
    test(`ends ${name} and all that it started`, async () => {
      await using world = createTestRunner();
      const result = await world.run(`echo before; echo $$ >shell; ${command}`, { timeoutMs: 300 });
      expect(result).toMatchObject({
        ended: "timed out",
        exitCode: null,
        text: "before\n",
        stillRunning: 0,
      });
      expect(result.ms).toBeGreaterThanOrEqual(299);
      expect(result.ms).toBeLessThan(1300);
      const files = ["shell", ...(command.includes(">pid") ? ["pid"] : [])];
      for (const file of files) {
        const pid = Number(readFileSync(join(world.root, file), "utf8"));
        expect(await until(() => !isRunning(pid))).toBe(true);
      }
      expect(describeEnd(result, world.root)).toContain("timed out and killed after 0.");
    });
  }

  test("leaves time to clean up, and keeps what is said then", async () => {
    await using world = createTestRunner();
    const command = "trap 'echo cleaned; exit 1' TERM; while :; do sleep 0.05; done";
    const result = await world.run(command, { timeoutMs: 200 });
    expect(result.ended).toBe("timed out");
    expect(result.text).toEndWith("cleaned\n");
  });

  test("keeps the directory that the command was in", async () => {
    await using world = createTestRunner();
    const { cwd } = await world.run("cd /usr && sleep 300", { timeoutMs: 200 });
    expect(cwd).toBe("/usr");
  });
});

describe("a stop", () => {
  test("ends the command within a second, whatever it does", async () => {
    await using world = createTestRunner();
    for (const command of ["sleep 300", "trap '' TERM; while :; do sleep 0.05; done", "yes >&2"]) {
      const stopping = new AbortController();
      setTimeout(() => stopping.abort(), 100);
      const result = await world.run(command, { signal: stopping.signal });
      expect(result.ended).toBe(command === "yes >&2" ? result.ended : "stopped");
      expect(result.ms).toBeLessThan(1100);
    }
  });

  test("before the start means that nothing starts", async () => {
    await using world = createTestRunner();
    const result = await world.run("touch x", { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ ended: "stopped", exitCode: null });
    expect(await Bun.file(join(world.root, "x")).exists()).toBe(false);
  });
});

describe("long output", () => {
  test("is cut at whole lines, kept whole, and says so at its end", async () => {
    await using world = createTestRunner();
    const result = await world.run("seq 1 5000", { outputBytesMax: 1000 });
    const whole = Array.from({ length: 5000 }, (_, at) => `${at + 1}\n`).join("");
    expect(result).toMatchObject({ ended: "exited", exitCode: 0, truncated: true });
    const lines = result.text.split("\n");
    expect(lines.at(-1)).toBe(TRUNCATION_SENTINEL);
    expect(lines.at(-2)).toBe("5000");
    expect(lines[0]).toBe("1");
    const marker = lines.findIndex((line) => line.startsWith("[..."));
    const head = lines.slice(0, marker);
    const tail = lines.slice(marker + 1, -1);
    expect(whole).toStartWith(`${head.join("\n")}\n`);
    expect(whole).toEndWith(`${tail.join("\n")}\n`);
    expect(head.join("\n").length).toBeWithin(280, 301);
    expect(tail.join("\n").length).toBeWithin(680, 701);
    const left = 5000 - head.length - tail.length;
    const bytes = whole.length - head.join("\n").length - tail.join("\n").length - 2;
    expect(lines[marker]).toBe(
      `[... ${bytes} bytes, ${left} lines left out; the whole output: ` +
        `read_artifact {"id": "${result.artifactId}", "offset": ${head.join("\n").length + 1}} ...]`,
    );
    const page = await world.artifacts.read(result.artifactId ?? "", head.join("\n").length + 1);
    expect(page?.size).toBe(whole.length);
    expect(page?.text).toStartWith(`${head.length + 1}\n`);
  });

  test("within the limit stays as it is", async () => {
    await using world = createTestRunner();
    const result = await world.run("head -c 1000 /dev/zero | tr '\\0' a", { outputBytesMax: 1000 });
    expect(result).toMatchObject({ text: "a".repeat(1000), truncated: false });
    expect(result.artifactId).toBeUndefined();
  });

  test("is cut inside its only line between characters", async () => {
    await using world = createTestRunner();
    const result = await world.run("for i in {1..400}; do printf '漢🙂'; done", {
      outputBytesMax: 1000,
    });
    expect(result.truncated).toBe(true);
    expect(result.text).not.toContain("\ufffd");
    expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(1000 + CUT_OVERHEAD_BYTES);
  });

  test("past the kill limit ends the command", async () => {
    await using world = createTestRunner();
    for (const command of ["yes", "cat /dev/zero | tr '\\0' a", "yes $'\\r' | tr -d '\\n'"]) {
      const result = await world.run(command);
      expect(result.ended).toBe("too much output");
      expect(result.ms).toBeLessThan(5000);
      expect(Buffer.byteLength(result.text)).toBeLessThanOrEqual(10_240 + CUT_OVERHEAD_BYTES);
      expect(describeEnd(result, world.root)).toContain("too much output");
    }
    expect((await world.run("seq 1 20000", { outputBytesMax: 1000 })).ended).toBe("exited");
  }, 20_000);

  test("the kill limit is an option, and grows with the output limit", async () => {
    await using world = createTestRunner({ killBytesMax: 5000 });
    expect((await world.run("seq 1 100000")).ended).toBe("too much output");
    await using wide = createTestRunner({ outputBytesMax: 1024 * 1024 });
    expect((await wide.run("head -c 4000000 /dev/zero | tr '\\0' a")).ended).toBe("exited");
  });
});

test("a flood does not fill the memory", async () => {
  const program = `
    const { createTestRunner } = await import(${JSON.stringify(join(import.meta.dir, "fakes"))});
    const world = createTestRunner(process.argv.includes("--unlimited") ? { killBytesMax: 2 ** 40 } : {});
    await world.run("true");
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    let most = before;
    const timer = setInterval(() => { most = Math.max(most, process.memoryUsage.rss()); }, 5);
    const results = [];
    for (const command of JSON.parse(process.argv.at(-1))) {
      const { ended, text, ms } = await world.run(command, { onOutput() {} });
      most = Math.max(most, process.memoryUsage.rss());
      results.push({ ended, length: text.length, ms: Math.round(ms) });
    }
    console.log(JSON.stringify({ megabytes: Math.round((most - before) / 1e6), results }));
    await world[Symbol.asyncDispose]();
    process.exit();`;
  const run = (commands: string[], ...flags: string[]) => {
    const words = [process.execPath, "-e", program, "--", ...flags, JSON.stringify(commands)];
    return JSON.parse(Bun.spawnSync(words).stdout.toString());
  };
  const limited = run(["yes", "head -c 300M /dev/zero | tr '\\0' a", "yes '🙂' | tr -d '\\n'"]);
  expect(limited.megabytes).toBeLessThan(60);
  const unlimited = run(
    ["head -c 300M /dev/zero | tr '\\0' a", "yes a line of words | head -c 100M"],
    "--unlimited",
  );
  expect(unlimited.megabytes).toBeLessThan(150);
  expect(unlimited.results[0].ended).toBe("exited");
}, 60_000);
