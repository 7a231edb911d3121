// Finds the project's instructions: AGENTS.md in the working directory, else CLAUDE.md.

import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";

const NAMES = ["AGENTS.md", "CLAUDE.md"];

/** Four bytes for each of the characters that are used at most; no more is read. */
const BYTES_MAX = 4 * 16_000 + 4;

export function readInstructions(cwd: string): { name: string; text: string } | undefined {
  for (const name of NAMES) {
    const text = readBeginning(cwd, name);
    if (text !== undefined && text.trim() !== "") return { name, text };
  }
  return undefined;
}

function readBeginning(cwd: string, name: string): string | undefined {
  try {
    const path = realpathSync(join(cwd, name));
    // A link out of the project would send a stranger's choice of file to the model.
    if (!path.startsWith(`${realpathSync(cwd)}${sep}`)) return undefined;
    // A fifo or a device by that name would block or never end.
    if (!statSync(path).isFile()) return undefined;
    const descriptor = openSync(path, "r");
    try {
      const bytes = new Uint8Array(BYTES_MAX);
      const length = readSync(descriptor, bytes);
      return new TextDecoder().decode(bytes.subarray(0, length));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Not there or not readable: the project gives no instructions.
    return undefined;
  }
}

/** Whether the directory or one above it is a git work tree. */
export function isInsideRepository(cwd: string): boolean {
  for (let directory = cwd; ; directory = join(directory, "..")) {
    if (existsSync(join(directory, ".git"))) return true;
    if (join(directory, "..") === directory) return false;
  }
}
