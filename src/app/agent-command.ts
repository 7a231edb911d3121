// `bosun [request]`: finds out what to do and with which model, then lets a front end do it.

import { isTerminal, openStandardOutput } from "#base/os";
import { type HeardSignal, openTerminal, runHeadless } from "#frontends/headless";
import { type Arguments, EXIT_USAGE, UsageError } from "./config/arguments";
import type { DemoServer } from "./demo/server";
import type { Endpoint, Invocation } from "./invocation";
import { wire } from "./wire";

const STANDARD_INPUT = 0;
const STANDARD_OUTPUT = 1;

/** A request longer than this is a file that went astray. */
const REQUEST_BYTES_MAX = 1024 * 1024;

const DEMO_REQUEST = "Show what Bosun does: a small real job in this directory.";

export async function runAgent(invocation: Invocation): Promise<number> {
  const { settings } = invocation.configuration;
  const isDemo = settings.demo;
  if (settings.noSession && (settings.session ?? settings.resume) !== undefined) {
    throw new UsageError("--no-session contradicts --session and --resume: leave one out.");
  }
  const request = isDemo ? DEMO_REQUEST : await readRequest(invocation);
  if (!isDemo && settings.apiBase === undefined) return explainEndpoints(invocation);
  return isDemo ? runDemo(invocation) : work(invocation, await findEndpoint(invocation), request);
}

async function work(
  { args, configuration, cwd }: Invocation,
  endpoint: Endpoint,
  request: string | undefined,
): Promise<number> {
  const { settings } = configuration;
  const mode = settings.json ? "json" : "text";
  // Programs read --json: nobody is there to be asked.
  const terminal = mode === "json" ? undefined : await openTerminal();
  if (request === undefined && !terminal) throw new UsageError(noRequest(args));
  const wired = await wire({
    configuration,
    cwd,
    endpoint,
    isAttended: terminal !== undefined,
    keepsSession: !settings.noSession && !settings.demo,
  });
  const output = openStandardOutput(() => wired.agent.send({ kind: "stop" }));
  const isOutlineSeen = await isTerminal(STANDARD_OUTPUT);
  try {
    return await runHeadless({
      agent: wired.agent,
      mode,
      request,
      terminal,
      write: (text) => output.write(text),
      colours: !settings.noColor && isOutlineSeen,
      isOutlineSeen,
      showThinking: !settings.noThinking,
      onSignal: listenToSignals,
    });
  } finally {
    await wired.close();
    await output.end();
  }
}

function noRequest(args: Arguments): string {
  const start = args.subcommand === "run" ? "bosun run" : "bosun";
  return `There is no request. Say what to do: ${start} "REQUEST", or pipe it in.`;
}

/** The words of the command line, else what is piped in, else undefined: ask on the terminal. */
async function readRequest({ args }: Invocation): Promise<string | undefined> {
  const words = args.words.join(" ").trim();
  if (words !== "") return words;
  if (await isTerminal(STANDARD_INPUT)) {
    if (args.subcommand === "run") throw new UsageError(noRequest(args));
    return undefined;
  }
  const piped = await readPiped();
  if (piped === "") throw new UsageError(noRequest(args));
  return piped;
}

async function readPiped(): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of Bun.stdin.stream()) {
      pieces.push(piece);
      length += piece.byteLength;
      if (length > REQUEST_BYTES_MAX) break;
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The request cannot be read from standard input: ${why}.`);
  }
  if (length > REQUEST_BYTES_MAX) {
    throw new UsageError("The request from standard input is larger than 1 MiB.");
  }
  return new TextDecoder().decode(Buffer.concat(pieces)).trim();
}

async function findEndpoint({ configuration }: Invocation): Promise<Endpoint> {
  const { apiBase = "", apiKey, model } = configuration.settings;
  if (model !== undefined) return { apiBase, apiKey, model };
  const { findOnlyModel } = await import("./endpoints/only-model");
  const found = await findOnlyModel({ apiBase, apiKey });
  process.stderr.write(`bosun: using the endpoint's only model, ${found}.\n`);
  return { apiBase, apiKey, model: found };
}

/** Nothing is configured: explains the ways to a model, and on a terminal offers the demo. */
async function explainEndpoints(invocation: Invocation): Promise<number> {
  const { endpointAdvice } = await import("./endpoints/advice");
  process.stderr.write(`${await endpointAdvice(process.env)}\n`);
  if (invocation.configuration.settings.json || !(await isTerminal(STANDARD_INPUT))) {
    throw new UsageError("no endpoint: give --api-base URL, or set BOSUN_API_BASE.");
  }
  const answer = prompt("\nRun the demo now? [y/N]");
  // Nothing was done: a script must not take that for success.
  if (!/^y(es)?$/i.test(answer?.trim() ?? "")) return EXIT_USAGE;
  return runDemo(invocation);
}

async function runDemo(invocation: Invocation): Promise<number> {
  const { DEMO_MODEL, startDemoServer } = await import("./demo/server");
  const server: DemoServer = startDemoServer(invocation.cwd);
  try {
    const endpoint = { apiBase: server.apiBase, apiKey: undefined, model: DEMO_MODEL };
    return await work(invocation, endpoint, DEMO_REQUEST);
  } finally {
    server.stop();
  }
}

function listenToSignals(handler: (signal: HeardSignal) => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGCONT"] as const;
  const listeners = signals.map((signal) => {
    const listener = (): void => handler(signal);
    process.on(signal, listener);
    return { signal, listener };
  });
  return () => {
    for (const { signal, listener } of listeners) process.off(signal, listener);
  };
}
