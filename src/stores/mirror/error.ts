// What can go wrong with the session file, in words for its owner: what, where, what to do.

import { StoreFailure } from "#base/kit";

/** Its message is one or two plain sentences, fit for the screen as they stand. */
export class MirrorError extends StoreFailure {
  override name = "MirrorError";
  /** The system's word for it (`ENOSPC`), where the system said no. */
  readonly code: string | undefined;

  constructor(message: string, options: { code?: string | undefined; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.code = options.code;
  }
}

const IN_WORDS: Record<string, string> = {
  ENOSPC: "the disk is full. Free some space",
  EDQUOT: "the disk quota is used up. Free some space",
  EROFS: "the file system is read-only. Choose another file",
  EACCES: "permission is denied. Make the directory writable, or choose another file",
  EPERM: "the system does not permit it. Make the directory writable, or choose another file",
  ENOENT: "the directory is not there. Create it, or choose another file",
  ENOTDIR: "a part of the path is no directory. Choose another file",
  EISDIR: "a directory has that name. Choose another file",
  ELOOP: "it is a symbolic link. Remove the link, or choose another file",
  EIO: "the disk reports an error. Check it, and choose another file",
  EMFILE: "too many files are open. Close some, or raise the limit (ulimit -n)",
  ENFILE: "too many files are open on this machine. Close some",
  ENAMETOOLONG: "the name is too long. Choose a shorter one",
  EFBIG: "the file would be larger than this system permits. Raise the limit (ulimit -f)",
};

/** The system's error as a MirrorError: `<what>: <why>. <what to do>.` Passes MirrorErrors on. */
export function inWords(what: string, error: unknown): MirrorError {
  if (error instanceof MirrorError) return error;
  const code = codeOf(error);
  const why = (code && IN_WORDS[code]) ?? `${code ?? String(error)}. Choose another file`;
  return new MirrorError(`${what}: ${why}.`, { code, cause: error });
}

export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
