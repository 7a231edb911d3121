import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, openSync, symlinkSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import fc from "fast-check";
import { argumentsOf, callContext, callTool, refusal, temporaryWorkspace } from "./fakes";
import { createReadLedger } from "./ledger";
import { createReadFileTool } from "./read-file";

function setUp() {
  const workspace = temporaryWorkspace();
  const ledger = createReadLedger();
  const tool = createReadFileTool({ workspace, ledger });
  const file = workspace.path("a.txt");
  return { workspace, ledger, tool, file, [Symbol.dispose]: () => workspace[Symbol.dispose]() };
}

async function read(content: string | Buffer, args: Record<string, unknown> = {}) {
  using world = setUp();
  writeFileSync(world.file, content);
  return (await callTool(world.tool, { path: "a.txt", ...args })).content;
}

async function refused(content: string | Buffer, args: Record<string, unknown> = {}) {
  using world = setUp();
  writeFileSync(world.file, content);
  return await refusal(world.tool, { path: "a.txt", ...args });
}

describe("a text file", () => {
  test("comes with the numbers of its lines", async () => {
    expect(await read("one\n\n\tthree\n")).toBe("1\tone\n2\t\n3\t\tthree\n[3 lines]");
    expect(await read("one")).toBe("1\tone\n[1 line; no line end at the end of the file]");
    expect(await read("")).toBe("[empty file]");
    expect(await read("\n")).toBe("1\t\n[1 line]");
  });

  test("is read by ranges, and says how to read on", async () => {
    const text = "a\nb\nc\nd\n";
    expect(await read(text, { offset: 2, limit: "2" })).toBe(
      "2\tb\n3\tc\n[lines 2-3 of 4 lines; read on with offset=4]",
    );
    expect(await read(text, { offset: 3 })).toBe("3\tc\n4\td\n[lines 3-4 of 4 lines]");
    expect(await read(text, { start_line: 1, end_line: 1 })).toContain("read on with offset=2");
    expect(await refused(text, { offset: 5 })).toBe(
      "offset 5 is behind the end: a.txt has 4 lines.",
    );
  });

  test("every line is shown exactly once, whatever the ranges", () => {
    const lines = fc.array(fc.stringMatching(/^[a-z é🙂]{0,12}$/u), {
      minLength: 1,
      maxLength: 60,
    });
    const property = fc.asyncProperty(
      lines,
      fc.integer({ min: 1, max: 9 }),
      async (rows, limit) => {
        using world = setUp();
        writeFileSync(world.file, rows.map((row) => `${row}\n`).join(""));
        const shown: string[] = [];
        for (let offset = 1; offset <= rows.length; offset += limit) {
          const { content } = await callTool(world.tool, { path: "a.txt", offset, limit });
          shown.push(...content.split("\n").slice(0, -1));
        }
        expect(shown).toEqual(rows.map((row, index) => `${index + 1}\t${row}`));
      },
    );
    return fc.assert(property, { numRuns: 40 });
  });

  test("long files and lines stay within limits, cut between characters", async () => {
    const long = await read(`${"line of text\n".repeat(9000)}`);
    expect(long.length).toBeLessThan(50_000);
    expect(long).toMatch(/\[lines 1-2000 of 9,000 lines; read on with offset=2001\]$/);
    const wide = await read(`${"🙂".repeat(9000)}\nnext\n`);
    expect(wide).toContain("… [34,000 more bytes in this line]\n2\tnext\n");
    expect(wide).not.toContain("\ufffd");
    const heavy = await read(`${`${"x".repeat(1500)}\n`.repeat(100)}`);
    expect(heavy.length).toBeLessThan(32_000);
  });

  test("hides line ends and marks, and says so; shows control characters", async () => {
    expect(await read("a\r\nb\r\n")).toBe("1\ta\n2\tb\n[2 lines; CRLF line ends, kept by edits]");
    expect(await read("a\r\nb\n")).toContain("mixed LF and CRLF");
    expect(await read("a\rb\r")).toBe("1\ta\n2\tb\n[2 lines; CR line ends, kept by edits]");
    expect(await read("\ufeffa\n")).toStartWith("1\ta\n[1 line; begins with a byte order mark");
    expect(await read("\x1b[31mred\x07\x9b\n")).toStartWith("1\t␛[31mred␇<U+009B>\n");
    expect(await read("\x1b[31mred\n")).toContain("control characters are shown as symbols");
  });

  test("in Latin-1 or UTF-16 is shown with a word about edits", async () => {
    expect(await read(Buffer.from("caf\xe9\n", "latin1"))).toBe(
      "1\tcaf\ufffd\n[1 line; not UTF-8: bytes shown as \ufffd are kept by edits]",
    );
    expect(await read(Buffer.from("\ufeffé\r\n", "utf16le"))).toStartWith("1\té\n[1 line; UTF-16");
  });
});

describe("what is no text file", () => {
  test("is refused by kind and size", async () => {
    const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(2000)]);
    expect(await refused(png)).toContain("a.txt is binary (PNG image, 2.0 KB)");
    expect(await refused("a\0b")).toContain("binary (data, 3 bytes)");
    expect(await refused("MZ\0\0")).toContain("Windows program");
    expect(await refused(Buffer.from("hello", "utf16le"))).toContain("UTF-16 text without mark");
  });

  test("pipes, devices, directories and loops answer at once", async () => {
    using world = setUp();
    execFileSync("mkfifo", [world.workspace.path("pipe")]);
    mkdirSync(world.workspace.path("sub"));
    symlinkSync("loop", world.workspace.path("loop"));
    expect(await refusal(world.tool, { path: "pipe" })).toContain("a named pipe");
    expect(await refusal(world.tool, { path: "/dev/zero" })).toContain("a device");
    expect(await refusal(world.tool, { path: "sub" })).toContain("list_files");
    expect(await refusal(world.tool, { path: "loop" })).toContain("loop of symbolic links");
    expect(await refusal(world.tool, { path: "" })).toContain("is empty");
    expect(await refusal(world.tool, { path: "gone/x/y.txt" })).toContain("No such file");
  });

  test("a file that claims no size is read all the same", async () => {
    using world = setUp();
    const { content } = await callTool(world.tool, { path: "/proc/self/status" });
    expect(content).toStartWith("1\tName:");
  });
});

describe("a file over 16 MiB", () => {
  test("is read by ranges in bounded memory", async () => {
    using world = setUp();
    const descriptor = openSync(world.file, "w");
    const block = `${"0123456789abcdef".repeat(4)}\n`.repeat(16 * 1024);
    for (let at = 0; at < 120; at++) writeSync(descriptor, block);
    // In a process of its own: here the memory of all the other tests would be counted, too.
    const program = `
      import { createReadLedger } from "${import.meta.dir}/ledger.ts";
      import { createReadFileTool } from "${import.meta.dir}/read-file.ts";
      const workspace = { root: "${world.workspace.root}", cwd: "${world.workspace.root}" };
      const tool = createReadFileTool({ workspace, ledger: createReadLedger() });
      const args = { path: "a.txt", offset: 1_900_000, limit: 2 };
      const before = process.memoryUsage().rss;
      tool.effect(args);
      const { content } = await tool.run(args, { signal: new AbortController().signal });
      console.log(JSON.stringify({ content, grown: process.memoryUsage().rss - before }));
    `;
    const child = Bun.spawnSync([process.execPath, "-e", program], { cwd: import.meta.dir });
    const { content, grown } = JSON.parse(child.stdout.toString());
    expect(content).toMatch(/^1900000\t0123456789abcdef/);
    expect(content).toContain("lines 1900000-1900001 of 1,966,080 lines");
    expect(grown).toBeLessThan(80 * 1024 * 1024);
  });

  test("of one line, or of nothing but holes, is no danger either", async () => {
    using world = setUp();
    writeFileSync(world.file, Buffer.alloc(20 * 1024 * 1024, "x"));
    const { content } = await callTool(world.tool, { path: "a.txt" });
    expect(content.length).toBeLessThan(3000);
    truncateSync(world.file, 0);
    truncateSync(world.file, 2 ** 34);
    expect(await refusal(world.tool, { path: "a.txt" })).toContain("binary (data, 16.0 GB)");
  });

  test("a stopped run stops the reading", async () => {
    using world = setUp();
    writeFileSync(world.file, Buffer.alloc(20 * 1024 * 1024, "x\n"));
    const args = argumentsOf(world.tool, { path: "a.txt" });
    const run = world.tool.run(args, callContext({ signal: AbortSignal.abort() }));
    expect(run).rejects.toThrow("Stopped");
    await run.catch(() => undefined);
  });
});

test("policy gets the real path, also of what does not exist yet", () => {
  using world = setUp();
  mkdirSync(world.workspace.path("real"));
  symlinkSync("real", world.workspace.path("link"));
  symlinkSync("/nowhere/file", world.workspace.path("dangling"));
  const pathOf = (path: string) => world.tool.effect(argumentsOf(world.tool, { path }));
  const read = (path: string) => ({ kind: "read" as const, paths: [path] });
  expect(pathOf("link/new/x")).toEqual(read(world.workspace.path("real/new/x")));
  expect(pathOf("dangling")).toEqual(read("/nowhere/file"));
  expect(pathOf("../../../../../../etc/passwd")).toEqual(read("/etc/passwd"));
});
