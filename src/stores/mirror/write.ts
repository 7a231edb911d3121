// Bytes to disk, whole or not at all: a new file beside the old one, flushed, then renamed over it.
// Synchronous, since it also runs in signal handlers and at exit.

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf, inWords } from "./error";

const SUFFIX = /^\.[0-9a-f]{16}\.draft$/;

/** Tells one writing of a file from another, without reading it. */
export interface Stamp {
  ino: bigint;
  size: bigint;
  mtimeNs: bigint;
}

/** Replaces the file; on failure the old one stands and no draft remains. Throws a MirrorError. */
export function replaceFile(path: string, bytes: Uint8Array, durable: boolean): Stamp {
  const draft = join(dirname(path), `.${basename(path)}.${randomHex()}.draft`);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(descriptor, bytes, at, bytes.length - at);
    }
    if (durable) fsyncSync(descriptor);
    const stamp = stampOf(fstatSync(descriptor, { bigint: true }));
    renameSync(draft, path);
    if (durable) flushDirectory(dirname(path));
    return stamp;
  } catch (error) {
    if (descriptor !== undefined) removeIfThere(draft);
    throw inWords(`Cannot save the session to ${path}`, error);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Removes what a killed owner of this name left half-written; for the holder of the name only. */
export function removeDrafts(path: string): void {
  const prefix = `.${basename(path)}`;
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(prefix) || !SUFFIX.test(name.slice(prefix.length))) continue;
    removeIfThere(join(dirname(path), name));
  }
}

/** Undefined when nothing has that name. */
export function stampAt(path: string): Stamp | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && stampOf(stats);
}

export function isSameStamp(one: Stamp | undefined, other: Stamp | undefined): boolean {
  return one?.ino === other?.ino && one?.size === other?.size && one?.mtimeNs === other?.mtimeNs;
}

export interface OpenedFile {
  stamp: Stamp;
  /** Undefined where the file is larger than was asked for. */
  bytes: Uint8Array | undefined;
}

/** The whole file, never through a symbolic link; undefined where it is absent. */
export function readWhole(path: string, bytesMax: number): OpenedFile | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  let descriptor: number;
  try {
    descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    const isWhole = stats.isFile() && stats.size <= bytesMax;
    return { stamp: stampOf(stats), bytes: isWhole ? readFileSync(descriptor) : undefined };
  } finally {
    closeSync(descriptor);
  }
}

export function hashOf(bytes: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
}

function stampOf({ ino, size, mtimeNs }: Stamp): Stamp {
  return { ino, size, mtimeNs };
}

function randomHex(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(-16);
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Gone already, or on a disk that takes no changes any more: it holds nothing of value.
  }
}

/** Some file systems flush no directories; only a disk that fails is another matter. */
function flushDirectory(path: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
    fsyncSync(descriptor);
  } catch (error) {
    if (codeOf(error) === "EIO") throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
