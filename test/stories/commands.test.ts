// Commands of the agent on the built executable: what they see, what they leave behind, and how
// the program stays in charge of them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePlace, type Place, runBosun } from "../support/bosun";
import { type Script, startModelServer } from "../support/model-server";
import { processesWith, survivors } from "../support/processes";
import { messagesOf } from "../support/requests";

let place: Place;

beforeEach(() => {
  place = makePlace();
});

afterEach(async () => {
  expect(await survivors(place.home)).toEqual([]);
  place.remove();
});

const KEY = "sk-commands-0123456789";

const shell = (command: string, more: object = {}): Script[number] => ({
  calls: [{ name: "shell", args: { command, ...more } }],
});

const done: Script[number] = { calls: [{ name: "task_complete", args: { summary: "ok" } }] };

function play(
  script: Script,
  args: readonly string[] = [],
  onEvent?: Parameters<typeof runBosun>[0]["onEvent"],
) {
  const server = startModelServer(script);
  return runBosun({
    place,
    args: ["--json", "--auto-approve", ...args, "go"],
    env: { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m", BOSUN_API_KEY: KEY },
    ...(onEvent ? { onEvent } : {}),
  }).then(async (run) => {
    await server.close();
    return { run, server, results: run.all("tool.finished").map(({ result }) => result) };
  });
}

describe("what a command sees", () => {
  test("no credential, in no way that is its own or its owner's", async () => {
    const { results, run } = await play([
      shell("env; p=/proc; cat $p/self/environ $p/$PPID/environ | tr '\\0' '\\n'"),
      shell(
        "for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ; done 2>/dev/null | grep -a sk-comm",
      ),
      shell(`k=sk-commands; printf '%s-01234' "$k"; sleep 0.1; printf '56789\\n'`),
      done,
    ]);
    expect(run.stdout).not.toContain(KEY);
    expect(results[0]).toContain("PAGER=cat");
    expect(results[0]).not.toContain("BOSUN_API_KEY=s");
    expect(run.all("tool.finished")[1]?.exitCode).toBe(1);
    expect(results[2]).toContain("[credential]");
  });

  test("a key on the command line is covered, too", async () => {
    const server = startModelServer([
      shell("tr '\\0' ' ' </proc/$PPID/cmdline; ps -eo args | grep -c '[s]k-argument'"),
      done,
    ]);
    const run = await runBosun({
      place,
      args: ["--json", "--auto-approve", "--api-key", "sk-argument-0123456789", "go"],
      env: { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m" },
    });
    await server.close();
    expect(run.exit).toBe(0);
    expect(run.stdout).not.toContain("sk-argument");
    expect(server.requests[0]?.headers.authorization).toBe("Bearer sk-argument-0123456789");
  });

  test("a terminal, its own directory carried over, but no variables of earlier commands", async () => {
    const { results } = await play([
      shell("mkdir -p a/b; cd a/b; export X=1; test -t 1 && tput cols"),
      shell('pwd; echo "x=$X"'),
      { calls: [{ name: "write_file", args: { path: "here.txt", content: "hi\n" } }] },
      done,
    ]);
    expect(results[1]).toContain("project/a/b");
    expect(results[1]).toContain("x=\n");
    expect(existsSync(join(place.cwd, "a", "b", "here.txt"))).toBe(true);
  });

  test.each(["read x; echo got:$x", "cat", "python3", "git commit", "ssh-keygen -f k </dev/tty"])(
    "%s does not wait for input that nobody gives",
    async (command) => {
      const started = Date.now();
      const { run } = await play([shell(command), done]);
      expect(run.exit).toBe(0);
      expect(Date.now() - started).toBeLessThan(12_000);
    },
  );
});

describe("long outputs", () => {
  test("both ends and the sentinel reach the model, the whole can be read", async () => {
    let id = "";
    const { run, results } = await play([
      shell("for i in $(seq 1 5000); do echo line-$i; done"),
      (request) => {
        const told = JSON.parse(request.body).messages.at(-1).content as string;
        id = /read_artifact \{"id": "(\w+)"/.exec(told)?.[1] ?? "";
        return { calls: [{ name: "read_artifact", args: { id, offset: 20_000 } }] };
      },
      done,
    ]);
    expect(run.all("tool.finished")[0]?.truncated).toBe(true);
    expect(results[0]).toContain("line-1\n");
    expect(results[0]).toContain("line-5000\n");
    expect(results[0]).toContain("output too long: truncated");
    expect(Buffer.byteLength(results[0] ?? "")).toBeLessThan(10_240 + 600);
    expect(id).not.toBe("");
    expect(results[1]).toMatch(/line-2\d\d\d\n/);
  });

  test("a command that prints without end is killed, and the run goes on", async () => {
    const { run, results } = await play([shell("yes"), done]);
    expect(run.exit).toBe(0);
    expect(run.all("tool.finished")[0]?.ok).toBe(false);
    expect(results[0]).toContain("output too long: truncated");
  });

  test("redraws are collapsed and escape codes removed for the model", async () => {
    const { results } = await play([
      shell(
        "for i in 10 50 100; do printf '\\r%s%%' $i; done; printf '\\n\\033[31mred\\033[0m\\n'",
      ),
      done,
    ]);
    expect(results[0]).toStartWith("100%\nred\n");
  });
});

describe("in time", () => {
  test("a timeout kills the whole group", async () => {
    const { run, results } = await play([shell("sleep 300 | cat", { timeout: 1 }), done]);
    expect(run.all("tool.finished")[0]?.ok).toBe(false);
    expect(results[0]).toMatch(/1 s|timed out|time/);
  });

  test("a child in the background does not hold the command, and is gone at the end", async () => {
    const started = Date.now();
    const { run, results } = await play([shell("sleep 300 & echo hi"), done]);
    expect(Date.now() - started).toBeLessThan(6000);
    expect(results[0]).toContain("hi");
    expect(results[0]).toContain("still");
    expect(run.exit).toBe(0);
  });

  test("a job returns at once, its end is told at the next step, and it dies with the agent", async () => {
    const { run, results, server } = await play([
      shell("echo working; sleep 0.3; exit 3", { background: true }),
      shell("sleep 1"),
      shell("sleep 500", { background: true }),
      done,
    ]);
    expect(results[0]).toMatch(/pid \d+/);
    const told = messagesOf(server, 2).at(-1);
    expect(told?.role).toBe("user");
    expect(told?.content).toContain("exit status 3");
    expect(told?.content).toContain("working");
    const states = run.all("job").map(({ state, exitCode }) => [state, exitCode]);
    expect(states).toEqual([
      ["running", null],
      ["exited", 3],
      ["running", null],
    ]);
  });
});

describe("nothing is left behind", () => {
  const directoriesOf = (pid: number): string[] =>
    readdirSync(tmpdir()).filter((name) => name.startsWith(`bosun-${pid}-`));

  test.each(["SIGTERM", "SIGHUP", "SIGINT"] as const)("by %s in a command", async (signal) => {
    const { run } = await play(
      [shell("setsid sleep 400 & (sleep 401 &) ; bash -c 'sleep 402 | cat'"), done],
      [],
      (event, child) => {
        if (event.type === "tool.started") setTimeout(() => child.kill(signal), 500);
      },
    );
    expect(run.exit).toBe(130);
    expect(run.all("run.finished")[0]?.status).toBe("stopped");
    expect(await survivors(place.home)).toEqual([]);
    expect(directoriesOf(run.pid)).toEqual([]);
  });

  test("a second SIGINT leaves at once", async () => {
    const { run } = await play([shell("trap '' TERM; sleep 60"), done], [], (event, child) => {
      if (event.type !== "tool.started") return;
      setTimeout(() => child.kill("SIGINT"), 300);
      setTimeout(() => child.kill("SIGINT"), 350);
    });
    expect(run.exit).toBe(130);
  });

  test("a killed program leaves no shell running", async () => {
    await play([shell("sleep 0.2"), { hang: true }], [], (event, child) => {
      if (event.type === "tool.finished") setTimeout(() => child.kill("SIGKILL"), 300);
    }).catch(() => undefined);
    expect(await survivors(place.home)).toEqual([]);
    expect(processesWith(place.home)).toEqual([]);
  });
});

test("the file that was shown is the file that is written", async () => {
  const { run } = await play([
    { calls: [{ name: "write_file", args: { path: "a.txt", content: "one\n" } }] },
    {
      calls: [
        { name: "edit_file", args: { path: "a.txt", old_string: "one", new_string: "$& 2" } },
      ],
    },
    done,
  ]);
  expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("$& 2\n");
  const preview = run.all("tool.started")[1]?.preview;
  expect(preview).toMatchObject({ kind: "diff", added: 1, removed: 1 });
});
