// Puts new content in place of a file, whole or not at all: written beside it, synced, renamed.
//
// Renaming gives the name a new file. That is meant: other hard links keep the old content, so an
// edit inside the workspace never reaches a file outside of it, nor a shared package store. Mode
// and group are kept, and the owner where the system permits it.

import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, link, lstat, mkdir, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PreviewStale, ToolFailure } from "#agent/ports";
import { errorCode, failureOf, isSameFile, requireSamePlace } from "./file-snapshot";

export interface Replaced {
  /** Things a reader of the result should know, such as other hard links left behind. */
  notes: string[];
}

/** Writes `bytes` to the real path; `before` is the file that it replaces, if there is one. */
export async function replaceFile(
  real: string,
  shown: string,
  bytes: Uint8Array,
  before: BigIntStats | undefined,
): Promise<Replaced> {
  const folder = dirname(real);
  try {
    if (!before) await mkdir(folder, { recursive: true });
    await using place = await openFolder(folder, shown);
    return await replaceIn(place.path, basename(real), bytes, before);
  } catch (error) {
    throw failureOf(error, shown);
  }
}

/** The folder as it is now, whatever its path leads to later. Only Linux has such a path. */
async function openFolder(folder: string, shown: string) {
  if (process.platform !== "linux") return { path: folder, [Symbol.asyncDispose]: async () => {} };
  const handle = await open(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  const close = () => handle.close();
  try {
    await requireSamePlace(handle, folder, shown);
    return { path: `/proc/self/fd/${handle.fd}`, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function replaceIn(
  folder: string,
  name: string,
  bytes: Uint8Array,
  before: BigIntStats | undefined,
): Promise<Replaced> {
  // A short name of our own: the file's name with a suffix could be longer than is allowed.
  const temporary = join(folder, `.bosun-${crypto.randomUUID().slice(0, 13)}.tmp`);
  try {
    const notes = await writeTemporary(temporary, bytes, before);
    await putInPlace(temporary, join(folder, name), before);
    await syncFolder(folder);
    return { notes };
  } catch (error) {
    await unlink(temporary).catch((reason: unknown) => {
      if (errorCode(reason) !== "ENOENT") throw reason;
    });
    throw error;
  }
}

async function writeTemporary(
  temporary: string,
  bytes: Uint8Array,
  before: BigIntStats | undefined,
): Promise<string[]> {
  const handle = await openTemporary(temporary, before !== undefined);
  try {
    await handle.writeFile(bytes);
    const notes = before ? await takeOver(handle, before) : [];
    await handle.sync();
    return notes;
  } finally {
    await handle.close();
  }
}

async function openTemporary(temporary: string, isReplacing: boolean): Promise<FileHandle> {
  try {
    // Closed to others until it has its mode; a new file gets what the umask leaves of 0666.
    return await open(temporary, "wx", isReplacing ? 0o600 : 0o666);
  } catch (error) {
    if (!isReplacing || !["EACCES", "EPERM", "EROFS"].includes(errorCode(error))) throw error;
    // Written in place, a crash would leave half a file.
    throw new ToolFailure(
      `Permission denied: ${dirname(temporary)} takes no new files, which a safe write needs. ` +
        "Use a command to change the file in place.",
    );
  }
}

/** Gives the new file the owner, group and mode of the old one. */
async function takeOver(handle: FileHandle, before: BigIntStats): Promise<string[]> {
  const notes: string[] = [];
  const own = await handle.stat({ bigint: true });
  let isSameOwner = true;
  if (own.uid !== before.uid || own.gid !== before.gid) {
    isSameOwner = await mayChown(handle, Number(before.uid), Number(before.gid));
    if (!isSameOwner) {
      await mayChown(handle, Number(own.uid), Number(before.gid));
      notes.push("the file now belongs to the current user");
    }
  }
  // A program that runs as its owner must not do so for another owner.
  await handle.chmod(Number(before.mode & (isSameOwner ? 0o7777n : 0o777n)));
  if (before.nlink > 1n) {
    notes.push(`it had ${before.nlink} hard links; the other names keep the old content`);
  }
  return notes;
}

async function mayChown(handle: FileHandle, uid: number, gid: number): Promise<boolean> {
  try {
    await handle.chown(uid, gid);
    return true;
  } catch (error) {
    if (errorCode(error) === "EPERM") return false;
    throw error;
  }
}

async function putInPlace(
  temporary: string,
  real: string,
  before: BigIntStats | undefined,
): Promise<void> {
  if (before) {
    const now = await lstat(real, { bigint: true }).catch(() => undefined);
    if (!now || !isSameFile(now, before)) throw new PreviewStale(`${real} changed.`);
    await rename(temporary, real);
    return;
  }
  try {
    // A link fails if the name was taken in the meantime; a rename would overwrite it.
    await link(temporary, real);
  } catch (error) {
    if (errorCode(error) === "EEXIST") throw new PreviewStale(`${real} was created.`);
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(errorCode(error))) {
      throw error;
    }
    // A file system without hard links.
    await rename(temporary, real);
    return;
  }
  await unlink(temporary);
}

/** Makes the rename itself durable, where the system can. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Some file systems cannot sync a folder; the file itself is synced and whole.
  }
}
