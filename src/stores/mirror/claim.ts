// Which session file is ours: the first name of its row that no living instance holds. The claim is
// a lock on a file beside it, since the session file itself is replaced at every save. The lock's
// file is never deleted: two instances could then hold two files of one name.
// A repository may bring a `.bosun` of its own, so nothing here follows a symbolic link.

import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import type { TryLock } from "#base/os";
import { codeOf, inWords, MirrorError } from "./error";

/** Nobody runs more in one directory on purpose. */
export const INSTANCES_MAX = 64;

/** Bun asks for it at every open, too; said again since a child that kept it would keep the lock. */
const CLOSE_ON_EXEC = process.platform === "darwin" ? 0x1000000 : 0o2000000;
const OTHERS_MAY_WRITE = 0o022;
/** A lock's file may be removed between our open and our lock; more often is no accident. */
const LOCK_TRIES_MAX = 8;

export interface Place {
  /** The file of instance 1. */
  path: string;
  /** The project's own `.bosun`, which we make and keep private; undefined for a file elsewhere. */
  home: string | undefined;
}

export interface Claim {
  path: string;
  instance: number;
  /** Takes the lock anew when its file was removed meanwhile. Throws when another has the name. */
  renew(): void;
  release(): void;
}

/** Where the session file lies; `file` is read from `directory`. */
export function placeOf(directory: string, file: string | undefined): Place {
  const home = join(resolve(directory), ".bosun");
  const path = file === undefined ? join(home, "session.json") : resolve(directory, file);
  return { path, home: dirname(path) === home ? home : undefined };
}

/** `session.json`, `session2.json`, ...; a name without an extension gets the number behind it. */
export function numbered(path: string, instance: number): string {
  if (instance === 1) return path;
  const extension = extname(path);
  const stem = basename(path, extension);
  return join(dirname(path), `${stem}${instance}${extension}`);
}

/** Claims the first free name of the row. Throws a MirrorError. */
export function claimMirror(place: Place, tryLock: TryLock): Claim {
  prepareHome(place.home);
  for (let instance = 1; instance <= INSTANCES_MAX; instance += 1) {
    const path = numbered(place.path, instance);
    assertRegular(path);
    const descriptor = takeLock(path, tryLock);
    if (descriptor === undefined) continue;
    return makeClaim({ place, path, instance, tryLock, descriptor });
  }
  throw new MirrorError(
    `All ${INSTANCES_MAX} names from ${place.path} on are held by running instances. ` +
      "End some of them, or choose another file.",
  );
}

interface ClaimParts {
  place: Place;
  path: string;
  instance: number;
  tryLock: TryLock;
  descriptor: number;
}

function makeClaim({ place, path, instance, tryLock, descriptor }: ClaimParts): Claim {
  let held: number | undefined = descriptor;
  return {
    path,
    instance,
    renew() {
      if (held === undefined) throw new MirrorError(`The session file ${path} was given back.`);
      if (isStillThere(held, lockPathOf(path))) return;
      prepareHome(place.home);
      const fresh = takeLock(path, tryLock);
      if (fresh === undefined) {
        throw new MirrorError(
          `The session file ${path} was removed and now belongs to another instance. ` +
            "Restart this one: it will get a name of its own.",
        );
      }
      closeSync(held);
      held = fresh;
    },
    release() {
      if (held !== undefined) closeSync(held);
      held = undefined;
    },
  };
}

/** Throws a MirrorError unless a regular file, or nothing at all, has that name. */
export function assertRegular(path: string): void {
  const stats = lookAt(path);
  if (!stats || stats.isFile()) return;
  const what = stats.isSymbolicLink() ? "a symbolic link" : "no regular file";
  throw new MirrorError(`${path} is ${what}. Remove it, or choose another session file.`);
}

function lockPathOf(path: string): string {
  return `${path}.lock`;
}

function prepareHome(home: string | undefined): void {
  if (home === undefined) return;
  try {
    mkdirSync(home, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw inWords(`Cannot create ${home}`, error);
  }
  const stats = lookAt(home);
  if (!stats?.isDirectory()) {
    const what = stats?.isSymbolicLink() ? "a symbolic link" : "no directory";
    throw new MirrorError(`${home} is ${what}. Remove it, or choose another session file.`);
  }
  if (stats.mode & OTHERS_MAY_WRITE) shutOut(home, stats.mode);
  try {
    writeFileSync(join(home, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw inWords(`Cannot write into ${home}`, error);
  }
}

/** A directory that came with the project keeps its readers: it may hold skills for them. */
function shutOut(home: string, mode: number): void {
  try {
    chmodSync(home, mode & 0o777 & ~OTHERS_MAY_WRITE);
  } catch (error) {
    throw new MirrorError(
      `Others may write into ${home}, and its mode cannot be changed (${codeOf(error)}). ` +
        "Choose another session file.",
      { code: codeOf(error), cause: error },
    );
  }
}

/** The descriptor of the locked file; undefined when another has it. Throws a MirrorError. */
function takeLock(path: string, tryLock: TryLock): number | undefined {
  const lockPath = lockPathOf(path);
  for (let attempt = 0; attempt < LOCK_TRIES_MAX; attempt += 1) {
    const descriptor = openLock(lockPath);
    const outcome = fstatSync(descriptor).isFile() ? tryLock(descriptor) : undefined;
    if (outcome?.kind === "taken" && isStillThere(descriptor, lockPath)) return descriptor;
    closeSync(descriptor);
    if (!outcome) {
      throw new MirrorError(
        `${lockPath} is no regular file. Remove it, or choose another session file.`,
      );
    }
    if (outcome.kind === "held") return undefined;
    if (outcome.kind === "refused") {
      throw new MirrorError(
        `Cannot lock ${lockPath}: its file system refuses (error ${outcome.errno}). ` +
          "Choose a session file on a local disk.",
      );
    }
  }
  throw new MirrorError(`${lockPath} is removed again and again. Choose another session file.`);
}

function openLock(lockPath: string): number {
  const { O_RDWR, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    return openSync(lockPath, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | CLOSE_ON_EXEC, 0o600);
  } catch (error) {
    throw inWords(`Cannot open the lock ${lockPath}`, error);
  }
}

/** The name still leads to the file that this descriptor holds. */
function isStillThere(descriptor: number, path: string): boolean {
  const held = fstatSync(descriptor);
  const named = lookAt(path);
  return named !== undefined && named.ino === held.ino && named.dev === held.dev;
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw inWords(`Cannot look at ${path}`, error);
  }
}
