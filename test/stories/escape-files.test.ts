// Escapes by the file system: what a command tries to write, move, link and make outside of its
// workspace, and what of its workspace is not its own.

import { existsSync, lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Attempt, appeared, victimChanged } from "../support/escape";
import { describeEscapes } from "../support/escape-table";

const perl = ["perl"];

const outside: Attempt[] = [
  { name: "write", script: "echo x >$OUT/victim", wentThrough: victimChanged },
  { name: "append", script: "echo x >>$OUT/victim", wentThrough: victimChanged },
  { name: "create", script: "echo x >$OUT/new", wentThrough: appeared("new") },
  { name: "make a folder", script: "mkdir $OUT/new", wentThrough: appeared("new") },
  { name: "remove", script: "rm -f $OUT/victim", wentThrough: victimChanged },
  { name: "truncate", script: "truncate -s0 $OUT/victim", wentThrough: victimChanged },
  { name: "rename out", script: "echo >mine; mv mine $OUT/new", wentThrough: appeared("new") },
  { name: "rename in", script: "mv $OUT/victim mine", wentThrough: victimChanged },
  {
    name: "rename over",
    script: `echo x >mine; perl -e 'rename("mine", "$ENV{OUT}/victim") or die $!'`,
    wentThrough: victimChanged,
    needs: perl,
  },
  {
    name: "exchange two names",
    script: `echo x >mine
perl -e 'my ($a, $b) = ("mine", "$ENV{OUT}/victim");
syscall($ENV{SYS_renameat2} + 0, -100, $a, -100, $b, 2) == 0 or die $!'`,
    wentThrough: victimChanged,
    needs: perl,
  },
  {
    name: "write through a hard link to it",
    script: "ln $OUT/victim link && echo x >link",
    wentThrough: victimChanged,
  },
  {
    name: "put a hard link there",
    script: "echo x >mine; ln mine $OUT/new",
    wentThrough: appeared("new"),
  },
  {
    name: "write through a link in the project",
    script: "ln -s $OUT/victim soft && echo x >soft",
    wentThrough: victimChanged,
  },
  {
    name: "write through a linked folder",
    script: "ln -s $OUT folder && echo x >folder/victim",
    wentThrough: victimChanged,
  },
  {
    name: "put a link there",
    script: "ln -s /etc $OUT/new",
    wentThrough: ({ out }) => lstatSync(join(out, "new"), { throwIfNoEntry: false }) !== undefined,
  },
  {
    name: "write by a path with ..",
    script: "echo x >$PROJECT/../outside/$(basename $OUT)/victim",
    wentThrough: victimChanged,
  },
  {
    name: "write by /proc/self/cwd",
    script: "cd $OUT; echo x >/proc/self/cwd/victim",
    wentThrough: victimChanged,
  },
  {
    name: "write by /proc/self/root",
    script: "echo x >/proc/self/root$OUT/victim",
    wentThrough: victimChanged,
  },
  {
    name: "open a descriptor for reading anew for writing",
    script: "exec 5<$OUT/victim; echo x >/proc/self/fd/5",
    wentThrough: victimChanged,
  },
  { name: "make a pipe", script: "mkfifo $OUT/new", wentThrough: appeared("new") },
  {
    name: "make a device",
    script: "mknod $OUT/new c 1 3",
    wentThrough: appeared("new"),
    isRootOnly: true,
  },
  {
    name: "make a disk in the project and read it",
    script: "mknod disk b $(stat -c '%Hd %Ld' $OUT) && head -c 1 disk >read && test -s read",
    wentThrough: ({ exitCode }) => exitCode === 0,
    noControl: "the machine need not have a disk",
  },
  {
    name: "git writes into another tree",
    script: `git init -q repo && cd repo && echo x >victim && git add victim &&
git -c user.name=a -c user.email=a@b commit -qm x && git --work-tree=$OUT checkout -qf HEAD .`,
    wentThrough: victimChanged,
  },
  {
    name: "git starts a program of the repository's configuration",
    script: `git init -q repo && cd repo && printf '#!/bin/sh\\necho x >%s\\n' $OUT/victim >run
chmod +x run; git config core.fsmonitor $PWD/run; git config core.hooksPath $PWD
cp run post-index-change; touch f; git add f; git status`,
    wentThrough: victimChanged,
  },
  {
    name: "tar unpacks over a link",
    script: `mkdir a b; echo x >a/victim; tar cf t.tar -C a victim; ln -s $OUT b/to
tar xf t.tar -C b/to --overwrite`,
    wentThrough: victimChanged,
  },
  {
    name: "the owner's shell profile",
    script: "echo x >>~/.bashrc",
    wentThrough: ({ home }) => existsSync(join(home, ".bashrc")),
  },
  {
    name: "a library for every program",
    script: ": >>/etc/ld.so.preload",
    wentThrough: () => existsSync("/etc/ld.so.preload") !== hasPreload,
    noControl: "it would touch the machine",
  },
  {
    name: "a job for cron",
    script: `echo "# x" >/etc/cron.d/bosun-escape || echo "# x" >/var/spool/cron/bosun-escape`,
    wentThrough: () =>
      ["/etc/cron.d", "/var/spool/cron"].some((at) => existsSync(`${at}/bosun-escape`)),
    noControl: "it would touch the machine",
  },
];
const hasPreload = existsSync("/etc/ld.so.preload");

const own: Attempt[] = [
  {
    name: "write a hook",
    script: "echo x >$PROJECT/.git/hooks/pre-commit",
    wentThrough: ({ cwd }) => existsSync(join(cwd, ".git/hooks/pre-commit")),
  },
  {
    name: "write Bosun's folder",
    script: "echo x >$PROJECT/.bosun/new",
    wentThrough: ({ cwd }) => existsSync(join(cwd, ".bosun/new")),
  },
  {
    name: "move the repository away, and make it anew with hooks",
    script: `cd $PROJECT; mv .git gone && mkdir -p .git/hooks && touch anew
rm -r .git; mv gone .git`,
    wentThrough: ({ cwd }) => existsSync(join(cwd, "anew")),
  },
  {
    name: "a link in place of the hooks",
    script: `cd $PROJECT; mv .git/hooks .git/old && ln -s ../evil .git/hooks && touch linked
rm .git/hooks; mv .git/old .git/hooks`,
    wentThrough: ({ cwd }) => existsSync(join(cwd, "linked")),
  },
];

/** What Landlock has no right for: mounts that cannot be written hold it. */
const attributes: Attempt[] = [
  {
    name: "change the mode",
    script: "chmod 777 $OUT/victim",
    wentThrough: ({ out }) => (statSync(join(out, "victim")).mode & 0o777) === 0o777,
  },
  {
    name: "change the owner",
    script: "chown 12345 $OUT/victim",
    wentThrough: ({ out }) => statSync(join(out, "victim")).uid === 12345,
    isRootOnly: true,
  },
  {
    name: "change the time",
    script: "touch -c -d 2001-01-01 $OUT/victim",
    wentThrough: ({ out }) => statSync(join(out, "victim")).mtime.getFullYear() < 2002,
  },
  {
    name: "set an attribute",
    script: `python3 -c 'import os; os.setxattr(os.environ["OUT"] + "/victim", "user.x", b"x")'`,
    wentThrough: ({ exitCode }) => exitCode === 0,
    needs: ["python3"],
  },
  {
    name: "make it unchangeable",
    script:
      "chattr +i $OUT/victim; lsattr $OUT/victim | grep -- '-i-'; r=$?; chattr -i $OUT/victim; exit $r",
    wentThrough: ({ exitCode }) => exitCode === 0,
    needs: ["chattr"],
    isRootOnly: true,
  },
];

const executable: Attempt[] = [
  {
    name: "Bosun's own executable, moved away and replaced",
    script: "mv $OUT/victim $OUT/old; echo x >$OUT/victim",
    wentThrough: victimChanged,
  },
];

describeEscapes("files outside", [...outside, ...executable]);
describeEscapes("what is protected in the project", own, { walls: [".bosun and .git/hooks"] });
describeEscapes("attributes of files outside", attributes, { walls: ["Bosun's home"] });
