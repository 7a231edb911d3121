// How runs end, and what must not end one.

import { describe, expect, test } from "bun:test";
import { makeReply } from "./fakes";
import { call, complete, expectAnswered, makeTool, runOnce, stage } from "./stage";

describe("endings", () => {
  test("an answer without calls ends the turn as complete", async () => {
    const s = stage([makeReply({ text: "42" })]);
    const end = await runOnce(s);
    expect([end.status, end.summary, end.exit, end.steps]).toEqual(["complete", "42", 0, 1]);
  });

  test("task_complete ends the run with its summary, and is answered in the history", async () => {
    const s = stage([complete("built it"), makeReply({ text: "again" })]);
    expect((await runOnce(s)).summary).toBe("built it");
    await runOnce(s, "more");
    expectAnswered(s.model.requests[1]?.messages ?? []);
  });

  test("task_complete beside other calls is refused; the others run", async () => {
    const s = stage([
      makeReply({
        calls: [call("task_complete", { summary: "x" }, "c1"), call("shell", {}, "c2")],
      }),
      complete(),
    ]);
    const end = await runOnce(s);
    expect(end.steps).toBe(2);
    const finished = s.all("tool.finished").map((event) => [event.call, event.ok]);
    expect(finished).toEqual([
      ["c2", true],
      ["c1", false],
      ["c_end", true],
    ]);
    expectAnswered(s.model.requests[1]?.messages ?? []);
  });

  test.each([
    ["all good\nTASKCOMPLETE", "all good"],
    ["TASKCOMPLETE\nbuilt", "built"],
    ["**TASKCOMPLETE**", ""],
    ["done, so TASKCOMPLETE.", "done, so"],
  ])("the marker in %j completes although todo items are open", async (text, summary) => {
    const todo = makeTool({
      name: "todo",
      run: async () => ({ content: "", ok: true, todo: [{ text: "x", state: "pending" }] }),
    });
    const s = stage([makeReply({ calls: [call("todo")] }), makeReply({ text })], { tools: [todo] });
    const end = await runOnce(s);
    expect([end.status, end.steps]).toEqual(["complete", 2]);
    if (summary) expect(end.summary).toBe(summary);
  });

  test("prose that mentions the marker is no ending while todo items are open", async () => {
    const todo = makeTool({
      name: "todo",
      run: async () => ({ content: "", ok: true, todo: [{ text: "x", state: "pending" }] }),
    });
    const s = stage(
      [
        makeReply({ calls: [call("todo")] }),
        makeReply({ text: "I'll say TASKCOMPLETE once the tests pass" }),
        makeReply({ text: "still open, but I stop" }),
      ],
      { tools: [todo] },
    );
    const end = await runOnce(s);
    expect([end.status, end.steps]).toEqual(["complete", 3]);
    expect(JSON.stringify(s.model.requests[2]?.messages.at(-1))).toContain("todo list");
  });

  test("the step limit ends with status limit and exit 2", async () => {
    const replies = Array.from({ length: 5 }, (_, n) =>
      makeReply({ calls: [call("shell", { n }, `c${n}`)] }),
    );
    const end = await runOnce(stage(replies, { stepsMax: 3 }));
    expect([end.status, end.exit, end.steps]).toEqual(["limit", 2, 3]);
  });

  test("a provider failure ends with exit 1, and its partial text is kept", async () => {
    const failure = { kind: "auth", message: "bad key hunter22", partialText: "half" } as const;
    const s = stage([[{ kind: "failure", failure }], makeReply({ text: "ok" })]);
    const end = await runOnce(s);
    expect([end.status, end.exit]).toEqual(["error", 1]);
    expect(s.all("error")[0]?.message).toBe("bad key [credential]");
    await runOnce(s, "again");
    expect(JSON.stringify(s.model.requests[1]?.messages)).toContain("half");
  });

  test("an empty reply is asked about once, then is an error", async () => {
    const s = stage([makeReply({ text: "" }), makeReply({ text: "" })]);
    const end = await runOnce(s);
    expect([end.status, end.exit, end.steps]).toEqual(["error", 1, 2]);
    const turn = s.model.requests[1]?.messages.find(({ role }) => role === "assistant");
    expect(turn?.content).not.toBe("");
  });

  test("announced calls that never arrived are asked for once", async () => {
    const s = stage([makeReply({ text: "I run it now.", announcedCalls: true }), complete()]);
    expect((await runOnce(s)).steps).toBe(2);
    expect(s.all("notice")[0]?.text).toContain("never arrived");
  });

  test("a defect in a tool ends the run with its story, and the history stays valid", async () => {
    const broken = makeTool({
      name: "shell",
      run: () => Promise.reject(new TypeError("a bug with hunter22")),
    });
    const s = stage([makeReply({ calls: [call("shell")] }), makeReply({ text: "ok" })], {
      tools: [broken],
    });
    const end = await runOnce(s);
    expect([end.status, end.exit]).toEqual(["error", 1]);
    expect(s.all("error")[0]?.message).toContain("TypeError: a bug with [credential]");
    await runOnce(s, "again");
    expectAnswered(s.model.requests[1]?.messages ?? []);
  });
});

describe("verify", () => {
  test("a failed check goes back to the model, a passed one accepts", async () => {
    const results = [
      { ok: false, exitCode: 1, output: "1 failed" },
      { ok: true, exitCode: 0, output: "" },
    ];
    const s = stage([complete("first"), complete("second")], {
      verify: async () => results.shift() ?? { ok: false, exitCode: 9, output: "" },
    });
    const end = await runOnce(s);
    expect([end.status, end.summary, end.steps]).toEqual(["complete", "second", 2]);
    const last = s.model.requests[1]?.messages.at(-1);
    expect(last?.role).toBe("tool");
    expect(last?.content).toStartWith("[VERIFY FAILED]");
    expect(last?.content).toContain("1 failed");
  });

  test("an answer in words has to pass it, too", async () => {
    const results = [false, true];
    const s = stage([makeReply({ text: "done" }), makeReply({ text: "really" })], {
      verify: async () => ({ ok: results.shift() ?? false, exitCode: 1, output: "red" }),
    });
    expect((await runOnce(s)).summary).toBe("really");
    expect(s.model.requests[1]?.messages.at(-1)?.content).toStartWith("[VERIFY FAILED]");
  });
});
