// A directory for the files of one run of the program: mode 0700, removed when it is closed and
// when the process ends. Its name holds the pid and the start time of its owner, so that what a
// killed process left can be told from what a living one uses.

import { accessSync, constants, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readProcess } from "./processes";

const OUT_OF_REACH = "/var/tmp";
const PREFIX = "bosun-";
const NAME = /^bosun-(\d+)-(\d+)-\w{6}$/;

export interface PrivateDirectory {
  readonly path: string;
  /** Removes it with all that is in it; a second call does nothing. */
  remove(): void;
}

/**
 * Not /tmp where there is another: commands may write that, and could put a link in place of a file
 * or of the directory itself, for us to write through.
 */
function runParent(): string {
  try {
    accessSync(OUT_OF_REACH, constants.W_OK);
    return OUT_OF_REACH;
  } catch {
    // Not on this system, or not for us.
    return tmpdir();
  }
}

export function createPrivateDirectory(parent: string = runParent()): PrivateDirectory {
  const start = readProcess(process.pid)?.start ?? 0;
  const path = mkdtempSync(join(parent, `${PREFIX}${process.pid}-${start}-`));
  const remove = () => {
    process.off("exit", remove);
    rmSync(path, { recursive: true, force: true });
  };
  process.on("exit", remove);
  return { path, remove };
}

/** Removes the directories of processes that are gone; for an idle moment. Returns how many. */
export function removeStaleDirectories(parent: string = runParent()): number {
  let removed = 0;
  for (const name of readdirSync(parent)) {
    const match = NAME.exec(name);
    if (!match) continue;
    const owner = readProcess(Number(match[1]));
    if (owner && (owner.start === Number(match[2]) || owner.start === 0)) continue;
    try {
      rmSync(join(parent, name), { recursive: true });
      removed += 1;
    } catch {
      // Another user's: it is theirs to remove.
    }
  }
  return removed;
}
