import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MirrorState } from "./format";
import { MIRROR_BYTES_MAX } from "./format";
import { takeMirror } from "./take";

const NOW = 1_796_071_580_123;
const STAMP = "20261130_204620";
const STATE: MirrorState = {
  sessionId: "20261130_204620_3f9a",
  model: "m",
  apiBase: "https://api.example.com/v1",
  cwd: "/home/me/project",
  stepCount: 4,
  usage: { input: 5, output: 4, cached: 3, billable: 2 },
  todo: [{ text: "look", state: "current" }],
  messages: [
    { role: "system", content: "be useful" },
    { role: "user", content: "hi", own: [1] },
  ],
};

async function world(file?: string) {
  const directory = mkdtempSync(join(tmpdir(), "bosun-mirror-test-"));
  const mirror = await takeMirror({ directory, file, now: () => NOW });
  const names = () => readdirSync(join(mirror.path, "..")).filter((name) => !/lock$/.test(name));
  const dispose = () => {
    mirror.release();
    rmSync(directory, { recursive: true });
  };
  return { directory, mirror, names, path: mirror.path, [Symbol.dispose]: dispose };
}

describe("load", () => {
  test("nothing there is absent", async () => {
    using place = await world();
    expect(place.mirror.load()).toEqual({ kind: "absent" });
  });

  test("what was saved comes back, and is edited only when its messages are others", async () => {
    using place = await world();
    const { mirror } = place;
    const { bytes, overwroteEdit } = mirror.save(STATE, "tool_result");
    expect({ bytes, overwroteEdit }).toEqual({
      bytes: statSync(place.path).size,
      overwroteEdit: false,
    });
    expect(mirror.load()).toEqual({
      kind: "loaded",
      state: {
        ...STATE,
        messages: [...STATE.messages],
        todo: [...STATE.todo],
        format: "bosun",
        reason: "tool_result",
        updatedAt: "2026-11-30T20:46:20Z",
        isEdited: false,
      },
      repairs: [],
    });
    const saved = readFileSync(place.path, "utf8");
    writeFileSync(place.path, JSON.stringify(JSON.parse(saved)));
    expect(mirror.load()).toMatchObject({ state: { isEdited: false } });
    writeFileSync(place.path, saved);
    writeFileSync(place.path, readFileSync(place.path, "utf8").replace("hi", "ho"));
    expect(mirror.load()).toMatchObject({
      state: { isEdited: true, messages: [{}, { content: "ho", own: [1] }] },
    });
  });

  test("AI-Commander's file and a bare list of messages are read", async () => {
    using place = await world();
    const messages = [{ role: "user", content: "summarize" }, 5];
    const theirs = {
      aic_session_version: 1,
      session_id: "20260828_134851",
      updated_at: "2026-08-28T13:52:58",
      step_count: 4,
      usage: { input_tokens: 5321, output_tokens: 812, cached_tokens: 4096, billable_tokens: 2037 },
      messages,
      agents: { of: "another kind" },
    };
    writeFileSync(place.path, `\ufeff${JSON.stringify(theirs)}`);
    expect(place.mirror.load()).toMatchObject({
      kind: "loaded",
      repairs: [],
      state: {
        format: "ai-commander",
        sessionId: "20260828_134851",
        model: undefined,
        stepCount: 4,
        usage: { input: 5321, output: 812, cached: 4096, billable: 2037 },
        todo: [],
        messages,
      },
    });
    writeFileSync(place.path, JSON.stringify(messages));
    expect(place.mirror.load()).toMatchObject({
      repairs: [],
      state: { format: "messages", sessionId: undefined, stepCount: 0, messages },
    });
  });

  test("fields of a wrong type fall back, each with a line", async () => {
    using place = await world();
    const broken = {
      bosun_session_version: 2,
      session_id: "../../x",
      model: 7,
      cwd: "/a\0b",
      step_count: -1,
      usage: { input_tokens: "many", output_tokens: 3 },
      todo: [{ text: "a", state: "odd" }, null],
      messages: [],
    };
    writeFileSync(place.path, JSON.stringify(broken));
    expect(place.mirror.load()).toMatchObject({
      state: {
        sessionId: undefined,
        model: undefined,
        cwd: undefined,
        stepCount: 0,
        usage: { input: 0, output: 3, cached: 0, billable: 0 },
        todo: [{ text: "a", state: "pending" }],
      },
      repairs: [
        "the file has another version than 1: read as far as it is known",
        '"session_id" is no session\'s name and was left out',
        '"model" is no text and was left out',
        '"cwd" is no text and was left out',
        '"step_count" is no count and was set to 0',
        '"input_tokens" is no count and was set to 0',
        "todo 1 has an unknown state and was set to pending",
        "todo 2 has no text and was left out",
      ],
    });
    writeFileSync(place.path, Buffer.from('[{"role":"user","content":"caf\xe9"}]', "latin1"));
    expect(place.mirror.load()).toMatchObject({
      repairs: ["bytes that are no UTF-8 were replaced"],
    });
  });

  test("what cannot be read is set aside whole, never onto another file", async () => {
    using place = await world();
    place.mirror.save(STATE, "tool_result");
    const good = readFileSync(place.path, "utf8");
    const deep = `{"bosun_session_version":1,"messages":[${"[".repeat(300)}${"]".repeat(300)}]}`;
    const broken: [text: string, reason: string][] = [
      [good.slice(0, -20), "it is no valid JSON"],
      [good.replace("hi", "\0".repeat(4096)), "it holds NUL bytes"],
      ["\0".repeat(4096), "it holds NUL bytes"],
      ["", "it is empty"],
      ['"words"', 'it has no list of "messages"'],
      ['{"messages":{}}', 'it has no list of "messages"'],
      [deep, "it is nested more than 200 levels deep"],
    ];
    for (const [at, [text, reason]] of broken.entries()) {
      writeFileSync(place.path, text);
      const loaded = place.mirror.load();
      if (loaded.kind !== "corrupt") throw new Error(`${at} is ${loaded.kind}`);
      expect(loaded.reason).toContain(reason);
      expect(loaded.movedTo).toBe(`${place.path}.corrupt.${STAMP}${at === 0 ? "" : `_${at + 1}`}`);
      expect(readFileSync(loaded.movedTo, "utf8")).toBe(text);
      expect(place.mirror.load()).toEqual({ kind: "absent" });
    }
    expect(place.mirror.save(STATE, "resumed").overwroteEdit).toBe(false);
  });

  test("a file beyond the limit is set aside unread", async () => {
    using place = await world();
    writeFileSync(place.path, "[");
    truncateSync(place.path, MIRROR_BYTES_MAX + 1);
    expect(place.mirror.load()).toEqual({
      kind: "corrupt",
      movedTo: `${place.path}.corrupt.${STAMP}`,
      reason: "it is larger than 64 MiB",
      sessionId: undefined,
    });
  });

  test("a file of one's own that is something else is left alone", async () => {
    using place = await world("notes.md");
    for (const text of ["# Notes\n", '{"name":"package"}', "[1", "\0\0"]) {
      writeFileSync(place.path, text);
      if (/^[[\0]/.test(text)) expect(place.mirror.load().kind).toBe("corrupt");
      else expect(() => place.mirror.load()).toThrow("is no session file");
    }
    expect(place.names().filter((name) => name.includes("corrupt")).length).toBe(2);
  });

  test("a link that took its place is not followed", async () => {
    using place = await world();
    writeFileSync(join(place.directory, "secret"), "[]");
    symlinkSync(join(place.directory, "secret"), place.path);
    expect(() => place.mirror.load()).toThrow("is a symbolic link");
    expect(place.mirror.save(STATE, "resumed").overwroteEdit).toBe(true);
    expect(readFileSync(join(place.directory, "secret"), "utf8")).toBe("[]");
    expect(place.mirror.load().kind).toBe("loaded");
  });
});

describe("save", () => {
  test("the file is its owner's alone, and nothing else remains beside it", async () => {
    using place = await world();
    writeFileSync(place.path, "[]");
    chmodSync(place.path, 0o644);
    place.mirror.load();
    expect(place.mirror.save(STATE, "user_request").overwroteEdit).toBe(false);
    place.mirror.save(STATE, "before_llm_call", { durable: false });
    expect(statSync(place.path).mode & 0o777).toBe(0o600);
    expect(place.names().sort()).toEqual([".gitignore", "session.json"]);
  });

  test("an edit under a running instance is told once; a mere touch is none", async () => {
    using place = await world();
    const { mirror, path } = place;
    mirror.save(STATE, "user_request");
    writeFileSync(path, "[]");
    expect(mirror.save(STATE, "tool_result").overwroteEdit).toBe(true);
    expect(mirror.save(STATE, "tool_result").overwroteEdit).toBe(false);
    utimesSync(path, 1, 1);
    expect(mirror.save(STATE, "tool_result").overwroteEdit).toBe(false);
    writeFileSync(path, "[]");
    expect(mirror.load().kind).toBe("loaded");
    expect(mirror.save(STATE, "reload").overwroteEdit).toBe(false);
    rmSync(path);
    expect(mirror.save(STATE, "tool_result").overwroteEdit).toBe(false);
  });

  test("a file that was never looked at counts as an edit", async () => {
    using place = await world();
    writeFileSync(place.path, "[]");
    expect(place.mirror.save(STATE, "user_request").overwroteEdit).toBe(true);
  });

  test("a session beyond the limit is refused and the old file stands", async () => {
    using place = await world();
    place.mirror.save(STATE, "user_request");
    const before = readFileSync(place.path, "utf8");
    const huge = { role: "user" as const, content: "x".repeat(MIRROR_BYTES_MAX) };
    expect(() => place.mirror.save({ ...STATE, messages: [huge] }, "tool_result")).toThrow(
      "larger than 64 MiB",
    );
    expect(readFileSync(place.path, "utf8")).toBe(before);
  });

  test("drafts of a killed owner go at the next claim, those of other names stay", async () => {
    using place = await world();
    const home = join(place.directory, ".bosun");
    place.mirror.release();
    const draft = (name: string) => `.${name}.0123456789abcdef.draft`;
    for (const name of ["session.json", "session2.json"])
      writeFileSync(join(home, draft(name)), "");
    mkdirSync(join(home, ".session.json.keep.draft"));
    (await takeMirror({ directory: place.directory })).release();
    expect(place.names().sort()).toEqual([
      ".gitignore",
      ".session.json.keep.draft",
      draft("session2.json"),
    ]);
  });

  test("500 messages of 1 MB in a few milliseconds, but for the flush", async () => {
    using place = await world();
    const messages = Array.from({ length: 500 }, (_, at) => ({
      role: "user" as const,
      content: `${at} ${"a line of output\n".repeat(120)}`,
    }));
    const state = { ...STATE, messages };
    place.mirror.save(state, "tool_result", { durable: false });
    const times = Array.from({ length: 20 }, () => {
      const started = performance.now();
      place.mirror.save(state, "tool_result", { durable: false });
      return performance.now() - started;
    });
    // The best of them: this machine may be busy with other tests.
    expect(Math.min(...times)).toBeLessThan(15);
  });

  test("SIGKILL in the midst of saving leaves a whole file, and no draft for long", async () => {
    using place = await world();
    place.mirror.release();
    const program = `
      const { takeMirror } = await import(${JSON.stringify(join(import.meta.dir, "take"))});
      const mirror = await takeMirror({ directory: ${JSON.stringify(place.directory)} });
      const state = ${JSON.stringify({ ...STATE, messages: [] })};
      for (let step = 1; ; step += 1) {
        const content = (step + " ").repeat(100_000);
        state.stepCount = step;
        state.messages = [{ role: "system", content }];
        mirror.save(state, "tool_result", { durable: false });
        if (step === 1) console.log("saving");
      }`;
    for (const waitMs of [0, 7, 13, 22, 31]) {
      const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
      await child.stdout.getReader().read();
      await Bun.sleep(waitMs);
      child.kill("SIGKILL");
      await child.exited;
      const heir = await takeMirror({ directory: place.directory });
      const loaded = heir.load();
      if (loaded.kind !== "loaded") throw new Error(loaded.kind);
      const { stepCount, messages } = loaded.state;
      expect(messages).toEqual([{ role: "system", content: `${stepCount} `.repeat(100_000) }]);
      expect(place.names().sort()).toEqual([".gitignore", "session.json"]);
      heir.release();
    }
  });
});
