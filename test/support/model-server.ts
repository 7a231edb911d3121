// A model endpoint for tests: a real HTTP server on the loopback that plays a script, one entry
// per chat request, and records what it was asked. It speaks Chat Completions as a stream.
// It lives in the process of its owner and ends with it; `using` or close() ends it sooner.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { encodeReply } from "./model-stream";

export interface ScriptedCall {
  name: string;
  /** An object, or a string that is sent raw. */
  args: unknown;
  id?: string;
}

/** One answer. With nothing set it is an empty reply that ends with `stop`. */
export interface ScriptedReply {
  text?: string;
  reasoning?: string;
  calls?: ScriptedCall[];
  /** The default is `tool_calls` when there are calls, else `stop`; null sends none. */
  finish?: string | null;
  /** Replaces the made-up usage. */
  usage?: object;
  /** The text is sent in that many deltas; the default is one for every four characters. */
  deltas?: number;
  /** The whole body of the stream, verbatim. */
  raw?: string | Uint8Array;
  /** The body is written in pieces of that many bytes. */
  pieces?: number;
  pieceDelayMs?: number;
  status?: number;
  headers?: Record<string, string>;
  /** An answer that is no stream; `application/json` unless the headers say otherwise. */
  body?: string;
  /** Waits before the headers. */
  delayMs?: number;
  /** Sends that many bytes of the body, then drops the connection; 0 drops it before headers. */
  cutAfterBytes?: number;
  /** Sends the body (or nothing, when there is none), then stays silent with the line open. */
  hang?: boolean;
}

export interface RecordedRequest {
  atMs: number;
  /** When the answer was over or the client went away; 0 while it goes on. */
  endAtMs: number;
  /** True when the client closed the connection before the answer was whole. */
  aborted: boolean;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  /** The body as JSON, or an empty object when it is none. */
  json: Record<string, unknown>;
}

export type ScriptedAnswer = (request: RecordedRequest, index: number) => ScriptedReply;
export type Script = (ScriptedReply | ScriptedAnswer)[];

export interface ModelServer {
  /** The API base: `http://127.0.0.1:PORT/v1`. */
  readonly url: string;
  /** Chat requests in order of arrival, without requests for the list of models. */
  readonly requests: RecordedRequest[];
  close(): Promise<void>;
  /** Refuses connections, and drops those that are open; for good, or for `ms`. */
  down(ms?: number): Promise<void>;
  /** Listens again, on the same port. */
  up(): void;
  [Symbol.dispose](): void;
}

export interface ModelServerOptions {
  /** What GET /v1/models lists. */
  models?: string[];
  port?: number;
}

const encoder = new TextEncoder();

/** Between two pieces without a delay, so that each is written by itself. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function parseObject(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    // A request that is not JSON is recorded as it came, in `body`.
    return {};
  }
}

function bodyBytes(reply: ScriptedReply, request: RecordedRequest): Uint8Array {
  if (reply.body !== undefined) return encoder.encode(reply.body);
  if (typeof reply.raw === "string") return encoder.encode(reply.raw);
  if (reply.raw) return reply.raw;
  return encoder.encode(encodeReply(reply, request.json));
}

async function writeBody(
  response: ServerResponse,
  reply: ScriptedReply,
  bytes: Uint8Array,
): Promise<void> {
  const size = Math.max(1, reply.pieces ?? bytes.length);
  for (let start = 0; start < bytes.length; start += size) {
    if (response.destroyed) return;
    response.write(bytes.subarray(start, start + size));
    if (start + size >= bytes.length) break;
    await (reply.pieceDelayMs ? sleep(reply.pieceDelayMs) : nextTurn());
  }
}

function hasOutput(reply: ScriptedReply): boolean {
  return [reply.text, reply.reasoning, reply.calls, reply.raw, reply.body].some(
    (part) => part !== undefined,
  );
}

async function answer(
  response: ServerResponse,
  reply: ScriptedReply,
  request: RecordedRequest,
): Promise<void> {
  if (reply.delayMs) await sleep(reply.delayMs);
  if (response.destroyed) return;
  if (reply.cutAfterBytes === 0) {
    response.socket?.destroy();
    return;
  }
  const isStream = reply.body === undefined;
  response.writeHead(reply.status ?? 200, {
    "content-type": isStream ? "text/event-stream; charset=utf-8" : "application/json",
    "cache-control": "no-cache",
    ...reply.headers,
  });
  response.flushHeaders();
  const whole = reply.hang && !hasOutput(reply) ? new Uint8Array() : bodyBytes(reply, request);
  const bytes = reply.cutAfterBytes ? whole.subarray(0, reply.cutAfterBytes) : whole;
  await writeBody(response, reply, bytes);
  if (reply.hang) return;
  if (reply.cutAfterBytes) {
    // The bytes written so far must be on their way before the line is cut.
    await sleep(5);
    response.socket?.destroy();
    return;
  }
  response.end();
}

/** What comes when the script has no more: loud, so that a test sees its own mistake. */
function runOut(index: number, length: number): ScriptedReply {
  const message =
    `The test's script has ${length} replies, but this is request ${index + 1}. ` +
    "The model server has nothing to answer.";
  return {
    status: 500,
    headers: { "x-should-retry": "false" },
    body: JSON.stringify({ error: { message, type: "script_ended" } }),
  };
}

function nextReply(
  script: Script | ScriptedAnswer,
  request: RecordedRequest,
  index: number,
): ScriptedReply {
  const entry = typeof script === "function" ? script : script[index];
  if (!entry) return runOut(index, script.length);
  return typeof entry === "function" ? entry(request, index) : entry;
}

function recordOf(request: IncomingMessage, body: string): RecordedRequest {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return {
    atMs: performance.timeOrigin + performance.now(),
    endAtMs: 0,
    aborted: false,
    method: request.method ?? "",
    path: request.url ?? "",
    headers: Object.fromEntries(headers) as Record<string, string>,
    body,
    json: parseObject(body),
  };
}

/** Bun binds within the call, so the port is known at once. */
function listen(server: Server, port: number): number {
  server.listen(port, "127.0.0.1");
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error(`cannot listen on port ${port}`);
  return address.port;
}

/** Starts the server; the script's entries answer the chat requests one after another. */
export function startModelServer(
  script: Script | ScriptedAnswer,
  options: ModelServerOptions = {},
): ModelServer {
  const requests: RecordedRequest[] = [];
  const models = (options.models ?? ["scripted-model"]).map((id) => ({ id, object: "model" }));

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const record = recordOf(incoming, await readBody(incoming));
    if (record.method === "GET") {
      const isList = record.path.endsWith("/models");
      response.writeHead(isList ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify(isList ? { object: "list", data: models } : { error: "No." }));
      return;
    }
    const index = requests.push(record) - 1;
    response.on("close", () => {
      record.endAtMs = performance.timeOrigin + performance.now();
      record.aborted = !response.writableFinished;
    });
    await answer(response, nextReply(script, record, index), record);
  };

  const make = (): Server =>
    createServer((incoming, response) => {
      handle(incoming, response).catch((error: unknown) => {
        // A defect of the test's own script: shown to the client, since nobody else looks here.
        if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
        response.end(`The test's script threw: ${String(error)}`);
      });
    });

  let server = make();
  let isUp = true;
  const port = listen(server, options.port ?? 0);
  const stop = (): Promise<void> => {
    if (!isUp) return Promise.resolve();
    isUp = false;
    return new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  };
  const up = (): void => {
    if (isUp) return;
    server = make();
    listen(server, port);
    isUp = true;
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    up,
    close: () => {
      clearTimeout(timer);
      return stop();
    },
    down: async (ms) => {
      await stop();
      if (ms !== undefined) timer = setTimeout(up, ms);
    },
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      void stop();
    },
  };
}
