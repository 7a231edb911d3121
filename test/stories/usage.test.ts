// The command line's contract: what is refused and how, help, version, policy, doctor, the demo.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, runBosun } from "../support/bosun";
import { startModelServer } from "../support/model-server";
import { survivors } from "../support/processes";
import { messagesOf } from "../support/requests";
import { TerminalRun } from "../support/terminal-run";

let place: Place;

beforeEach(() => {
  place = makePlace();
});

afterEach(async () => {
  expect(await survivors(place.home)).toEqual([]);
  place.remove();
});

const ENDPOINT = { BOSUN_API_BASE: "http://127.0.0.1:9/v1", BOSUN_MODEL: "m" };

describe("bad usage is one clear line and exit status 64", () => {
  test.each([
    [["--modle", "x"], "There is no flag --modle. Did you mean --model?"],
    [["--model"], "--model needs a value"],
    [["--timeout", "soon", "go"], '--timeout must be a whole number from 1 to 86400, not "soon"'],
    [["--timeout", "0", "go"], "--timeout must be a whole number"],
    [["--max-steps", "-3", "go"], '--max-steps must be a whole number of at least 1, not "-3"'],
    [["--compress-target", "2", "go"], "--compress-target must be a number from 0.05 to 0.95"],
    [["--compress-alg", "zip", "go"], "--compress-alg must be one of"],
    [["--api-base", "localhost:1", "go"], "--api-base must be a URL"],
    [["--config", "missing.toml", "go"], "missing.toml cannot be read: it does not exist"],
    [["--nogui"], "There is no request"],
    [["--json"], "There is no request"],
    [["--loop", "PROMPT.md"], "--loop is not in this version"],
    [["models"], "bosun models is not in this version"],
    [["--resume", "20260101_000000_abcd", "go"], "There is no session 20260101_000000_abcd"],
    [["--resume", "go"], "There is no session here to resume"],
    [["sessions", "rename"], "sessions takes no words"],
    [["policy"], "policy needs a command"],
  ])("%j", async (args, message) => {
    const run = await runBosun({ place, args, env: ENDPOINT });
    expect([run.exit, run.stdout]).toEqual([64, ""]);
    expect(run.stderr).toContain(message);
    expect(run.stderr.trim().split("\n").length).toBe(1);
    expect(run.stderr).toStartWith("bosun: ");
  });

  test("a variable with a bad value is named", async () => {
    const run = await runBosun({ place, args: ["go"], env: { ...ENDPOINT, BOSUN_TIMEOUT: "x" } });
    expect([run.exit, run.stderr]).toEqual([
      64,
      'bosun: The variable BOSUN_TIMEOUT must be a whole number from 1 to 86400, not "x".\n',
    ]);
  });

  test("a broken config names the file and the line", async () => {
    mkdirSync(join(place.home, ".bosun"));
    writeFileSync(join(place.home, ".bosun", "config.toml"), 'model = "a"\ntimeout = = 3\n');
    const run = await runBosun({ place, args: ["go"], env: ENDPOINT });
    expect(run.exit).toBe(64);
    expect(run.stderr).toContain("config.toml, line 2");
  });

  test("an unknown key in a config names the nearest", async () => {
    mkdirSync(join(place.home, ".bosun"));
    writeFileSync(join(place.home, ".bosun", "config.toml"), "timout = 3\n");
    const run = await runBosun({ place, args: ["go"], env: ENDPOINT });
    expect([run.exit, run.stderr.includes("Did you mean timeout?")]).toEqual([64, true]);
  });

  test("a config that is a directory, or a rule that fails its own examples, is refused", async () => {
    mkdirSync(join(place.home, ".bosun", "config.toml"), { recursive: true });
    const first = await runBosun({ place, args: ["go"], env: ENDPOINT });
    expect([first.exit, first.stderr.includes("is not a file")]).toEqual([64, true]);
    const rules =
      '[[rules]]\ndecision = "allow"\ntool = "shell"\npattern = "npm test"\nmatch = ["npm run x"]\n';
    writeFileSync(join(place.cwd, "mine.toml"), rules);
    const second = await runBosun({ place, args: ["--config", "mine.toml", "go"], env: ENDPOINT });
    expect([second.exit, second.stderr.includes("npm run x")]).toEqual([64, true]);
  });
});

describe("a project's own config", () => {
  beforeEach(() => mkdirSync(join(place.cwd, ".bosun")));

  test("can set no endpoint, credential, approval mode or command", async () => {
    using server = startModelServer([{ calls: [{ name: "shell", args: { command: "touch x" } }] }]);
    writeFileSync(
      join(place.cwd, ".bosun", "config.toml"),
      'api_base = "http://127.0.0.1:1/v1"\napi_key = "stolen"\nauto_approve = true\nverify = "touch y"\n',
    );
    const run = await runBosun({
      place,
      args: ["--json", "--max-steps", "1", "go"],
      env: { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m" },
    });
    expect(run.stderr.trim().split("\n").length).toBe(4);
    expect(run.all("approval.answered")[0]?.decision).toBe("deny");
    expect([existsSync(join(place.cwd, "x")), existsSync(join(place.cwd, "y"))]).toEqual([
      false,
      false,
    ]);
  });

  test("can tighten, not loosen, approval", async () => {
    const rule = (decision: string) =>
      `[[rules]]\ndecision = "${decision}"\ntool = "shell"\npattern = "ls"\n`;
    writeFileSync(join(place.cwd, ".bosun", "config.toml"), rule("allow"));
    const loosened = await runBosun({ place, args: ["policy", "ls"] });
    expect(loosened.exit).toBe(64);
    writeFileSync(join(place.cwd, ".bosun", "config.toml"), rule("deny"));
    const tightened = await runBosun({ place, args: ["policy", "--json", "ls"] });
    expect(JSON.parse(tightened.stdout)).toMatchObject({ command: "ls", verdict: "deny" });
  });
});

describe("questions about the program", () => {
  test("--help lists the flags, --version the version", async () => {
    const help = await runBosun({ place, args: ["--help"] });
    expect([help.exit, help.stderr]).toEqual([0, ""]);
    for (const flag of ["--api-base URL", "--verify CMD", "--max-steps N", "--json"]) {
      expect(help.stdout).toContain(flag);
    }
    const version = await runBosun({ place, args: ["--version"] });
    expect(version.stdout).toMatch(/^bosun \d+\.\d+\.\d+\n$/);
  });

  test("policy says what would happen, and runs nothing", async () => {
    const ask = async (...args: string[]) => {
      const { stdout, exit } = await runBosun({ place, args: ["policy", ...args] });
      return { ...(JSON.parse(stdout) as object), exit };
    };
    expect(await ask("--json", "ls -la")).toMatchObject({ verdict: "read-only", exit: 0 });
    expect(await ask("touch made; ls", "--json")).toMatchObject({ verdict: "ask" });
    expect(await ask("--json", "--", "--help")).toMatchObject({
      command: "--help",
      verdict: "ask",
    });
    expect(await ask("--json", "cat ~/.bosun/config.toml")).toMatchObject({ verdict: "deny" });
    expect(existsSync(join(place.cwd, "made"))).toBe(false);
    const words = await runBosun({ place, args: ["policy", "git", "push"] });
    expect(words.stdout).toStartWith("ask: ");
  });

  test("doctor shows each setting with its source, and no credential", async () => {
    using server = startModelServer([], { models: ["m", "n"] });
    const run = await runBosun({
      place,
      args: ["--timeout", "7", "doctor"],
      env: { BOSUN_API_BASE: server.url, BOSUN_API_KEY: "sk-secret-0123456789abcdef" },
    });
    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(/timeout +7 +\(flag --timeout\)/);
    expect(run.stdout).toMatch(/api_key +••••cdef +\(environment BOSUN_API_KEY\)/);
    expect(run.stdout).toMatch(/max_steps +500 +\(default\)/);
    expect(run.stdout).toContain("2 models");
    expect(run.stdout).toMatch(/Sandbox\n +state +on +\(measured; Landlock \d+\)/);
    expect(run.stdout).toMatch(/writes outside +guarded\n/);
    expect(run.stdout).not.toContain("sk-secret");
  });
});

describe("without an endpoint", () => {
  test("a script gets the three ways and exit status 64", async () => {
    const run = await runBosun({
      place,
      args: ["go"],
      env: { GROQ_API_KEY: "gsk-0123456789" },
    });
    expect([run.exit, run.stdout]).toEqual([64, ""]);
    expect(run.stderr).toContain("Found GROQ_API_KEY (Groq)");
    expect(run.stderr).toContain("--api-base https://api.groq.com/openai/v1");
    expect(run.stderr).toContain("bosun --demo");
    expect(run.stderr).not.toContain("gsk-0123456789");
  });

  test("on a terminal the demo is offered, and says that it is a script", async () => {
    using run = new TerminalRun({ place, args: ["--auto-approve"] });
    await run.see("Run the demo now?");
    await run.answer("y");
    await run.see("I am a script, not a model");
    await run.see("numbr");
    await run.see("as expected");
    await run.see("✓ complete");
    expect(await run.exited).toBe(0);
    expect(existsSync(join(place.cwd, "bosun-demo", "primes.sh"))).toBe(true);
  });
});

describe("the demo", () => {
  test("does a real job, each time in a folder of its own", async () => {
    for (const folder of ["bosun-demo", "bosun-demo-2"]) {
      const run = await runBosun({ place, args: ["--demo", "--json", "--auto-approve"] });
      expect(run.exit).toBe(0);
      const exits = run.all("tool.finished").filter(({ name }) => name === "shell");
      expect(exits.map(({ exitCode }) => exitCode)).toEqual([1, 0]);
      const program = join(place.cwd, folder, "primes.sh");
      expect(readFileSync(program, "utf8")).toContain('is_prime "$number"');
    }
  });

  test("ends with words when its steps are not approved", async () => {
    const run = await runBosun({ place, args: ["--demo", "--json"] });
    expect(run.exit).toBe(0);
    expect(run.all("run.finished")[0]?.summary).toContain("not approved");
    expect(existsSync(join(place.cwd, "bosun-demo"))).toBe(false);
  });
});

describe("requests", () => {
  test("come from standard input, too", async () => {
    using server = startModelServer([{ text: "hello" }]);
    const env = { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m" };
    const run = await runBosun({ place, args: ["--nogui"], env, stdin: "say hello\n" });
    expect([run.exit, run.stdout.includes("hello")]).toEqual([0, true]);
    expect(messagesOf(server, 0)[1]).toEqual({ role: "user", content: "say hello" });
  });

  test("in a pipe the text is plain, on a terminal coloured unless NO_COLOR is set", async () => {
    using server = startModelServer(() => ({ text: "a \u001b[31mred\u001b[0m answer" }));
    const env = { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m" };
    const piped = await runBosun({ place, args: ["run", "go"], env });
    expect(piped.stdout).not.toContain("\u001b");
    using coloured = new TerminalRun({ place, args: ["go"], env });
    expect(await coloured.exited).toBe(0);
    expect(coloured.raw).toContain("\u001b[");
    expect(coloured.raw).not.toContain("\u001b[31mred");
    using plain = new TerminalRun({ place, args: ["go"], env: { ...env, NO_COLOR: "1" } });
    expect(await plain.exited).toBe(0);
    expect(plain.raw).not.toContain("\u001b");
  });

  test("the only model of an endpoint is taken, several are named", async () => {
    using one = startModelServer([{ text: "hi" }], { models: ["only"] });
    const run = await runBosun({
      place,
      args: ["--nogui", "go"],
      env: { BOSUN_API_BASE: one.url },
    });
    expect([run.exit, one.requests[0]?.json.model]).toEqual([0, "only"]);
    using two = startModelServer([], { models: ["a", "b"] });
    const refused = await runBosun({ place, args: ["go"], env: { BOSUN_API_BASE: two.url } });
    expect([refused.exit, refused.stderr.includes("a, b")]).toEqual([64, true]);
  });

  test("project instructions are in the system prompt, but no file from elsewhere", async () => {
    using server = startModelServer(() => ({ text: "ok" }));
    const env = { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m" };
    writeFileSync(join(place.home, "private.txt"), "a private word");
    Bun.spawnSync(["ln", "-s", join(place.home, "private.txt"), join(place.cwd, "AGENTS.md")]);
    writeFileSync(join(place.cwd, "CLAUDE.md"), `Use tabs. ${"x".repeat(20_000)}`);
    await runBosun({ place, args: ["--json", "go"], env });
    const prompt = String(messagesOf(server, 0)[0]?.content);
    expect(prompt).toContain("Use tabs.");
    expect(prompt).not.toContain("a private word");
    expect(prompt.length).toBeLessThan(20_000);
  });

  test("--debug writes the history where it is told, without the key", async () => {
    using server = startModelServer([{ text: "ok" }]);
    const dumps = join(place.home, "dumps");
    const run = await runBosun({
      place,
      args: ["--json", "--debug", "my key is sk-debug-0123456789"],
      env: {
        BOSUN_API_BASE: server.url,
        BOSUN_MODEL: "m",
        BOSUN_API_KEY: "sk-debug-0123456789",
        BOSUN_DEBUG_DUMP_DIR: dumps,
      },
    });
    expect(run.exit).toBe(0);
    const [name = ""] = [...new Bun.Glob("*.txt").scanSync(dumps)];
    const dump = readFileSync(join(dumps, name), "utf8");
    expect(dump).toContain("my key is [credential]");
    expect(dump).toContain("--- 1 system");
  });

  test("an unreadable working directory or a read-only one does not crash the program", async () => {
    using server = startModelServer([{ text: "ok" }]);
    chmodSync(place.cwd, 0o555);
    const env = { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m" };
    const run = await runBosun({ place, args: ["--json", "go"], env });
    chmodSync(place.cwd, 0o755);
    expect(run.exit).toBe(0);
  });
});
