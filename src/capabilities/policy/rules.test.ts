// The owner's rules: how they are read, what they match, and what a project may not do.

import { describe, expect, test } from "bun:test";
import { lex } from "./lex";
import { readRules } from "./rule-table";
import {
  matchesWords,
  type PolicyRule,
  RuleError,
  ruleMatchesPath,
  ruleMatchesWords,
} from "./rules";
import { cut } from "./script";
import type { Word } from "./word";

function wordsOf(command: string): readonly Word[] {
  return cut(lex(command)).pipelines.flat()[0]?.words ?? [];
}

function shellRule(decision: PolicyRule["decision"], pattern: string): PolicyRule {
  return { decision, tool: "shell", pattern, source: "user", reason: null };
}

function errorOf(value: unknown, source: "user" | "project" = "user"): string {
  try {
    readRules(value, { source });
  } catch (error) {
    if (error instanceof RuleError) return error.message;
    throw error;
  }
  return "";
}

describe("reading rules", () => {
  test("gives them in order, with defaults", () => {
    const rules = readRules(
      [
        { decision: "allow", pattern: "npm test" },
        { decision: "deny", tool: "*" },
      ],
      { source: "user" },
    );
    expect(rules).toEqual([
      { decision: "allow", tool: "shell", pattern: "npm test", source: "user", reason: null },
      { decision: "deny", tool: "*", pattern: null, source: "user", reason: null },
    ]);
    expect(readRules([], { source: "project" })).toEqual([]);
  });

  test("refuses what is not a rule, and says which", () => {
    expect(errorOf({ decision: "allow" })).toContain("list of tables");
    expect(errorOf([{ decision: "maybe", pattern: "x" }])).toContain("rule 1: decision");
    expect(errorOf([{ decision: "deny" }, { decision: "deny", patern: "x" }])).toContain("rule 2");
    expect(errorOf([{ decision: "deny", pattern: "  " }])).toContain("rule 1: pattern");
    expect(errorOf([{ decision: "deny", pattern: "npm test;" }])).toContain("no plain word");
    expect(errorOf([{ decision: "deny", pattern: "npm te*" }])).toContain("no plain word");
    expect(errorOf([{ decision: "allow" }])).toContain("needs a pattern");
    expect(errorOf([{ decision: "allow", tool: "*" }])).toContain("needs a pattern");
  });

  test("a project may only tighten", () => {
    expect(errorOf([{ decision: "allow", pattern: "ls" }], "project")).toContain("only tighten");
    expect(errorOf([{ decision: "allow", tool: "write_file" }], "project")).toContain(
      "only tighten",
    );
    expect(errorOf([{ decision: "deny", pattern: "ls" }, { decision: "ask" }], "project")).toBe("");
  });

  test("checks the examples", () => {
    const rule = { decision: "allow", pattern: "npm test" };
    expect(errorOf([{ ...rule, match: ["npm test", "npm test --watch"] }])).toBe("");
    expect(
      errorOf([{ ...rule, not_match: ["npm test-evil", "npm test; rm x", "npm test > f"] }]),
    ).toBe("");
    expect(errorOf([{ ...rule, match: ["npm run test"] }])).toBe(
      'rule 1 (allow shell: "npm test") does not match its example "npm run test"',
    );
    expect(errorOf([{ ...rule, not_match: ["npm test --all"] }])).toBe(
      'rule 1 (allow shell: "npm test") matches "npm test --all", which its not_match forbids',
    );
    const paths = { decision: "allow", tool: "write_file", pattern: "docs/**" };
    expect(
      errorOf([{ ...paths, match: ["docs/a/b.md"], not_match: ["src/a.ts", "docs/../x"] }]),
    ).toBe("");
  });
});

describe("a shell pattern", () => {
  test("is compared word by word", () => {
    const matches = (pattern: string, command: string): boolean =>
      matchesWords(pattern.split(" "), wordsOf(command));
    expect(matches("npm run test", "npm run test")).toBe(true);
    expect(matches("npm run test", "npm 'run' \"test\" -- -x")).toBe(true);
    expect(matches("npm run *", "npm run lint")).toBe(true);
    expect(matches("npm run test", "npm run test-evil")).toBe(false);
    expect(matches("npm run test", "npm run")).toBe(false);
    expect(matches("npm run *", "npm run")).toBe(false);
    expect(matches("npm run *", "npm run $X")).toBe(false);
    expect(matches("git commit", "git push")).toBe(false);
    expect(matches("git commit", "git -c x=y commit")).toBe(false);
    expect(matches("ls", "lsof")).toBe(false);
  });

  const hidden = [
    "rm x",
    "/bin/rm x",
    "\\rm x",
    "env rm x",
    "env -i A=1 rm x",
    "timeout 5 rm x",
    "timeout -k 1 5 rm x",
    "nohup rm x",
    "nice -n 5 rm x",
    "sudo -u root rm x",
    "command rm x",
    "exec rm x",
    "xargs rm",
    "xargs -n 1 rm",
    "time rm x",
    "stdbuf -o0 rm x",
    "busybox rm x",
    "find . -exec rm {} +",
    "find . -name x -execdir rm {} +",
    'bash -c "rm x"',
    "sh -ec 'ls; rm x'",
    "env bash -c 'timeout 5 rm x'",
    "eval rm x",
    "sudo env timeout 5 nice rm x",
  ];
  for (const command of hidden) {
    test(`that denies sees through: ${command}`, () => {
      expect(ruleMatchesWords(shellRule("deny", "rm"), wordsOf(command))).toBe(true);
      expect(ruleMatchesWords(shellRule("ask", "rm"), wordsOf(command))).toBe(true);
    });
  }

  test("that allows does not look through anything", () => {
    for (const command of hidden.filter((each) => !/^(?:rm|\\rm)/.test(each))) {
      expect([command, ruleMatchesWords(shellRule("allow", "rm"), wordsOf(command))]).toEqual([
        command,
        false,
      ]);
    }
  });

  test("that denies leaves words alone that only look alike", () => {
    const rule = shellRule("deny", "rm");
    for (const command of ["echo rm", "git rm x", "grep rm f", "rmdir x", "ls rm"]) {
      expect([command, ruleMatchesWords(rule, wordsOf(command))]).toEqual([command, false]);
    }
  });
});

describe("a path pattern", () => {
  const place = { root: "/home/user/project", userHome: "/home/user" };
  const matches = (pattern: string, path: string, tool = "write_file"): boolean =>
    ruleMatchesPath(
      { decision: "deny", tool: "write_file", pattern, source: "user", reason: null },
      tool,
      path,
      place,
    );

  test("is a glob below the workspace, or an absolute one", () => {
    expect(matches("src/*.ts", "/home/user/project/src/a.ts")).toBe(true);
    expect(matches("src/*.ts", "/home/user/project/src/b/a.ts")).toBe(false);
    expect(matches("src/**", "/home/user/project/src/b/a.ts")).toBe(true);
    expect(matches("**/*.lock", "/home/user/project/a.lock")).toBe(true);
    expect(matches("./a.txt", "/home/user/project/a.txt")).toBe(true);
    expect(matches("a?txt", "/home/user/project/a/txt")).toBe(false);
    expect(matches("a.txt", "/home/user/project/axtxt")).toBe(false);
    expect(matches("**", "/home/user/other/a.txt")).toBe(false);
    expect(matches("/etc/**", "/etc/a/b")).toBe(true);
    expect(matches("~/notes/*", "/home/user/notes/a")).toBe(true);
    expect(matches("a.txt", "/home/user/project/a.txt", "read_file")).toBe(false);
  });
});
