// The main job: a repository with a failing test, a model that reads, edits, runs the tests and
// completes. All of it over a real wire, on the built executable.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, runBosun } from "../support/bosun";
import { type Script, startModelServer } from "../support/model-server";
import { survivors } from "../support/processes";
import { makeRepository, testsPass } from "../support/repository";
import { messagesOf } from "../support/requests";
import { TerminalRun } from "../support/terminal-run";

let place: Place;

beforeEach(() => {
  place = makePlace();
  makeRepository(place.cwd);
});

afterEach(async () => {
  expect(await survivors(place.home)).toEqual([]);
  place.remove();
});

const EDIT = {
  path: "src/slugify.js",
  old_string: '.replace(/\\s/g, "-")',
  new_string: '.replace(/\\s+/g, "-")',
};

const read = { calls: [{ name: "read_file", args: { path: "src/slugify.js" } }] };
const edit = { calls: [{ name: "edit_file", args: EDIT }] };
const runTests = { calls: [{ name: "shell", args: { command: "node --test" } }] };
const complete = {
  calls: [{ name: "task_complete", args: { summary: "A run of blanks is one dash now." } }],
};

const REPAIR: Script = [
  { reasoning: "First look.", text: "I look at it.", ...read },
  runTests,
  edit,
  runTests,
  complete,
];

function environment(url: string): Record<string, string> {
  return { BOSUN_API_BASE: url, BOSUN_MODEL: "scripted", BOSUN_API_KEY: "sk-story-0123456789" };
}

describe("unattended", () => {
  test("auto-approved, it ends with passing tests and tells the whole story", async () => {
    using server = startModelServer(REPAIR);
    const run = await runBosun({
      place,
      args: ["--json", "--auto-approve", "--verify", "node --test", "make the tests pass"],
      env: environment(server.url),
    });
    expect([run.exit, run.stderr]).toEqual([0, ""]);
    expect(testsPass(place.cwd)).toBe(true);
    expect(run.all("tool.finished").map(({ name, ok, exitCode }) => [name, ok, exitCode])).toEqual([
      ["read_file", true, null],
      ["shell", false, 1],
      ["edit_file", true, null],
      ["shell", true, 0],
      ["task_complete", true, null],
    ]);
    expect(run.all("verify").map(({ ok, exitCode }) => [ok, exitCode])).toEqual([[true, 0]]);
    expect(run.all("changes").flatMap(({ files }) => files)).toEqual(["src/slugify.js"]);
    const end = run.all("run.finished")[0];
    expect([end?.status, end?.summary, end?.steps, end?.exit]).toEqual([
      "complete",
      "A run of blanks is one dash now.",
      5,
      0,
    ]);
    expect(run.events.at(-1)?.type).toBe("run.finished");
    expect(run.events[0]?.type).toBe("run.started");
  });

  test("with nobody to ask, what would ask is denied at once and the run goes on", async () => {
    using server = startModelServer([edit, complete]);
    const before = readFileSync(join(place.cwd, EDIT.path), "utf8");
    const run = await runBosun({
      place,
      args: ["--json", "make the tests pass"],
      env: environment(server.url),
    });
    expect(run.exit).toBe(0);
    expect(run.all("approval.asked")).toEqual([]);
    expect(run.all("approval.answered").map(({ decision }) => decision)).toEqual(["deny"]);
    expect(run.all("tool.finished")[0]?.ok).toBe(false);
    expect(readFileSync(join(place.cwd, EDIT.path), "utf8")).toBe(before);
  });

  test("an endpoint that is gone for a while is waited for", async () => {
    using server = startModelServer(REPAIR);
    const run = await runBosun({
      place,
      args: ["--json", "--auto-approve", "make the tests pass"],
      env: environment(server.url),
      onEvent: (event) => {
        if (event.type === "tool.started" && event.name === "edit_file") void server.down(2500);
      },
    });
    expect(run.exit).toBe(0);
    expect(run.all("retry").length).toBeGreaterThan(0);
    expect(testsPass(place.cwd)).toBe(true);
  });

  test("a stop in the middle of a command ends it at once with exit status 130", async () => {
    using server = startModelServer([
      { calls: [{ name: "shell", args: { command: "sleep 60" } }] },
      complete,
    ]);
    const started = Date.now();
    const run = await runBosun({
      place,
      args: ["--json", "--auto-approve", "wait"],
      env: environment(server.url),
      onEvent: (event, child) => {
        if (event.type === "tool.started") setTimeout(() => child.kill("SIGINT"), 300);
      },
    });
    expect(run.exit).toBe(130);
    expect(Date.now() - started).toBeLessThan(5000);
    expect(run.all("run.finished")[0]?.status).toBe("stopped");
    expect(run.all("tool.finished")[0]?.ok).toBe(false);
    expect(server.requests.length).toBe(1);
  });

  test("a verify command that fails sends the model back to work", async () => {
    using server = startModelServer([complete, edit, complete]);
    const run = await runBosun({
      place,
      args: ["--json", "--auto-approve", "--verify", "node --test", "go"],
      env: environment(server.url),
    });
    expect(run.exit).toBe(0);
    expect(run.all("verify").map(({ ok }) => ok)).toEqual([false, true]);
    expect(JSON.stringify(server.requests[1]?.json)).toContain("[VERIFY FAILED]");
  });

  test("the step limit ends with exit status 2", async () => {
    using server = startModelServer(
      Array.from({ length: 9 }, (_, n) => ({
        calls: [{ name: "shell", args: { command: `echo ${n}` } }],
      })),
    );
    const run = await runBosun({
      place,
      args: ["--json", "--max-steps", "3", "count"],
      env: environment(server.url),
    });
    expect([run.exit, run.all("run.finished")[0]?.status]).toEqual([2, "limit"]);
  });
});

describe("by hand, on a terminal", () => {
  test("yes to the edit and to the tests", async () => {
    using server = startModelServer(REPAIR);
    using run = new TerminalRun({
      place,
      args: ["make the tests pass"],
      env: environment(server.url),
    });
    await run.see("$ node --test");
    await run.see("Approve?");
    await run.answer("y");
    await run.see("exit 1");
    await run.see('+    .replace(/\\s+/g, "-")');
    await run.see("Approve?");
    expect(testsPass(place.cwd)).toBe(false);
    await run.answer("y");
    await run.see("Approve?");
    await run.answer("y");
    await run.see("✓ complete");
    expect(await run.exited).toBe(0);
    expect(testsPass(place.cwd)).toBe(true);
  });

  test.each(["n", "", "\u0004"])("the answer %j changes nothing", async (answer) => {
    using server = startModelServer([edit, complete]);
    using run = new TerminalRun({ place, args: ["go"], env: environment(server.url) });
    await run.see("Approve?");
    if (answer === "\u0004") {
      await Bun.sleep(600);
      run.type(answer);
    } else {
      await run.answer(answer);
    }
    if (answer === "n") {
      await run.see("What should it do instead?");
      await run.answer("");
    }
    await run.see("denied");
    expect(await run.exited).toBe(0);
    expect(testsPass(place.cwd)).toBe(false);
    expect(JSON.stringify(server.requests[1]?.json)).toContain("Denied");
  });

  test("Ctrl+C at the question stops the run and approves nothing", async () => {
    using server = startModelServer([edit, complete]);
    using run = new TerminalRun({ place, args: ["go"], env: environment(server.url) });
    await run.see("Approve?");
    await Bun.sleep(600);
    run.type("\u0003");
    await run.see("stopped");
    expect(await run.exited).toBe(130);
    expect(testsPass(place.cwd)).toBe(false);
  });

  test("a suggestion goes to the model instead", async () => {
    using server = startModelServer([edit, complete]);
    using run = new TerminalRun({ place, args: ["go"], env: environment(server.url) });
    await run.see("Approve?");
    await run.answer("use split and join");
    expect(await run.exited).toBe(0);
    expect(messagesOf(server, 1).at(-1)).toEqual({ role: "user", content: "use split and join" });
    expect(testsPass(place.cwd)).toBe(false);
  });

  test("what was typed before the question never answers it", async () => {
    using server = startModelServer([{ delayMs: 700, ...edit }, complete]);
    using run = new TerminalRun({ place, args: ["go"], env: environment(server.url) });
    await run.see("scripted · ");
    run.type("y");
    await run.see("Approve?");
    run.type("\r");
    await run.see("does not count");
    await run.answer("n");
    await run.answer("");
    expect(await run.exited).toBe(0);
    expect(testsPass(place.cwd)).toBe(false);
  });

  test("always approves the same again without asking, and nothing wider", async () => {
    const call = (command: string) => ({ calls: [{ name: "shell", args: { command } }] });
    using server = startModelServer([
      call("npm run a"),
      call("npm run a"),
      call("npm run a-evil"),
      complete,
    ]);
    using run = new TerminalRun({ place, args: ["go"], env: environment(server.url) });
    await run.see("npm run a");
    await run.see("Approve?");
    await run.answer("a");
    await run.see("$ npm run a-evil");
    await run.see("Approve?");
    await run.answer("n");
    await run.answer("");
    expect(await run.exited).toBe(0);
    expect(run.text.match(/Approve\?/g)?.length).toBe(2);
  });
});
