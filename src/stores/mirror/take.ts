// The session file of one running instance: claimed once, then read and replaced as often as its
// owner likes.

import { closeSync, openSync, renameSync } from "node:fs";
import { loadFileLock } from "#base/os";
import { assertRegular, type Claim, claimMirror, placeOf } from "./claim";
import { codeOf, inWords, MirrorError } from "./error";
import { formatMirror, MIRROR_BYTES_MAX, type MirrorReason, type MirrorState } from "./format";
import { type MirrorContent, readMirror } from "./read";
import {
  hashOf,
  isSameStamp,
  readWhole,
  removeDrafts,
  replaceFile,
  type Stamp,
  stampAt,
} from "./write";

/** Names that are tried for a file that is set aside, when all were in the same second. */
const ASIDE_NAMES_MAX = 100;
const BYTES_MAX_WORDS = `${MIRROR_BYTES_MAX / 1024 / 1024} MiB`;

export interface MirrorOptions {
  /** The working directory: the file is `.bosun/session.json` in it. */
  directory: string;
  /** Another file, read from `directory`; its directory must exist. */
  file?: string | undefined;
  /** Milliseconds since the epoch; the system's clock unless given. */
  now?: (() => number) | undefined;
}

export type MirrorLoad =
  | { kind: "absent" }
  /** It was no session that can be read and was set aside whole. */
  | { kind: "corrupt"; movedTo: string; reason: string; sessionId: string | undefined }
  | {
      kind: "loaded";
      state: MirrorContent;
      /** One line each; repairs of the messages are not among them. */
      repairs: string[];
    };

export interface SaveOptions {
  /** Whether a power loss after the return may undo it; true unless said otherwise. */
  durable?: boolean | undefined;
}

export interface MirrorSave {
  bytes: number;
  /** The file held something that this mirror had neither loaded nor written: it is lost. */
  overwroteEdit: boolean;
}

export interface Mirror {
  readonly path: string;
  /** 1 for the first; above it, another instance holds `wantedPath`. */
  readonly instance: number;
  readonly wantedPath: string;
  /** Reads what is on disk now, at the start and again at `/reload`. Throws a MirrorError. */
  load(): MirrorLoad;
  /**
   * Writes the state, whole or not at all; what is there is lost, so load first. Synchronous, for
   * signal handlers. Throws a MirrorError, and then the file is what it was. Messages that were
   * saved must not be changed in place.
   */
  save(state: MirrorState, reason: MirrorReason, options?: SaveOptions): MirrorSave;
  /** Gives the name back; a second call does nothing. The kernel does it when we die. */
  release(): void;
}

/**
 * Claims the first free session file: `session.json`, then `session2.json` and so on up to 64.
 * Throws a MirrorError where none can be had; never waits for another instance.
 */
export async function takeMirror(options: MirrorOptions): Promise<Mirror> {
  const tryLock = await loadFileLock();
  if (!tryLock) {
    throw new MirrorError(
      "This system offers no file locks, so the session file would not be safe from a second " +
        "instance. Run without it.",
    );
  }
  const place = placeOf(options.directory, options.file);
  const claim = claimMirror(place, tryLock);
  try {
    removeDrafts(claim.path);
  } catch {
    // A directory that cannot be listed may still be written: what was left there stays.
  }
  const isExplicit = options.file !== undefined;
  return new ClaimedMirror(claim, place.path, { isExplicit, now: options.now ?? Date.now });
}

class ClaimedMirror implements Mirror {
  readonly path: string;
  readonly instance: number;
  readonly wantedPath: string;
  readonly #claim: Claim;
  readonly #isExplicit: boolean;
  readonly #now: () => number;
  /** What we last saw or wrote: any other stamp on disk is a change by somebody else. */
  #known: { stamp: Stamp | undefined; hash: string | undefined } | undefined;

  constructor(
    claim: Claim,
    wantedPath: string,
    { isExplicit, now }: { isExplicit: boolean; now: () => number },
  ) {
    this.path = claim.path;
    this.instance = claim.instance;
    this.wantedPath = wantedPath;
    this.#claim = claim;
    this.#isExplicit = isExplicit;
    this.#now = now;
  }

  load(): MirrorLoad {
    this.#claim.renew();
    assertRegular(this.path);
    const file = this.#read();
    if (!file) {
      this.#known = { stamp: undefined, hash: undefined };
      return { kind: "absent" };
    }
    if (!file.bytes) {
      // We write none that large, so one that was named by hand is something else.
      const reason = `it is larger than ${BYTES_MAX_WORDS}`;
      if (this.#isExplicit) throw this.#foreign(reason);
      return this.#setAside(reason);
    }
    const reading = readMirror(file.bytes);
    if (reading.kind === "unreadable") {
      if (this.#isExplicit && reading.isForeign) throw this.#foreign(reading.reason);
      return this.#setAside(reading.reason, sessionNamedIn(file.bytes));
    }
    const hash = hashOf(file.bytes);
    this.#known = { stamp: file.stamp, hash };
    const { state, repairs } = reading;
    return { kind: "loaded", state, repairs };
  }

  save(state: MirrorState, reason: MirrorReason, { durable = true }: SaveOptions = {}): MirrorSave {
    this.#claim.renew();
    const { instance, path } = this;
    const bytes = Buffer.from(formatMirror(state, { reason, instance, nowMs: this.#now() }));
    if (bytes.length > MIRROR_BYTES_MAX) {
      throw new MirrorError(
        `The session is larger than ${BYTES_MAX_WORDS} and was not saved to ${path}. ` +
          "Start a new one with /clear.",
      );
    }
    const overwroteEdit = this.#isEditedOnDisk();
    const hash = hashOf(bytes);
    this.#known = { stamp: replaceFile(path, bytes, durable), hash };
    return { bytes: bytes.length, overwroteEdit };
  }

  release(): void {
    this.#claim.release();
  }

  #read(): ReturnType<typeof readWhole> {
    try {
      return readWhole(this.path, MIRROR_BYTES_MAX);
    } catch (error) {
      throw inWords(`Cannot read the session file ${this.path}`, error);
    }
  }

  #isEditedOnDisk(): boolean {
    let stamp: Stamp | undefined;
    try {
      stamp = stampAt(this.path);
      if (!stamp) return false;
      if (this.#known && isSameStamp(stamp, this.#known.stamp)) return false;
      const bytes = readWhole(this.path, MIRROR_BYTES_MAX)?.bytes;
      return !bytes || hashOf(bytes) !== this.#known?.hash;
    } catch {
      // What cannot be read is nothing of ours; whether it can be replaced shows the replacing.
      return true;
    }
  }

  #foreign(reason: string): MirrorError {
    return new MirrorError(
      `${this.path} is no session file (${reason}) and was left alone. Choose another file.`,
    );
  }

  /** Moves the file out of the way, onto no existing one. */
  #setAside(reason: string, sessionId?: string): MirrorLoad {
    const time = new Date(this.#now()).toISOString().slice(0, 19).replace(/[-:]/g, "");
    const base = `${this.path}.corrupt.${time.replace("T", "_")}`;
    for (let count = 1; count <= ASIDE_NAMES_MAX; count += 1) {
      const movedTo = count === 1 ? base : `${base}_${count}`;
      try {
        // Reserves the name: renaming alone would write over what has it.
        closeSync(openSync(movedTo, "wx", 0o600));
        renameSync(this.path, movedTo);
      } catch (error) {
        if (codeOf(error) === "EEXIST") continue;
        throw inWords(`Cannot move the unreadable session file ${this.path} aside`, error);
      }
      this.#known = { stamp: undefined, hash: undefined };
      return { kind: "corrupt", movedTo, reason, sessionId };
    }
    throw new MirrorError(`Too many files are named ${base}. Remove some of them.`);
  }
}

/** The session that a broken file was of, where that can still be read. */
function sessionNamedIn(bytes: Uint8Array): string | undefined {
  return /"session_id":\s*"([\w.-]{1,128})"/.exec(Buffer.from(bytes).toString("utf8"))?.[1];
}
