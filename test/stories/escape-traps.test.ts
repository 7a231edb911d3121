// Traps: a command leaves something where Bosun itself, which no wall holds, will walk into it.
// And what a command leaves running: nothing.

import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Attempt, play, SECRET, said, victimChanged } from "../support/escape";

const isLinux = process.platform === "linux";

/** Turns a folder and a link to another into each other, as fast as the system can. */
const exchange = (a: string, b: string): string =>
  `perl -e 'my ($n, $a, $b) = ($ENV{SYS_renameat2} + 0, "${a}", "${b}");
for (1 .. 9000000) { last if $_ % 1000 == 0 && !-e "on"; syscall($n, -100, $a, -100, $b, 2) }' &`;

/** Each a little different: the same call again and again would end the run. */
const calls = (
  count: number,
  { name, args, wentThrough }: { name: string; args: object; wentThrough: Attempt["wentThrough"] },
) =>
  Array.from({ length: count }, (_, at): Attempt => {
    const more = name === "read_file" ? { limit: at + 1 } : { content: `x${at}` };
    return { name: `try ${at}`, call: () => ({ name, args: { ...args, ...more } }), wentThrough };
  });

const inRuntimeFolder =
  "folder=$(ls -d /tmp/bosun-$BOSUN_PID-* /var/tmp/bosun-$BOSUN_PID-* | head -1)";

async function spring(
  attempts: readonly Attempt[],
  options: Omit<Parameters<typeof play>[1], "isWalled"> = {},
) {
  const { outcome, state, isWhole } = await play(attempts, { isWalled: true, ...options });
  expect(isWhole).toBe(true);
  if (state === "off") console.warn("this kernel has no walls, and the run says so");
  return [...outcome].filter(([, isThrough]) => isThrough).map(([name]) => name);
}

const trap = (script: string, wentThrough: Attempt["wentThrough"]): Attempt => ({
  name: "trap",
  script,
  wentThrough,
});

describe.skipIf(!isLinux)("traps for Bosun", () => {
  // Open: the folder of this run lies in /tmp, which commands may write.
  test("a link where the file of a long command will be", async () => {
    const long = { name: "shell", args: { command: `echo long\n#${"x".repeat(40_000)}` } };
    const set = `${inRuntimeFolder}; for n in 1 2 3 4; do ln -s $OUT/victim $folder/command-$n; done`;
    const bait: Attempt = { name: "bait", call: () => long, wentThrough: () => false };
    expect(await spring([trap(set, victimChanged), bait])).toEqual([]);
  });

  test("a link where artifacts will be", async () => {
    const set = `${inRuntimeFolder}; mv $folder $folder-gone; ln -s $OUT $folder`;
    const bait: Attempt = { name: "bait", script: "seq 1 30000", wentThrough: () => false };
    const rest = "rm -rf /tmp/bosun-$BOSUN_PID-*-gone";
    const tidy: Attempt = { name: "tidy", script: rest, wentThrough: () => false };
    const hasMore = ({ out }: { out: string }) => readdirSync(out).length > 1;
    expect(await spring([trap(set, hasMore), bait, tidy], { args: ["--no-session"] })).toEqual([]);
  });

  test("a folder that looks like what an earlier Bosun left", async () => {
    const set =
      "mkdir -p /tmp/bosun-4000000-1-abcdef; ln -s $OUT /tmp/bosun-4000000-1-abcdef/in; ln -s $OUT /tmp/bosun-4000001-1-abcdef";
    const wait: Attempt = { name: "wait", script: "sleep 0.3", wentThrough: () => false };
    const attempts = [trap(set, victimChanged), wait];
    await play(attempts, { isWalled: true });
    expect(await spring(attempts)).toEqual([]);
  });

  // Open: the git that reads a repository's settings is looked for in the whole PATH.
  test("programs of Bosun's own in a folder of the PATH that lies in the project", async () => {
    const set = `mkdir -p $PROJECT/bin; for p in git rg ps bash sh false; do
printf '#!/bin/sh\\necho x >%s\\nexec /usr/bin/%s "$@"\\n' $OUT/victim $p >$PROJECT/bin/$p; done
chmod +x $PROJECT/bin/*`;
    const attempts: Attempt[] = [
      trap(set, victimChanged),
      {
        name: "git",
        call: () => ({ name: "shell", args: { command: "git status" } }),
        wentThrough: () => false,
      },
      {
        name: "search",
        call: () => ({ name: "search", args: { pattern: "x" } }),
        wentThrough: () => false,
      },
    ];
    const PATH = `bin:./bin:${process.env.PATH}`;
    expect(await spring(attempts, { env: { PATH } })).toEqual([]);
  });

  test("a library and settings for the programs that Bosun starts", async () => {
    const set = `printf 'export LD_PRELOAD=/x.so PATH=%s:$PATH RIPGREP_CONFIG_PATH=%s/rc BASH_ENV=%s/rc\\n' \\
$PROJECT $PROJECT $PROJECT >$PROJECT/.envrc; printf -- '--pre=%s/run\\n' $PROJECT >$PROJECT/rc
printf '#!/bin/sh\\necho x >%s\\n' $OUT/victim >$PROJECT/run; chmod +x $PROJECT/run
for key in core.fsmonitor diff.external core.sshCommand gpg.program filter.x.clean core.pager; do
git -C $PROJECT config $key $PROJECT/run; done; echo '* filter=x' >$PROJECT/.gitattributes`;
    const attempts: Attempt[] = [
      trap(set, victimChanged),
      {
        name: "export",
        call: () => ({ name: "shell", args: { command: ". ./.envrc" } }),
        wentThrough: () => false,
      },
      {
        name: "search",
        call: () => ({ name: "search", args: { pattern: "x" } }),
        wentThrough: () => false,
      },
    ];
    expect(await spring(attempts)).toEqual([]);
  });

  // Open, and a matter of luck, so that it cannot be said to fail: about one of thirty goes through.
  test("a path that becomes another between its judgement and the reading", async () => {
    const set = `cd $PROJECT; mkdir -p swap; echo whole >swap/config.toml; touch on; ln -s ../home/.bosun other
${exchange("swap", "other")}`;
    const args = { path: "swap/config.toml" };
    const tries = calls(60, { name: "read_file", args, wentThrough: said(SECRET) });
    const attempts = [trap(set, () => false), ...tries, trap("rm -f $PROJECT/on", () => false)];
    expect(await spring(attempts)).toEqual([]);
  });

  test("a path that becomes another between its judgement and the writing", async () => {
    const set = `cd $PROJECT; mkdir -p swap; touch on; ln -s .git/hooks other
${exchange("swap", "other")}`;
    const isPlanted = ({ cwd }: { cwd: string }) => existsSync(join(cwd, ".git/hooks/planted"));
    const args = { path: "swap/planted" };
    const tries = calls(60, { name: "write_file", args, wentThrough: isPlanted });
    const attempts = [trap(set, () => false), ...tries, trap("rm -f $PROJECT/on", () => false)];
    expect(await spring(attempts)).toEqual([]);
  });
});

const MARK = `600.${process.pid}`;

describe.skipIf(!isLinux)("what a command leaves running", () => {
  const leave: Attempt[] = [
    ["nohup", `nohup sleep ${MARK}1 >/dev/null 2>&1 &`],
    ["setsid", `setsid sleep ${MARK}2 >/dev/null 2>&1 &`],
    ["disown", `sleep ${MARK}3 & disown -a`],
    ["forked twice", `( ( setsid sleep ${MARK}4 & ) & )`],
    ["deaf to signals", `(trap '' HUP TERM INT; sleep ${MARK}5) & disown`],
  ].map(([name = "", line = ""]) => ({
    name,
    // What it says is whether it lives.
    script: `${line}\nsleep 0.2; grep -qszx '${/600[.\d]+/.exec(line)?.[0]}' /proc/[0-9]*/cmdline`,
    wentThrough: ({ exitCode }) => exitCode === 0,
  }));

  // It has neither the mark nor the session: it is known by whose child it became.
  test("forked twice, without its environment", async () => {
    const script = `( ( setsid env -i sleep ${MARK}6 & ) & )`;
    await play([{ name: "leave", script, wentThrough: () => true }], { isWalled: true });
    await Bun.sleep(500);
    const left = running();
    for (const [pid] of left) process.kill(Number(pid), "SIGKILL");
    expect(left).toEqual([]);
  });

  /** Pid and command line. */
  const running = (): [string, string][] =>
    readdirSync("/proc").flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return /^\d+$/.test(pid) && line.includes(MARK) ? [[pid, line] as [string, string]] : [];
      } catch {
        // No process, or gone by now.
        return [];
      }
    });

  test.each([true, false])("is gone after the run, walls: %p", async (isWalled) => {
    const { outcome, isWhole } = await play(leave, { isWalled });
    for (let tries = 0; tries < 20 && running().length > 0; tries += 1) await Bun.sleep(50);
    expect({ isWhole, running: running() }).toEqual({ isWhole: true, running: [] });
    expect([...outcome.values()]).not.toContain(false);
  });
});
