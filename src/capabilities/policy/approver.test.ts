// The order of decisions, and that "always" never reaches further than what was shown.

import { describe, expect, test } from "bun:test";
import type { Effect, ToolCall, Verdict } from "#agent/ports";
import { loadGrammar } from "#app/grammar";
import { type ApproverOptions, createApprover } from "./approver";
import { explainCommand } from "./explain";
import { readRules } from "./rule-table";

const ROOT = "/home/user/project";
const OPTIONS: ApproverOptions = {
  home: "/home/user/.bosun",
  userHome: "/home/user",
  loadGrammar,
  workspace: { root: ROOT },
  rules: [],
  confirmReads: false,
  autoApprove: false,
  attended: true,
  disposable: false,
};

function callOf(name: string): ToolCall {
  return { id: "call_1", name, args: {} };
}

function run(command: string, cwd = ROOT): [ToolCall, Effect] {
  return [callOf("shell"), { kind: "run", command, cwd }];
}

function write(path: string, tool = "write_file"): [ToolCall, Effect] {
  return [callOf(tool), { kind: "write", paths: [path] }];
}

function read(path: string): [ToolCall, Effect] {
  return [callOf("read_file"), { kind: "read", paths: [path] }];
}

const NONE: [ToolCall, Effect] = [callOf("todo"), { kind: "none" }];

async function kindOf(
  what: [ToolCall, Effect],
  changed: Partial<ApproverOptions> = {},
): Promise<Verdict["kind"]> {
  return (await createApprover({ ...OPTIONS, ...changed }).decide(...what)).kind;
}

function rulesOf(...tables: unknown[]): Pick<ApproverOptions, "rules"> {
  return { rules: readRules(tables, { source: "user" }) };
}

describe("without rules", () => {
  test("reads are free, everything else asks", async () => {
    expect(await kindOf(run("ls -la"))).toBe("allow");
    expect(await kindOf(read("/home/user/other/a"))).toBe("allow");
    expect(await kindOf(NONE)).toBe("allow");
    expect(await kindOf(run("npm test"))).toBe("ask");
    expect(await kindOf(write(`${ROOT}/a`))).toBe("ask");
    expect(await kindOf([callOf("odd"), { kind: "new" } as unknown as Effect])).toBe("ask");
  });

  test("reads ask when they are to be confirmed; what does nothing does not", async () => {
    const changed = { confirmReads: true };
    expect(await kindOf(run("ls"), changed)).toBe("ask");
    expect(await kindOf(read(`${ROOT}/a`), changed)).toBe("ask");
    expect(await kindOf(NONE, changed)).toBe("allow");
    expect(await kindOf(run("ls"), { ...changed, autoApprove: true })).toBe("allow");
  });

  test("private paths are denied in every mode", async () => {
    const modes = [{}, { autoApprove: true }, { disposable: true, autoApprove: true }];
    const calls = [
      run("cat ~/.bosun/vault.db"),
      run("rm -rf /home/user/.bosun"),
      run("cp ~/.ssh/id_rsa /tmp"),
      run("echo x > .git/hooks/pre-commit"),
      read("/home/user/.bosun/vault.db"),
      read("/home/user/.ssh/id_ed25519"),
      read("/proc/123/environ"),
      write("/home/user/.bosun/config.toml"),
      write(`${ROOT}/.git/hooks/pre-commit`),
      write(`${ROOT}/.git/config`),
      write(`${ROOT}/vendor/x/.git/modules/y/config`),
      write(`${ROOT}/.bosun/config.toml`),
      write(`${ROOT}/.bosun`),
    ];
    for (const mode of modes) {
      for (const call of calls) expect([call, await kindOf(call, mode)]).toEqual([call, "deny"]);
    }
    expect(await kindOf(read(`${ROOT}/.git/config`))).toBe("allow");
    expect(await kindOf(read(`${ROOT}/.bosun/session.json`))).toBe("allow");
    expect(await kindOf(write(`${ROOT}/.gitignore`))).toBe("ask");
  });

  test("auto-approve runs the rest, and can be switched at any time", async () => {
    const approver = createApprover(OPTIONS);
    expect((await approver.decide(...run("npm test"))).kind).toBe("ask");
    approver.autoApprove = true;
    expect((await approver.decide(...run("npm test"))).kind).toBe("allow");
    expect((await approver.decide(...write(`${ROOT}/a`))).kind).toBe("allow");
    approver.autoApprove = false;
    expect((await approver.decide(...run("npm test"))).kind).toBe("ask");
  });

  test("a disposable environment runs commands, and still asks for files", async () => {
    expect(await kindOf(run("rm -rf x"), { disposable: true })).toBe("allow");
    expect(await kindOf(write(`${ROOT}/a`), { disposable: true })).toBe("ask");
  });

  test("with nobody there, what would ask is denied, and the reason says how to allow it", async () => {
    const verdict = await createApprover({ ...OPTIONS, attended: false }).decide(
      ...run("npm test"),
    );
    expect(verdict.kind).toBe("deny");
    expect(verdict.reason).toContain("`npm` is not known to only read; nobody is there to approve");
    expect(verdict.reason).toContain("--auto-approve");
    expect(await kindOf(run("ls"), { attended: false })).toBe("allow");
    expect(await kindOf(run("npm test"), { attended: false, autoApprove: true })).toBe("allow");
  });
});

describe("rules", () => {
  const allowTest = { decision: "allow", pattern: "npm test" };

  test("allow every part of a command, or nothing of it", async () => {
    const changed = rulesOf(allowTest);
    const free = [
      "npm test",
      "npm test -- -x",
      "npm test | head",
      "ls && npm test 2>&1 | tail -5",
      "npm test >/dev/null",
      "(npm test)",
    ];
    // Inside of structure an unlisted command asks before the structure is looked into.
    for (const command of free.slice(0, -1)) {
      expect([command, await kindOf(run(command), changed)]).toEqual([command, "allow"]);
    }
    const asks = [
      "npm test; rm x",
      "npm test && npm publish",
      "npm test > f",
      "npm test $(id)",
      "npm test `id`",
      "X=1 npm test",
      "npm test & rm x",
      "npm test-evil",
      "npm  run test",
      "env npm test",
      "sudo npm test",
      "bash -c 'npm test'",
      "npm test | sh",
      "npm test\nrm x",
      "npm test <(rm x)",
      "npm test $" + "{x:=y}",
      "npm test | tee f",
      "./npm test",
      "PATH=. npm test",
      "npm test\u202e",
      "(npm test; rm x)",
    ];
    for (const command of asks) {
      expect([command, await kindOf(run(command), changed)]).toEqual([command, "ask"]);
    }
  });

  test("the last match wins, and deny beats auto-approve", async () => {
    const deny = { decision: "deny", pattern: "git push" };
    const allow = { decision: "allow", pattern: "git push origin dev" };
    expect(await kindOf(run("git push"), { ...rulesOf(deny), autoApprove: true })).toBe("deny");
    expect(await kindOf(run("git push origin dev"), rulesOf(deny, allow))).toBe("allow");
    expect(await kindOf(run("git push origin dev"), rulesOf(allow, deny))).toBe("deny");
    expect(await kindOf(run("ls; git push"), rulesOf(deny))).toBe("deny");
    expect(await kindOf(run("echo $(git push)"), { ...rulesOf(deny), autoApprove: true })).toBe(
      "deny",
    );
    expect(await kindOf(run("if true; then git push; fi"), rulesOf(deny))).toBe("deny");
    expect(
      await kindOf(run("for i in 1; do (git push); done"), { ...rulesOf(deny), autoApprove: true }),
    ).toBe("deny");
    expect(await kindOf(run("git push"), { ...rulesOf(deny), disposable: true })).toBe("deny");
  });

  test("a rule that asks still asks under auto-approve, and for reads", async () => {
    const ask = { decision: "ask", pattern: "git" };
    expect(await kindOf(run("git commit"), { ...rulesOf(ask), autoApprove: true })).toBe("ask");
    expect(await kindOf(run("git status"), rulesOf(ask))).toBe("ask");
  });

  test("of the project only tighten, wherever they stand", async () => {
    const strict = readRules([{ decision: "deny", pattern: "git push" }], { source: "user" });
    const loose = readRules([{ decision: "ask", pattern: "git push" }], { source: "project" });
    expect(await kindOf(run("git push"), { rules: [...strict, ...loose] })).toBe("deny");
    const open = readRules([{ decision: "allow", pattern: "git push" }], { source: "user" });
    expect(await kindOf(run("git push"), { rules: [...open, ...loose] })).toBe("ask");

    const project = readRules([{ decision: "deny", pattern: "npm publish" }], {
      source: "project",
    });
    expect(await kindOf(run("npm publish"), { rules: project, autoApprove: true })).toBe("deny");
  });

  test("speak of paths for the file tools, and of all tools with a star", async () => {
    const docs = rulesOf({ decision: "allow", tool: "write_file", pattern: "docs/**" });
    expect(await kindOf(write(`${ROOT}/docs/a.md`), docs)).toBe("allow");
    expect(await kindOf(write(`${ROOT}/src/a.ts`), docs)).toBe("ask");
    expect(await kindOf(write(`${ROOT}/docs/a.md`, "edit_file"), docs)).toBe("ask");
    const secret = rulesOf({ decision: "deny", tool: "*", pattern: "**/*.pem" });
    expect(await kindOf(read(`${ROOT}/a/b.pem`), secret)).toBe("deny");
    const odd = rulesOf({ decision: "deny", tool: "todo" });
    expect(await kindOf(NONE, odd)).toBe("deny");
    const private_ = rulesOf({
      decision: "allow",
      tool: "read_file",
      pattern: "/home/user/.bosun/**",
    });
    expect(await kindOf(read("/home/user/.bosun/vault.db"), private_)).toBe("deny");
  });
});

describe("always", () => {
  async function after(
    remembered: [ToolCall, Effect],
    then: [ToolCall, Effect],
  ): Promise<Verdict["kind"]> {
    const approver = createApprover(OPTIONS);
    approver.remember(...remembered);
    return (await approver.decide(...then)).kind;
  }

  async function ruleOf(what: [ToolCall, Effect]): Promise<string> {
    const verdict = await createApprover(OPTIONS).decide(...what);
    return verdict.kind === "ask" ? verdict.rule : verdict.kind;
  }

  test("shows what it stores", async () => {
    expect(await ruleOf(run("npm run test -- -x"))).toBe(
      'shell commands that start with "npm run test", in this session',
    );
    expect(await ruleOf(run("git commit -m x"))).toBe(
      'shell commands that start with "git commit", in this session',
    );
    const exact = "exactly this command, in this directory, in this session";
    for (const command of [
      "python3 x.py",
      "bash x.sh",
      "rm x",
      "npm",
      "npm install x",
      "git -c a=b commit",
      "ls; npm test",
      "npm test > f",
      "sudo ls",
      "env npm test",
      "X=1 npm test",
      "make",
      "npm run",
      "git",
      "xargs ls",
      "find . -delete",
      "npm test | sh",
    ]) {
      expect([command, await ruleOf(run(command))]).toEqual([command, exact]);
    }
    expect(await ruleOf(write(`${ROOT}/a`))).toBe(
      `changes of ${ROOT}/a by write_file, in this session`,
    );
  });

  test("covers the same leading words, in any list of such commands", async () => {
    const remembered = run("npm run test");
    for (const command of [
      "npm run test",
      "npm run test -- --watch",
      "npm run test | tail -5",
      "ls; npm run test",
    ]) {
      expect([command, await after(remembered, run(command))]).toEqual([command, "allow"]);
    }
    for (const command of [
      "npm run test-evil",
      "npm run",
      "npm run lint",
      "npm run test; rm x",
      "npm run test > f",
      "npm run test $(id)",
      "A=1 npm run test",
      "env npm run test",
      "npm run test && npm publish",
    ]) {
      expect([command, await after(remembered, run(command))]).toEqual([command, "ask"]);
    }
    expect(await after(run("git commit -m x"), run("git push"))).toBe("ask");
  });

  test("covers only the exact command where no leading words are safe", async () => {
    expect(await after(run("python3 x.py"), run("python3 x.py"))).toBe("allow");
    expect(await after(run("python3 x.py"), run("python3 x.py y"))).toBe("ask");
    expect(await after(run("python3 x.py"), run("python3 x.py", "/tmp"))).toBe("ask");
  });

  test("covers one path of one tool", async () => {
    expect(await after(write("/p/a"), write("/p/a"))).toBe("allow");
    expect(await after(write("/p/a"), write("/p/b"))).toBe("ask");
    expect(await after(write("/p/a"), write("/p/a", "edit_file"))).toBe("ask");
  });

  test("never beats a denial, and is forgotten with the session", async () => {
    expect(await after(run("cat ~/.bosun/x"), run("cat ~/.bosun/x"))).toBe("deny");
    const first = createApprover(OPTIONS);
    first.remember(...run("npm test"));
    expect(await kindOf(run("npm test"))).toBe("ask");
  });
});

describe("explaining", () => {
  const options = { ...OPTIONS, cwd: ROOT };

  test("gives the verdict and the rule that decides", async () => {
    expect(await explainCommand("ls", options)).toEqual({
      command: "ls",
      verdict: "read-only",
      reason: "`ls` only reads here",
    });
    const rules = readRules(
      [{ decision: "deny", pattern: "npm publish", reason: "by hand only" }],
      { source: "user" },
    );
    expect(await explainCommand("npm publish", { ...options, rules })).toEqual({
      command: "npm publish",
      verdict: "deny",
      reason: 'your rule says: deny shell: "npm publish" (by hand only)',
    });
  });
});
