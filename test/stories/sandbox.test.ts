// The sandbox on the built executable: what a command cannot do although it was approved, and what
// the owner sees of it.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, runBosun } from "../support/bosun";
import { type Script, startModelServer } from "../support/model-server";
import { survivors } from "../support/processes";
import { TerminalRun } from "../support/terminal-run";

let place: Place;
/** Out of a command's reach: not below /tmp. */
let outside: string;

beforeEach(() => {
  place = makePlace();
  outside = mkdtempSync("/var/tmp/bosun-story-");
});

afterEach(async () => {
  expect(await survivors(place.home)).toEqual([]);
  place.remove();
  rmSync(outside, { recursive: true });
});

const shell = (command: string): Script[number] => ({
  calls: [{ name: "shell", args: { command } }],
});
const complete: Script[number] = { calls: [{ name: "task_complete", args: { summary: "ok" } }] };

async function play(script: Script, args: readonly string[] = []) {
  using server = startModelServer([...script, complete]);
  const env = { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m" };
  return await runBosun({ place, args: ["--json", "--auto-approve", ...args, "go"], env });
}

describe.skipIf(process.platform !== "linux")("the sandbox", () => {
  test("an approved command writes in the workspace, and nowhere else", async () => {
    // Python, so that it is the walls that refuse and not the reading of the command.
    const write = (path: string) => shell(`python3 -c 'open("${path}", "w")'`);
    const run = await play([
      write(join(outside, "new")),
      write(join(place.cwd, "new")),
      write(join(place.home, ".bosun", "new")),
    ]);
    const results = run.all("tool.finished").map((event) => event.exitCode);
    expect(run.all("run.started")[0]?.sandbox).toBe("on");
    expect(results.slice(0, 3)).toEqual([1, 0, 1]);
    expect(existsSync(join(outside, "new"))).toBe(false);
    expect(existsSync(join(place.home, ".bosun", "new"))).toBe(false);
    expect(run.all("notice")).toEqual([]);
  });

  test("without a network no command reaches anything, not even on this machine", async () => {
    const config = join(place.home, "config.toml");
    const connect = (port: string): Script[number] =>
      shell(`python3 -c 'import socket; socket.create_connection(("127.0.0.1", ${port}), 2)'`);
    using other = startModelServer([]);
    const { port } = new URL(other.url);
    const open = await play([connect(port)]);
    writeFileSync(config, '[sandbox]\nnetwork = "none"\n');
    const cut = await play([connect(port)], ["--config", config]);
    const exits = [open, cut].map((run) => run.all("tool.finished")[0]?.exitCode);
    expect(exits).toEqual([0, 1]);
  });

  test("Bosun itself is out of reach of its commands", async () => {
    const read = 'open("/proc/" + __import__("sys").argv[1] + "/mem", "rb")';
    const run = await play([shell(`python3 -c '${read}' $PPID`)]);
    const [result] = run.all("tool.finished");
    expect(result?.result).toContain("Permission denied");
  });

  test("--disable-sandbox is told in red at the start, and lifts the walls", async () => {
    const path = join(outside, "new");
    using server = startModelServer([shell(`python3 -c 'open("${path}", "w")'`), complete]);
    const env = { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m" };
    using run = new TerminalRun({
      place,
      args: ["--auto-approve", "--disable-sandbox", "go"],
      env,
    });
    expect(await run.exited).toBe(0);
    expect(run.raw).toContain("\u001b[31m · sandbox: off");
    expect(existsSync(path)).toBe(true);
  });
});
