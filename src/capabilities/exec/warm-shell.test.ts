import { describe, expect, test } from "bun:test";
import { isRunning, listProcesses, RUN_MARK } from "#base/os";
import { COLUMNS, cleanTerminalText, ROWS } from "./clean";
import { commandEnvironment } from "./environment";
import { createTestRunner, until } from "./fakes";
import { SHELL_NAME } from "./script";
import { startShell } from "./shell";
import { createWarmShell } from "./warm-shell";

/** All that a command can see of its shell. */
const LOOK = [
  'echo "_ $_"',
  'echo "flags $-, name $0, $# arguments: $@; level $BASH_SUBSHELL; line $LINENO; $SECONDS s"',
  'echo "status $?, background $!"',
  "[ $$ = $BASHPID ] && echo same",
  "set",
  "declare -p | sort",
  "declare -F; alias; jobs; hash; dirs; history; times | wc -l; caller; complete",
  "shopt -p; set -o; ulimit -a; umask; enable -a | md5sum",
  "env | sort",
  "ls /proc/$$/fd | grep -v 255",
  "ls /proc/self/fd",
  "stty -a",
  "cut -d' ' -f4-8 /proc/$$/stat | tr ' ' '\\n' | sed \"s/^$$\\$/self/; s/^$PPID\\$/parent/; /^3[4-9]...$/d\"",
  "grep -E '^Sig(Blk|Ign)' /proc/$$/status",
  "nosuchcommand; (exit 3); echo $?",
  "x=$((1/0))",
].join("\n");

/** The same command in an ordinary `bash -c`. */
async function lookColdly(cwd: string, mark: string): Promise<string> {
  const env = commandEnvironment({ from: process.env, secretNames: [] });
  const decoder = new TextDecoder();
  let text = "";
  const child = Bun.spawn([Bun.which("bash") ?? "", "-c", LOOK, SHELL_NAME], {
    cwd,
    env: { ...env, [RUN_MARK]: mark },
    terminal: {
      cols: COLUMNS,
      rows: ROWS,
      data: (_terminal, bytes) => {
        text += decoder.decode(bytes, { stream: true });
      },
    },
  });
  await child.exited;
  await Bun.sleep(50);
  return cleanTerminalText(text);
}

/** Without what differs from one shell to the next. */
function comparable(text: string): string[] {
  return text
    .replaceAll(/\b(RANDOM|SRANDOM|EPOCHSECONDS|EPOCHREALTIME|BASHPID|COLUMNS|LINES)=.*\n/g, "")
    .split("\n")
    .filter(
      (line) =>
        !/^(_=|declare \S+ (_|RANDOM|SRANDOM|EPOCH\w+|BASHPID|SECONDS|BASH_MONOSECONDS)\b)/.test(
          line,
        ),
    )
    .filter((line) => !/^(SECONDS=|declare -\S+ (LINES|COLUMNS)=)/.test(line));
}

describe("a command cannot tell its shell from an ordinary one", () => {
  for (const state of ["warm", "cold"]) {
    test.if(process.platform === "linux" && Bun.which("bash") !== null)(state, async () => {
      await using world = createTestRunner({ outputBytesMax: 200_000 });
      if (state === "warm") {
        await world.runner.warmUp();
        await Bun.sleep(1200);
      }
      const { text } = await world.run(LOOK);
      const mark = new RegExp(`${RUN_MARK}=(\\S+)`).exec(text)?.[1] ?? "";
      expect(comparable(text)).toEqual(comparable(await lookColdly(world.root, mark)));
    });
  }
});

const start = () =>
  startShell({ shell: Bun.which("bash") ?? "", launcher: [], environment: {}, cwd: "/" });

test("two are ready after a moment, each taken once, and replaced", async () => {
  const shells: number[] = [];
  const warm = createWarmShell(() => {
    const shell = start();
    shells.push(shell.pid);
    return shell;
  });
  expect(warm.take()).toBeUndefined();
  warm.refill("after command");
  warm.refill("after command");
  expect(await until(() => shells.length === 2)).toBe(true);
  const taken = [warm.take(), warm.take()];
  expect(taken.map((shell) => shell?.pid)).toEqual(shells);
  expect(warm.take()).toBeUndefined();
  warm.refill("beside command");
  expect(await until(() => shells.length === 4)).toBe(true);
  await warm.close();
  warm.refill("after command");
  for (const shell of taken) {
    shell?.kill();
    await shell?.gone;
  }
  await Bun.sleep(20);
  expect(shells.length).toBe(4);
  expect(shells.filter(isRunning)).toEqual([]);
});

test("one that died is not given out, and one that dies in time costs nothing but time", async () => {
  await using world = createTestRunner();
  await world.runner.warmUp();
  const waiting = () => listProcesses().filter((entry) => entry.parent === process.pid);
  expect(await until(() => waiting().length > 0)).toBe(true);
  for (const entry of waiting()) process.kill(entry.pid, "SIGKILL");
  // Dead, but nobody has noticed; and later.
  Bun.sleepSync(20);
  expect(await world.run("echo a")).toMatchObject({ ended: "exited", text: "a\n" });
  await Bun.sleep(100);
  expect(await world.run("echo b")).toMatchObject({ ended: "exited", text: "b\n" });
});

test("it ends when its channel does", async () => {
  const shell = start();
  await Bun.sleep(50);
  expect(isRunning(shell.pid)).toBe(true);
  expect(listProcesses().find((entry) => entry.pid === shell.pid)?.session).toBe(shell.pid);
  shell.kill();
  await shell.gone;
  expect(shell.isAlive).toBe(false);
  expect(shell.begin({} as never)).toBe(false);
});

test("the program does not wait for it", async () => {
  const program = `
    const { createTestRunner } = await import(${JSON.stringify(`${import.meta.dir}/fakes`)});
    const world = createTestRunner();
    await world.runner.warmUp();
    await world.run("true");
    setTimeout(() => console.log("last"), 100);`;
  await using outer = createTestRunner();
  const child = Bun.spawn([process.execPath, "-e", program], {
    stdout: "pipe",
    env: { ...process.env, TMPDIR: outer.root },
  });
  expect(await child.stdout.text()).toBe("last\n");
  expect(await child.exited).toBe(0);
});
