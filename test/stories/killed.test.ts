// When the executable is killed: nothing goes on running, nothing is left in the terminal or in the
// temporary directory, and its owner is told how to go on. When it ends by itself: not a word.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listProcesses } from "../../src/base/os";
import { EXECUTABLE, environmentOf, makePlace, type Place, runBosun } from "../support/bosun";
import { type ModelServer, type Script, startModelServer } from "../support/model-server";
import { survivors } from "../support/processes";
import { TerminalRun } from "../support/terminal-run";

let place: Place;
let server: ModelServer | undefined;
/** Where the executable makes its temporary files. */
let temporary: string;

beforeEach(() => {
  place = makePlace();
  temporary = join(place.home, "tmp");
  mkdirSync(temporary);
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  expect(await survivors(place.home)).toEqual([]);
  expect(await until(() => left().length === 0)).toBe(true);
  family = [];
  expect(await until(() => readdirSync(temporary).length === 0)).toBe(true);
  place.remove();
});

const shell = (command: string, more: object = {}): Script[number] => ({
  calls: [{ name: "shell", args: { command, ...more } }],
});
const done: Script[number] = { calls: [{ name: "task_complete", args: { summary: "ok" } }] };

function environment(script: Script): Record<string, string> {
  server = startModelServer(script);
  return { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m", TMPDIR: temporary };
}

async function until(isTrue: () => boolean): Promise<boolean> {
  for (let waited = 0; waited < 5000 && !isTrue(); waited += 20) await Bun.sleep(20);
  return isTrue();
}

/** What a killed executable had started, as pid and start time: all of it must go. */
let family: { pid: number; start: number }[] = [];

const left = () =>
  listProcesses().filter(
    ({ pid, start, state }) =>
      state !== "Z" && family.some((member) => member.pid === pid && member.start === start),
  );

/** Everything below this process, its watchdog too, which must be there. */
function familyOf(pid: number): typeof family {
  const table = listProcesses();
  const pids = new Set([pid]);
  for (let size = 0; size !== pids.size; ) {
    size = pids.size;
    for (const entry of table) if (pids.has(entry.parent)) pids.add(entry.pid);
  }
  const found = table.filter((entry) => pids.has(entry.pid));
  if (!found.some((entry) => isWatchdog(entry.pid))) throw new Error("There is no watchdog.");
  return found;
}

function isWatchdog(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("bosun-watchdog");
}

function start(script: Script, args: readonly string[] = ["--auto-approve", "--json", "go"]) {
  return Bun.spawn([EXECUTABLE, ...args], {
    cwd: place.cwd,
    env: environmentOf(place, environment(script)),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** Waits for the file that a command makes when it is under way. */
async function underWay(): Promise<void> {
  const isThere = () => existsSync(join(place.cwd, "ready"));
  if (!(await until(isThere))) throw new Error("The command did not begin.");
}

const COMMANDS: Record<string, string> = {
  "a pipeline": "touch ready; sleep 500 | cat",
  "one that ignores signals": "trap '' HUP TERM; touch ready; while :; do sleep 1; done",
  "a daemon": "setsid nohup sleep 500 >/dev/null 2>&1 & touch ready; sleep 500",
  "a daemon, long after its command": "setsid nohup sleep 500 >/dev/null 2>&1 & touch ready",
  "a daemon that ignores signals":
    "(setsid sh -c \"trap '' HUP TERM; while :; do sleep 1; done\" &) ; touch ready",
  "one without environment": "env -i sh -c \"trap '' HUP TERM; sleep 500; :\" & touch ready; wait",
};

describe.each(["SIGKILL", "SIGSEGV"] as const)("after %s", (signal) => {
  test.each(Object.keys(COMMANDS))("no process is left of %s", async (name) => {
    const child = start([shell(COMMANDS[name] ?? ""), { text: "wait", delayMs: 20_000 }]);
    await underWay();
    await Bun.sleep(150);
    family = familyOf(child.pid);
    // The executable, its watchdog, a shell at least.
    expect(family.length).toBeGreaterThan(2);
    child.kill(signal);
    await child.exited;
    expect(child.signalCode).toBe(signal);
  });

  test("nor of a background job", async () => {
    const job = shell("trap '' HUP TERM; touch ready; sleep 500 | cat", { background: true });
    const child = start([job, { text: "wait", delayMs: 20_000 }]);
    await underWay();
    family = familyOf(child.pid);
    child.kill(signal);
    await child.exited;
  });

  test("the terminal is as it was, and says how to go on", async () => {
    const env = environment([shell("touch made"), { text: "going on" }]);
    const line = 'stty -g; "$BOSUN" go; echo back; stty -g; cat';
    using run = new TerminalRun({ place, env, line });
    const before = await run.see(MODES);
    await run.see("Approve?");
    const agent = agentBelow(run.pid);
    family = familyOf(agent);
    // What a front end with a whole screen does to a terminal.
    Bun.spawnSync(["sh", "-c", `stty raw -echo </proc/${agent}/fd/0`], { env: process.env });
    process.kill(agent, signal);
    await run.see("back");
    await run.see("ended unexpectedly. Nothing is lost: bosun --resume ");
    const id = await run.see(/\S+(?= goes on\.)/);
    expect(run.raw).toContain("\u001b[?25h");
    expect(modesOf(run.pid)).toBe(before);
    expect(existsSync(join(place.cwd, "made"))).toBe(false);
    const again = await runBosun({ place, args: ["--resume", id, "--json", "go on"], env });
    expect(again.stdout).toContain("going on");
  });
});

test("killed without a session: there is nothing to go on with", async () => {
  const env = environment([{ text: "wait", delayMs: 20_000 }]);
  const line = '"$BOSUN" --no-session go; echo back; cat';
  using run = new TerminalRun({ place, env, line });
  await run.see("m · ");
  await Bun.sleep(300);
  const agent = agentBelow(run.pid);
  family = familyOf(agent);
  process.kill(agent, "SIGKILL");
  await run.see(/ended unexpectedly\.\s*$/);
  await Bun.sleep(200);
  expect(run.text).not.toContain("--resume");
});

test("killed in a second conversation: that one is offered", async () => {
  const env = environment([{ text: "first answer" }]);
  using run = new TerminalRun({ place, env, line: '"$BOSUN"; echo back; cat' });
  await run.see("› ");
  await run.answer("first");
  await run.see("first answer");
  await run.see("› ");
  await run.answer("/new");
  const id = await run.see(/(?<=new conversation \(session )\w+/);
  const agent = agentBelow(run.pid);
  family = familyOf(agent);
  process.kill(agent, "SIGKILL");
  await run.see(`bosun --resume ${id} goes on.`);
});

describe("killed below an interactive shell", () => {
  test("the shell's line editor keeps its terminal", async () => {
    const env = environment([shell("touch made"), { text: "wait", delayMs: 20_000 }]);
    using run = new TerminalRun({ place, env, line: "PS1='%> ' exec bash --norc --noprofile -i" });
    await run.see("%> ");
    run.type('"$BOSUN" go\r');
    await run.see("Approve?");
    const agent = agentBelow(run.pid);
    family = familyOf(agent);
    process.kill(agent, "SIGKILL");
    await run.see("ended unexpectedly. Nothing is lost: bosun --resume ");
    await Bun.sleep(300);
    // Readline reads key by key; put back into line mode it would show each of them twice.
    run.type("echo A$((1+1))B\r");
    await run.see("A2B");
    expect(run.text).not.toContain("eecchhoo");
    run.type("exit\r");
    await run.exited;
  });
});

describe("while it runs", () => {
  test("its commands neither hold the watchdog's channel nor reach the watchdog", async () => {
    const find = "w=$(grep -la 'bosun-watchdo[g]' /proc/[0-9]*/cmdline | head -1 | tr -dc 0-9)";
    const child = start([
      shell("ls -l /proc/self/fd; ls -l /proc/$$/fd"),
      shell(`${find}; test -n "$w" && kill -9 $w`),
      done,
    ]);
    const text = await new Response(child.stdout).text();
    const results = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .filter((event) => event.type === "tool.finished");
    expect(results[0]?.result).not.toContain("socket:");
    expect(results[1]?.result).toContain("Operation not permitted");
    expect(await child.exited).toBe(0);
  });

  test("the watchdog holds no credential", async () => {
    const child = start([shell("touch ready"), { text: "wait", delayMs: 20_000 }]);
    await underWay();
    family = familyOf(child.pid);
    const { pid } = family.find((member) => isWatchdog(member.pid)) ?? { pid: 0 };
    const names = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    expect(names.map((entry) => entry.split("=")[0]).sort()).toEqual(["", "PATH", "TERM"]);
    child.kill("SIGKILL");
    await child.exited;
  });
});

describe("an end of its own", () => {
  test("leaves no watchdog and says nothing", async () => {
    const env = environment([shell("sleep 500 & touch ready"), shell("sleep 1"), done]);
    const line = '"$BOSUN" --auto-approve go; echo back; cat';
    using run = new TerminalRun({ place, env, line });
    await run.see("$ sleep 1");
    family = familyOf(agentBelow(run.pid));
    await run.see("back");
    expect(left()).toEqual([]);
    await Bun.sleep(200);
    expect(run.text).not.toContain("unexpectedly");
  });

  test("says nothing of the watchdog when it cannot begin", async () => {
    const env = environment([done]);
    const line = '"$BOSUN" --resume go; echo back; cat';
    using run = new TerminalRun({ place, env, line });
    await run.see("There is no session here");
    await run.see("back");
    await Bun.sleep(300);
    expect(run.text).not.toContain("unexpectedly");
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("%s ends its commands, too", async (signal) => {
    const child = start([shell(COMMANDS["one that ignores signals"] ?? ""), done]);
    await underWay();
    family = familyOf(child.pid);
    child.kill(signal);
    expect(await child.exited).toBe(130);
    expect(left()).toEqual([]);
    expect(await new Response(child.stderr).text()).not.toContain("unexpectedly");
  });

  test.each([
    ["while a command runs", ["--auto-approve", "go"], "\\$ trap"],
    ["at a question", ["go"], "Approve\\?"],
    ["at the prompt", [], "›"],
  ] as const)("the terminal is closed %s: nothing is left", async (_when, args, sight) => {
    const env = environment([shell(COMMANDS["one that ignores signals"] ?? ""), done]);
    using run = new TerminalRun({ place, args, env });
    await run.see(new RegExp(sight));
    await Bun.sleep(300);
    family = familyOf(run.pid);
    run.hangUp();
    await run.exited;
    expect(await until(() => left().length === 0)).toBe(true);
  });

  test("it is stopped at a question and goes on", async () => {
    const env = environment([shell("touch made"), done]);
    using run = new TerminalRun({ place, env, line: "PS1='%> ' exec bash --norc --noprofile -i" });
    await run.see("%> ");
    run.type('"$BOSUN" go\r');
    await run.see("Approve?");
    await Bun.sleep(600);
    run.type("\u001a");
    await run.see("Stopped");
    await run.see("%> ");
    run.type("echo A$((1+1))B\r");
    await run.see("A2B");
    run.type("fg\r");
    await run.see("Approve?");
    await run.answer("y");
    await run.see("complete");
    run.type("exit\r");
    await run.exited;
    expect(existsSync(join(place.cwd, "made"))).toBe(true);
  });
});

const MODES = /[0-9a-f]+(:[0-9a-f]+){10,}/;

function modesOf(pid: number): string {
  const script = `stty -g </proc/${pid}/fd/0`;
  return Bun.spawnSync(["sh", "-c", script], { env: process.env }).stdout.toString().trim();
}

/** The executable that this shell runs. */
function agentBelow(shellPid: number): number {
  const found = listProcesses().find((entry) => entry.parent === shellPid);
  if (!found) throw new Error("The executable does not run.");
  return found.pid;
}
