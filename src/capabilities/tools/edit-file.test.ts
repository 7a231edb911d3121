import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import fc from "fast-check";
import { PreviewStale, ToolFailure } from "#agent/ports";
import fixture from "../../../test/fixtures/edits.json";
import { createEditFileTool } from "./edit-file";
import { argumentsOf, callContext, callTool, refusal, temporaryWorkspace } from "./fakes";
import { createReadLedger } from "./ledger";

function setUp() {
  const workspace = temporaryWorkspace();
  const ledger = createReadLedger();
  const tool = createEditFileTool({ workspace, ledger });
  const file = workspace.path("a.txt");
  return { workspace, ledger, tool, file, [Symbol.dispose]: () => workspace[Symbol.dispose]() };
}

/** Edits a file with this content; gives what it holds afterwards, as latin1. */
async function edited(content: string | Buffer, old_string: string, new_string: string) {
  using world = setUp();
  writeFileSync(world.file, content);
  await callTool(world.tool, { path: "a.txt", old_string, new_string });
  return readFileSync(world.file, "latin1");
}

async function refused(content: string | Buffer, old_string: string, new_string = "new") {
  using world = setUp();
  writeFileSync(world.file, content);
  const before = readFileSync(world.file);
  const message = await refusal(world.tool, { path: "a.txt", old_string, new_string });
  expect(readFileSync(world.file)).toEqual(before);
  expect(readdirSync(world.workspace.root)).toEqual(["a.txt"]);
  return message;
}

/** The place in a text of mixed line ends of a place in its view with LF alone. */
function rawOffset(text: string, place: number): number {
  let at = 0;
  for (let left = place; left > 0; left--) at += text.startsWith("\r\n", at) ? 2 : 1;
  return at;
}

const KINDS: Record<string, RegExp> = {
  not_found: /was not found/,
  multiple: /was found .* times/,
  empty_old: /is empty/,
  no_change: /^No change/,
  binary: /is binary/,
  encoding: /UTF-/,
  permission: /Permission denied/,
  no_such_file: /^No such file/,
  is_directory: /is a directory/,
};

interface Bytes {
  content?: string;
  content_base64?: string;
}

interface Outcome extends Bytes {
  ok: boolean;
  error?: string;
  mode?: string;
}

interface CaseFile extends Bytes {
  missing?: boolean;
  mode?: string;
  symlink_to?: string;
}

function bytesOf(part: Bytes): Buffer {
  return part.content_base64 === undefined
    ? Buffer.from(part.content ?? "")
    : Buffer.from(part.content_base64, "base64");
}

describe("the cases of the fixture", () => {
  for (const entry of fixture.cases) {
    test(entry.name, async () => {
      using world = setUp();
      const file: CaseFile = entry.file;
      const real = file.symlink_to ? world.workspace.path(file.symlink_to) : world.file;
      if (!file.missing) writeFileSync(real, bytesOf(file));
      if (file.symlink_to) symlinkSync(file.symlink_to, world.file);
      if (file.mode) chmodSync(real, Number.parseInt(file.mode, 8));
      const { old_string, new_string, replace_all } = entry;
      const call = { path: "a.txt", old_string, new_string, replace_all };
      const expected: Outcome = entry.expect;
      if (!expected.ok) {
        expect(await refusal(world.tool, call)).toMatch(KINDS[expected.error ?? ""] ?? /^$/);
        if (file.missing) expect(readdirSync(world.workspace.root)).toEqual([]);
        else expect(readFileSync(real).equals(bytesOf(file))).toBe(true);
        return;
      }
      const result = await callTool(world.tool, call);
      expect(readFileSync(real).toString("latin1")).toBe(bytesOf(expected).toString("latin1"));
      expect(result.content.length).toBeLessThan(1000);
      if (expected.mode)
        expect(statSync(real).mode & 0o7777).toBe(Number.parseInt(expected.mode, 8));
      if (file.symlink_to) expect(lstatSync(world.file).isSymbolicLink()).toBe(true);
    });
  }
});

describe("line ends", () => {
  test("each line of a mixed file keeps its own, also inside the match", async () => {
    expect(await edited("a\r\nb\nc\r\nd", "a\nb\nc\nd", "a\nB\nc\nD")).toBe("a\r\nB\nc\r\nD");
    expect(await edited("a\r\nb\nc\r\n", "b\nc", "b\nx\ny\nc")).toBe("a\r\nb\nx\ny\nc\r\n");
    expect(await edited("a\nb\r\nc\n", "b", "b\nx")).toBe("a\nb\r\nx\r\nc\n");
  });

  test("a file with CRLF takes old text with CRLF or LF, and stays CRLF", async () => {
    expect(await edited("a\r\nb\r\n", "a\r\nb", "x\r\ny\r\nz")).toBe("x\r\ny\r\nz\r\n");
    expect(await edited("a\r\nb\r\n", "a\n", "x\ny\n")).toBe("x\r\ny\r\nb\r\n");
    expect(await edited("a\r\nb", "b", "x\ny")).toBe("a\r\nx\r\ny");
  });

  test("a file with LF stays LF, whatever the model writes", async () => {
    expect(await edited("a\nb\n", "a\r\nb", "x\r\ny")).toBe("x\ny\n");
  });

  test("inserted lines of an old Mac's file end as the others", async () => {
    expect(await edited("a\rb\rc\r", "b", "x\ny")).toBe("a\rx\ry\rc\r");
    expect(await edited("a\rb\rc\r", "a\nb", "x\ny")).toBe("x\ry\rc\r");
  });

  test("a lone CR inside an LF file is a character like others", async () => {
    expect(await edited("a\rb\nc\n", "c", "d")).toBe("a\rb\nd\n");
    expect(await edited("a\r\r\nb\r\n", "b", "c")).toBe("a\r\r\nc\r\n");
  });

  test("line ends alone are no change", async () => {
    expect(await refused("a\r\nb\r\n", "a\r\nb", "a\nb")).toStartWith("No change");
  });
});

describe("bytes outside of the match", () => {
  test("never change, whatever the file holds", () => {
    const piece = fc
      .uint8Array({ maxLength: 40 })
      .map((bytes) =>
        Buffer.from(bytes.map((byte) => (byte === 0 ? 0x0a : byte))).toString("latin1"),
      );
    const property = fc.asyncProperty(piece, piece, fc.string(), async (left, right, text) => {
      fc.pre(!/NEEDLE|^(?:\xff\xfe|\xfe\xff|\xef\xbb\xbf)/.test(left + right));
      fc.pre(!/[\r\n]/.test(text) && /^[\x01-\x7f]*$/.test(text));
      const result = await edited(Buffer.from(`${left}NEEDLE${right}`, "latin1"), "NEEDLE", text);
      expect(result).toBe(`${left}${text}${right}`);
    });
    return fc.assert(property, { numRuns: 150 });
  });

  test("never change around several matches in a file of mixed line ends", () => {
    const line = fc.constantFrom("a", "b", "é", "NEEDLE", "");
    const lines = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { minLength: 1 });
    const property = fc.asyncProperty(lines, async (rows) => {
      const text = rows.flat().join("");
      fc.pre(text.includes("NEEDLE"));
      using world = setUp();
      writeFileSync(world.file, text);
      const call = { path: "a.txt", old_string: "NEEDLE", new_string: "$&", replace_all: true };
      await callTool(world.tool, call);
      expect(readFileSync(world.file, "utf8")).toBe(text.split("NEEDLE").join("$&"));
    });
    return fc.assert(property, { numRuns: 100 });
  });

  test("never change around any part of a file of mixed line ends", () => {
    const line = fc.constantFrom("a", "b", "ab", "é", "");
    const lines = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r\n")), { minLength: 2 });
    const cut = fc.tuple(fc.nat(), fc.nat(), fc.array(line, { maxLength: 4 }));
    const property = fc.asyncProperty(lines, cut, async (rows, [from, length, fresh]) => {
      const text = rows.flat().join("");
      const view = text.replaceAll("\r\n", "\n");
      const start = from % view.length;
      const old = view.slice(start, start + 1 + (length % 12));
      const given = `${fresh.join("\n")}!`;
      using world = setUp();
      writeFileSync(world.file, text);
      const call = { path: "a.txt", old_string: old, new_string: given };
      const isUnique = view.indexOf(old) === start && view.indexOf(old, start + 1) < 0;
      if (!isUnique) {
        expect(await refusal(world.tool, call)).toMatch(/found .* times/);
        return;
      }
      await callTool(world.tool, call);
      const after = readFileSync(world.file, "utf8");
      expect(after.replaceAll("\r\n", "\n")).toBe(view.replace(old, () => given));
      expect(after).toStartWith(text.slice(0, rawOffset(text, start)));
      expect(after).toEndWith(text.slice(rawOffset(text, start + old.length)));
    });
    return fc.assert(property, { numRuns: 200 });
  });

  test("a byte order mark stays single when the model writes one, too", async () => {
    expect(await edited("\ufeffa\nb\n", "\ufeffa", "\ufeffz")).toBe(
      Buffer.from("\ufeffz\nb\n").toString("latin1"),
    );
  });

  test("UTF-16 is refused by name, and so is text that would mix encodings", async () => {
    expect(await refused(Buffer.from("\ufeffabc", "utf16le"), "abc")).toContain("UTF-16");
    expect(await refused(Buffer.from("abc\n", "utf16le"), "abc")).toContain("UTF-16");
    expect(await refused(Buffer.from("caf\xe9 b", "latin1"), "b", "é")).toContain("not UTF-8");
    expect(await refused(Buffer.from("caf\xe9 b", "latin1"), "caf\ufffd", "x")).toContain(
      "not found",
    );
  });

  test("half a surrogate pair is refused, for it would be written as U+FFFD", async () => {
    expect(await refused("a\n", "a", "\ud83d")).toContain("new_string");
    expect(await refused("a\n", "\ud83d")).toContain("old_string");
  });
});

describe("a refusal says why", () => {
  const cases: [string, string, string, RegExp][] = [
    ["line numbers", "foo\nbar\n", "1\tfoo\n2\tbar", /line numbers/],
    ["tabs for blanks", "\tif x:\n\t\ty()\n", "    if x:\n        y()", /tab.*\n1\t→if x:/s],
    ["trailing blanks", "a  \nb\n", "a\nb", /end of lines.*\n.*\n1\ta··/],
    ["quotes", "say(\u201chi\u201d)\n", 'say("hi")', /quotes/],
    ["case", "Hello World\n", "hello world", /upper and lower case/],
    ["accents", "cafe\u0301\n", "caf\u00e9", /NFC/],
    ["escapes", 'a\n\t"b"\n', 'a\\n\\t\\"b\\"', /escaped once too often/],
    ["entities", "if (a < b && c)\n", "if (a &lt; b &amp;&amp; c)", /HTML-escaped/],
    ["a last line break", "a\nb", "b\n", /line break/],
    ["no-break space", "a\u00a0b\n", "a b", /special blanks/],
    ["diff signs", "a\nb\n", "-a\n-b", /of a diff/],
    ["near", "const alpha = compute(1);\n", "const alpha = compute(2);", /1\tconst alpha/],
    ["nothing near", "abc\n", "something else entirely", /No line of the file comes near/],
    ["an empty file", "", "x", /empty/],
  ];
  for (const [name, content, old, expected] of cases) {
    test(name, async () => expect(await refused(content, old)).toMatch(expected));
  }

  test("many matches are told by their lines, up to a limit", async () => {
    const message = await refused("x\n".repeat(100), "x");
    expect(message).toContain("found 100 times in a.txt: lines 1, 2, 3,");
    expect(message.length).toBeLessThan(400);
  });

  test("a match that overlaps itself is ambiguous", async () => {
    expect(await refused("aXaXa\n", "aXa")).toContain("found 2 times");
  });

  test("an edit that would grow beyond all memory is refused before it is made", async () => {
    using world = setUp();
    writeFileSync(world.file, "a".repeat(90_000));
    const call = { path: "a.txt", old_string: "a", new_string: "b".repeat(1e6), replace_all: true };
    expect(await refusal(world.tool, call)).toContain("too large");
  });

  test("names that were probably meant", async () => {
    using world = setUp();
    mkdirSync(world.workspace.path("src"));
    writeFileSync(world.workspace.path("src/index.ts"), "x");
    const call = (path: string) => ({ path, old_string: "a", new_string: "b" });
    expect(await refusal(world.tool, call("src/index.js"))).toContain("mean src/index.ts?");
    expect(await refusal(world.tool, call("scr/index.ts"))).toContain("mean src?");
    expect(await refusal(world.tool, call("src"))).toContain("is a directory");
    expect(await refusal(world.tool, call("src/"))).toContain("directory");
    expect(await refusal(world.tool, call("src/index.ts/x"))).toMatch(
      /No such file|not a directory/,
    );
    expect(await refusal(world.tool, call("a\0b"))).toContain("NUL");
  });
});

describe("what was shown is what is done", () => {
  const call = { path: "a.txt", old_string: "two", new_string: "TWO" };

  test("the preview is a diff of this file alone", async () => {
    using world = setUp();
    writeFileSync(world.file, "one\ntwo\nthree\n");
    expect(await world.tool.preview?.(argumentsOf(world.tool, call), callContext())).toEqual({
      kind: "diff",
      path: "a.txt",
      diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n",
      created: false,
      added: 1,
      removed: 1,
    });
    expect(readFileSync(world.file, "utf8")).toBe("one\ntwo\nthree\n");
  });

  test("a file that changed elsewhere, or lost the text, makes the preview stale", async () => {
    using world = setUp();
    const args = argumentsOf(world.tool, call);
    for (const later of ["one\ntwo\nthree\nfour\n", "gone\n"]) {
      writeFileSync(world.file, "one\ntwo\nthree\n");
      const shown = await world.tool.preview?.(args, callContext());
      writeFileSync(world.file, later);
      const run = world.tool.run(args, callContext(shown ? { shown } : {}));
      expect(run).rejects.toBeInstanceOf(PreviewStale);
      await run.catch(() => undefined);
      expect(readFileSync(world.file, "utf8")).toBe(later);
    }
  });

  test("a link that was moved after it was judged is not followed", async () => {
    using world = setUp();
    writeFileSync(world.workspace.path("x"), "two");
    writeFileSync(world.workspace.path("y"), "two");
    symlinkSync("x", world.file);
    const args = argumentsOf(world.tool, call);
    expect(world.tool.effect(args)).toEqual({
      kind: "write",
      paths: [world.workspace.path("x")],
    });
    const { unlinkSync } = await import("node:fs");
    unlinkSync(world.file);
    symlinkSync("y", world.file);
    expect(world.tool.run(args, callContext())).rejects.toBeInstanceOf(ToolFailure);
    await Bun.sleep(20);
    expect(readFileSync(world.workspace.path("y"), "utf8")).toBe("two");
  });

  test("a hostile text cannot hide in the diff", async () => {
    using world = setUp();
    writeFileSync(world.file, "two\n");
    const args = argumentsOf(world.tool, { ...call, new_string: "\x1b[2K\u202eevil\u200b" });
    const shown = await world.tool.preview?.(args, callContext());
    expect(shown?.kind === "diff" && shown.diff).toContain("+␛[2K<U+202E>evil<U+200B>");
  });

  test("a large rewrite is compared in bounded time", async () => {
    using world = setUp();
    const lines = (seed: number) =>
      Array.from({ length: 30_000 }, (_, at) => `${(at * seed) % 9973}`).join("\n");
    writeFileSync(world.file, lines(7));
    const args = { path: "a.txt", old_string: lines(7), new_string: lines(11) };
    const started = performance.now();
    await world.tool.preview?.(argumentsOf(world.tool, args), callContext());
    expect(performance.now() - started).toBeLessThan(3000);
  });
});

describe("the file itself", () => {
  test("keeps mode, link and neighbours; hard links are left behind with a word", async () => {
    using world = setUp();
    writeFileSync(world.file, "two\n");
    chmodSync(world.file, 0o640);
    linkSync(world.file, world.workspace.path("other"));
    const call = { path: "a.txt", old_string: "two", new_string: "2" };
    const result = await callTool(world.tool, call);
    expect(result).toEqual({
      content:
        "Edited a.txt: 1 replacement at line 1.\n1\t2\n(it had 2 hard links; the other names keep the old content)",
      ok: true,
      changed: ["a.txt"],
    });
    expect(readFileSync(world.workspace.path("other"), "utf8")).toBe("two\n");
    expect(statSync(world.file).mode & 0o7777).toBe(0o640);
    expect(readdirSync(world.workspace.root).sort()).toEqual(["a.txt", "other"]);
  });

  test("lies where the shell is, and is told relative to the workspace", async () => {
    using world = setUp();
    mkdirSync(world.workspace.path("sub"));
    writeFileSync(world.workspace.path("sub/b.txt"), "two\n");
    world.workspace.cwd = world.workspace.path("sub");
    const result = await callTool(world.tool, {
      file_path: "b.txt",
      old_str: "two",
      new_str: "2",
      explanation: "ignored",
    });
    expect(result.changed).toEqual(["sub/b.txt"]);
    expect(result.content).toStartWith("Edited b.txt:");
  });
});
