// A policy as the system calls that put its walls up, in order: namespaces and mounts first, since
// Landlock forbids every later change to mounts, and so keeps a command from taking them down.
// Sources: landlock(7), mount_namespaces(7), user_namespaces(7), mount_setattr(2), capabilities(7).

import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { SystemTape } from "#base/os";
import { isWithin, type SandboxPolicy } from "./policy";
import { canDenyTcp, fileRights, READING, rulesetAttributes, writingRights } from "./rights";

/** How mounts are changed: with our own capability, in a user namespace of one's own, or not. */
export type Namespaces = "privileged" | "user" | "none";

export interface Means {
  abi: number;
  namespaces: Namespaces;
  userId: number;
  groupId: number;
  mayDropCapabilities: boolean;
}

const AT_FDCWD = -100;
const AT_RECURSIVE = 0x8000;
const O_WRONLY = 1;
const O_CLOEXEC = 0x80000;
const O_PATH = 0x200000;
const CLONE_NEWNS = 0x20000;
const CLONE_NEWUSER = 0x10000000;
const CLONE_NEWNET = 0x40000000;
const MS_RDONLY_NOSUID_NODEV_NOEXEC = 15;
const MS_BIND = 0x1000;
const MS_REC = 0x4000;
/** What the owner mounts later is seen, what happens inside stays inside. */
const MS_SLAVE = 0x80000;
const MOUNT_ATTR_RDONLY = 1n;
const PR_CAPBSET_DROP = 24;
const PR_SET_NO_NEW_PRIVS = 38;
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;
const LANDLOCK_RULE_PATH_BENEATH = 1;
const PATH_BYTES_MAX = 4096;
const AF_INET = 2;
const SOCK_DGRAM_CLOEXEC = 0x80002;
const SIOCSIFFLAGS = 0x8914;
const IFF_UP = 1;
const INTERFACE_REQUEST_BYTES = 40;
const INTERFACE_NAME_BYTES = 16;

/**
 * With these, root's command would undo the walls, go around them, or change the whole machine: its
 * clock, its network, its consoles. The rest of root stays.
 */
const DROPPED_CAPABILITIES = {
  DAC_READ_SEARCH: 2,
  LINUX_IMMUTABLE: 9,
  NET_ADMIN: 12,
  SYS_MODULE: 16,
  SYS_RAWIO: 17,
  SYS_PTRACE: 19,
  SYS_PACCT: 20,
  SYS_ADMIN: 21,
  SYS_BOOT: 22,
  SYS_TIME: 25,
  SYS_TTY_CONFIG: 26,
  MKNOD: 27,
  MAC_OVERRIDE: 32,
  MAC_ADMIN: 33,
  PERFMON: 38,
  BPF: 39,
  CHECKPOINT_RESTORE: 40,
};

/**
 * Device files through which root reaches whole disks, memory, or the owner's keyboard and screen,
 * besides block devices.
 */
const RAW_DEVICES =
  /^(?:sg\d+|bsg|nvme\d+|ng\d+n\d+|mtd\w+|mem|kmem|port|input|uinput|uhid|vcs\w*)$/;

/** The executable file; undefined for a processor that we do not know. */
export function sandboxImage(policy: SandboxPolicy, means: Means): Uint8Array | undefined {
  const tape = new SystemTape();
  if (means.namespaces !== "none") addMounts(tape, policy, means);
  // In a user namespace of its own it holds all of them first.
  const mayDrop = means.mayDropCapabilities || means.namespaces === "user";
  if (means.userId === 0 && mayDrop) dropCapabilities(tape);
  tape.call("prctl", [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0], { failure: "no_new_privs" });
  addLandlock(tape, policy, means);
  return tape.image();
}

function addMounts(tape: SystemTape, policy: SandboxPolicy, means: Means): void {
  const isUser = means.namespaces === "user";
  const hasNetwork = policy.network === "all";
  const flags = CLONE_NEWNS | (isUser ? CLONE_NEWUSER : 0) | (hasNetwork ? 0 : CLONE_NEWNET);
  const directory = tape.bytes(new Uint8Array(PATH_BYTES_MAX));
  const directoryAddress = tape.addressOf(directory);
  tape.call("getcwd", [directoryAddress, PATH_BYTES_MAX]);
  tape.call("unshare", [flags], { failure: "namespaces are not allowed here" });
  if (isUser) mapUser(tape, means);
  tape.call("mount", [0, "/", 0, MS_REC | MS_SLAVE, 0], { failure: "mounts of its own" });
  for (const path of pinnedPaths(policy)) {
    const failure = `pinning ${path}`;
    tape.call("mount", [path, path, 0, MS_BIND | MS_REC, 0], { failure });
  }
  const readOnly = new Uint8Array(new BigUint64Array([MOUNT_ATTR_RDONLY, 0n, 0n, 0n]).buffer);
  lockAttributes(tape, policy, readOnly);
  for (const path of presentProtected(policy)) {
    const failure = `protecting ${path}`;
    const attributes = [AT_FDCWD, path, AT_RECURSIVE, readOnly, readOnly.length];
    tape.call("mount", [path, path, 0, MS_BIND | MS_REC, 0], { failure });
    tape.call("mount_setattr", attributes, { failure });
  }
  for (const path of coverable(policy)) cover(tape, path, `hiding ${path}`);
  // These come and go; one that is not there needs no cover.
  for (const path of policy.services) cover(tape, path, undefined);
  if (means.userId === 0) for (const path of rawDevices()) cover(tape, path, undefined);
  // The directory of a process stays below a mount that is made over it.
  tape.call("chdir", [directoryAddress]);
  if (!hasNetwork) raiseLoopback(tape);
}

/**
 * Landlock has no right for modes, owners, times and extended attributes: a mount that cannot be
 * written keeps those. One that is gone by then, or that the kernel holds as it is, may fail.
 */
function lockAttributes(tape: SystemTape, policy: SandboxPolicy, readOnly: Uint8Array): void {
  const mounts = mountPoints();
  const pinned = pinnedPaths(policy);
  for (const path of policy.writable) {
    if (mounts.includes(path) || pinned.includes(path) || kindOf(path) !== "folder") continue;
    const failure = `keeping ${path} writable`;
    tape.call("mount", [path, path, 0, MS_BIND | MS_REC, 0], { failure });
  }
  for (const path of mounts) {
    if (policy.writable.some((folder) => isWithin(path, folder))) continue;
    tape.call("mount_setattr", [AT_FDCWD, path, 0, readOnly, readOnly.length]);
  }
}

/** Where something is mounted now. Source of the format: proc_pid_mountinfo(5). */
function mountPoints(): string[] {
  try {
    const lines = readFileSync("/proc/self/mountinfo", "utf8").trim().split("\n");
    const points = lines.map((line) => line.split(" ")[4] ?? "/");
    const plain = (text: string) =>
      text.replace(/\\(\d{3})/g, (_all, digits) => String.fromCharCode(Number.parseInt(digits, 8)));
    return [...new Set(points.map(plain))];
  } catch {
    // No /proc: then the root at least.
    return ["/"];
  }
}

/** The same user and group inside: files keep their owners, and nothing is gained but mounts. */
function mapUser(tape: SystemTape, { userId, groupId }: Means): void {
  const failure = "a user namespace";
  const files = {
    setgroups: "deny",
    uid_map: `${userId} ${userId} 1`,
    gid_map: `${groupId} ${groupId} 1`,
  };
  for (const [name, text] of Object.entries(files)) {
    const path = `/proc/self/${name}`;
    const file = tape.call("openat", [AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0], { failure });
    tape.call("write", [file, Buffer.from(text), text.length], { failure });
    tape.call("close", [file]);
  }
}

function cover(tape: SystemTape, path: string, failure: string | undefined): void {
  const options = failure === undefined ? {} : { failure };
  if (kindOf(path) === "folder") {
    const flags = MS_RDONLY_NOSUID_NODEV_NOEXEC;
    tape.call("mount", ["tmpfs", path, "tmpfs", flags, "mode=000,size=4k"], options);
  } else if (kindOf(path) === "file") {
    tape.call("mount", ["/dev/null", path, 0, MS_BIND, 0], options);
  }
}

function kindOf(path: string): "folder" | "file" | "nothing" {
  try {
    return statSync(path).isDirectory() ? "folder" : "file";
  } catch {
    // Not there, or out of our own reach: then out of a command's reach, too.
    return "nothing";
  }
}

/** What is to be hidden and can be: not a folder that the workspace itself lies in. */
export function coverable({ hidden, workspace }: SandboxPolicy): string[] {
  return hidden.filter((path) => !isWithin(workspace, path) && kindOf(path) !== "nothing");
}

/** The protected paths that are there: a mount needs something to stand on. */
export function presentProtected({ protected: paths }: SandboxPolicy): string[] {
  return paths.filter((path) => kindOf(path) !== "nothing");
}

/**
 * The folders above protected paths, from the workspace down: each a mount of itself, since a
 * folder could be renamed away otherwise, with what is protected in it, and made anew.
 */
function pinnedPaths(policy: SandboxPolicy): string[] {
  const pinned = new Set<string>();
  for (const path of presentProtected(policy)) {
    for (let at = dirname(path); isWithin(at, policy.workspace); at = dirname(at)) {
      if (at === "/") break;
      pinned.add(at);
    }
  }
  return [...pinned].sort((a, b) => a.length - b.length);
}

function rawDevices(): string[] {
  const entries = readdirSync("/dev", { withFileTypes: true });
  return entries
    .filter((entry) => entry.isBlockDevice() || RAW_DEVICES.test(entry.name))
    .map((entry) => `/dev/${entry.name}`);
}

/** In a network namespace of its own even the machine itself cannot be reached until then. */
function raiseLoopback(tape: SystemTape): void {
  const request = Buffer.alloc(INTERFACE_REQUEST_BYTES);
  request.write("lo");
  request.writeUInt16LE(IFF_UP, INTERFACE_NAME_BYTES);
  const socket = tape.call("socket", [AF_INET, SOCK_DGRAM_CLOEXEC, 0]);
  tape.call("ioctl", [socket, SIOCSIFFLAGS, request]);
  tape.call("close", [socket]);
}

function dropCapabilities(tape: SystemTape): void {
  tape.call("prctl", [PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0]);
  for (const [name, capability] of Object.entries(DROPPED_CAPABILITIES)) {
    // Kernels before 5.9 do not know the last ones, nor what they are for.
    const isOld = capability < DROPPED_CAPABILITIES.PERFMON;
    const options = isOld ? { failure: `dropping CAP_${name}` } : {};
    tape.call("prctl", [PR_CAPBSET_DROP, capability, 0, 0, 0], options);
  }
}

function addLandlock(tape: SystemTape, policy: SandboxPolicy, { abi, namespaces }: Means): void {
  const denyTcp = policy.network === "none" && namespaces === "none";
  const failure = "Landlock";
  const attributes = rulesetAttributes(abi, { denyTcp: denyTcp && canDenyTcp(abi) });
  const ruleset = tape.call("landlock_create_ruleset", [attributes, attributes.length, 0], {
    failure,
  });
  const allow = (path: string, rights: bigint): void => {
    const kind = kindOf(path);
    if (kind === "nothing") return;
    const rule = Buffer.alloc(12);
    rule.writeBigUInt64LE(kind === "folder" ? rights : fileRights(rights));
    const place = tape.bytes(rule);
    const into = { offset: place.offset + 8 };
    const open = [AT_FDCWD, path, O_PATH | O_CLOEXEC, 0];
    tape.call("openat", open, { failure: `${failure} for ${path}`, into });
    const words = [ruleset, LANDLOCK_RULE_PATH_BENEATH, tape.addressOf(place), 0];
    tape.call("landlock_add_rule", words, { failure: `${failure} for ${path}` });
  };
  allow("/", READING);
  for (const path of policy.writable) {
    allow(path, writingRights(abi, { devices: isWithin(path, "/dev") }));
  }
  tape.call("landlock_restrict_self", [ruleset, 0], { failure });
}
