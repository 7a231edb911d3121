import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { PreviewStale } from "#agent/ports";
import { createEditFileTool } from "./edit-file";
import { argumentsOf, callContext, callTool, refusal, temporaryWorkspace } from "./fakes";
import { createReadLedger } from "./ledger";
import { createReadFileTool } from "./read-file";
import { createWriteFileTool } from "./write-file";

function setUp() {
  const workspace = temporaryWorkspace();
  const surroundings = { workspace, ledger: createReadLedger() };
  return {
    workspace,
    file: workspace.path("a.txt"),
    write: createWriteFileTool(surroundings),
    edit: createEditFileTool(surroundings),
    read: createReadFileTool(surroundings),
    [Symbol.dispose]: () => workspace[Symbol.dispose](),
  };
}

/** What a read file with this content holds after it is written with `content`. */
async function overwritten(before: string | Buffer, content: string) {
  using world = setUp();
  writeFileSync(world.file, before);
  await callTool(world.read, { path: "a.txt" });
  await callTool(world.write, { path: "a.txt", content });
  return readFileSync(world.file, "utf8");
}

describe("a new file", () => {
  test("is written with its folders, shown as added lines alone", async () => {
    using world = setUp();
    const args = argumentsOf(world.write, { path: "x/y/a.txt", content: "one\ntwo\n" });
    const shown = await world.write.preview?.(args, callContext());
    expect(shown).toEqual({
      kind: "diff",
      path: "x/y/a.txt",
      diff: "--- /dev/null\n+++ b/x/y/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
      created: true,
      added: 2,
      removed: 0,
    });
    expect(readdirSync(world.workspace.root)).toEqual([]);
    const result = await world.write.run(args, callContext(shown ? { shown } : {}));
    expect(result).toEqual({
      content: "Created x/y/a.txt (2 lines, 8 bytes).",
      ok: true,
      changed: ["x/y/a.txt"],
    });
    expect(readFileSync(world.workspace.path("x/y/a.txt"), "utf8")).toBe("one\ntwo\n");
    expect(readdirSync(world.workspace.path("x/y"))).toEqual(["a.txt"]);
  });

  test("never overwrites what came into being after it was shown", async () => {
    using world = setUp();
    const args = argumentsOf(world.write, { path: "a.txt", content: "mine" });
    const shown = await world.write.preview?.(args, callContext());
    writeFileSync(world.file, "theirs");
    const run = world.write.run(args, callContext(shown ? { shown } : {}));
    expect(run).rejects.toBeInstanceOf(PreviewStale);
    await run.catch(() => undefined);
    expect(readFileSync(world.file, "utf8")).toBe("theirs");
  });

  test("may be empty, and may be written again without reading", async () => {
    using world = setUp();
    await callTool(world.write, { path: "a.txt", content: "" });
    await callTool(world.write, { path: "a.txt", content: "more" });
    await callTool(world.write, { path: "a.txt", content: "most" });
    expect(readFileSync(world.file, "utf8")).toBe("most");
  });
});

describe("a file that exists", () => {
  const call = { path: "a.txt", content: "new\n" };

  test("must have been read, and be as it was read", async () => {
    using world = setUp();
    writeFileSync(world.file, "old\n");
    expect(await refusal(world.write, call)).toContain("was not read in this session");
    await callTool(world.read, { path: "a.txt" });
    writeFileSync(world.file, "other\n");
    expect(await refusal(world.write, call)).toContain("has changed since");
    expect(readFileSync(world.file, "utf8")).toBe("other\n");
    await callTool(world.read, { path: "a.txt" });
    await callTool(world.write, call);
    expect(readFileSync(world.file, "utf8")).toBe("new\n");
  });

  test("that was only edited is not known as a whole", async () => {
    using world = setUp();
    writeFileSync(world.file, "old\nrest\n");
    await callTool(world.edit, { path: "a.txt", old_string: "old", new_string: "new" });
    expect(await refusal(world.write, call)).toContain("was not read in this session");
    await callTool(world.read, { path: "a.txt" });
    await callTool(world.edit, { path: "a.txt", old_string: "new", new_string: "newer" });
    await callTool(world.write, call);
    expect(readFileSync(world.file, "utf8")).toBe("new\n");
  });

  test("is known under every name it has", async () => {
    using world = setUp();
    writeFileSync(world.file, "old\n");
    symlinkSync("a.txt", world.workspace.path("link"));
    await callTool(world.read, { path: "link" });
    await callTool(world.write, call);
    await callTool(world.write, { path: "link", content: "again\n" });
    expect(readFileSync(world.file, "utf8")).toBe("again\n");
  });

  test("keeps its mode, its byte order mark and its line ends", async () => {
    using world = setUp();
    writeFileSync(world.file, "old\n");
    chmodSync(world.file, 0o755);
    await callTool(world.read, { path: "a.txt" });
    await callTool(world.write, call);
    expect(statSync(world.file).mode & 0o7777).toBe(0o755);
    expect(await overwritten("\ufeffa\r\nb\r\n", "x\ny\nz")).toBe("\ufeffx\r\ny\r\nz");
    expect(await overwritten("a\r\nb\nc\r\n", "a\nb\nX\nc\n")).toBe("a\r\nb\nX\nc\r\n");
    expect(await overwritten("a\r\nb\r\n", "a\r\nc\n")).toBe("a\r\nc\n");
  });

  test("is not touched when nothing would change, when it is closed, or would lose bytes", async () => {
    using world = setUp();
    writeFileSync(world.file, "new\n");
    await callTool(world.read, { path: "a.txt" });
    expect(await refusal(world.write, call)).toStartWith("No change");
    chmodSync(world.file, 0o444);
    expect(await refusal(world.write, { ...call, content: "x" })).toContain(
      "read-only (mode 0444)",
    );
    chmodSync(world.file, 0o644);
    writeFileSync(world.file, Buffer.from("caf\xe9", "latin1"));
    await callTool(world.read, { path: "a.txt" });
    expect(await refusal(world.write, { ...call, content: "caf\ufffd!" })).toContain("not UTF-8");
    writeFileSync(world.file, Buffer.from("\ufeffabc", "utf16le"));
    await callTool(world.read, { path: "a.txt" });
    expect(await refusal(world.write, call)).toContain("UTF-16");
  });

  test("that is no file is refused by what it is", async () => {
    using world = setUp();
    mkdirSync(world.workspace.path("sub"));
    expect(await refusal(world.write, { path: "sub", content: "" })).toContain("is a directory");
    expect(await refusal(world.write, { path: "new/", content: "" })).toContain("directory");
    expect(await refusal(world.write, { path: "/dev/null", content: "" })).toContain("a device");
    writeFileSync(world.file, "x");
    expect(await refusal(world.write, { path: "a.txt/b", content: "" })).toContain(
      "not a directory",
    );
    expect(await refusal(world.write, { path: "b", content: "\udc00" })).toContain("surrogate");
  });
});

test("a dangling link is judged and written where it points", async () => {
  using world = setUp();
  symlinkSync("target.txt", world.workspace.path("link"));
  const args = argumentsOf(world.write, { path: "link", content: "x" });
  const target = world.workspace.path("target.txt");
  expect(world.write.effect(args)).toEqual({ kind: "write", paths: [target] });
  await callTool(world.write, { path: "link", content: "x" });
  expect(readFileSync(target, "utf8")).toBe("x");
});

test("a crash in the middle leaves the old file or the new one, never a part", async () => {
  using world = setUp();
  const [old, fresh] = ["a", "b"].map((letter) => letter.repeat(4 * 1024 * 1024));
  writeFileSync(world.file, old ?? "");
  const here = (name: string): string => JSON.stringify(`${import.meta.dir}/${name}.ts`);
  const script = `
    const { replaceFile } = await import(${here("replace-file")});
    const { takeSnapshot } = await import(${here("file-snapshot")});
    for (let turn = 0; ; turn++) {
      const { stats } = await takeSnapshot(${JSON.stringify(world.file)}, "a.txt");
      const bytes = Buffer.alloc(4 * 1024 * 1024, turn % 2 ? "a" : "b");
      await replaceFile(${JSON.stringify(world.file)}, "a.txt", bytes, stats);
      if (turn === 2) console.log("on");
    }`;
  for (let crash = 0; crash < 4; crash++) {
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    await child.stdout.getReader().read();
    await Bun.sleep(3 + crash * 4);
    child.kill("SIGKILL");
    await child.exited;
    expect([old, fresh]).toContain(readFileSync(world.file, "latin1"));
  }
}, 20_000);

test("a file that cannot be written leaves nothing behind", async () => {
  using world = setUp();
  const script = `
    const { createWriteFileTool } = await import(${JSON.stringify(`${import.meta.dir}/write-file.ts`)});
    const { createReadLedger } = await import(${JSON.stringify(`${import.meta.dir}/ledger.ts`)});
    const { callTool } = await import(${JSON.stringify(`${import.meta.dir}/fakes.ts`)});
    process.setgid?.(65534); process.setuid?.(65534);
    const workspace = { root: ${JSON.stringify(world.workspace.root)}, cwd: ${JSON.stringify(world.workspace.root)} };
    const tool = createWriteFileTool({ workspace, ledger: createReadLedger() });
    await callTool(tool, { path: "new.txt", content: "x" }).catch((e) => console.log(e.message));`;
  if (process.getuid?.() !== 0) return;
  chmodSync(world.workspace.root, 0o755);
  const child = Bun.spawnSync([process.execPath, "-e", script], { env: { HOME: "/nonexistent" } });
  expect(child.stdout.toString() + child.stderr.toString()).toContain("Permission denied: new.txt");
  expect(readdirSync(world.workspace.root)).toEqual([]);
});

test("a folder that cannot be made is told to the model, and ends no run", async () => {
  using world = setUp();
  const words = await refusal(world.write, { path: "/proc/nope/x", content: "a" });
  expect(words).toContain("/proc/nope/x");
  expect(words).not.toStartWith("NOT REFUSED");
});
