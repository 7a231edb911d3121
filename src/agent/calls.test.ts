// Calls of a reply: what runs, in which order, and what is said of those that do not.

import { describe, expect, test } from "bun:test";
import { FakeApprover, makeReply } from "./fakes";
import type { Agent } from "./loop";
import { PreviewStale, type Tool, ToolFailure, type ToolResult } from "./ports";
import { call, complete, expectAnswered, makeTool, runOnce, stage } from "./stage";

describe("calls", () => {
  test("reads run side by side, everything else in order", async () => {
    const log: string[] = [];
    const tool = (name: string, tags: Tool["tags"]): Tool =>
      makeTool({
        name,
        tags,
        run: async (): Promise<ToolResult> => {
          log.push(`+${name}`);
          await Bun.sleep(5);
          log.push(`-${name}`);
          return { content: "", ok: true };
        },
      });
    const tools = [tool("r1", ["read"]), tool("r2", ["read"]), tool("w1", ["write"])];
    const calls = ["r1", "r2", "w1", "r1"].map((name, n) => call(name, {}, `c${n}`));
    await runOnce(stage([makeReply({ calls }), complete()], { tools }));
    expect(log.join(" ")).toBe("+r1 +r2 -r1 -r2 +w1 -w1 +r1 -r1");
  });

  test("broken arguments never run and are explained", async () => {
    const s = stage([
      makeReply({
        calls: [call("shell", { kind: "broken", problem: "Unclosed string at 12." })],
      }),
      complete(),
    ]);
    await runOnce(s);
    expect(s.all("tool.finished")[0]).toMatchObject({ ok: false, name: "shell" });
    expect(s.all("tool.finished")[0]?.result).toContain("Unclosed string at 12.");
  });

  test("an unknown tool is answered with the nearest name", async () => {
    const s = stage([makeReply({ calls: [call("shel")] }), complete()]);
    await runOnce(s);
    expect(s.all("tool.finished")[0]?.result).toContain("Did you mean shell?");
  });

  test("a well-known other name runs under ours, and the model is told", async () => {
    const s = stage([makeReply({ calls: [call("bash", { cmd: "ls" })] }), complete()], {
      understand: (name) =>
        name === "bash"
          ? { name: "shell", mapArguments: (args) => ({ command: args.cmd }) }
          : undefined,
    });
    await runOnce(s);
    expect(s.all("tool.started")[0]).toMatchObject({ name: "shell", args: { command: "ls" } });
    expect(s.all("tool.finished")[0]?.result).toContain("bash is called shell here");
  });

  test("an id that was used before is replaced", async () => {
    const s = stage([
      makeReply({ calls: [call("shell", { n: 1 }, "call_0")] }),
      makeReply({ calls: [call("shell", { n: 2 }, "call_0")] }),
      complete(),
    ]);
    await runOnce(s);
    const ids = s.all("tool.finished").map((event) => event.call);
    expect(new Set(ids).size).toBe(3);
    expectAnswered(s.model.requests[2]?.messages ?? []);
  });

  test("a tool's failure is for the model, with credentials taken out", async () => {
    const tool = makeTool({
      name: "shell",
      run: () => Promise.reject(new ToolFailure("no such key: hunter22")),
    });
    const s = stage([makeReply({ calls: [call("shell")] }), complete()], { tools: [tool] });
    expect((await runOnce(s)).status).toBe("complete");
    expect(s.all("tool.finished")[0]?.result).toBe("Error: no such key: [credential]");
  });

  test("two cut replies in a row end the run", async () => {
    const cut = (id: string) =>
      makeReply({
        calls: [call("shell", { kind: "broken", problem: "cut" }, id)],
        cutByLength: true,
        finish: "length",
      });
    const s = stage([cut("a"), cut("b"), complete()]);
    const end = await runOnce(s);
    expect([end.status, end.steps]).toEqual(["error", 2]);
    expect(s.model.requests[1]?.messages.at(-1)?.content).toContain("cut off at 100 tokens");
  });
});

describe("approval", () => {
  const asking = () =>
    new FakeApprover(() => ({ kind: "ask", reason: "may write", rule: "this command" }));

  async function withAnswer(
    answer: (agent: Agent, id: string) => void,
    script = [makeReply({ calls: [call("shell"), call("shell", { n: 2 }, "c2")] }), complete()],
  ) {
    const approver = asking();
    let ran = 0;
    const tool = makeTool({
      name: "shell",
      run: async () => {
        ran += 1;
        return { content: "ran", ok: true };
      },
    });
    const s = stage(script, { approver, tools: [tool] });
    s.agent.watch((event) => {
      if (event.type === "approval.asked") queueMicrotask(() => answer(s.agent, event.call));
    });
    const end = await runOnce(s);
    return { s, end, ran: () => ran, approver };
  }

  test("yes runs it, once", async () => {
    const { ran, approver } = await withAnswer((agent, id) =>
      agent.send({ kind: "approve", call: id, always: false }),
    );
    expect([ran(), approver.remembered.length]).toEqual([2, 0]);
  });

  test("always runs it and stores the rule", async () => {
    const { approver } = await withAnswer((agent, id) =>
      agent.send({ kind: "approve", call: id, always: true }),
    );
    expect(approver.remembered.length).toBe(2);
  });

  test("no skips that call and says so", async () => {
    const { s, ran, end } = await withAnswer((agent, id) =>
      agent.send({ kind: "reject", call: id, note: "" }),
    );
    expect([ran(), end.status]).toEqual([0, "complete"]);
    expect(s.all("tool.finished")[0]?.result).toContain("The owner said no");
  });

  test("a suggestion skips the rest of the reply and steers", async () => {
    const { s, ran } = await withAnswer((agent, id) =>
      agent.send({ kind: "suggest", call: id, text: "use make" }),
    );
    expect(ran()).toBe(0);
    expect(s.model.requests[1]?.messages.at(-1)).toEqual({ role: "user", content: "use make" });
    expectAnswered(s.model.requests[1]?.messages ?? []);
  });

  test("an answer to another call approves nothing; a stop ends the wait", async () => {
    const { s, ran, end } = await withAnswer((agent) => {
      agent.send({ kind: "approve", call: "other", always: false });
      setTimeout(() => agent.send({ kind: "stop" }), 5);
    });
    expect([ran(), end.status, end.exit]).toEqual([0, "stopped", 130]);
    expect(s.all("approval.answered")[0]?.decision).toBe("deny");
  });

  test("a denial by policy is told to the model and shown as an answer", async () => {
    const approver = new FakeApprover(() => ({ kind: "deny", reason: "nobody is there" }));
    const s = stage([makeReply({ calls: [call("shell")] }), complete()], { approver });
    await runOnce(s);
    expect(s.all("approval.answered")[0]).toMatchObject({
      decision: "deny",
      note: "nobody is there",
    });
    expect(s.all("tool.finished")[0]?.result).toBe("Denied: nobody is there");
  });

  test("what changed while it waited is shown again before it is applied", async () => {
    let version = 1;
    const tool = makeTool({
      name: "edit",
      preview: async () => ({ kind: "text", text: `version ${version}` }),
      run: async (_args, { shown }) => {
        if (version === 1) {
          version = 2;
          throw new PreviewStale();
        }
        return { content: JSON.stringify(shown), ok: true };
      },
    });
    const s = stage([makeReply({ calls: [call("edit")] }), complete()], {
      tools: [tool],
      approver: asking(),
    });
    s.agent.watch((event) => {
      if (event.type === "approval.asked") {
        queueMicrotask(() => s.agent.send({ kind: "approve", call: event.call, always: false }));
      }
    });
    await runOnce(s);
    expect(s.all("approval.asked").map((event) => event.preview)).toEqual([
      { kind: "text", text: "version 1", reason: "may write", rule: "this command" },
      { kind: "text", text: "version 2", reason: "may write", rule: "this command" },
    ]);
    expect(s.all("tool.finished")[0]?.result).toContain("version 2");
  });
});
