// What the owner is told when a store cannot be used: what, where, and what to do.

import { StoreFailure } from "#base/kit";

/** By the beginning of SQLite's error codes. Source: sqlite.org, "Result and Error Codes". */
const WORDS: readonly [RegExp, string][] = [
  [/^SQLITE_FULL|^ENOSPC|^EDQUOT/, "The disk is full. Free some space, then go on."],
  [/^SQLITE_READONLY|^EROFS/, "It is read-only. Make it writable, or use --no-session."],
  [/^SQLITE_BUSY|^SQLITE_LOCKED/, "Another program keeps it locked. End that one, then try again."],
  [
    /^SQLITE_CANTOPEN|^SQLITE_PERM|^SQLITE_AUTH|^EACCES|^EPERM|^ENOTDIR|^ENOENT|^EEXIST/,
    "It cannot be opened. Look at the permissions of its directory, or use --no-session.",
  ],
  [/^SQLITE_CORRUPT|^SQLITE_NOTADB/, "Its content is damaged."],
  [/^SQLITE_IOERR|^EIO/, "The disk gives errors. Look at the system's log, then try again."],
];

const DAMAGED = /^SQLITE_CORRUPT|^SQLITE_NOTADB/;

/** Turns whatever SQLite or the file system threw at `path` into a StoreFailure. */
export function describeStoreFault(error: unknown, path: string): StoreFailure {
  if (error instanceof StoreFailure) return error;
  const code =
    error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  const said = error instanceof Error ? error.message : String(error);
  const advice = WORDS.find(([pattern]) => pattern.test(code))?.[1] ?? `${said}.`;
  return new StoreFailure(`The session store ${path} cannot be used: ${advice}`, {
    isDamaged: DAMAGED.test(code),
    cause: error,
  });
}
