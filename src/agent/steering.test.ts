// The owner in the middle of a run; the history that the model gets; progress.

import { describe, expect, test } from "bun:test";
import { makeReply } from "./fakes";
import type { Tool } from "./ports";
import { call, complete, expectAnswered, makeTool, runOnce, stage } from "./stage";

describe("steering, stop and pause", () => {
  test("a message in the middle is delivered at the next step", async () => {
    const s = stage([makeReply({ calls: [call("shell")] }), complete()]);
    s.agent.watch((event) => {
      if (event.type === "tool.started" && event.name === "shell") {
        s.agent.send({ kind: "prompt", text: "and be quick" });
      }
    });
    await runOnce(s);
    expect(s.model.requests[1]?.messages.at(-1)).toEqual({ role: "user", content: "and be quick" });
    expect(s.all("steer").map((event) => event.text)).toEqual(["and be quick"]);
  });

  test("a message that comes with the ending goes on with the run", async () => {
    const s = stage([makeReply({ text: "done" }), makeReply({ text: "also done" })]);
    s.agent.watch((event) => {
      if (event.type === "message" && event.message.content === "done") {
        s.agent.send({ kind: "prompt", text: "one more thing" });
      }
    });
    const end = await runOnce(s);
    expect([end.summary, end.steps]).toEqual(["also done", 2]);
  });

  test("a stop in the second of three calls leaves each with one answer", async () => {
    let ran = 0;
    const tool = makeTool({
      name: "shell",
      run: async () => {
        ran += 1;
        if (ran === 2) s.agent.send({ kind: "stop" });
        return { content: "ran", ok: true };
      },
    });
    const calls = [1, 2, 3].map((n) => call("shell", { n }, `c${n}`));
    const s = stage([makeReply({ calls }), makeReply({ text: "hello" })], { tools: [tool] });
    const end = await runOnce(s);
    expect([end.status, end.exit, ran]).toEqual(["stopped", 130, 2]);
    await runOnce(s, "hello");
    expectAnswered(s.model.requests[1]?.messages ?? []);
  });

  test("a pause holds after the step and resume goes on with the count", async () => {
    const s = stage([makeReply({ calls: [call("shell")] }), complete()]);
    const paused = Promise.withResolvers<void>();
    s.agent.watch((event) => {
      if (event.type === "tool.started") s.agent.send({ kind: "pause" });
      if (event.type === "notice" && event.text.startsWith("Paused")) paused.resolve();
    });
    const ended = s.ended();
    s.agent.send({ kind: "prompt", text: "go" });
    await paused.promise;
    expect(s.agent.ask({ kind: "state" })).toMatchObject({
      phase: "paused",
      step: 1,
      pausing: true,
    });
    expect(s.model.requests.length).toBe(1);
    s.agent.send({ kind: "prompt", text: "while paused" });
    s.agent.send({ kind: "resume" });
    expect((await ended).steps).toBe(2);
    expect(s.model.requests[1]?.messages.at(-1)?.content).toBe("while paused");
  });

  test("a stop ends a pause", async () => {
    const s = stage([makeReply({ calls: [call("shell")] }), complete()]);
    s.agent.watch((event) => {
      if (event.type === "tool.started") s.agent.send({ kind: "pause" });
      if (event.type === "notice" && event.text.startsWith("Paused")) {
        queueMicrotask(() => s.agent.send({ kind: "stop" }));
      }
    });
    expect((await runOnce(s)).status).toBe("stopped");
  });
});

describe("history", () => {
  test("thinking is sent back within the task and cleared at the next request", async () => {
    const thoughtful = makeReply({ calls: [call("shell")] });
    thoughtful.message.reasoning_content = "hm";
    const s = stage([thoughtful, complete(), makeReply({ text: "ok" })]);
    await runOnce(s);
    expect(s.model.requests[1]?.messages[2]).toMatchObject({ reasoning_content: "hm" });
    await runOnce(s, "next");
    expect(JSON.stringify(s.model.requests[2]?.messages)).not.toContain("hm");
  });

  test("within a run each request begins with the whole of the one before", async () => {
    const replies = [1, 2, 3].map((n) => makeReply({ calls: [call("shell", { n }, `c${n}`)] }));
    const s = stage([...replies, complete()]);
    await runOnce(s);
    s.model.requests.slice(1).forEach((request, index) => {
      const before = s.model.requests[index]?.messages ?? [];
      expect(request.messages.slice(0, before.length)).toEqual([...before]);
    });
  });

  test("a task list that is still open from an earlier request holds up no later one", async () => {
    const todo = makeTool({
      name: "todo",
      run: async () => ({ content: "", ok: true, todo: [{ text: "x", state: "pending" }] }),
    });
    const s = stage([makeReply({ calls: [call("todo")] }), complete(), makeReply({ text: "hi" })], {
      tools: [todo],
    });
    await runOnce(s);
    const end = await runOnce(s, "thanks");
    expect([end.status, end.steps]).toEqual(["complete", 1]);
  });

  test("news of jobs reach the model at the next step", async () => {
    const news = [["[job 7 ended]"], []];
    const s = stage([makeReply({ text: "ok" })], { takeNews: () => news.shift() ?? [] });
    await runOnce(s);
    expect(s.model.requests[0]?.messages.at(-1)?.content).toBe("[job 7 ended]");
  });
});

describe("progress", () => {
  const repeat = (times: number) =>
    Array.from({ length: times }, (_, n) => makeReply({ calls: [call("shell", {}, `c${n}`)] }));

  const shellThatSays = (say: (n: number) => string): Tool => {
    let n = 0;
    return makeTool({ name: "shell", run: async () => ({ content: say(n++), ok: true }) });
  };

  test("the same call with the same result warns at 3 and stops at 5", async () => {
    const s = stage(repeat(10));
    const end = await runOnce(s);
    expect([end.status, end.exit, end.steps]).toEqual(["limit", 2, 5]);
    expect(s.all("notice").length).toBe(1);
    expect(s.model.requests[3]?.messages.at(-1)?.content).toContain("3 times");
  });

  test("a passing clock in the output is not news", async () => {
    const tools = [
      shellThatSays((n) => `Mon Nov 30 20:46:1${n} UTC 2026\nmake: *** [all] Error 2`),
    ];
    expect((await runOnce(stage(repeat(10), { tools }))).steps).toBe(5);
  });

  test("polling a log that moves goes on", async () => {
    const tools = [shellThatSays((n) => `${10 * n} % done`)];
    expect((await runOnce(stage([...repeat(8), complete()], { tools }))).status).toBe("complete");
  });

  test("two calls in turns that bring nothing new stop after the patience", async () => {
    const replies = Array.from({ length: 40 }, (_, n) =>
      makeReply({ calls: [call("shell", { which: n % 2 }, `c${n}`)] }),
    );
    const end = await runOnce(stage(replies));
    expect([end.status, end.steps]).toEqual(["limit", 27]);
  });
});
