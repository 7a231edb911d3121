// What must hold for every command, not only for those in a list; and what a verdict costs.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { loadGrammar } from "#app/grammar";
import { type CommandOptions, judgeCommand } from "./judge";

const OPTIONS: CommandOptions = {
  cwd: "/home/user/project",
  home: "/home/user/.bosun",
  userHome: "/home/user",
  loadGrammar,
};
const NO_GRAMMAR: CommandOptions = {
  ...OPTIONS,
  loadGrammar: () => Promise.reject(new Error("not to be loaded")),
};

const EVERYDAY = [
  "ls -la",
  "cat src/main.ts",
  "head -n 20 README.md",
  "grep -rn TODO src | head -5",
  "git status",
  "git diff HEAD~1 -- src",
  "git log --oneline -10",
  "find . -name *.ts -type f".replace("*.ts", "'*.ts'"),
  "rg --files src",
  "wc -l src/main.ts && pwd",
  "sed -n 1,40p src/main.ts",
  "cd src; ls",
  "diff a b 2>/dev/null || echo differ",
  "sort -u names.txt | uniq -c",
];
const everyday = fc.constantFrom(...EVERYDAY);

describe("a read-only command stops being one", () => {
  test("when anything that runs or writes is put behind it", async () => {
    const tails = [
      "; rm x",
      " && rm x",
      " || rm x",
      " | sh",
      "\nrm x",
      " & rm x",
      " > x",
      " >> x",
      " $(rm x)",
      " `rm x`",
      " >(rm x)",
    ];
    await fc.assert(
      fc.asyncProperty(everyday, fc.constantFrom(...tails), async (command, tail) => {
        expect((await judgeCommand(command + tail, OPTIONS)).verdict).not.toBe("read-only");
      }),
    );
  });

  test("when a command is put around it", async () => {
    const heads = [
      "sudo ",
      "bash -c ",
      "eval ",
      "exec ",
      "env X=1 ",
      "nohup ",
      "./",
      "x=1 ",
      "function ",
      "coproc ",
    ];
    await fc.assert(
      fc.asyncProperty(everyday, fc.constantFrom(...heads), async (command, head) => {
        expect((await judgeCommand(head + command, OPTIONS)).verdict).not.toBe("read-only");
      }),
    );
  });

  test("when a control character, or one that hides text, stands anywhere in it", async () => {
    const characters = [
      "\0",
      "\u0007",
      "\b",
      "\u001b",
      "\r",
      "\u007f",
      "\u0085",
      "\u00a0",
      "\u200b",
      "\u202e",
      "\u2066",
      "\ufeff",
      "\ud800",
    ];
    await fc.assert(
      fc.asyncProperty(
        everyday,
        fc.nat(),
        fc.constantFrom(...characters),
        async (command, at, character) => {
          const place = at % (command.length + 1);
          const changed = command.slice(0, place) + character + command.slice(place);
          expect((await judgeCommand(changed, OPTIONS)).verdict).not.toBe("read-only");
        },
      ),
    );
  });

  test("when a substitution stands anywhere outside of single quotes", async () => {
    await fc.assert(
      fc.asyncProperty(
        everyday,
        fc.nat(),
        fc.constantFrom("$(id)", "`id`"),
        async (command, at, what) => {
          const place = at % (command.length + 1);
          const isQuoted = command.slice(0, place).split("'").length % 2 === 0;
          const changed = command.slice(0, place) + what + command.slice(place);
          if (!isQuoted)
            expect((await judgeCommand(changed, OPTIONS)).verdict).not.toBe("read-only");
        },
      ),
    );
  });
});

describe("structure", () => {
  const wrap = [
    "(_)",
    "{ _; }",
    "if _; then _; fi",
    "for i in 1 2; do _; done",
    "while false; do _; done",
    "! _",
    "{ _; } | cat",
    "(_) && (_)",
  ];

  test("keeps what only reads, and what does not", async () => {
    for (const shape of wrap) {
      for (const command of ["ls -la", "git status", "grep -n x f | head"]) {
        const text = shape.replaceAll("_", command);
        expect([text, (await judgeCommand(text, OPTIONS)).verdict]).toEqual([text, "read-only"]);
        const bad = shape.replace("_", `${command}; rm x`);
        expect([bad, (await judgeCommand(bad, OPTIONS)).verdict]).toEqual([bad, "ask"]);
      }
    }
  });

  test("asks when the grammar cannot be loaded, and says so", async () => {
    const { verdict, reason } = await judgeCommand("(ls)", NO_GRAMMAR);
    expect(verdict).toBe("ask");
    expect(reason).toContain("not to be loaded");
  });

  test("a soup of shell words never makes it fail", async () => {
    const words =
      "ls cat ( ) { } if then fi for f in do done while [[ ]] [ ] ! | && ; < > << EOF \n \"$f\" 'x' <( ) # a=b 2>&1".split(
        " ",
      );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...words), { maxLength: 12 }), async (parts) => {
        await judgeCommand(parts.join(" "), OPTIONS);
      }),
      { numRuns: 400 },
    );
  });
});

describe("reasons name the word and why", () => {
  const expected: [string, string][] = [
    ["npm test", "`npm` is not known to only read"],
    ["echo x > out.txt", "`>` writes to out.txt"],
    ["git diff --output=f", "option `--output` of git diff is not known to only read"],
    ["sort *", "`*` may become an option of sort"],
    ["echo $(id)", "$(...) runs a command inside the command"],
    ["ls & rm x", "`&` runs a command in the background"],
    ["./cat f", "`./cat` is a path, not a well-known command"],
    ["ls -la", "`ls` only reads here"],
    ["ls; pwd", "all of its commands only read: ls, pwd"],
    ["cat ~/.ssh/id_rsa", "/home/user/.ssh/id_rsa may not be read: credentials are kept there"],
  ];
  for (const [command, reason] of expected) {
    test(command, async () => {
      expect((await judgeCommand(command, OPTIONS)).reason).toBe(reason);
    });
  }
});

describe("the user's own read-only commands", () => {
  const options = { ...OPTIONS, extraReadOnly: ["htop", "make -n", "./check.sh"] };
  const free = async (command: string): Promise<boolean> =>
    (await judgeCommand(command, options)).verdict === "read-only";

  test("are compared word by word", async () => {
    expect(await free("htop")).toBe(true);
    expect(await free("make -n install")).toBe(true);
    expect(await free("./check.sh | head")).toBe(true);
    expect(await free("make install")).toBe(false);
    expect(await free("make -nB install")).toBe(false);
    expect(await free("htop-evil")).toBe(false);
    expect(await free("make -n > f")).toBe(false);
    expect(await free("make -n; rm x")).toBe(false);
    expect(await free("(make -n)")).toBe(true);
  });
});

describe("git in another directory", () => {
  test("asks outside of the project's root", async () => {
    const inside = { ...OPTIONS, cwd: "/home/user/project/src", root: "/home/user/project" };
    const outside = { ...OPTIONS, cwd: "/tmp/unpacked", root: "/home/user/project" };
    expect((await judgeCommand("git status", inside)).verdict).toBe("read-only");
    expect((await judgeCommand("git status", outside)).verdict).toBe("ask");
    expect((await judgeCommand("ls", outside)).verdict).toBe("read-only");
  });
});

describe("what a verdict costs", () => {
  test("everyday commands never load the grammar, and nothing stays of them", async () => {
    Bun.gc(true);
    const { heapUsed } = process.memoryUsage();
    for (let round = 0; round < 300; round++) {
      for (const command of EVERYDAY) {
        expect((await judgeCommand(command, NO_GRAMMAR)).verdict).toBe("read-only");
      }
    }
    Bun.gc(true);
    expect(process.memoryUsage().heapUsed - heapUsed).toBeLessThan(10_000_000);
  });

  test("long commands do not take long", async () => {
    const rows = [
      "[",
      "(",
      "$(",
      "`",
      ":",
      "=",
      "{",
      "{a,",
      "'",
      '"',
      "\\",
      "* ",
      "a=b ",
      "<(",
      "${",
      "ls;",
      "ls|",
      "~/ ",
      "\n",
      "((",
      "cat <<E\n",
      "if ls; then ",
      "a/../",
      "$x",
      "*",
      "bash -c 'ls' ",
    ];
    for (const row of rows) {
      const started = performance.now();
      await judgeCommand(`cat ${row.repeat(Math.floor(15_000 / row.length))}`, OPTIONS);
      expect([row, performance.now() - started < 3000]).toEqual([row, true]);
    }
  }, 60_000);

  test("commands that ask for a certain reason do not load it either", async () => {
    const commands = [
      "(npm test)",
      "for f in *; do rm $f; done",
      "cat <<EOF | sh\nx\nEOF",
      "{ ls; } > f",
      "if true; then $(x); fi",
    ];
    for (const command of commands) {
      const { verdict, reason } = await judgeCommand(command, NO_GRAMMAR);
      expect([command, verdict, reason.includes("not to be loaded")]).toEqual([
        command,
        "ask",
        false,
      ]);
    }
  });
});
