// Played by a real child, through the real kernel.

import { describe, expect, test } from "bun:test";
import { constants, rmSync } from "node:fs";
import { loadKernel } from "./landlock";
import { SystemTape } from "./system-tape";

const kernel = await loadKernel();

function play(tape: SystemTape, words: string[]) {
  const image = tape.image();
  const made = image && kernel?.makeExecutable(image);
  if (!made) throw new Error("no executable could be made");
  const child = Bun.spawnSync([made.path, ...words], { env: { WORD: "kept" } });
  made.close();
  return {
    status: child.exitCode,
    said: child.stdout.toString(),
    complaint: child.stderr.toString(),
  };
}

describe.skipIf(process.platform !== "linux")("a tape of system calls", () => {
  test("is played, and then the program gets its arguments and its environment", () => {
    const tape = new SystemTape();
    tape.call("chdir", ["/usr"], { failure: "going there" });
    const script = 'pwd; echo "$0 $1 $WORD"';
    expect(play(tape, ["/bin/sh", "-c", script, "a", "b c"])).toEqual({
      status: 0,
      said: "/usr\na b c kept\n",
      complaint: "",
    });
  });

  test("hands the result of a call to a later one", () => {
    const tape = new SystemTape();
    const path = `/tmp/bosun-tape-${process.pid}`;
    const create = constants.O_WRONLY | constants.O_CREAT;
    const file = tape.call("openat", [-100, path, create, 0o600], { failure: "opening" });
    tape.call("write", [file, Buffer.from("hello"), 5], { failure: "writing" });
    expect(play(tape, ["/bin/cat", path]).said).toBe("hello");
    rmSync(path);
  });

  test("a call that fails ends it with its errno, and the program is not started", () => {
    const tape = new SystemTape();
    tape.call("chdir", ["/nowhere"], { failure: "going there" });
    expect(play(tape, ["/bin/echo", "started"])).toEqual({
      status: 126,
      said: "",
      complaint: "bosun: sandbox: going there: error 002\n",
    });
  });

  test("an optional call may fail", () => {
    const tape = new SystemTape();
    tape.call("chdir", ["/nowhere"]);
    expect(play(tape, ["/bin/echo", "started"]).said).toBe("started\n");
  });

  test("a program that is not there is told as such", () => {
    const said = play(new SystemTape(), ["/bin/nothing-of-that-name"]);
    expect(said.complaint).toBe("bosun: sandbox: cannot start the program: error 002\n");
  });

  test("the executable cannot be changed by anyone", async () => {
    const image = new SystemTape().image() ?? new Uint8Array();
    const made = kernel?.makeExecutable(image);
    await expect(Bun.write(made?.path ?? "", "x")).rejects.toThrow();
    made?.close();
  });

  test("other processors have code of their own, or none", () => {
    const machineOf = (architecture: string) =>
      new SystemTape(architecture).image()?.subarray(18, 20);
    expect(machineOf("arm64")).toEqual(Buffer.from([183, 0]));
    expect(machineOf("x64")).toEqual(Buffer.from([62, 0]));
    expect(machineOf("riscv64")).toBeUndefined();
  });
});
