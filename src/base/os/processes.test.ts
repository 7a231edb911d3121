import { expect, test } from "bun:test";
import { loadLibc } from "./libc";
import {
  childrenOf,
  isRunning,
  listProcesses,
  readEnvironment,
  readProcess,
  signalProcess,
  workingDirectoryOf,
} from "./processes";

test("tells of a process, its children and its end", async () => {
  const child = Bun.spawn(["sleep", "60"], { cwd: "/", env: { MARK: "here" } });
  expect(childrenOf(process.pid)).toContain(child.pid);
  expect(readProcess(child.pid)).toMatchObject({ pid: child.pid, parent: process.pid });
  expect(listProcesses().map((entry) => entry.pid)).toContain(child.pid);
  expect(workingDirectoryOf(child.pid)).toBe("/");
  expect(readEnvironment(child.pid)).toContain("MARK=here");
  expect(isRunning(child.pid)).toBe(true);
  expect(signalProcess(child.pid, "SIGKILL")).toBe(true);
  await child.exited;
  expect(isRunning(child.pid)).toBe(false);
  expect(readProcess(child.pid)).toBeUndefined();
  expect(workingDirectoryOf(child.pid)).toBeUndefined();
  expect(signalProcess(child.pid, "SIGKILL")).toBe(false);
});

test("reads a process whose name holds blanks and parentheses", async () => {
  const child = Bun.spawn(["bash", "-c", "printf 'x) (y' >/proc/$$/comm; read -r _"], {
    stdin: "pipe",
  });
  await Bun.sleep(100);
  expect(readProcess(child.pid)).toMatchObject({ parent: process.pid });
  child.stdin.end();
  await child.exited;
});

test.if(process.platform === "linux")("orphans come to a subreaper, which reaps them", async () => {
  const program = `
    const { loadLibc } = await import(${JSON.stringify(`${import.meta.dir}/libc`)});
    const { childrenOf, readProcess } = await import(${JSON.stringify(`${import.meta.dir}/processes`)});
    const libc = await loadLibc();
    const before = libc.becomeSubreaper();
    const pid = Number(Bun.spawnSync(["sh", "-c", "sleep 0.2 >/dev/null 2>&1 & echo $!"]).stdout.toString());
    const came = childrenOf(process.pid).includes(pid);
    const early = libc.reap(pid);
    await Bun.sleep(500);
    const state = readProcess(pid)?.state;
    const reaped = libc.reap(pid);
    console.log(JSON.stringify({ before, came, early, state, reaped, left: readProcess(pid) ?? null }));
  `;
  const told = Bun.spawnSync([process.execPath, "-e", program]).stdout.toString();
  expect(JSON.parse(told)).toEqual({
    before: true,
    came: true,
    early: false,
    state: "Z",
    reaped: true,
    left: null,
  });
  expect(await loadLibc()).toBeDefined();
});
