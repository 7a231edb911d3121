import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  ARTIFACT_BYTES_MAX,
  ARTIFACT_PAGE_BYTES,
  type ArtifactStore,
  createArtifactStore,
} from "./artifacts";

function temporaryStore() {
  const directory = mkdtempSync(join(tmpdir(), "bosun-artifacts-"));
  const store = createArtifactStore(join(directory, "inner"));
  const path = (name: string) => join(directory, "inner", name);
  return { store, path, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}

async function readAll(store: ArtifactStore, id: string): Promise<string> {
  let text = "";
  for (let offset: number | null = 0; offset !== null; ) {
    const page: Awaited<ReturnType<ArtifactStore["read"]>> = await store.read(id, offset);
    if (!page) throw new Error("no page");
    expect((page.nextOffset ?? page.size) - offset).toBeLessThanOrEqual(ARTIFACT_PAGE_BYTES);
    expect(page.offset).toBe(offset);
    text += page.text;
    offset = page.nextOffset;
  }
  return text;
}

test("the same content has the same id and one file, private to its owner", async () => {
  using world = temporaryStore();
  const id = await world.store.put("hello");
  expect(id).toBe("2cf24dba5fb0");
  expect(await world.store.put(Buffer.from("hello"))).toBe(id);
  expect(await world.store.put("other")).not.toBe(id);
  expect(readdirSync(world.path(".")).length).toBe(2);
  expect(statSync(world.path(id)).mode & 0o777).toBe(0o600);
  expect(statSync(world.path(".")).mode & 0o777).toBe(0o700);
});

test("pages join to the whole, and never split a character", async () => {
  using world = temporaryStore();
  const unit = fc.constantFrom("a", "é", "漢", "🙂", "\n", "line of text\n");
  const texts = fc.tuple(
    fc.nat(4100),
    fc.array(unit, { minLength: 1, maxLength: 60 }),
    fc.nat(200),
  );
  await fc.assert(
    fc.asyncProperty(texts, async ([before, units, times]) => {
      const text = "x".repeat(before) + units.join("").repeat(times);
      expect(await readAll(world.store, await world.store.put(text))).toBe(text);
    }),
    { numRuns: 60 },
  );
});

test("a page that is asked for inside a character begins at the character", async () => {
  using world = temporaryStore();
  const id = await world.store.put("ab🙂cd");
  expect(await world.store.read(id, 4)).toEqual({
    text: "🙂cd",
    offset: 2,
    nextOffset: null,
    size: 8,
  });
  expect(await world.store.read(id, 8)).toMatchObject({ text: "", nextOffset: null });
  expect(await world.store.read(id, 1000)).toMatchObject({ text: "", nextOffset: null });
});

test("broken UTF-8 is read to its end", async () => {
  using world = temporaryStore();
  const id = await world.store.put(new Uint8Array(10_000).fill(0x80));
  expect(await readAll(world.store, id)).toBe("\ufffd".repeat(10_000));
});

test("what is no id, or unknown, is not there", async () => {
  using world = temporaryStore();
  for (const id of ["", "../../etc/passwd", "2cf24dba5fb0", "2CF24DBA5FB0", "abc"]) {
    expect(await world.store.read(id)).toBeUndefined();
  }
});

test("too much is refused", async () => {
  using world = temporaryStore();
  const content = new Uint8Array(ARTIFACT_BYTES_MAX + 1);
  expect(world.store.put(content)).rejects.toThrow(RangeError);
});
