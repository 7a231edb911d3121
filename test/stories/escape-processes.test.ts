// Escapes by other processes: their memory, environment and files, signals to them, their sockets
// and terminals. The victim is a process of the test's own; Bosun itself is tried behind walls only.

import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readlinkSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { type Attempt, play, SECRET, said, succeeded } from "../support/escape";
import { describeEscapes } from "../support/escape-table";

const perl = ["perl"];
const ONE_SCOPE = "a command has to reach what an earlier one started, and so it reaches Bosun";
const ABSTRACT = `bosun-escape-${process.pid}`;
const SOCKET = `/var/tmp/bosun-escape-${process.pid}.sock`;
const isLinux = process.platform === "linux";

const servers = (isLinux ? [`\0${ABSTRACT}`, SOCKET] : []).map((path) => {
  const server = createServer((socket) => socket.end("hello"));
  server.listen(path);
  return server;
});
/** The owner's other terminal. */
const owner = isLinux
  ? Bun.spawn(["sleep", "600"], { env: {}, terminal: { cols: 80, rows: 24 } })
  : undefined;
const terminal = owner ? readlinkSync(`/proc/${owner.pid}/fd/0`) : "";
/** Memory that a program of the owner shares with others. */
const shared = Bun.which("perl")
  ? Bun.spawnSync(
      ["perl", "-e", 'my $i = shmget(0, 64, 01600); shmwrite($i, "hello", 0, 5); print $i'],
      {
        env: {},
      },
    ).stdout.toString()
  : "";

afterAll(() => {
  for (const server of servers) server.close();
  owner?.kill("SIGKILL");
  owner?.terminal?.close();
  rmSync(SOCKET, { force: true });
  if (shared) Bun.spawnSync(["perl", "-e", `shmctl(${shared}, 0, 0)`], { env: {} });
});

const connect = (peer: string): string =>
  `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0);
connect(S, pack("S", AF_UNIX) . ${peer}) or die $!; print <S>'`;

const looking: Attempt[] = [
  { name: "environment", script: "cat /proc/$VICTIM/environ", wentThrough: said(SECRET) },
  {
    name: "memory",
    script: `perl -e 'open(F, "<", "/proc/$ENV{VICTIM}/mem") or die $!'`,
    wentThrough: succeeded,
    needs: perl,
  },
  { name: "map of its memory", script: "cat /proc/$VICTIM/maps", wentThrough: said("sleep") },
  { name: "open files", script: "readlink /proc/$VICTIM/fd/1", wentThrough: succeeded },
  { name: "root", script: "ls /proc/$VICTIM/root/", wentThrough: succeeded },
  { name: "directory", script: "ls /proc/$VICTIM/cwd/", wentThrough: succeeded },
  {
    name: "ptrace",
    script: `perl -e 'syscall($ENV{SYS_ptrace} + 0, 16, $ENV{VICTIM} + 0, 0, 0) == 0 or die $!'`,
    wentThrough: succeeded,
    needs: perl,
  },
  {
    name: "memory by system call",
    script: `perl -e 'my $b = "x" x 8; my $own = pack("PQ", $b, 8); my $other = pack("QQ", 4096, 8);
syscall($ENV{SYS_process_vm_readv} + 0, $ENV{VICTIM} + 0, $own, 1, $other, 1, 0);
print $!{EFAULT} ? "allowed" : "refused: $!"' -MErrno`,
    wentThrough: said("allowed"),
    needs: perl,
  },
  {
    name: "a descriptor of it",
    script: `perl -e 'my $p = syscall(434, $ENV{VICTIM} + 0, 0); $p > 0 or die "pidfd: $!";
syscall(438, $p, 1, 0) >= 0 or die $!'`,
    wentThrough: succeeded,
    needs: perl,
  },
  // Without walls Bosun, which forbids dumps of itself, still keeps all but root out.
  {
    name: "Bosun's environment",
    script: "cat /proc/$BOSUN_PID/environ",
    wentThrough: said("BOSUN_MODEL"),
    isRootOnly: true,
  },
  {
    name: "Bosun's files",
    script: "ls /proc/$BOSUN_PID/fd /proc/$BOSUN_PID/cwd/ /proc/$BOSUN_PID/root/",
    wentThrough: said("attempt-"),
    isRootOnly: true,
  },
  {
    name: "Bosun's threads",
    script: "cat /proc/$BOSUN_PID/task/*/environ /proc/$BOSUN_PID/task/*/maps",
    wentThrough: said("bosun"),
    isRootOnly: true,
  },
  {
    name: "Bosun's mounts, which hide nothing",
    script: "nsenter -t $BOSUN_PID -m cat $HOME/.bosun/config.toml",
    wentThrough: said(SECRET),
    needs: ["nsenter"],
    isRootOnly: true,
  },
];

const isGone = ({ victim }: { victim: number }): boolean => {
  try {
    return !process.kill(victim, 0);
  } catch {
    // No such process: it was ended.
    return true;
  }
};

const signals: Attempt[] = [
  {
    name: "stop and continue",
    script: "kill -STOP $VICTIM && kill -CONT $VICTIM",
    wentThrough: succeeded,
  },
  {
    name: "by a descriptor of the process",
    script: `perl -e 'my $p = syscall(434, $ENV{VICTIM} + 0, 0); $p > 0 or die "pidfd: $!";
syscall(424, $p, 18, 0, 0) == 0 or die $!'`,
    wentThrough: succeeded,
    needs: perl,
  },
  { name: "to its group", script: "kill -0 -- -$VICTIM", wentThrough: succeeded },
  {
    name: "stop Bosun and let it go on",
    script: "kill -STOP $BOSUN_PID && kill -CONT $BOSUN_PID",
    wentThrough: succeeded,
    limit: ONE_SCOPE,
  },
  { name: "end it", script: "kill -TERM $VICTIM; sleep 0.1", wentThrough: isGone },
];

const talking: Attempt[] = [
  {
    name: "an abstract socket",
    script: connect(`"\\0${ABSTRACT}"`),
    wentThrough: said("hello"),
    needs: perl,
  },
  {
    name: "a socket of one's own outside",
    script: `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0);
bind(S, pack_sockaddr_un("$ENV{OUT}/new")) or die $!'`,
    wentThrough: ({ out }) => existsSync(join(out, "new")),
    needs: perl,
  },
  {
    name: "a socket in the file system",
    script: connect(`"${SOCKET}\\0"`),
    wentThrough: said("hello"),
    needs: perl,
    limit: "Landlock has no right for them; those of known services are covered",
  },
  {
    name: "shared memory of System V",
    script: `perl -e 'my $b; shmread(${shared}, $b, 0, 5) or die $!; print $b'`,
    wentThrough: said("hello"),
    needs: perl,
    limit: "it has no path, and a namespace would part commands from each other",
  },
  {
    name: "type into another terminal",
    script: `perl -e 'open(T, "+<", "${terminal}") or die $!; my $c = "x"; ioctl(T, 0x5412, $c) or die $!'`,
    wentThrough: succeeded,
    needs: perl,
    isRootOnly: true,
  },
  {
    name: "write to another terminal",
    script: `echo x >${terminal}`,
    wentThrough: succeeded,
    limit: "terminals are devices, and commands need them",
  },
];

describeEscapes("looking into processes", looking, { walls: ["other processes"] });
describeEscapes("signals", signals, { walls: ["signals to others"] });
describeEscapes("talking to processes", talking, { walls: ["abstract sockets"] });

describe.skipIf(!isLinux)("Bosun ended by its own command", () => {
  const end = async (signal: string) => {
    let cores = "";
    const attempt: Attempt = {
      name: signal,
      script: `ulimit -c unlimited; cd $PROJECT; sh -c 'kill -ABRT $$'; echo >own-$(ls | grep -c '^core')
perl -e 'my $none = pack("q2", -1, -1);
syscall($ENV{SYS_prlimit} + 0, $ENV{BOSUN_PID} + 0, 4, $none, 0) == 0 or die $!'
rm -f core*; kill -${signal} $BOSUN_PID; sleep 5`,
      wentThrough: ({ cwd }) => {
        cores = Bun.spawnSync(["sh", "-c", "ls -d own-* core*"], {
          cwd,
          env: {},
        }).stdout.toString();
        return true;
      },
    };
    const { exit, isWhole } = await play([attempt], { isWalled: true });
    return { exit, isWhole, cores: cores.trim().split("\n") };
  };

  test("a known limit: it can be ended", async () => {
    console.warn(`known limit: end Bosun: ${ONE_SCOPE}`);
    expect(await end("KILL")).toMatchObject({ exit: 137, isWhole: false });
  });

  test("but leaves no core file, which would hold the key", async () => {
    const { exit, cores } = await end("ABRT");
    expect(exit).toBe(134);
    if (!cores.includes("own-1")) console.warn("not tried, this system keeps cores elsewhere");
    expect(cores.filter((name) => name.startsWith("core"))).toEqual([]);
  });
});
