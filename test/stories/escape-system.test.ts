// Escapes by the system: mounts and namespaces that would undo the walls, devices, kernel settings,
// privileges of programs. Most mean something for root only; without privilege they fail anyway.

import { join } from "node:path";
import { type Attempt, SECRET, said, succeeded, victimChanged } from "../support/escape";
import { describeEscapes } from "../support/escape-table";

const MACHINE = "it would touch the machine";
const NOT_EVERYWHERE = "not every machine has it";

const mounts: Attempt[] = [
  {
    name: "mount over a folder outside",
    script: "mount -t tmpfs x $OUT; r=$?; umount $OUT; exit $r",
    wentThrough: succeeded,
    isRootOnly: true,
  },
  {
    name: "show a folder in a place that may be written",
    script: "mkdir m; mount --bind $OUT m; echo x >m/victim; r=$?; umount m; exit $r",
    wentThrough: victimChanged,
    isRootOnly: true,
  },
  {
    name: "take the walls down",
    script:
      "umount ~/.bosun; umount $PROJECT/.git/hooks; umount -l ~/.bosun; cat ~/.bosun/config.toml",
    wentThrough: said(SECRET),
  },
  {
    name: "make everything writable again",
    script: "mount -o remount,bind,rw /; echo x >$OUT/victim",
    wentThrough: victimChanged,
  },
  {
    name: "a namespace of one's own",
    script:
      "unshare -Urm sh -c 'umount ~/.bosun; cat ~/.bosun/config.toml' || unshare -r cat ~/.bosun/config.toml",
    wentThrough: said(SECRET),
    needs: ["unshare"],
  },
  {
    name: "the mounts of a process outside",
    script: "nsenter -t $VICTIM -m cat ~/.bosun/config.toml",
    wentThrough: said(SECRET),
    needs: ["nsenter"],
    isRootOnly: true,
  },
  {
    name: "another root",
    script: "chroot / sh -c 'echo x >$OUT/victim'",
    wentThrough: victimChanged,
    isRootOnly: true,
  },
  {
    name: "the root of a process outside",
    script: "cat /proc/$VICTIM/root$HOME/.bosun/config.toml",
    wentThrough: said(SECRET),
    isRootOnly: true,
  },
];

const DISKS = ["/dev/vda", "/dev/sda", "/dev/xvda", "/dev/nvme0n1"];
const MEMORY = ["/dev/mem", "/dev/kmem"];
const KEYS = ["/dev/uinput", "/dev/uhid"];

const devices: Attempt[] = [
  {
    name: "read a disk",
    script: `for d in ${DISKS.join(" ")}; do head -c 512 $d | wc -c; done | grep -x 512`,
    wentThrough: succeeded,
    oneOf: DISKS,
    isRootOnly: true,
  },
  {
    name: "read the machine's memory",
    script: `for d in ${MEMORY.join(" ")}; do head -c 1 $d | wc -c; done | grep -x 1`,
    wentThrough: succeeded,
    oneOf: MEMORY,
    isRootOnly: true,
  },
  {
    name: "read a console's screen",
    script: "head -c 1 /dev/vcs1 | wc -c | grep -x 1",
    wentThrough: succeeded,
    oneOf: ["/dev/vcs1"],
    isRootOnly: true,
  },
  {
    name: "press the owner's keys",
    // What covers a device is /dev/null: it can be opened, and swallows what is written.
    script: `for d in ${KEYS.join(" ")}; do
test -c $d && test $(stat -c %t:%T $d) != 1:3 && exec 5>$d && exit 0; done; exit 1`,
    wentThrough: succeeded,
    oneOf: KEYS,
    isRootOnly: true,
  },
];

/** Writes a setting's own value back. */
const again = (pattern: string): string =>
  `for f in ${pattern}; do test -e $f && cat $f >value && cat value >$f && exit 0; done; exit 1`;

const kernel: Attempt[] = [
  {
    name: "a setting in /proc/sys",
    script: again("/proc/sys/vm/swappiness /proc/sys/kernel/panic"),
    wentThrough: succeeded,
    isRootOnly: true,
  },
  {
    name: "a setting in /sys",
    script: again("/sys/block/*/queue/read_ahead_kb"),
    wentThrough: succeeded,
    noControl: NOT_EVERYWHERE,
  },
  {
    name: "a group of processes",
    script: `for d in /sys/fs/cgroup /sys/fs/cgroup/*; do
mkdir $d/bosun-escape && rmdir $d/bosun-escape && exit 0; done; exit 1`,
    wentThrough: succeeded,
    noControl: MACHINE,
  },
  {
    name: "a module",
    script: `perl -MErrno -e 'syscall($ENV{SYS_init_module} + 0, 0, 0, 0);
print $!{EPERM} || $!{ENOSYS} ? "refused" : "allowed: $!"'`,
    wentThrough: said("allowed"),
    needs: ["perl"],
    noControl: NOT_EVERYWHERE,
  },
  {
    name: "the clock",
    // With neither time nor zone only the permission is asked.
    script: `perl -e 'syscall($ENV{SYS_settimeofday} + 0, 0, 0) == 0 or die $!'`,
    wentThrough: succeeded,
    needs: ["perl"],
    isRootOnly: true,
  },
  {
    name: "the machine's name",
    script: 'hostname "$(hostname)"',
    wentThrough: succeeded,
    needs: ["hostname"],
    isRootOnly: true,
  },
  {
    name: "the machine's network",
    script: "ip link set lo mtu $(cat /sys/class/net/lo/mtu)",
    wentThrough: succeeded,
    needs: ["ip"],
    isRootOnly: true,
  },
  {
    name: "a line in the kernel's log",
    script: "echo bosun-escape >/dev/kmsg",
    wentThrough: succeeded,
    isRootOnly: true,
    limit: "root may write devices that are neither disks nor memory",
  },
];

const privileges: Attempt[] = [
  {
    name: "another user by a program that has the bit for it",
    // Root can gain nothing more: that the bit is without effect shows that it is for others, too.
    script: "cp $(command -v id) own; chown 12345 own; chmod 4755 own; ./own -u",
    wentThrough: said("12345"),
    isRootOnly: true,
  },
  {
    name: "such a program left in the project",
    script: "cp $(command -v id) left; chown 0 left; chmod 4755 left",
    wentThrough: ({ cwd }) => isLeft(cwd),
    isRootOnly: true,
    limit: "the project is the command's, and its files are root's when it runs as root",
  },
  {
    name: "privileges back by new ones",
    script: "grep -q 'NoNewPrivs:.0' /proc/self/status",
    wentThrough: succeeded,
  },
];

function isLeft(cwd: string): boolean {
  const found = Bun.spawnSync(["find", join(cwd), "-name", "left", "-perm", "-4000"], { env: {} });
  return found.stdout.length > 0;
}

describeEscapes("mounts and namespaces", mounts, { walls: ["Bosun's home"] });
describeEscapes("devices, kernel and privileges", [...devices, ...kernel, ...privileges]);
