import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestRunner, type TestRunner } from "./fakes";
import { hardenedGit } from "./git-hardening";

/** A repository with a change in it, whose own settings name this program. */
async function hostileRepository(world: TestRunner, settings: string): Promise<void> {
  const spy = join(world.root, "spy");
  const setUp = `
    git init -q . && git config user.email a@b && git config user.name a
    printf 'one\\n' >file && git add file && git commit -qm one && printf 'two\\n' >>file
    printf '#!/bin/sh\\ntouch ${spy}; cat "\${1:--}" 2>/dev/null; exit 0\\n' >.git/evil
    chmod +x .git/evil; touch -d '1 hour ago' file
    ${settings}`;
  const result = await world.run(setUp, { variables: { HOME: world.root } });
  expect(result.text).toBe("");
}

const EVIL = "$PWD/.git/evil";
const hostile: Record<string, [settings: string, command: string]> = {
  "core.fsmonitor": [`git config core.fsmonitor ${EVIL}`, "git status"],
  "core.pager": [`git config core.pager ${EVIL}; git config pager.log ${EVIL}`, "git log"],
  "diff.external": [`git config diff.external ${EVIL}`, "git diff"],
  "a diff driver": [
    `echo '* diff=x' >.git/info/attributes; git config diff.x.command ${EVIL}`,
    "git diff",
  ],
  textconv: [`echo '* diff=x' >.gitattributes; git config diff.x.textconv ${EVIL}`, "git diff"],
  "a clean filter": [
    `echo '* filter=x' >.gitattributes; git config filter.x.clean ${EVIL}`,
    "git status; git diff",
  ],
  "an included file": [
    `printf '[diff]\\n\\texternal = ${EVIL}\\n' >more; git config include.path ../more`,
    "cd . && git diff",
  ],
};

describe("a repository's own settings start no program", () => {
  for (const [name, [settings, command]] of Object.entries(hostile)) {
    test.if(Bun.which("git") !== null)(name, async () => {
      await using world = createTestRunner();
      await hostileRepository(world, settings);
      const spy = join(world.root, "spy");
      const result = await world.run(command, { harden: true, variables: { HOME: world.root } });
      expect(existsSync(spy)).toBe(false);
      expect(result.exitCode).toBe(0);
      if (command.includes("diff")) expect(result.text).toContain("+two");
      // The same command is what it was said to be when its owner was asked.
      writeFileSync(spy, "");
      await world.run(`rm ${spy}; ${command}`, { variables: { HOME: world.root } });
      if (name !== "core.pager") expect(existsSync(spy)).toBe(true);
    });
  }
});

test("commands without git get nothing", async () => {
  expect(await hardenedGit("ls -l", "/")).toEqual({});
  expect(await hardenedGit("legit", "/")).toEqual({});
  expect(await hardenedGit("git log", "/")).toMatchObject({ GIT_CONFIG_COUNT: "5" });
});
