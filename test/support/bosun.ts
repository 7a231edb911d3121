// Runs the built executable as a person or a script would: in its own directory and home, with no
// setting of the machine, through pipes or in a real terminal.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { eventSchema } from "../../scripts/event-schema";
import type { Event, EventBody, EventOf } from "../../src/base/protocol";

export const EXECUTABLE = resolve(import.meta.dir, "..", "..", "dist", "bosun");

/** A run that takes longer hangs: it is killed, and the story fails with what it said so far. */
const RUN_MS_MAX = 30_000;

export interface Place {
  /** The directory to work in. */
  cwd: string;
  /** Bosun's home. */
  home: string;
  remove(): void;
}

/** Makes an empty working directory and home. */
export function makePlace(): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "story-")));
  const place = { cwd: join(root, "project"), home: join(root, "home") };
  for (const directory of [place.cwd, place.home]) mkdirSync(directory);
  return { ...place, remove: () => rmSync(root, { recursive: true, force: true }) };
}

export interface RunOptions {
  place: Place;
  args: readonly string[];
  /** Added to an environment that holds only PATH, HOME, LANG and BOSUN_HOME. */
  env?: Record<string, string>;
  stdin?: string;
  /** Called for each event of a `--json` run while it goes on. */
  onEvent?(event: Event, process: { kill(signal: NodeJS.Signals): void; pid: number }): void;
}

export interface RunOutcome {
  exit: number;
  stdout: string;
  stderr: string;
  /** The events of a `--json` run, each valid by the published schema. */
  events: Event[];
  all<Type extends EventBody["type"]>(type: Type): EventOf<Type>[];
  /** Sessions (process groups' leaders) whose processes should all be gone. */
  pid: number;
}

export function environmentOf(
  place: Place,
  env: Record<string, string> = {},
): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: place.home,
    LANG: "C.UTF-8",
    BOSUN_HOME: join(place.home, ".bosun"),
    ...env,
  };
}

export async function runBosun(options: RunOptions): Promise<RunOutcome> {
  const { place, args, env, stdin, onEvent } = options;
  const child = Bun.spawn([EXECUTABLE, ...args], {
    cwd: place.cwd,
    env: environmentOf(place, env),
    stdin: stdin === undefined ? "ignore" : new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), RUN_MS_MAX);
  const isJson = args.includes("--json") && !args.includes("policy");
  const events: Event[] = [];
  const take = (line: string): void => {
    const event = parseEvent(line);
    events.push(event);
    onEvent?.(event, { kill: (signal) => child.kill(signal), pid: child.pid });
  };
  const [stdout, stderr] = await Promise.all([
    readLines(child.stdout, isJson ? take : undefined),
    new Response(child.stderr).text(),
  ]);
  const exit = await child.exited;
  clearTimeout(timer);
  return {
    exit,
    stdout,
    stderr,
    events,
    pid: child.pid,
    all: <Type extends EventBody["type"]>(type: Type) =>
      events.filter((event): event is EventOf<Type> => event.type === type),
  };
}

function parseEvent(line: string): Event {
  const parsed = eventSchema.safeParse(JSON.parse(line));
  if (!parsed.success) throw new Error(`Not an event: ${line}\n${parsed.error.message}`);
  return JSON.parse(line) as Event;
}

async function readLines(
  stream: ReadableStream<Uint8Array>,
  take: ((line: string) => void) | undefined,
): Promise<string> {
  const decoder = new TextDecoder();
  let all = "";
  let open = "";
  for await (const piece of stream) {
    const text = decoder.decode(piece, { stream: true });
    all += text;
    if (!take) continue;
    const lines = (open + text).split("\n");
    open = lines.pop() ?? "";
    for (const line of lines) take(line);
  }
  if (open !== "") throw new Error(`The last line has no end: ${open}`);
  return all;
}
