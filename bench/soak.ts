// Kills the built executable at random moments and resumes it, again and again. The scripted server
// judges every request as a strict provider does; each command leaves one line in a file, so that a
// second run of it shows. `--runs N` (1,000 by default), `--seed N` to repeat a failure.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "../src/base/protocol";
import { findInvalid } from "../src/stores/mirror";
import { EXECUTABLE } from "../test/support/bosun";
import {
  type ModelServer,
  type RecordedRequest,
  type ScriptedReply,
  startModelServer,
} from "../test/support/model-server";

/** Commands of one conversation; the last answer follows them. */
const STEPS = 6;

/** A run that is left alone takes about this long: kills are spread over it. */
const WHOLE_RUN_MS = 260;

/** One conversation is killed and resumed at most this often before it may end. */
const KILLS_MAX = 3;

const RUN_MS_MAX = 30_000;

function option(name: string, fallback: number): number {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}

/** mulberry32: small, and the same everywhere. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

interface Tally {
  runs: number;
  kills: number;
  resumed: number;
  recovered: number;
  faults: string[];
}

interface Endpoint {
  server: ModelServer;
  /** Calls back at the next request; undefined takes that back. */
  onRequest(listener: (() => void) | undefined): void;
}

/** Plays the model of one conversation, and remembers every result that it was shown. */
class Judge {
  readonly faults: string[] = [];
  recovered = 0;
  readonly #seen = new Map<string, string>();

  answer(request: RecordedRequest): ScriptedReply {
    const messages = (request.json.messages ?? []) as Message[];
    const invalid = findInvalid(messages);
    if (invalid !== undefined) this.faults.push(`invalid request: ${invalid}`);
    const results = new Map<string, string>();
    for (const message of messages) {
      if (message.role === "tool") results.set(message.tool_call_id, message.content);
    }
    for (const [id, content] of this.#seen) {
      if (results.get(id) !== content) this.faults.push(`the result of ${id} was lost`);
    }
    for (const [id, content] of results) this.#seen.set(id, content);
    this.recovered = [...results.values()].filter((text) => text.includes("RECOVERED")).length;
    const next = results.size;
    if (next >= STEPS) return { text: "All done." };
    // The result takes a moment, so that kills meet running commands, too.
    const command = `echo ${next} >> log; sleep 0.01; echo did ${next}`;
    return { calls: [{ name: "shell", args: { command }, id: `call_${next}_${request.atMs}` }] };
  }
}

/** When the kill comes: so long after the start, or after this server's next request. */
interface Kill {
  afterMs: number;
  from: "start" | "request";
}

async function run(
  place: { root: string; cwd: string },
  { server, onRequest }: Endpoint,
  args: readonly string[],
  kill: Kill | undefined,
): Promise<{ exit: number | null; stderr: string }> {
  const child = Bun.spawn([EXECUTABLE, "--auto-approve", "--json", ...args], {
    cwd: place.cwd,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: place.root,
      LANG: "C.UTF-8",
      BOSUN_API_BASE: server.url,
      BOSUN_MODEL: "soak",
    },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  let timer = setTimeout(() => child.kill("SIGKILL"), RUN_MS_MAX);
  const arm = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => child.kill("SIGKILL"), kill?.afterMs);
    onRequest(undefined);
  };
  if (kill?.from === "start") arm();
  if (kill?.from === "request") onRequest(arm);
  const stderr = await new Response(child.stderr).text();
  await child.exited;
  clearTimeout(timer);
  return { exit: child.exitCode, stderr };
}

async function converse(random: () => number, tally: Tally): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "soak-"));
  const place = { root, cwd: join(root, "project") };
  mkdirSync(place.cwd);
  const judge = new Judge();
  let listener: (() => void) | undefined;
  const server = startModelServer((request) => {
    listener?.();
    return judge.answer(request);
  });
  const endpoint: Endpoint = {
    server,
    onRequest: (next) => {
      listener = next;
    },
  };
  const fault = (text: string): void => {
    tally.faults.push(text);
  };
  try {
    let args = ["begin"];
    let isDone = false;
    const kills = 1 + Math.floor(random() * KILLS_MAX);
    for (let n = 0; n < kills && !isDone; n++) {
      // Before its first request a conversation has nothing to lose: its first kill comes later.
      const from = n === 0 ? "request" : "start";
      const { exit } = await run(place, endpoint, args, { afterMs: random() * WHOLE_RUN_MS, from });
      isDone = exit === 0;
      if (!isDone) tally.kills++;
      args = ["--resume", "go on"];
    }
    const last = await run(place, endpoint, ["--resume", "go on"], undefined);
    if (last.exit === 0) {
      tally.resumed++;
    } else {
      fault(`resume ended with ${last.exit}: ${last.stderr.trim().slice(-300)}`);
    }
    checkLog(join(place.cwd, "log"), fault);
    for (const text of judge.faults) fault(text);
    tally.recovered += judge.recovered;
  } finally {
    await server.close();
    rmSync(root, { recursive: true, force: true });
  }
}

function checkLog(path: string, fault: (text: string) => void): void {
  if (!existsSync(path)) return;
  const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
  const twice = lines.filter((line, index) => lines.indexOf(line) !== index);
  if (twice.length > 0) fault(`commands ran twice: ${twice.join(", ")}`);
}

const runs = option("--runs", 1000);
const seed = option("--seed", 20_260_101);
const tally: Tally = { runs, kills: 0, resumed: 0, recovered: 0, faults: [] };
const random = createRandom(seed);
for (let done = 0; done < runs; done++) await converse(random, tally);

console.log(
  `${tally.runs} conversations, ${tally.kills} kills: ${tally.resumed} resumed to the end, ` +
    `${tally.recovered} calls recovered without being run again, ${tally.faults.length} faults.`,
);
for (const text of tally.faults.slice(0, 20)) console.log(`  ${text}`);
process.exit(tally.faults.length === 0 && tally.resumed === tally.runs ? 0 : 1);
