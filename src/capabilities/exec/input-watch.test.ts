import { describe, expect, test } from "bun:test";
import { createTestRunner } from "./fakes";
import { describeEnd } from "./wording";

const hasPython = Bun.which("python3") !== null;

describe("a command that reads from the terminal", () => {
  const atOnce: Record<string, [command: string, text: string]> = {
    "meets the end of input at once": ["read x; echo $?", "1\n"],
    "several times": ["read x; read y; read z; echo $?", "1\n"],
    "as cat": ["cat; echo end", "end\n"],
    "from the terminal by name": ["read x </dev/tty; echo $?", "1\n"],
    "without echo": ["read -s -p 'Password: ' x; s=$?; echo; echo $s", "Password: \n1\n"],
    "in a child": ["sh -c 'read x; echo $?'", "1\n"],
    "in a pipeline": ["cat | wc -c", "0\n"],
    "and is asked before": [
      "rm -i file; test -e file && echo kept",
      "rm: remove regular empty file 'file'? kept\n",
    ],
  };
  for (const [name, [command, text]] of Object.entries(atOnce)) {
    test(name, async () => {
      await using world = createTestRunner();
      const result = await world.run(`touch file; ${command}`);
      expect(result).toMatchObject({ ended: "exited", text });
      expect(result.ms).toBeLessThan(900);
    });
  }

  test.if(hasPython)(
    "with what was typed thrown away before, as a password prompt",
    async () => {
      await using world = createTestRunner();
      const command = `python3 -c 'import getpass; getpass.getpass("Secret: ")' 2>&1 | tail -1`;
      const result = await world.run(command);
      expect(result).toMatchObject({ ended: "exited", exitCode: 0 });
      expect(result.text).toContain("EOFError");
      expect(result.ms).toBeWithin(900, 5000);
    },
    10_000,
  );

  test.if(hasPython)(
    "in a mode without lines, as an interpreter's prompt",
    async () => {
      await using world = createTestRunner();
      const result = await world.run("python3 -q");
      expect(result).toMatchObject({ ended: "exited", exitCode: 0 });
      expect(result.ms).toBeLessThan(6000);
    },
    10_000,
  );

  test("key by key", async () => {
    await using world = createTestRunner();
    const result = await world.run("read -n 1 -p 'Continue? ' x; echo $?");
    expect(result.ended).toBe("exited");
    expect(result.ms).toBeLessThan(6000);
  }, 10_000);

  test("and does not give up is given up", async () => {
    await using world = createTestRunner();
    const command = "until read -p 'Name: ' x; do :; done 2>/dev/null";
    const stubborn = `while :; do IFS= read -rsn 64 x; done`;
    const result = await world.run(stubborn);
    expect(result).toMatchObject({ ended: "waited for input", exitCode: null });
    expect(result.ms).toBeLessThan(9000);
    expect(describeEnd(result, world.root)).toContain(
      "the command waited for input that nobody can give",
    );
    // This one never waits: it spins, and only the time limit can end it.
    expect((await world.run(command, { timeoutMs: 500 })).ended).toBe("timed out");
  }, 15_000);
});

describe("a quiet command that does not wait for input", () => {
  const commands: Record<string, string> = {
    sleeps: "sleep 4; echo done",
    "reads from a pipe": "(sleep 4; echo done) | cat",
    "reads from a file that grows": "mkfifo f; (sleep 4; echo done >f) & cat f; wait",
    "works with the terminal in another mode": "stty -icanon -echo; sleep 4; echo done",
  };
  for (const [name, command] of Object.entries(commands)) {
    test.concurrent(name, async () => {
      await using world = createTestRunner();
      expect(await world.run(command)).toMatchObject({ ended: "exited", text: "done\n" });
    }, 10_000);
  }
});

test("git does not ask for a password", async () => {
  await using world = createTestRunner();
  const result = await world.run(
    "git init -q . 2>/dev/null; printf 'protocol=https\\nhost=h\\n\\n' | git credential fill",
  );
  expect(result).toMatchObject({ ended: "exited", exitCode: 128 });
  expect(result.text).toContain("terminal prompts disabled");
  expect(result.ms).toBeLessThan(1000);
});
