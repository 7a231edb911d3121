// Nothing is lost: what was said and done is there after any end, and nothing is done twice.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, type RunOutcome, runBosun } from "../support/bosun";
import {
  type ModelServer,
  type Script,
  type ScriptedAnswer,
  startModelServer,
} from "../support/model-server";
import { survivors } from "../support/processes";
import { messagesOf } from "../support/requests";
import { TerminalRun } from "../support/terminal-run";

let place: Place;
const servers: ModelServer[] = [];

beforeEach(() => {
  place = makePlace();
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  expect(await survivors(place.home)).toEqual([]);
  place.remove();
});

function serve(script: Script): { server: ModelServer; env: Record<string, string> } {
  const server = startModelServer(script);
  servers.push(server);
  return { server, env: { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m" } };
}

const shell = (command: string): Script[number] => ({
  calls: [{ name: "shell", args: { command } }],
});

const run = (
  env: Record<string, string>,
  args: readonly string[],
  options: Partial<Parameters<typeof runBosun>[0]> = {},
): Promise<RunOutcome> => runBosun({ place, args: ["--auto-approve", ...args], env, ...options });

const contents = (server: ModelServer, index: number): unknown[] =>
  messagesOf(server, index)
    .filter((message) => message.role !== "system")
    .map((message) => message.content);

async function idOf(env: Record<string, string>): Promise<string> {
  const { stdout } = await run(env, ["sessions"]);
  const id = /\d{8}_\d{6}_[0-9a-f]{4}/.exec(stdout)?.[0];
  if (id === undefined) throw new Error(`No session is listed: ${stdout}`);
  return id;
}

describe("going on", () => {
  test("a later run has the history of the earlier one, and its own instructions", async () => {
    const { server, env } = serve([shell("echo one"), { text: "first" }, { text: "second" }]);
    await run(env, ["begin"]);
    const later = await run(env, ["--resume", "and then?"]);
    expect(later.exit).toBe(0);
    expect(later.stderr).toContain("Restored 4 messages");
    expect(contents(server, 2)).toEqual([
      "begin",
      null,
      expect.stringContaining("one"),
      "first",
      "and then?",
    ]);
    expect(messagesOf(server, 2)[0]?.role).toBe("system");
  });

  test("an id names the session; without one it is the latest", async () => {
    const { server, env } = serve([{ text: "a" }, { text: "b" }, { text: "c" }, { text: "d" }]);
    await run(env, ["older"]);
    const older = await idOf(env);
    await run(env, ["newer"]);
    await run(env, ["--resume", "go on"]);
    await run(env, ["--resume", older, "go on"]);
    expect(contents(server, 2)[0]).toBe("newer");
    expect(contents(server, 3)[0]).toBe("older");
  });

  test("the directory of the next command and the task list are as they were", async () => {
    mkdirSync(join(place.cwd, "deep"));
    const items = [{ text: "later", state: "pending" }];
    const { server, env } = serve([
      shell("cd deep"),
      { calls: [{ name: "todo", args: { items } }] },
      { text: "x" },
      { text: "x" },
      shell("basename $PWD"),
      { text: "y" },
    ]);
    await run(env, ["begin"]);
    await run(env, ["--resume", "go on"]);
    expect(contents(server, 5).at(-1)).toContain("deep");
  });

  test("--no-session leaves nothing behind", async () => {
    const { env } = serve([shell("echo x"), { text: "a" }]);
    expect((await run(env, ["--no-session", "begin"])).exit).toBe(0);
    expect(existsSync(join(place.home, ".bosun", "projects"))).toBe(false);
  });
});

describe("after a kill", () => {
  test("at the first request: what was asked is there", async () => {
    let pid = 0;
    const first: ScriptedAnswer = () => {
      process.kill(pid, "SIGKILL");
      return { hang: true };
    };
    const { server, env } = serve([first, { text: "done" }]);
    await run(env, ["begin", "--json"], {
      onEvent: (_event, child) => {
        pid = child.pid;
      },
    });
    expect((await run(env, ["--resume", "go on"])).exit).toBe(0);
    expect(contents(server, server.requests.length - 1)).toEqual(["begin", "go on"]);
  });

  test("amid a command: it is not run again, and the model is told", async () => {
    const { server, env } = serve([
      shell("echo once >> log"),
      shell("echo twice >> log; sleep 30"),
      { text: "I see." },
    ]);
    await run(env, ["begin", "--json"], {
      onEvent: (event, child) => {
        if (event.type !== "tool.output" && event.type !== "tool.started") return;
        if (!existsSync(join(place.cwd, "log"))) return;
        const isSecond = event.type === "tool.started" && JSON.stringify(event.args).includes("30");
        if (isSecond) setTimeout(() => child.kill("SIGKILL"), 150);
      },
    });
    expect((await run(env, ["--resume", "go on"])).exit).toBe(0);
    expect(readFileSync(join(place.cwd, "log"), "utf8")).toBe("once\ntwice\n");
    const answers = messagesOf(server, 2).filter((message) => message.role === "tool");
    expect(answers.map(({ content }) => content.includes("[SESSION RECOVERED]"))).toEqual([
      false,
      true,
    ]);
    expect(answers[1]?.content).toContain("uncertain");
  });

  test("amid a question: the call that waited for approval is told as not run", async () => {
    const { server, env } = serve([shell("touch ran"), { text: "I see." }]);
    const asked = new TerminalRun({ place, args: ["begin"], env });
    await asked.see("Approve?");
    asked.kill("SIGKILL");
    await asked.exited;
    expect((await run(env, ["--resume", "go on"])).exit).toBe(0);
    const answer = messagesOf(server, 1).find((message) => message.role === "tool");
    expect(answer?.content).toContain("was not executed");
    expect(existsSync(join(place.cwd, "ran"))).toBe(false);
  });

  test("it was said once: a second resume finds a whole history", async () => {
    const { server, env } = serve([shell("sleep 30"), { text: "a" }, { text: "b" }]);
    await run(env, ["begin", "--json"], {
      onEvent: (event, child) => {
        if (event.type === "tool.started") child.kill("SIGKILL");
      },
    });
    await run(env, ["--resume", "two"]);
    const second = await run(env, ["--resume", "three"]);
    expect(second.stderr).not.toContain("without an end");
    expect(contents(server, 2).filter((text) => String(text).includes("RECOVERED")).length).toBe(1);
  });
});

describe("whose it is", () => {
  test("a session at work cannot be resumed, and the latest free one is another", async () => {
    const { env } = serve([{ text: "x" }, { hang: true }, { text: "y" }]);
    await run(env, ["free"]);
    const busy = new TerminalRun({ place, args: ["--auto-approve", "busy"], env });
    await busy.see("m · ");
    await Bun.sleep(300);
    const { stdout } = await run(env, ["sessions"]);
    const id = /(\d{8}_\d{6}_[0-9a-f]{4}).*busy.*at work/.exec(stdout)?.[1] ?? "";
    expect(id).not.toBe("");
    const refused = await run(env, ["--resume", id, "mine"]);
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining("at work")]);
    expect((await run(env, ["--resume", "mine"])).exit).toBe(0);
    busy[Symbol.dispose]();
    await busy.exited;
  });

  test("another endpoint is refused with the way out, which works", async () => {
    const first = serve([shell("echo x"), { text: "x" }]);
    await run(first.env, ["begin"]);
    const id = await idOf(first.env);
    const second = serve([{ text: "y" }]);
    const refused = await run(second.env, ["--resume", id, "go on"]);
    expect(refused.exit).toBe(64);
    expect(refused.stderr).toContain(`bosun sessions fork ${id}`);
    const copied = await run(second.env, ["sessions", "fork", id]);
    const copy = /--resume (\S+)/.exec(copied.stdout)?.[1] ?? "";
    expect((await run(second.env, ["--resume", copy, "go on"])).exit).toBe(0);
    expect(contents(second.server, 0)).toContain("begin");
  });

  test("another directory is told where it belongs, and may have a copy", async () => {
    const { server, env } = serve([{ text: "x" }, { text: "y" }]);
    await run(env, ["begin"]);
    const id = await idOf(env);
    const elsewhere = { ...place, cwd: join(place.home, "elsewhere") };
    mkdirSync(elsewhere.cwd);
    const refused = await run(env, ["--resume", id, "go on"], { place: elsewhere });
    expect([refused.exit, refused.stderr]).toEqual([64, expect.stringContaining(place.cwd)]);
    const listed = await run(env, ["sessions"], { place: elsewhere });
    expect(listed.stdout).toContain("In other places");
    expect(listed.stdout).toContain("begin");
    await run(env, ["sessions", "fork", id], { place: elsewhere });
    await run(env, ["--resume", "go on"], { place: elsewhere });
    expect(contents(server, 1)).toEqual(["begin", "x", "go on"]);
  });

  test("a repository that is made in the directory later changes nothing", async () => {
    const { env } = serve([{ text: "x" }]);
    await run(env, ["begin"]);
    Bun.spawnSync(["git", "init", "-q", "."], { cwd: place.cwd, env: { PATH: process.env.PATH } });
    expect((await run(env, ["sessions"])).stdout).toContain("begin");
  });
});

describe("when nothing can be kept", () => {
  test("the run does not begin, and says what to do", async () => {
    const { server, env } = serve([shell("touch ran"), { text: "x" }]);
    mkdirSync(join(place.home, ".bosun"));
    // Root may write everywhere, but nobody can make a directory below a file.
    await Bun.write(join(place.home, ".bosun", "projects"), "a file");
    const refused = await run(env, ["begin"]);
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toContain("--no-session");
    expect(server.requests.length).toBe(0);
    expect(existsSync(join(place.cwd, "ran"))).toBe(false);
  });

  test("a disk that gets full ends the run; what was kept is there afterwards", async () => {
    const home = join(place.home, ".bosun");
    mkdirSync(home);
    const mount = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", home]);
    if (mount.exitCode !== 0) {
      console.warn("No small disk can be mounted here: not tested.");
      return;
    }
    try {
      const steps = Array.from({ length: 30 }, (_, n) =>
        shell(`head -c 6000 /dev/zero | tr '\\0' ${n % 10}; touch ran${n}`),
      );
      const { server, env } = serve([...steps, { text: "never" }]);
      const full = await run(env, ["begin", "--json"]);
      expect(full.exit).toBe(1);
      expect(full.all("error")[0]).toMatchObject({ kind: "storage" });
      expect(full.all("error")[0]?.message).toContain("disk is full");
      const kept = contents(server, server.requests.length - 1).length;
      Bun.spawnSync(["mount", "-o", "remount,size=20m", home]);
      const next = serve([{ text: "done" }]);
      const listed = await run(env, ["sessions"]);
      expect(listed.stdout).toContain("begin");
      const id = /\d{8}_\d{6}_[0-9a-f]{4}/.exec(listed.stdout)?.[0] ?? "";
      const copied = await run(next.env, ["sessions", "fork", id]);
      expect(copied.exit).toBe(0);
      expect((await run(next.env, ["--resume", "go on"])).exit).toBe(0);
      expect(contents(next.server, 0).length).toBeGreaterThanOrEqual(kept);
    } finally {
      Bun.spawnSync(["umount", "-l", home]);
    }
  });
});

describe("in a conversation", () => {
  test("/new, /fork, /sessions and /resume move between conversations", async () => {
    const { server, env } = serve([
      { text: "answer A1" },
      { text: "answer B1" },
      { text: "answer F1" },
      { text: "answer A2" },
    ]);
    using talk = new TerminalRun({ place, args: ["--nogui", "--auto-approve"], env });
    await talk.see("› ");
    await talk.answer("alpha");
    await talk.see("answer A1");
    await talk.see("› ");
    await talk.answer("/new");
    await talk.see("new conversation");
    await talk.answer("beta");
    await talk.see("answer B1");
    await talk.see("› ");
    await talk.answer("/fork");
    await talk.see("a copy of");
    await talk.answer("fork's");
    await talk.see("answer F1");
    await talk.see("› ");
    await talk.answer("/sessions");
    const id = /(\d{8}_\d{6}_[0-9a-f]{4})/.exec(await talk.see(/\d{8}_\S+ .*alpha/))?.[1];
    await talk.answer(`/resume ${id}`);
    await talk.see("Restored 2 messages");
    await talk.answer("again");
    await talk.see("answer A2");
    expect(contents(server, 1)).toEqual(["beta"]);
    expect(contents(server, 2)).toEqual(["beta", "answer B1", "fork's"]);
    expect(contents(server, 3)).toEqual(["alpha", "answer A1", "again"]);
    await talk.answer("/quit");
    expect(await talk.exited).toBe(0);
  });
});
