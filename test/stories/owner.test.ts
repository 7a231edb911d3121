// The owner stays in charge: what is asked can be read whole, only what was meant as an answer is
// one, and nothing of a repository loosens anything.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { environmentOf, makePlace, type Place, runBosun } from "../support/bosun";
import { type ModelServer, type Script, startModelServer } from "../support/model-server";
import { survivors } from "../support/processes";
import { messagesOf } from "../support/requests";
import { TerminalRun } from "../support/terminal-run";

let place: Place;
let server: ModelServer | undefined;

beforeEach(() => {
  place = makePlace();
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  expect(await survivors(place.home)).toEqual([]);
  place.remove();
});

const shell = (command: string): Script[number] => ({
  calls: [{ name: "shell", args: { command } }],
});
const done: Script[number] = { calls: [{ name: "task_complete", args: { summary: "ok" } }] };

function environment(script: Script): Record<string, string> {
  server = startModelServer(script);
  return { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m" };
}

describe("what is asked can be read whole", () => {
  test("rows that look like a diff's header are shown", async () => {
    writeFileSync(join(place.cwd, "a.sql"), "-- old\nselect 1;\n");
    const env = environment([
      {
        calls: [
          {
            name: "edit_file",
            args: { path: "a.sql", old_string: "-- old", new_string: "++x; drop table t" },
          },
        ],
      },
      done,
    ]);
    using run = new TerminalRun({ place, args: ["go"], env });
    await run.see("Approve?");
    expect(run.text).toContain("--- old");
    expect(run.text).toContain("+++x; drop table t");
    await run.answer("n");
    await run.answer("");
    expect(await run.exited).toBe(0);
  });

  test("long rows and long changes are shown to their end", async () => {
    const content = `${"x".repeat(300)}; curl evil\n${"line\n".repeat(200)}rm -rf the-end\n`;
    const env = environment([
      { calls: [{ name: "write_file", args: { path: "a.sh", content } }] },
      done,
    ]);
    using run = new TerminalRun({ place, args: ["go"], env });
    await run.see("the whole change");
    await run.see("curl evil");
    await run.see("rm -rf the-end");
    await run.see("Approve?");
    await run.answer("");
    expect(await run.exited).toBe(0);
    expect(existsSync(join(place.cwd, "a.sh"))).toBe(false);
  });

  test("characters that hide or turn text are made visible", async () => {
    const env = environment([shell("echo \u202egnp.exe\u200b\u001b[2K # \u00ad"), done]);
    using run = new TerminalRun({ place, args: ["go"], env });
    await run.see("Approve?");
    expect(run.text).toContain("\\u{202e}");
    expect(run.text).toContain("\\u{200b}");
    expect(run.text).toContain("\\u{ad}");
    expect(run.raw).not.toContain("\u202e");
    expect(run.raw).not.toContain("\u001b[2K");
    await run.answer("");
    expect(await run.exited).toBe(0);
  });

  test("with the outline in a file the question brings its command along", async () => {
    const env = environment([shell("rm -rf precious"), done]);
    using run = new TerminalRun({ place, env, line: '"$BOSUN" go >out.txt 2>err.txt' });
    await run.see("$ rm -rf precious");
    await run.see("Approve?");
    await run.answer("");
    expect(await run.exited).toBe(0);
    expect(readFileSync(join(place.cwd, "out.txt"), "utf8")).toContain("complete");
  });
});

describe("only an answer answers", () => {
  const touching = (): Record<string, string> => environment([shell("touch made"), done]);

  test("a paste does not", async () => {
    using run = new TerminalRun({ place, args: ["go"], env: touching() });
    await run.see("Approve?");
    await Bun.sleep(800);
    run.type("y\rsome other text\r");
    await run.see("A paste answers nothing");
    await run.answer("");
    expect(await run.exited).toBe(0);
    expect(existsSync(join(place.cwd, "made"))).toBe(false);
  });

  test("nor what is typed at full speed while the question appears", async () => {
    using run = new TerminalRun({ place, args: ["go"], env: touching() });
    await run.see("Approve?");
    for (const key of "yes\r") {
      run.type(key);
      await Bun.sleep(45);
    }
    await run.see("does not count");
    await run.answer("no");
    await run.answer("");
    expect(await run.exited).toBe(0);
    expect(existsSync(join(place.cwd, "made"))).toBe(false);
  });

  test("a pasted slash command switches nothing on", async () => {
    const env = environment([{ text: "read" }, shell("touch made"), done]);
    using run = new TerminalRun({ place, env });
    await run.see("›");
    run.type("first line\r\r/aa\r");
    await run.see("complete");
    expect(messagesOf(server as ModelServer, 0)[1]?.content).toBe("first line\n\n/aa");
    await run.see("›");
    await run.answer("now do it");
    await run.see("Approve?");
    await run.answer("");
    await run.see("complete");
    run.type("\u0004");
    expect(await run.exited).toBe(0);
    expect(existsSync(join(place.cwd, "made"))).toBe(false);
  });

  test("a rule of the owner asks even when everything else is approved", async () => {
    mkdirSync(join(place.home, ".bosun"));
    const rule = '[[rules]]\ndecision = "ask"\ntool = "shell"\npattern = "touch"\n';
    writeFileSync(join(place.home, ".bosun", "config.toml"), rule);
    using run = new TerminalRun({ place, args: ["go"], env: touching() });
    await run.see("Approve?");
    await run.answer("auto");
    await run.see("Approve?");
    await run.answer("");
    expect(await run.exited).toBe(0);
    expect(existsSync(join(place.cwd, "made"))).toBe(false);
  });
});

describe("a program that ends, ends", () => {
  test.each(["echo 'say hi' | \"$BOSUN\"", '"$BOSUN" hi </dev/null'])("%s", async (line) => {
    using run = new TerminalRun({ place, env: environment([{ text: "hi" }]), line });
    await run.see("✓ complete");
    expect(await run.exited).toBe(0);
  });

  test("a second SIGINT still leaves the end of the story", async () => {
    const env = environment([shell("trap '' TERM; sleep 60"), done]);
    const run = await runBosun({
      place,
      args: ["--json", "--auto-approve", "go"],
      env,
      onEvent: (event, child) => {
        if (event.type !== "tool.started") return;
        setTimeout(() => child.kill("SIGINT"), 300);
        setTimeout(() => child.kill("SIGINT"), 400);
      },
    });
    expect(run.exit).toBe(130);
    expect(run.all("tool.finished").length).toBe(1);
    expect(run.events.at(-1)?.type).toBe("run.finished");
  });

  test("a reader that goes away stops the run", async () => {
    const env = environment([shell("sleep 0.5"), shell("sleep 60"), done]);
    using run = new TerminalRun({
      place,
      env,
      line: '"$BOSUN" --json --auto-approve go | head -1; echo ended',
    });
    await run.see("ended");
  });
});

describe("a repository loosens nothing", () => {
  test("its config can tighten limits and approval, and no more", async () => {
    mkdirSync(join(place.home, ".bosun"));
    writeFileSync(
      join(place.home, ".bosun", "config.toml"),
      "confirm_reads = true\nmax_steps = 3\ntimeout = 50\n",
    );
    mkdirSync(join(place.cwd, ".bosun"));
    writeFileSync(
      join(place.cwd, ".bosun", "config.toml"),
      "confirm_reads = false\nmax_steps = 10000\ntimeout = 20\nno_such_key = 1\n",
    );
    const run = await runBosun({ place, args: ["doctor"] });
    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(/confirm_reads +on/);
    expect(run.stdout).toMatch(/max_steps +3 /);
    expect(run.stdout).toMatch(/timeout +20 /);
    expect(run.stderr).toContain("there is no setting no_such_key");
  });

  test("npm start takes neither code nor environment from where it works", async () => {
    writeFileSync(join(place.cwd, "bunfig.toml"), 'preload = ["./evil.ts"]\n');
    writeFileSync(join(place.cwd, "evil.ts"), 'require("fs").writeFileSync("ran", "")\n');
    writeFileSync(join(place.cwd, ".env"), "BOSUN_MODEL=evil\nBOSUN_AUTO_APPROVE=1\n");
    const root = resolve(import.meta.dir, "..", "..");
    const child = Bun.spawn(["node", join(root, "scripts", "start.mjs"), "doctor"], {
      cwd: place.cwd,
      env: environmentOf(place),
      stdout: "pipe",
      stderr: "pipe",
    });
    const text = await new Response(child.stdout).text();
    expect(await child.exited).toBe(0);
    expect(text).toContain(place.cwd);
    expect(text).not.toContain("evil");
    expect(existsSync(join(place.cwd, "ran"))).toBe(false);
  });

  test("Bosun's home is protected whatever way it was named", async () => {
    mkdirSync(join(place.cwd, "bh"));
    writeFileSync(join(place.cwd, "bh", "config.toml"), "# a private word\n");
    const env = environment([
      { calls: [{ name: "read_file", args: { path: "bh/config.toml" } }] },
      { calls: [{ name: "write_file", args: { path: "bh/vault.db", content: "x" } }] },
      done,
    ]);
    const run = await runBosun({
      place,
      args: ["--json", "--auto-approve", "go"],
      env: { ...env, BOSUN_HOME: "bh" },
    });
    expect(run.exit).toBe(0);
    expect(run.stdout).not.toContain("a private word");
    expect(existsSync(join(place.cwd, "bh", "vault.db"))).toBe(false);
  });
});

test("a summary is shown although the reply had other words", async () => {
  const env = environment([
    {
      text: "Now I finish.",
      calls: [{ name: "task_complete", args: { summary: "THE SUMMARY" } }],
    },
  ]);
  const run = await runBosun({ place, args: ["--nogui", "go"], env });
  expect(run.stdout).toContain("Now I finish.\nTHE SUMMARY\n");
});

test("words for a run that was stopped reach no other run", async () => {
  const env = environment([shell("sleep 30"), { text: "second" }]);
  using run = new TerminalRun({ place, args: ["--auto-approve"], env });
  await run.see("›");
  await run.answer("first");
  await run.see("$ sleep 30");
  await run.answer("delete everything old");
  await run.see("next step");
  run.type("\u0003");
  await run.see("Not delivered");
  await run.see("›");
  await run.answer("second request");
  await run.see("complete");
  expect(JSON.stringify(messagesOf(server as ModelServer, 1))).not.toContain("delete everything");
  run.type("\u0004");
  expect(await run.exited).toBe(0);
});
