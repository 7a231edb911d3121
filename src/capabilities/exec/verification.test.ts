import { expect, test } from "bun:test";
import { createTestRunner } from "./fakes";
import { runVerification } from "./verification";

test("exit 0 accepts, anything else is told with its output", async () => {
  await using world = createTestRunner();
  const { runner, root } = world;
  const verify = async (command: string, timeoutMs = 5000) => {
    const { ms, output, ...rest } = await runVerification({
      runner,
      command,
      cwd: root,
      timeoutMs,
    });
    expect(ms).toBeGreaterThan(0);
    return { ...rest, output: output.replace(/\d+\.\d s/, "T s") };
  };
  expect(await verify("true")).toEqual({ ok: true, exitCode: 0, output: "[exit 0, T s]" });
  expect(await verify("printf bad; exit 3")).toEqual({
    ok: false,
    exitCode: 3,
    output: "bad\n[exit 3, T s]",
  });
  expect(await verify("sleep 300", 100)).toMatchObject({ ok: false, exitCode: null });
  // Its own `cd` moves nobody.
  expect((await verify("cd /")).output).toBe("[exit 0, T s]");
});
