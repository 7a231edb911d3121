// Measures the built executable against a scripted model server on loopback, and writes the figures
// to bench/RESULTS.md. `--short` runs each measurement once, to see that it works.
// The server counts the time: what is measured is what an endpoint sees of the agent.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir, totalmem } from "node:os";
import { join, resolve } from "node:path";
import { EXECUTABLE } from "../test/support/bosun";
import { type Script, startModelServer } from "../test/support/model-server";
import { measureCommits, measureOpening } from "./store";

const isShort = process.argv.includes("--short");

/** One figure over all passes; a figure without a bound is there for comparison. */
interface Figure {
  name: string;
  unit: string;
  values: number[];
  max: number | undefined;
}

interface Measured {
  cpuMs: number;
  peakMb: number;
  exit: number;
  startedMs: number;
}

/** Whole rounds of everything: one round on a shared machine proves nothing. */
const PASSES = isShort ? 1 : 6;

const figures = new Map<string, Figure>();

/** With the launcher of the sandbox between the agent and each command. */
const STEP_MS_MAX = 8;

function note(name: string, value: number, unit: string, max?: number): void {
  const figure = figures.get(name) ?? { name, unit, values: [], max };
  figure.values.push(value);
  figures.set(name, figure);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** Runs the executable once in a directory of its own. */
async function measure(
  url: string,
  args: readonly string[] = [],
  program: string = EXECUTABLE,
): Promise<Measured> {
  const root = mkdtempSync(join(tmpdir(), "bench-"));
  const cwd = join(root, "project");
  mkdirSync(cwd);
  const startedMs = performance.timeOrigin + performance.now();
  const child = Bun.spawn([program, "--json", "--auto-approve", ...args, "go on"], {
    cwd,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: root,
      LANG: "C.UTF-8",
      BOSUN_API_BASE: url,
      BOSUN_MODEL: "bench",
      BOSUN_API_KEY: "bench-key-0123456789",
    },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  const exit = await child.exited;
  const usage = child.resourceUsage();
  rmSync(root, { recursive: true, force: true });
  return {
    cpuMs: Number(usage?.cpuTime.total ?? 0) / 1000,
    peakMb: (usage?.maxRSS ?? 0) / 1024 / 1024,
    exit,
    startedMs,
  };
}

function shell(command: string): Script[number] {
  return { calls: [{ name: "shell", args: { command } }] };
}

const done: Script[number] = { calls: [{ name: "task_complete", args: { summary: "done" } }] };

function steps(count: number): Script {
  // Different words each time: the progress budget ends a run that repeats itself.
  return [...Array.from({ length: count }, (_, n) => shell(`true ${n}`)), done];
}

async function buildBare(): Promise<string> {
  const outfile = join(mkdtempSync(join(tmpdir(), "bench-")), "bare");
  const entrypoints = [join(import.meta.dir, "bare.ts")];
  const built = await Bun.build({
    entrypoints,
    compile: { outfile },
    minify: true,
    bytecode: true,
    format: "esm",
  });
  if (!built.success) throw new Error("The bare program could not be built.");
  return outfile;
}

async function measureStart(): Promise<void> {
  const bare = await buildBare();
  const times: number[] = [];
  const bareTimes: number[] = [];
  // In turn: so both see the same moods of the machine.
  for (let n = 0; n < (isShort ? 2 : 25); n++) {
    using server = startModelServer(() => ({ text: "done" }));
    const { startedMs, exit } = await measure(server.url);
    if (exit !== 0) throw new Error(`The run ended with ${exit}.`);
    times.push((server.requests[0]?.atMs ?? Number.NaN) - startedMs);
    const bareRun = await measure(server.url, [], bare);
    bareTimes.push((server.requests[1]?.atMs ?? Number.NaN) - bareRun.startedMs);
  }
  note("process start to first request, median", median(times), "ms", 60);
  note(
    "for comparison: an empty program of the same runtime, start to request",
    median(bareTimes),
    "ms",
  );
}

/** The agent's own times between the end of a reply and the next request, step by step. */
async function ownTimes(
  count: number,
  thinkMs: number,
): Promise<{ own: number[]; bodies: string[] }> {
  const script = steps(count).map((reply) => ({ ...(reply as object), delayMs: thinkMs }));
  using server = startModelServer(script);
  const { exit } = await measure(server.url, ["--max-steps", String(count + 5)]);
  if (exit !== 0) throw new Error(`The run ended with ${exit}.`);
  const own = server.requests.slice(1).map((request, index) => {
    return request.atMs - (server.requests[index]?.endAtMs ?? Number.NaN);
  });
  return { own, bodies: server.requests.map(({ body }) => body) };
}

/** What a program without an agent in it needs for `bash -c true` in a pseudo-terminal. */
async function bareCommand(): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 40; n++) {
    const started = performance.now();
    const child = Bun.spawn(["bash", "-c", "true"], { terminal: { data: () => undefined } });
    await child.exited;
    times.push(performance.now() - started);
    child.terminal?.close();
  }
  return median(times);
}

async function measureSteps(): Promise<void> {
  const bare = await bareCommand();
  const thinking = await ownTimes(isShort ? 20 : 60, 20);
  const patient = median(thinking.own.slice(4, 15));
  note(
    "own time per step with the command true, at step 10, endpoint answers after 20 ms",
    patient,
    "ms",
    STEP_MS_MAX,
  );
  const { own, bodies } = await ownTimes(isShort ? 30 : 510, 0);
  const early = median(own.slice(4, 15));
  note("the same, endpoint answers at once", early, "ms", STEP_MS_MAX);
  note("for comparison: bash -c true alone, in a pseudo-terminal, in a bare loop", bare, "ms");
  if (isShort) return;
  note(
    "own time at step 500 as a multiple of step 10",
    median(own.slice(494, 505)) / early,
    "x",
    1.2,
  );
  // The body ends with the messages: all but the closing brackets is the next one's beginning.
  const shared = bodies
    .slice(1)
    .every((body, index) => body.startsWith(bodies[index]?.slice(0, -2) ?? "?"));
  note("requests that do not begin with the whole of the one before", shared ? 0 : 1, "", 0);
}

async function measureRequest(): Promise<void> {
  for (const [name, args, max] of [
    ["first request, system prompt and tools", [], 7 * 1024],
    ["the same with --fast", ["--fast"], 4 * 1024],
  ] as const) {
    using server = startModelServer([{ text: "done" }]);
    await measure(server.url, args);
    note(name, Buffer.byteLength(server.requests[0]?.body ?? ""), "bytes", max);
  }
}

async function measureDeltas(): Promise<void> {
  const words = Array.from({ length: 20_000 }, (_, n) => `word${n % 10} `).join("");
  const runs: number[] = [];
  for (let n = 0; n < (isShort ? 1 : 5); n++) {
    using server = startModelServer([{ text: words, deltas: 20_000 }]);
    runs.push((await measure(server.url)).cpuMs / 1000);
  }
  note("20,000 deltas in one reply, CPU in all, median", median(runs), "s", 0.4);
}

async function measureMemory(): Promise<void> {
  const peaks: number[] = [];
  for (let n = 0; n < (isShort ? 1 : 3); n++) {
    using server = startModelServer(steps(50));
    peaks.push((await measure(server.url)).peakMb);
  }
  note("a 50-step run, peak memory, median", median(peaks), "MB", 90);
  using server = startModelServer([shell("head -c 100000000 /dev/zero | tr '\\0' a | fold"), done]);
  const { peakMb } = await measure(server.url);
  note("a command that prints 100 MB, peak memory", peakMb, "MB", 150);
}

function measureStore(): void {
  const { early, late, bytesEarly, bytesLate } = measureCommits(isShort ? 100 : 10_000);
  note("commits of one step, median", early, "ms", 3);
  if (isShort) return;
  note("the same at step 10,000, as a multiple", late / early, "x", 1.2);
  note(
    "growth of the store a step, late as a multiple of early",
    bytesLate / bytesEarly,
    "x",
    1.05,
  );
  const ten = measureOpening(10);
  const million = measureOpening(1_000_000);
  note(
    "opening a session of 1,000,000 entries, as a multiple of one of 10",
    million / ten,
    "x",
    1.5,
  );
}

// Memory first: the kernel counts what this program holds when it starts a child as the child's.
for (let pass = 0; pass < PASSES; pass++) await measureMemory();
for (let pass = 0; pass < PASSES; pass++) {
  await measureStart();
  await measureRequest();
  await measureDeltas();
  await measureSteps();
  measureStore();
}

const show = (value: number): string => value.toFixed(value % 1 === 0 ? 0 : 2);
const rows = [...figures.values()].map(({ name, unit, values, max }) => {
  const range = `${show(Math.min(...values))} to ${show(Math.max(...values))} ${unit}`.trim();
  const held =
    max === undefined ? "" : `${values.filter((value) => value <= max).length} of ${values.length}`;
  const bound = max === undefined ? "" : `at most ${max} ${unit}`.trim();
  return `| ${name} | ${`${show(median(values))} ${unit}`.trim()} | ${range} | ${bound} | ${held} |`;
});
const machine = `${cpus().length} x ${cpus()[0]?.model ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}`;
const page = `# Figures

\`npm run bench\` on the standalone executable, against a scripted model server on loopback.
Machine: ${machine}; Bun ${Bun.version}. Every pass counts: the median, the range over all
passes, and in how many of them the bound held. The rows "for comparison" say how fast the machine was.

| what | median | range | bound | held in |
| --- | --- | --- | --- | --- |
${rows.join("\n")}
`;
console.log(page);
if (!isShort) writeFileSync(resolve(import.meta.dir, "RESULTS.md"), page);
const isHeld = ({ values, max }: Figure): boolean => max === undefined || median(values) <= max;
process.exitCode = [...figures.values()].every(isHeld) ? 0 : 1;
