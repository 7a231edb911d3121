// One request and its answer: sends it, streams what comes, and says what it came to. Whether it
// is made again is decided above.

import type { ModelEvent, ModelReply } from "#agent/ports";
import { ChunkReader, type ReplyItem } from "./chunks";
import type { Connection } from "./connection";
import { type ClassifiedFailure, classifyFailure } from "./failure";
import { describeForeign, tidyText } from "./failure-words";
import { ReplyBuilder } from "./reply";

export interface AttemptLimits {
  /** Silence after which the line counts as dead. */
  idleMs: number;
  /** Silence after the finish reason, when nothing but the usage can come. */
  tailMs: number;
}

export type Outcome =
  | { kind: "reply"; reply: ModelReply; reasoningField: string | undefined }
  | { kind: "aborted"; partialText: string }
  | {
      kind: "failed";
      failure: ClassifiedFailure;
      /** The HTTP status, or 200 for an error inside a reply, or 0 when none came. */
      status: number;
      body: string;
      partialText: string;
    };

export interface AttemptOptions {
  connection: Connection;
  body: Uint8Array;
  limits: AttemptLimits;
  signal: AbortSignal;
  now(): number;
  /** Raw bytes of the answer, for a dump. */
  onBytes?: ((bytes: Uint8Array) => void) | undefined;
}

/** After the end of a reply the line is kept for the next request if the server ends it so soon. */
const DRAIN_MS = 1000;

/** A reply that is larger than this is a fault of the server. */
const REPLY_BYTES_MAX = 256 * 1024 * 1024;

/** What is quoted of a line that could not be read. */
const QUOTE_LENGTH_MAX = 100;

/** Calls `onSilence` once nothing has moved for `ms`. */
class SilenceTimer {
  #timer: ReturnType<typeof setTimeout>;
  readonly #onSilence: () => void;
  ms: number;

  constructor(ms: number, onSilence: () => void) {
    this.ms = ms;
    this.#onSilence = onSilence;
    this.#timer = setTimeout(onSilence, ms);
  }

  moved(): void {
    this.#timer.refresh();
  }

  shorten(ms: number): void {
    if (ms >= this.ms) return;
    this.stop();
    this.ms = ms;
    this.#timer = setTimeout(this.#onSilence, ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

function broken(message: string, kind: "network" | "incomplete"): ClassifiedFailure {
  return { kind, message, retryable: true };
}

function silenceText(ms: number): string {
  const span = ms >= 60_000 ? `${Math.round(ms / 60_000)} minutes` : `${ms / 1000} s`;
  return `Nothing came from the endpoint for ${span}.`;
}

/** Never rejects: settles with undefined when the signal comes first. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
    promise.then(resolve, reject);
  });
}

/** Reads the body of one answer. */
class AnswerReader {
  readonly builder = new ReplyBuilder();
  error: string | undefined;
  garbled: string | undefined;
  foreign: string | undefined;
  #noise = "";
  #fault = false;
  #chunks = new ChunkReader();
  #size = 0;

  take(bytes: Uint8Array): void {
    this.#size += bytes.length;
    if (this.#size > REPLY_BYTES_MAX) this.garbled ??= "(more than any reply has)";
    this.#takeItems(this.#chunks.feed(bytes));
  }

  /** `fault`: the line broke, so that no end was seen. */
  end(options: { fault: boolean }): void {
    this.#fault = options.fault;
    if (!this.builder.isDone) this.#takeItems(this.#chunks.end());
    this.builder.end();
  }

  get isOver(): boolean {
    return this.builder.isDone || this.isBroken;
  }

  get isComplete(): boolean {
    const { finish, isDone, hasChoices } = this.builder;
    const isEnded = finish !== null || (isDone && hasChoices);
    return isEnded && !this.isBroken;
  }

  get isBroken(): boolean {
    return [this.error, this.garbled, this.foreign].some((part) => part !== undefined);
  }

  /** Why a reply that is not complete is none, where no error came. */
  failure(silence: string | undefined): ClassifiedFailure {
    if (this.foreign === undefined) return broken(silence ?? this.#problem(), "incomplete");
    const message = `The endpoint answered with ${describeForeign(this.foreign)} instead of a reply.`;
    return { kind: "bad_request", message, retryable: false };
  }

  #problem(): string {
    if (this.garbled !== undefined) {
      return `The endpoint sent a line that cannot be read: ${tidyText(this.garbled, QUOTE_LENGTH_MAX)}`;
    }
    if (this.#fault) return "The connection was closed before the reply was whole.";
    if (this.#noise !== "") {
      return `The endpoint sent no reply, but: ${tidyText(this.#noise, QUOTE_LENGTH_MAX)}`;
    }
    return this.builder.hasChoices
      ? "The reply ended before it was whole (no finish reason)."
      : "The endpoint closed the connection without a reply.";
  }

  *events(): Generator<ModelEvent> {
    const { reasoning, text } = this.builder.takePending();
    if (reasoning !== "") yield { kind: "reasoning", text: reasoning };
    if (text !== "") yield { kind: "text", text };
  }

  #takeItems(items: ReplyItem[]): void {
    for (const item of items) {
      // Nothing behind the end or an error counts, whatever it is.
      if (this.isOver) return;
      switch (item.kind) {
        case "chunk":
          this.builder.takeChunk(item.chunk);
          break;
        case "done":
          this.builder.isDone = true;
          break;
        case "error":
          this.error = item.body;
          break;
        case "garbled":
          this.garbled = item.text;
          break;
        case "foreign":
          this.foreign = item.text;
          break;
        case "noise":
          if (this.#noise.length < QUOTE_LENGTH_MAX) this.#noise += item.text;
          break;
      }
    }
  }
}

/** Lets the server end its answer, so that the line can be used again; else closes it. */
async function drain(
  reader: { read(): Promise<{ done: boolean }> },
  controller: AbortController,
): Promise<void> {
  const timer = setTimeout(() => controller.abort(), DRAIN_MS);
  timer.unref();
  try {
    let isOver = false;
    while (!isOver) isOver = (await reader.read()).done;
  } catch {
    // The line broke behind the end of the reply: there is nothing left to lose.
    controller.abort();
  } finally {
    clearTimeout(timer);
  }
}

async function* readAnswer(
  response: Response,
  options: AttemptOptions,
  controller: AbortController,
  silence: SilenceTimer,
): AsyncGenerator<ModelEvent, Outcome> {
  const answer = new AnswerReader();
  const { builder } = answer;
  const reader = response.body?.getReader();
  const isStopped = (): boolean => options.signal.aborted;
  let fault = false;
  let isOpen = reader !== undefined;
  while (reader && isOpen && !answer.isOver) {
    try {
      const { done, value } = await reader.read();
      if (done) break;
      silence.moved();
      options.onBytes?.(value);
      answer.take(value);
    } catch {
      // A dropped line and our own abort look alike here; which it was is asked below.
      fault = true;
      isOpen = false;
    }
    if (isStopped()) break;
    if (builder.finish !== null) silence.shorten(options.limits.tailMs);
    yield* answer.events();
  }
  const isSilent = controller.signal.aborted && !isStopped();
  if (isStopped()) return { kind: "aborted", partialText: builder.text };
  answer.end({ fault });
  yield* answer.events();
  if (answer.isComplete) {
    if (reader && builder.isDone) void drain(reader, controller);
    return { kind: "reply", reply: builder.build(), reasoningField: builder.reasoningField };
  }
  controller.abort();
  const partialText = builder.text;
  const headers = Object.fromEntries(response.headers.entries());
  const failure =
    answer.error === undefined
      ? answer.failure(isSilent ? silenceText(silence.ms) : undefined)
      : classifyFailure({ status: 200, headers, body: answer.error, nowMs: options.now() });
  return { kind: "failed", failure, status: 200, body: answer.error ?? "", partialText };
}

/** Makes one attempt. Streams text and thinking; the return value is what it came to. */
export async function* attemptReply(options: AttemptOptions): AsyncGenerator<ModelEvent, Outcome> {
  const { connection, body, signal, limits } = options;
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const silence = new SilenceTimer(limits.idleMs, stop);
  let isReply = false;
  try {
    const exchange = await orAborted(connection.post(body, controller.signal), controller.signal);
    if (signal.aborted) return { kind: "aborted", partialText: "" };
    if (!exchange || exchange.kind === "broken") {
      const failure: ClassifiedFailure = controller.signal.aborted
        ? broken(silenceText(silence.ms), "network")
        : { ...broken(exchange?.message ?? "", "network"), retryable: exchange?.retryable ?? true };
      return { kind: "failed", failure, status: 0, body: "", partialText: "" };
    }
    if (exchange.kind === "refusal") {
      const { refusal } = exchange;
      options.onBytes?.(new TextEncoder().encode(refusal.body));
      const failure = classifyFailure({ ...refusal, nowMs: options.now() });
      const { status } = refusal;
      return { kind: "failed", failure, status, body: refusal.body, partialText: "" };
    }
    const outcome = yield* readAnswer(exchange.response, options, controller, silence);
    isReply = outcome.kind === "reply";
    return outcome;
  } finally {
    silence.stop();
    signal.removeEventListener("abort", stop);
    // Also when whoever listened goes away in the middle: the line is closed, not left open.
    if (!isReply) controller.abort();
  }
}
