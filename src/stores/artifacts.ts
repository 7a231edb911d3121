// Large texts that a model was shown only in part, kept whole: one file each, named by the hash
// of its content, never changed. Read back in pages that never split a character.

import { constants } from "node:fs";
import { mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Larger content is refused: nobody reads it page by page. */
export const ARTIFACT_BYTES_MAX = 64 * 1024 * 1024;
/** A page is about a thousand tokens: enough to be useful, small enough to stay in a context. */
export const ARTIFACT_PAGE_BYTES = 4096;

const ID_LENGTH_MIN = 12;
const ID = /^[0-9a-f]{12,64}$/;

export interface ArtifactPage {
  text: string;
  /** Where the text begins; moved back to a character's first byte where it pointed inside one. */
  offset: number;
  /** Where the next page begins; null at the end. */
  nextOffset: number | null;
  /** The artifact's size in bytes. */
  size: number;
}

export interface ArtifactStore {
  /** Keeps the content and returns its id. Throws a RangeError past ARTIFACT_BYTES_MAX. */
  put(content: string | Uint8Array): Promise<string>;
  /** One page of UTF-8 text; undefined when there is no such artifact. */
  read(id: string, offset?: number): Promise<ArtifactPage | undefined>;
}

export function createArtifactStore(directory: string): ArtifactStore {
  return {
    async put(content) {
      const bytes = typeof content === "string" ? Buffer.from(content) : content;
      if (bytes.length > ARTIFACT_BYTES_MAX) {
        throw new RangeError(`an artifact holds at most ${ARTIFACT_BYTES_MAX} bytes`);
      }
      const hash = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
      await mkdir(directory, { recursive: true, mode: 0o700 });
      for (let length = ID_LENGTH_MIN; ; length += 4) {
        const id = hash.slice(0, length);
        const existing = await readIfThere(join(directory, id));
        if (existing === undefined) {
          await writeWhole(join(directory, id), bytes);
          return id;
        }
        if (existing.equals(bytes)) return id;
      }
    },
    async read(id, offset = 0) {
      if (!ID.test(id)) return undefined;
      return readPage(join(directory, id), Math.max(0, Math.trunc(offset)));
    },
  };
}

/** A reader sees the whole file or none. */
async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const draft = `${path}.${process.pid}.${crypto.randomUUID().slice(0, 8)}`;
  await writeFile(draft, bytes, { mode: 0o600, flag: "wx" });
  await rename(draft, path);
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function readPage(path: string, wanted: number): Promise<ArtifactPage | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    // A few bytes more around it: neither end of the page may lie inside a character.
    const from = Math.max(0, Math.min(wanted, size) - 3);
    const buffer = Buffer.alloc(ARTIFACT_PAGE_BYTES + 4);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from);
    const bytes = buffer.subarray(0, bytesRead);
    const start = characterStart(bytes, Math.min(wanted, size) - from);
    const limit = Math.min(bytes.length, start + ARTIFACT_PAGE_BYTES);
    const end = from + limit >= size ? limit : Math.max(characterStart(bytes, limit), start + 1);
    const text = bytes.subarray(start, end).toString("utf8");
    return { text, offset: from + start, nextOffset: from + end < size ? from + end : null, size };
  } finally {
    await file.close();
  }
}

/** The nearest place at or before `at` where a character begins; `at` itself in broken UTF-8. */
function characterStart(bytes: Uint8Array, at: number): number {
  for (let back = 0; back <= 3 && at - back >= 0; back += 1) {
    const byte = bytes[at - back];
    if (byte === undefined || (byte & 0xc0) !== 0x80) return at - back;
  }
  return at;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
