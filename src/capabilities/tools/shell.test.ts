import { describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { PreviewStale, type ToolContext } from "#agent/ports";
import { createPrivateDirectory } from "#base/os";
import { createCommandRunner } from "#capabilities/exec";
import { createArtifactStore } from "#stores/artifacts";
import { argumentsOf, callContext, callTool, refusal, temporaryWorkspace } from "./fakes";
import { createReadArtifactTool } from "./read-artifact";
import { createShellTool, type ShellToolOptions, showCommand } from "./shell";

function setUp(options: Partial<ShellToolOptions> = {}) {
  const workspace = temporaryWorkspace();
  const temporary = createPrivateDirectory();
  const artifacts = createArtifactStore(join(temporary.path, "artifacts"));
  const runner = createCommandRunner({
    root: workspace.root,
    temporary: temporary.path,
    artifacts,
  });
  const tool = createShellTool({ runner, jobs: runner.jobs, workspace, ...options });
  return {
    workspace,
    runner,
    tool,
    reader: createReadArtifactTool({ artifacts }),
    async [Symbol.asyncDispose]() {
      await runner.close();
      temporary.remove();
      workspace[Symbol.dispose]();
    },
  };
}

/** The line on the end, without the time that it took. */
const timeless = (content: string): string => content.replace(/\d+\.\d s/g, "T s");

describe("a result", () => {
  test("is the output and how it ended", async () => {
    await using world = setUp();
    const results: Record<string, [content: string, ok: boolean, exitCode: number]> = {
      "echo a": ["a\n[exit 0, T s]", true, 0],
      "printf a; exit 2": ["a\n[exit 2, T s]", false, 2],
      true: ["[exit 0, T s]", true, 0],
      "sleep 300 &": [
        "[exit 0, T s; 1 child still running (killed when Bosun exits; use background for a job)]",
        true,
        0,
      ],
    };
    for (const [command, [content, ok, exitCode]] of Object.entries(results)) {
      const result = await callTool(world.tool, { command });
      expect({ ...result, content: timeless(result.content) }).toEqual({
        content,
        ok,
        exitCode,
        truncated: false,
      });
    }
  });

  test("tells the new directory, and the next call starts there", async () => {
    await using world = setUp();
    const sub = world.workspace.path("sub");
    mkdirSync(sub);
    const moved = await callTool(world.tool, { command: "cd sub" });
    expect(timeless(moved.content)).toBe(`[exit 0, T s; now in ${sub}]`);
    expect(world.workspace.cwd).toBe(sub);
    expect((await callTool(world.tool, { command: "pwd" })).content).toStartWith(`${sub}\n`);
    expect(world.tool.effect(argumentsOf(world.tool, { command: "ls" }))).toEqual({
      kind: "run",
      command: "ls",
      cwd: sub,
    });
  });

  test("says why a command was killed, and what to do", async () => {
    await using world = setUp();
    const result = await callTool(world.tool, { command: "echo a; sleep 300", timeout: 0.2 });
    expect(result).toMatchObject({ ok: false, exitCode: null });
    expect(timeless(result.content)).toBe(
      "a\n[timed out and killed after T s; give a longer timeout, or use background]",
    );
  });

  test("that was cut can be read whole", async () => {
    await using world = setUp({ outputBytesMax: 500 });
    const result = await callTool(world.tool, { command: "seq 1 2000" });
    expect(result.truncated).toBe(true);
    expect(result.content).toContain("\noutput too long: truncated\n[exit 0, ");
    const call = /read_artifact (\{.*?\})/.exec(result.content)?.[1] ?? "";
    const page = await callTool(world.reader, JSON.parse(call));
    expect(page.content).toStartWith("54\n55\n56\n");
    expect(page.content).toMatch(/\n\[bytes \d+ to \d+ of 8893; next page: offset \d+\]$/);
  });

  test("shows output as it appears", async () => {
    await using world = setUp();
    const shown: string[] = [];
    const context: ToolContext = { ...callContext(), output: (text) => shown.push(text) };
    await world.tool.run({ command: "echo a; sleep 0.2; echo b" }, context);
    expect(shown).toEqual(["a\n", "b\n"]);
  });
});

describe("a background job", () => {
  test("gives its pid and its log", async () => {
    await using world = setUp();
    const result = await callTool(world.tool, { command: "sleep 300", background: "true" });
    const [job] = world.runner.jobs.list();
    expect(result).toEqual({
      content: `[job1 started: pid ${job?.pid}, log ${job?.logFile}; you are told when it ends]`,
      ok: true,
      exitCode: null,
    });
  });
});

describe("what is asked", () => {
  test("is the whole command with everything visible", async () => {
    const cases: Record<string, string> = {
      "ls -l\n\techo 'é 漢 🙂'": "ls -l\n\techo 'é 漢 🙂'",
      "ls \x1b[2K\r\x1b[1A": "ls ␛[2K␍␛[1A",
      "a\u202eb\u2066c": "a<U+202E>b<U+2066>c",
      "r\u200bm\u200d \ufeff\u2060": "r<U+200B>m<U+200D> <U+FEFF><U+2060>",
      "a\u00a0b\u3000c\u2028d": "a<U+00A0>b<U+3000>c<U+2028>d",
      "a\u0085b\u009b1mc\x7f": "a<U+0085>b<U+009B>1mc␡",
      "\u{e0061}tag \ud800 half": "<U+E0061>tag <U+D800> half",
    };
    for (const [command, shown] of Object.entries(cases)) expect(showCommand(command)).toBe(shown);
    await using world = setUp();
    const long = `echo 1${" ".repeat(5000)}; ${"echo 2\n".repeat(300)}rm x`;
    expect(await world.tool.preview?.({ command: long }, callContext())).toEqual({
      kind: "command",
      command: long,
      cwd: world.workspace.root,
      reason: "",
      rule: "",
    });
  });

  test("is asked again when the directory is another one by then", async () => {
    await using world = setUp();
    const shown = await world.tool.preview?.({ command: "ls" }, callContext());
    world.workspace.cwd = "/";
    const run = world.tool.run({ command: "ls" }, callContext(shown ? { shown } : {}));
    expect(run).rejects.toThrow(PreviewStale);
  });

  test("and does not make sense is refused before anybody is asked", async () => {
    await using world = setUp();
    expect(await refusal(world.tool, { command: " \n" })).toContain("command is empty");
    expect(await refusal(world.tool, { command: "a\0b" })).toContain("NUL character");
    expect(await refusal(world.tool, { command: "ls", timeout: -1 })).toContain("more than 0");
    expect(() => argumentsOf(world.tool, {})).toThrow();
  });
});

describe("read_artifact", () => {
  test("knows only what was kept", async () => {
    await using world = setUp();
    expect(await refusal(world.reader, { id: "0123456789ab" })).toContain("There is no artifact");
    expect(await refusal(world.reader, { id: "../x" })).toContain("There is no artifact");
  });
});
