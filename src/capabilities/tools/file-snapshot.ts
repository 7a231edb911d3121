// One file's content at one moment, read within limits: what an edit starts from, and what tells
// whether the file is still the same when the change is made.

import { type BigIntStats, constants } from "node:fs";
import { access, type FileHandle, open, readlink, stat } from "node:fs/promises";
import { ToolFailure } from "#agent/ports";
import { sizeInWords } from "./text";

/** Files beyond this are not taken into memory: they are read by ranges and never edited. */
export const FILE_BYTES_MAX = 16 * 1024 * 1024;

export interface FileSnapshot {
  bytes: Buffer;
  stats: BigIntStats;
  fingerprint: string;
}

export function fingerprintOf(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

/** Never waits for a pipe, and never follows a link that came into a resolved path afterwards. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** The name that the system gave an error, such as ENOENT; empty when it gave none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** An error of the file system in words for the model; other errors are defects and stay. */
export function failureOf(error: unknown, shown: string): unknown {
  const words: Record<string, string> = {
    EACCES: `Permission denied: ${shown}.`,
    EPERM: `The system does not permit this for ${shown}.`,
    EROFS: `${shown} is on a read-only file system.`,
    ENOSPC: `No space left on the device of ${shown}.`,
    EDQUOT: `The disk quota is used up: ${shown}.`,
    ELOOP: `${shown} is a loop of symbolic links.`,
    ENOTDIR: `A part of ${shown} is a file, not a directory.`,
    ENAMETOOLONG: `The name is too long: ${shown.slice(0, 80)}…`,
    EISDIR: `${shown} is a directory.`,
    EBUSY: `${shown} is in use by the system.`,
    ETXTBSY: `${shown} is a running program.`,
    EIO: `The device of ${shown} reports an error.`,
    ENXIO: `${shown} cannot be opened.`,
    ENODEV: `${shown} cannot be opened.`,
    EINVAL: `${shown} cannot be read.`,
    EAGAIN: `${shown} has nothing to read now.`,
  };
  const code = errorCode(error);
  // A system has more ways to say no than this list: none of them is a defect of ours.
  const isFromSystem = error instanceof Error && "syscall" in error;
  const message =
    words[code] ?? (isFromSystem ? `The system refused ${shown} (${code}).` : undefined);
  return message === undefined ? error : new ToolFailure(message);
}

/**
 * Opens a regular file for reading, or undefined when there is none. Anything else than a regular
 * file is refused before it is opened: opening a pipe or a device may wait, or act.
 */
export async function openRegular(
  real: string,
  shown: string,
): Promise<{ handle: FileHandle; stats: BigIntStats } | undefined> {
  try {
    refuseIrregular(await stat(real, { bigint: true }), shown);
    const handle = await open(real, OPEN_FLAGS);
    try {
      const stats = await handle.stat({ bigint: true });
      refuseIrregular(stats, shown);
      await requireSamePlace(handle, real, shown);
      return { handle, stats };
    } catch (error) {
      await handle.close();
      throw error;
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw failureOf(error, shown);
  }
}

/**
 * Fails when a folder of the path became a link while it was opened: what was judged is not what is
 * open then. Only Linux tells where an open file lies.
 */
export async function requireSamePlace(
  handle: FileHandle,
  real: string,
  shown: string,
): Promise<void> {
  if (process.platform !== "linux") return;
  // Files that the kernel makes up (in /proc) have names of their own kind, which differ as well.
  if ((await readlink(`/proc/self/fd/${handle.fd}`)) === real) return;
  throw new ToolFailure(`${shown} became another file while it was opened. Try again.`);
}

function refuseIrregular(stats: BigIntStats, shown: string): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) {
    throw new ToolFailure(`${shown} is a directory. Look into it with list_files.`);
  }
  const what = stats.isFIFO()
    ? "a named pipe"
    : stats.isSocket()
      ? "a socket"
      : stats.isBlockDevice() || stats.isCharacterDevice()
        ? "a device"
        : "no regular file";
  throw new ToolFailure(`${shown} is ${what}; only regular files can be used.`);
}

/** Reads at most `bytesMax`, whatever size the system claims (files of /proc claim none). */
export async function readBounded(
  handle: FileHandle,
  bytesMax: number,
): Promise<{ bytes: Buffer; more: boolean }> {
  const { size } = await handle.stat();
  let buffer = Buffer.allocUnsafe(Math.min(Math.max(size + 1, 64 * 1024), bytesMax + 1));
  let used = 0;
  for (;;) {
    if (used === buffer.length) {
      if (used > bytesMax) return { bytes: buffer.subarray(0, bytesMax), more: true };
      const grown = Buffer.allocUnsafe(Math.min(buffer.length * 2, bytesMax + 1));
      buffer.copy(grown, 0, 0, used);
      buffer = grown;
    }
    const { bytesRead } = await handle.read(buffer, used, buffer.length - used, used);
    if (bytesRead === 0) return { bytes: buffer.subarray(0, used), more: false };
    used += bytesRead;
  }
}

/** The whole file for an edit, or undefined when it does not exist. */
export async function takeSnapshot(real: string, shown: string): Promise<FileSnapshot | undefined> {
  const opened = await openRegular(real, shown);
  if (!opened) return undefined;
  try {
    const { bytes, more } = await readBounded(opened.handle, FILE_BYTES_MAX);
    if (more) {
      throw new ToolFailure(
        `${shown} is larger than ${sizeInWords(FILE_BYTES_MAX)}; change it with a command.`,
      );
    }
    return { bytes, stats: opened.stats, fingerprint: fingerprintOf(bytes) };
  } catch (error) {
    throw failureOf(error, shown);
  } finally {
    await opened.handle.close();
  }
}

/** Refuses a file that its owner closed for writing, even to root: rename would not ask. */
export async function requireWritable(
  snapshot: FileSnapshot,
  real: string,
  shown: string,
): Promise<void> {
  const mode = Number(snapshot.stats.mode & 0o7777n);
  if ((mode & 0o222) === 0) {
    const octal = mode.toString(8).padStart(4, "0");
    throw new ToolFailure(`Permission denied: ${shown} is read-only (mode ${octal}).`);
  }
  try {
    await access(real, constants.W_OK);
  } catch (error) {
    throw failureOf(error, shown);
  }
}

/** Whether the file on disk is still the one of the snapshot, by what the system says of it. */
export function isSameFile(left: BigIntStats, right: BigIntStats): boolean {
  return (
    left.dev === right.dev &&
    left.ino === right.ino &&
    left.size === right.size &&
    left.mtimeNs === right.mtimeNs &&
    left.ctimeNs === right.ctimeNs
  );
}
