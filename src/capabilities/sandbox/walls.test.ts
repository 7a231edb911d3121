// The walls against the real kernel: what must not happen is tried inside of them.

import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadKernel } from "#base/os";
import { createCommandRunner } from "#capabilities/exec";
import { createSandbox } from "./create";
import { type SandboxPolicy, sandboxPolicy } from "./policy";
import { probeWalls } from "./probe";
import { type Means, sandboxImage } from "./tape";

const kernel = await loadKernel();
const hasLandlock = (kernel?.landlockAbi ?? 0) > 0;
const isRoot = process.getuid?.() === 0;

// Not below /tmp, which commands may write.
const place = mkdtempSync("/var/tmp/bosun-walls-");
const workspace = join(place, "work");
const home = join(place, "home");
const outside = join(place, "outside");
for (const path of [home, outside, join(workspace, ".git/hooks"), join(workspace, ".bosun")]) {
  mkdirSync(path, { recursive: true });
}
writeFileSync(join(home, "vault"), "secret");
writeFileSync(join(outside, "file"), "whole");
writeFileSync(join(workspace, ".git/config"), "");
afterAll(() => rmSync(place, { recursive: true, force: true }));

const policy = sandboxPolicy({
  workspace,
  home,
  userId: process.getuid?.() ?? 0,
  environment: {},
});

function run(launcher: readonly string[], script: string) {
  const child = Bun.spawnSync([...launcher, "/bin/bash", "-c", script], {
    cwd: workspace,
    env: { PATH: process.env.PATH ?? "/usr/bin:/bin", PLACE: place },
  });
  return {
    status: child.exitCode,
    said: child.stdout.toString().trim(),
    complaint: child.stderr.toString().trim(),
  };
}

async function measured(own: SandboxPolicy = policy) {
  const sandbox = await createSandbox({ policy: own, confineSignals: false });
  return { sandbox, walls: await sandbox.measure() };
}

describe.skipIf(!hasLandlock)("walls around a command", () => {
  test("are measured, and nothing of that stays behind", async () => {
    const { sandbox, walls } = await measured();
    const stands = { stands: true };
    expect(walls).toMatchObject({ filesystem: stands, processes: stands, ipc: stands });
    expect(sandbox.state).toBe("on");
    for (const folder of [home, outside, place, join(workspace, ".git/hooks")]) {
      expect(existsSync(join(folder, `.bosun-probe-${process.pid}`))).toBe(false);
    }
    sandbox.close();
  });

  test("no words before the walls were measured, nor after they were given up", async () => {
    const sandbox = await createSandbox({ policy, confineSignals: false });
    expect(() => sandbox.launcher()).toThrow("not measured");
    await sandbox.measure();
    expect(sandbox.launcher().length).toBe(1);
    sandbox.close();
    expect(() => sandbox.launcher()).toThrow("closed");
  });

  test("writes reach the workspace, /tmp and terminals", async () => {
    const { sandbox } = await measured();
    const script =
      "echo a >a && mkdir -p b/c && mv a b/c/ && rm -r b && f=$(mktemp) && rm $f && echo >/dev/null";
    expect(run(sandbox.launcher(), script)).toEqual({ status: 0, said: "", complaint: "" });
    sandbox.close();
  });

  test.each([
    ["a new file", "echo >$PLACE/outside/new"],
    ["a changed file", "echo >>$PLACE/outside/file"],
    ["a cut file", "truncate -s0 $PLACE/outside/file"],
    ["a removed file", "rm -f $PLACE/outside/file"],
    ["a file moved in", "mv $PLACE/outside/file . 2>/dev/null; test ! -e $PLACE/outside/file"],
    ["a file moved out", "echo >m; mv m $PLACE/outside/"],
    ["a hard link to write through", "ln $PLACE/outside/file link && echo >link"],
    ["a link to write through", "ln -sf $PLACE/outside/file soft && echo >soft"],
    ["a folder", "mkdir $PLACE/outside/folder"],
    ["a kernel setting", "echo 1 >/proc/sys/kernel/sysrq"],
  ])("no writing outside: %s", async (_what, script) => {
    const { sandbox } = await measured();
    expect(run(sandbox.launcher(), script).status).not.toBe(0);
    expect(readFileSync(join(outside, "file"), "utf8")).toBe("whole");
    sandbox.close();
  });

  test("reading and execution go on everywhere else", async () => {
    const { sandbox } = await measured();
    expect(run(sandbox.launcher(), "cat $PLACE/outside/file").said).toBe("whole");
    sandbox.close();
  });

  test("other processes keep their environment and files to themselves", async () => {
    const { sandbox } = await measured();
    for (const what of ["environ", "fd/0", "root/etc/hostname", "maps"]) {
      const script = `cat /proc/${process.pid}/${what}`;
      expect(run(sandbox.launcher(), script).complaint).toContain("Permission denied");
    }
    sandbox.close();
  });
});

/** Every way to change mounts that this machine lets us try. */
const ways = (["privileged", "user"] as const).filter((namespaces) => {
  if (!hasLandlock) return false;
  const words = launcherOf(policy, namespaces);
  return run(words, "true").status === 0;
});

function launcherOf(own: SandboxPolicy, namespaces: Means["namespaces"]): string[] {
  const means: Means = {
    abi: kernel?.landlockAbi ?? 0,
    namespaces,
    userId: process.getuid?.() ?? 0,
    groupId: process.getgid?.() ?? 0,
    mayDropCapabilities: isRoot,
  };
  const made = kernel?.makeExecutable(sandboxImage(own, means) ?? new Uint8Array());
  return made ? [made.path] : [];
}

describe.each(ways)("mounts, %s", (namespaces) => {
  const words = launcherOf(policy, namespaces);

  test.each([
    "cat $PLACE/home/vault",
    "ls $PLACE/home/vault",
    "cat /proc/self/root$PLACE/home/vault",
    "echo >$PLACE/home/new",
    "umount $PLACE/home && cat $PLACE/home/vault",
    "unshare -Urm umount $PLACE/home",
    "mount --bind / /tmp",
  ])("Bosun's home is hidden: %s", (script) => {
    const { status, said } = run(words, script);
    expect({ isRefused: status !== 0, said }).toEqual({ isRefused: true, said: "" });
    expect(readFileSync(join(home, "vault"), "utf8")).toBe("secret");
  });

  test.each([
    "echo >.git/hooks/pre-commit",
    "echo >.bosun/config.toml",
    "rm -r .git/hooks",
    "mv .git/hooks .git/other",
    "mv .git gone",
    "mv .bosun gone",
    "mv $PWD $PWD-gone",
  ])("what is protected cannot be written, removed or moved away: %s", (script) => {
    expect(run(words, script).status).not.toBe(0);
    expect(existsSync(join(workspace, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(workspace, ".bosun/config.toml"))).toBe(false);
  });

  test("the rest of the repository can be written", () => {
    expect(run(words, "echo >.git/config && mkdir -p .git/objects && pwd")).toEqual({
      status: 0,
      said: workspace,
      complaint: "",
    });
  });

  test("files keep their owners", () => {
    expect(run(words, "id -u; id -g").said).toBe(`${process.getuid?.()}\n${process.getgid?.()}`);
  });

  test.if(isRoot)("root can neither make devices nor read a whole disk", () => {
    expect(run(words, "mknod made b 7 0").status).not.toBe(0);
    const disks = "cd /sys/block; for d in *; do test -b /dev/$d && echo $d; done; true";
    expect(run(words, disks).said).toBe("");
  });

  test("without a network there is only the machine itself, and that without its services", () => {
    const alone = launcherOf({ ...policy, network: "none" }, namespaces);
    expect(run(alone, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '").said).toBe("lo");
  });

  test("a wall that cannot be put up ends the command before it starts", () => {
    const lost = join(place, "lost");
    mkdirSync(lost, { recursive: true });
    const own = launcherOf({ ...policy, hidden: [lost] }, namespaces);
    rmSync(lost, { recursive: true });
    expect(run(own, "echo started")).toEqual({
      status: 126,
      said: "",
      complaint: `bosun: sandbox: hiding ${lost}: error 002`,
    });
  });
});

describe.skipIf(!hasLandlock)("less than all", () => {
  test("without mounts the wall around files stands still", async () => {
    const launcher = launcherOf(policy, "none");
    const result = await probeWalls({
      launcher,
      policy,
      hidden: home,
      protectedPath: join(workspace, ".git/hooks"),
    });
    expect(result).toMatchObject({
      kind: "measured",
      open: new Set(["hidden", "protectedPaths", "signals"]),
      shut: new Set(["filesystem", "processes"]),
    });
  });

  test("a launcher that does nothing is found out", async () => {
    const result = await probeWalls({
      launcher: [],
      policy,
      hidden: undefined,
      protectedPath: undefined,
    });
    expect(result.kind === "measured" && result.open.has("filesystem")).toBe(true);
    expect(existsSync(join(place, `.bosun-probe-${process.pid}`))).toBe(false);
  });

  test("a launcher that is not there is a failure with its reason", async () => {
    const launcher = ["/nowhere/launcher"];
    const rest = { policy, hidden: undefined, protectedPath: undefined };
    expect(await probeWalls({ launcher, ...rest })).toMatchObject({ kind: "failed" });
  });

  test("what is to be protected and appears later is protected from the next command on", async () => {
    const own = sandboxPolicy({ workspace: outside, home, userId: 0, environment: {} });
    const { sandbox, walls } = await measured(own);
    if (walls.protectedPaths.stands) {
      mkdirSync(join(outside, ".bosun"));
      const script = "echo >$PLACE/outside/.bosun/config.toml";
      expect(run(sandbox.launcher(), script).status).not.toBe(0);
    }
    sandbox.close();
  });
});

describe.skipIf(!hasLandlock)("commands of one run behind the walls", () => {
  test("have a terminal, and end what an earlier one has left running", async () => {
    const { sandbox } = await measured();
    const temporary = mkdtempSync("/tmp/bosun-walls-");
    const runner = createCommandRunner({
      root: workspace,
      temporary,
      launcher: () => sandbox.launcher(),
    });
    const first = await runner.run({ command: "tty; sleep 60 & echo $!", cwd: workspace });
    const [terminal, pid] = first.text.trim().split("\n");
    expect(terminal).toStartWith("/dev/pts/");
    const second = await runner.run({ command: `kill ${pid} && echo ended`, cwd: workspace });
    expect(second.text.trim()).toBe("ended");
    await runner.close();
    sandbox.close();
    rmSync(temporary, { recursive: true });
  });

  test("no command is run while the walls are not measured", async () => {
    const sandbox = await createSandbox({ policy, confineSignals: false });
    const runner = createCommandRunner({
      root: workspace,
      temporary: place,
      launcher: () => sandbox.launcher(),
    });
    const result = await runner.run({ command: "echo >ran", cwd: workspace });
    expect(result.ended).toBe("not started");
    expect(result.notes.join()).toContain("not measured");
    expect(existsSync(join(workspace, "ran"))).toBe(false);
    await runner.close();
  });

  // In a program of its own, since it cannot be undone.
  test("send no signals to processes outside, where the kernel can keep them from it", async () => {
    const script = `
      import { createSandbox } from "./create";
      const policy = ${JSON.stringify(policy)};
      const sandbox = await createSandbox({ policy, confineSignals: true });
      const { signals } = await sandbox.measure();
      const child = Bun.spawnSync([...sandbox.launcher(), "/bin/sh", "-c", "kill -0 $1", "sh",
        String(process.ppid)], { env: {} });
      console.log(signals.stands === (child.exitCode !== 0));
      process.kill(process.pid, 0);
    `;
    const child = Bun.spawnSync([process.execPath, "-e", script], {
      cwd: import.meta.dir,
      env: process.env,
    });
    expect(child.stdout.toString().trim()).toBe("true");
    expect(child.exitCode).toBe(0);
  });
});
