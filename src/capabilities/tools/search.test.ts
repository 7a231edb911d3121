import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { argumentsOf, callContext, callTool, refusal, temporaryWorkspace } from "./fakes";
import { createSearchTool, type SearchOptions } from "./search";
import { findRipgrep } from "./search-ripgrep";

const RIPGREP = findRipgrep("/nowhere");
const ENGINES = RIPGREP === null ? [null] : [RIPGREP, null];

type Files = Record<string, string | Buffer>;

function setUp(files: Files, options: Partial<SearchOptions> = {}) {
  const workspace = temporaryWorkspace();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(workspace.path(name)), { recursive: true });
    writeFileSync(workspace.path(name), content);
  }
  const tools = ENGINES.map((ripgrep) => createSearchTool({ workspace, ripgrep, ...options }));
  return { workspace, tools, [Symbol.dispose]: () => workspace[Symbol.dispose]() };
}

/** What both engines answer; fails when they do not agree. */
async function answer(
  files: Files,
  args: Record<string, unknown>,
  options: Partial<SearchOptions> = {},
): Promise<string> {
  using world = setUp(files, options);
  return await answerIn(world, args);
}

async function answerIn(world: ReturnType<typeof setUp>, args: Record<string, unknown>) {
  const answers = await Promise.all(world.tools.map((tool) => callTool(tool, args)));
  for (const other of answers) expect(other).toEqual(answers[0] ?? other);
  return answers[0]?.content ?? "";
}

async function refusalOf(args: Record<string, unknown>): Promise<string> {
  using world = setUp({ "a.txt": "x" });
  const messages = await Promise.all(world.tools.map((tool) => refusal(tool, args)));
  expect(new Set(messages).size).toBe(1);
  return messages[0] ?? "";
}

test("both engines are tried where there are two", () => {
  expect(ENGINES.length).toBe(RIPGREP === null ? 1 : 2);
});

describe("matches", () => {
  test("are told by path and line, sorted, folders where their name stands", async () => {
    const files = {
      "b.txt": "foo\n",
      "a/x.txt": "no\nfoo bar\r\n",
      "a.txt": "a foo",
      ".env": "foo",
    };
    expect(await answer(files, { pattern: "fo+" })).toBe(
      [
        ".env:1: foo",
        "a/x.txt:2: foo bar",
        "a.txt:1: a foo",
        "b.txt:1: foo",
        "[4 matches in 4 files]",
      ].join("\n"),
    );
  });

  test("come with context, and a line between what does not follow", async () => {
    const text = ["1", "x", "3", "4", "5", "6", "x", "8"].join("\n");
    expect(await answer({ "a.txt": text }, { pattern: "x", context: "1" })).toBe(
      [
        "a.txt-1- 1",
        "a.txt:2: x",
        "a.txt-3- 3",
        "--",
        "a.txt-6- 6",
        "a.txt:7: x",
        "a.txt-8- 8",
        "[2 matches in 1 file]",
      ].join("\n"),
    );
  });

  test("paths can be used again from where the shell is", async () => {
    using world = setUp({ "sub/in.txt": "foo\n", "out.txt": "foo\n" });
    world.workspace.cwd = world.workspace.path("sub");
    expect(await answerIn(world, { pattern: "foo" })).toContain("in.txt:1: foo\n[1 match");
    const above = await answerIn(world, { pattern: "foo", path: ".." });
    expect(above).toContain(`${world.workspace.path("out.txt")}:1: foo`);
  });

  test("of one file, named as path, also if git ignores it", async () => {
    const files = { ".gitignore": "*.log", "-x.log": "foo\n" };
    expect(await answer(files, { pattern: "foo", path: "-x.log" })).toStartWith("-x.log:1: foo");
  });

  test("are filtered by glob: names at any depth, paths from the folder, several, left out", async () => {
    const files = { "a.ts": "q", "d/b.ts": "q", "d/e/c.js": "q", "d/e/c.test.ts": "q" };
    const names = async (glob: string) =>
      (await answer(files, { pattern: "q", glob })).match(/^[^[:]+(?=:)/gm);
    expect(await names("*.ts")).toEqual(["a.ts", "d/b.ts", "d/e/c.test.ts"]);
    expect(await names("d/*.ts")).toEqual(["d/b.ts"]);
    expect(await names("d/**/*.ts")).toEqual(["d/b.ts", "d/e/c.test.ts"]);
    expect(await names("d/")).toEqual(["d/b.ts", "d/e/c.js", "d/e/c.test.ts"]);
    expect(await names("*.{js,ts}")).toEqual(["a.ts", "d/b.ts", "d/e/c.js", "d/e/c.test.ts"]);
    expect(await names("*.js, a.*")).toEqual(["a.ts", "d/e/c.js"]);
    expect(await names("*.ts,!*.test.ts")).toEqual(["a.ts", "d/b.ts"]);
  });

  test("in Latin-1, UTF-16 and behind a byte order mark", async () => {
    const files = {
      "latin1.txt": Buffer.from("caf\xe9 foo\n", "latin1"),
      "utf16.txt": Buffer.from("\ufefffoo 16\n", "utf16le"),
      "utf8.txt": "\ufefffoo\n",
    };
    expect(await answer(files, { pattern: "foo" })).toBe(
      "latin1.txt:1: caf\ufffd foo\nutf16.txt:1: foo 16\nutf8.txt:1: foo\n[3 matches in 3 files]",
    );
  });
});

describe("what is left out", () => {
  test("is what git ignores: nested, negated, excluded; and .git itself", async () => {
    const files = {
      ".git/config": "foo",
      ".git/info/exclude": "private\n",
      ".gitignore": "*.log\n/build/\nnode_modules\n",
      "a.log": "foo",
      "keep/.gitignore": "!*.log\n",
      "keep/b.log": "foo",
      "build/c.txt": "foo",
      "sub/build/d.txt": "foo",
      "node_modules/e.js": "foo",
      private: "foo",
    };
    expect(await answer(files, { pattern: "foo" })).toBe(
      "keep/b.log:1: foo\nsub/build/d.txt:1: foo\n[2 matches in 2 files]",
    );
    const inside = await answer(files, { pattern: "foo", path: "node_modules" });
    expect(inside).toStartWith("node_modules/e.js:1: foo");
    expect(await answer(files, { pattern: "foo", glob: "*.log" })).not.toContain("a.log");
  });

  test("is the same without a repository, but nothing above the folder counts", async () => {
    using world = setUp({ ".gitignore": "*\n", "p/.gitignore": "x\n", "p/x": "foo", "p/y": "foo" });
    world.workspace.cwd = world.workspace.path("p");
    expect(await answerIn(world, { pattern: "foo" })).toStartWith("y:1: foo\n[1 match");
  });

  test("are binary files, links, and what the owner keeps from tools", async () => {
    using world = setUp(
      {
        "a.bin": "foo\0",
        "late.bin": `foo\n${"x".repeat(9000)}\0`,
        "secret/a": "foo",
        "b.txt": "foo",
      },
      { mayRead: (path) => !path.includes("/secret/") },
    );
    symlinkSync(".", world.workspace.path("loop"));
    symlinkSync("b.txt", world.workspace.path("link"));
    expect(await answerIn(world, { pattern: "foo" })).toBe("b.txt:1: foo\n[1 match in 1 file]");
  });

  test("nothing found says what was not searched", async () => {
    expect(await answer({ "a.txt": "x" }, { pattern: "y" })).toBe(
      "No matches in the current directory. Ignored and binary files are not searched.",
    );
  });
});

describe("limits", () => {
  test("matches and bytes are capped, with how to go on", async () => {
    const files = { "a.txt": "foo\n".repeat(50), "b.txt": "foo\n" };
    const few = await answer(files, { pattern: "foo", limit: 3 });
    expect(few).toBe(
      "a.txt:1: foo\na.txt:2: foo\na.txt:3: foo\n[the first 3 matches in 1 file; for more narrow path, glob or pattern, or raise limit]",
    );
    const small = await answer(files, { pattern: "foo" }, { outputBytesMax: 100 });
    expect(small.length).toBeLessThan(200);
    expect(await answer(files, { pattern: "foo", limit: 51 })).toEndWith("[51 matches in 2 files]");
  });

  test("a long line is shown around its match, cut between characters", async () => {
    const files = { "min.js": `${"🙂".repeat(5000)}NEEDLE${"é".repeat(5000)}\n` };
    const found = await answer(files, { pattern: "NEEDLE" });
    expect(found.length).toBeLessThan(500);
    expect(found).toContain("🙂NEEDLEé");
    expect(found.isWellFormed()).toBe(true);
  });

  test("escape sequences of a file do not reach the terminal", async () => {
    expect(await answer({ "a.txt": "\x1b[31mfoo\n" }, { pattern: "foo" })).toStartWith(
      "a.txt:1: ␛[31mfoo",
    );
  });

  test("a pattern that backtracks without end is ended", async () => {
    using world = setUp({ "a.txt": `${"a".repeat(40)}!\n`.repeat(100) }, { searchMsMax: 500 });
    const walk = world.tools.at(-1);
    const started = performance.now();
    const result = walk && (await callTool(walk, { pattern: "^(a+)+$" }));
    expect(performance.now() - started).toBeLessThan(3000);
    expect(result?.content).toContain("stopped after 0.5 s");
    expect(result?.truncated).toBe(true);
  });

  test("a stopped run stops the search", async () => {
    using world = setUp({ "a.txt": "foo" });
    for (const tool of world.tools) {
      const run = tool.run(
        argumentsOf(tool, { pattern: "foo" }),
        callContext({ signal: AbortSignal.abort() }),
      );
      expect(run).rejects.toThrow("Stopped");
      await run.catch(() => undefined);
    }
  });

  test("one endless line does not fill the memory", async () => {
    using world = setUp({ "a.txt": Buffer.alloc(40 * 1024 * 1024, "x"), "b.txt": "xx\n" });
    const before = process.memoryUsage().rss;
    for (const tool of world.tools) {
      const { content } = await callTool(tool, { pattern: "xx" });
      expect(content).toContain("b.txt:1: xx");
      expect(content).toContain("lines too long or too slow to search in: a.txt");
      expect(content.length).toBeLessThan(1000);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(250 * 1024 * 1024);
  });
});

describe("patterns", () => {
  test("a broken one is told by its position", async () => {
    const problem = (pattern: string) => refusalOf({ pattern });
    expect(await problem("foo(")).toBe(
      "Invalid regular expression: unclosed ( at character 4. To search for the character itself write \\(.",
    );
    expect(await problem("a[b")).toContain("unclosed [ at character 2");
    expect(await problem("a)")).toContain("unopened ) at character 2");
    expect(await problem("*a")).toContain("nothing to repeat before * at character 1");
    expect(await problem("a\\")).toContain("a lone \\ at character 2");
    expect(await problem("a\\nb")).toContain("line by line");
    expect(await problem("")).toContain("empty");
  });

  test("that only one engine knows is searched all the same", async () => {
    const files = { "a.go": "interface{} foobar\nFOO\n" };
    expect(await answer(files, { pattern: "foo(?=bar)" })).toContain("a.go:1:");
    expect(await answer(files, { pattern: "interface{}" })).toContain("a.go:1:");
    expect(await answer(files, { pattern: "(?i)foo$" })).toContain("a.go:2:");
    expect(await answer(files, { pattern: "[[:upper:]]{3}$" })).toContain("a.go:2:");
    expect(await answer(files, { pattern: "-e" })).toContain("No matches");
    expect(await answer({ "a.txt": "--pre=x\n" }, { pattern: "--pre=x" })).toContain("a.txt:1:");
  });

  test("a path that is not there is refused with what is near", async () => {
    expect(await refusalOf({ pattern: "x", path: "b.txt" })).toContain("Did you mean a.txt?");
  });
});
