import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { argumentsOf, callContext, callTool, refusal, temporaryWorkspace } from "./fakes";
import { createListFilesTool, type ListOptions } from "./list-files";

function setUp(files: readonly string[], options: Partial<ListOptions> = {}) {
  const workspace = temporaryWorkspace();
  for (const name of files) {
    mkdirSync(dirname(workspace.path(name)), { recursive: true });
    writeFileSync(workspace.path(name), name.endsWith(".gitignore") ? "*.log\nout/\n" : "x");
  }
  const tool = createListFilesTool({ workspace, ...options });
  return { workspace, tool, [Symbol.dispose]: () => workspace[Symbol.dispose]() };
}

async function list(
  files: readonly string[],
  args: Record<string, unknown> = {},
  options: Partial<ListOptions> = {},
) {
  using world = setUp(files, options);
  return (await callTool(world.tool, args)).content;
}

describe("without a pattern", () => {
  test("a small folder is a whole tree, without what git ignores", async () => {
    const files = [
      ".git/HEAD",
      ".gitignore",
      "src/a.ts",
      "src/deep/b.ts",
      "x.log",
      "out/c",
      ".env",
    ];
    expect(await list(files)).toBe(
      [
        ".env",
        ".gitignore",
        "src/",
        "src/a.ts",
        "src/deep/",
        "src/deep/b.ts",
        "[4 files in all]",
      ].join("\n"),
    );
  });

  test("a large one is opened as deep as fits, with counts for the rest", async () => {
    const files = ["a.txt", "src/x.ts"];
    for (let at = 0; at < 30; at++) files.push(`src/many/${at}.ts`);
    expect(await list(files, { limit: 10 })).toBe(
      ["a.txt", "src/", "src/many/ (30 files)", "src/x.ts", "[32 files in all]"].join("\n"),
    );
    expect(await list(files, { limit: 2 })).toBe(
      ["a.txt", "src/ (31 files)", "[32 files in all]"].join("\n"),
    );
    const capped = await list(files, { path: "src/many", limit: 3 });
    expect(capped).toEndWith(
      "src/many/10.ts\n[30 files in all; 3 rows shown: use path or pattern, or limit]",
    );
  });

  test("bytes are capped, too", async () => {
    const files = Array.from({ length: 60 }, (_, at) => `${"n".repeat(50)}${at}`);
    const text = await list(files, {}, { outputBytesMax: 500 });
    expect(text.length).toBeLessThan(700);
    expect(text).toContain("9 rows shown");
  });

  test("links are shown and never followed; odd names cannot act", async () => {
    using world = setUp(["a/b.txt", "evil\x1b[2J\nname"]);
    symlinkSync("..", world.workspace.path("a/up"));
    symlinkSync("gone", world.workspace.path("dangling"));
    const { content } = await callTool(world.tool, {});
    expect(content).toBe(
      ["a/", "a/b.txt", "a/up -> ..", "dangling -> gone", "evil␛[2J␊name", "[4 files in all]"].join(
        "\n",
      ),
    );
  });

  test("a folder that is ignored is shown when it is named", async () => {
    const files = [".git/HEAD", ".gitignore", "out/c.txt", "out/d.log"];
    expect(await list(files, { path: "out" })).toBe("out/c.txt\nout/d.log\n[2 files in all]");
  });
});

describe("with a pattern", () => {
  const files = ["a.ts", "src/b.ts", "src/deep/c.ts", "src/d.js", "out/e.ts", ".gitignore"];

  test("all files that match, at any depth or from the folder", async () => {
    const names = async (pattern: string, path?: string) =>
      (await list(files, { pattern, ...(path ? { path } : {}) })).split("\n").slice(0, -1);
    expect(await names("*.ts")).toEqual(["a.ts", "src/b.ts", "src/deep/c.ts"]);
    expect(await names("**/*.ts")).toEqual(["a.ts", "src/b.ts", "src/deep/c.ts"]);
    expect(await names("src/*.ts")).toEqual(["src/b.ts"]);
    expect(await names("*.ts", "src")).toEqual(["src/b.ts", "src/deep/c.ts"]);
    expect(await names("*.{js,ts}", "src/")).toEqual(["src/b.ts", "src/d.js", "src/deep/c.ts"]);
  });

  test("none says so, and the number is capped", async () => {
    expect(await list(files, { pattern: "*.py" })).toContain("No files match **/*.py");
    expect(await list(files, { pattern: "*.ts", limit: 1 })).toBe(
      "a.ts\n[3 files in all; 1 row shown: use a narrower pattern or path, or limit]",
    );
  });
});

test("what is not there, no folder, or kept by the owner", async () => {
  using world = setUp(["a.txt", "secret/key"], { mayRead: (path) => !path.endsWith("/secret") });
  expect((await callTool(world.tool, { path: "a.txt" })).content).toContain("is a file");
  expect(await refusal(world.tool, { path: "b.txt" })).toContain("Did you mean a.txt?");
  expect((await callTool(world.tool, {})).content).toBe("a.txt\n[1 file in all]");
  const stopped = callContext({ signal: AbortSignal.abort() });
  const run = world.tool.run(argumentsOf(world.tool, {}), stopped);
  expect(run).rejects.toThrow("Stopped");
  await run.catch(() => undefined);
});

test("a walk of the whole system ends", async () => {
  using world = setUp([]);
  const started = performance.now();
  const { content } = await callTool(world.tool, { path: "/" });
  expect(performance.now() - started).toBeLessThan(9000);
  expect(content).toContain("usr/");
  expect(content.length).toBeLessThan(11_000);
}, 15_000);
