// Where a project's sessions and artifacts lie: below Bosun's home, in a directory named after the
// project. It is keyed by the real path alone: a repository made in it later changes nothing.

import { basename, join } from "node:path";

export const STORE_FILE = "sessions.db";
export const ARTIFACTS_DIRECTORY = "artifacts";

/** Enough against collisions, short enough to read. */
const HASH_DIGITS = 16;
const NAME_LENGTH_MAX = 40;

/** The directory that holds the store of the project at `workspace`, a real path. */
export function projectDirectory(home: string, workspace: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(workspace).digest("hex");
  const name = basename(workspace).replace(/[^A-Za-z0-9._-]+/g, "_") || "root";
  return join(home, "projects", `${name.slice(0, NAME_LENGTH_MAX)}-${hash.slice(0, HASH_DIGITS)}`);
}
