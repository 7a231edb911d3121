// A model behind any endpoint that speaks Chat Completions: sends, streams, learns what the
// endpoint does not like, and tries again where that can help.
// Source of the protocol: the OpenAI API reference, "Chat Completions"; what endpoints make of it
// is in the recorded streams of the tests.

import type { Clock, Model, ModelEvent, ModelFailure, ModelRequest } from "#agent/ports";
import { type AttemptLimits, attemptReply, type Outcome } from "./attempt";
import { Connection } from "./connection";
import { changeMessages, firstQuirks, type Lesson, QuirkLearner, type Quirks } from "./quirks";
import { RequestBody } from "./request-body";
import { decideRetry, RETRY_LIMITS, type RetryLimits } from "./retry";

export interface ChatLimits extends RetryLimits, AttemptLimits {}

/** Everything about one exchange, for whoever looks for a fault; holds no credential. */
export interface ExchangeDump {
  atMs: number;
  endAtMs: number;
  attempt: number;
  apiBase: string;
  request: string;
  /** The raw answer as far as it came, up to a limit. */
  response: string;
  outcome: string;
}

export interface ChatModelOptions {
  apiBase: string;
  model: string;
  apiKey: string | undefined;
  maxTokens: number;
  temperature: number | undefined;
  reasoningEffort?: string | undefined;
  /** Asks for usage in the stream. */
  streamOptions: boolean;
  /** Asks for thinking, in the way of servers that run open models. */
  extraBody: boolean;
  clock: Clock;
  debug?: ((dump: ExchangeDump) => void) | undefined;
  limits?: Partial<ChatLimits>;
}

const CHAT_LIMITS: ChatLimits = {
  ...RETRY_LIMITS,
  // A local model may read a long prompt for many minutes before its first word.
  idleMs: 15 * 60_000,
  tailMs: 5_000,
};

/** Refusals of one request that may teach something; beyond it they are taken as final. */
const LESSONS_MAX = 12;

const DUMP_BYTES_MAX = 4 * 1024 * 1024;

/** A shorter key would be found in ordinary words. */
const KEY_LENGTH_MIN = 6;

type Failed = Extract<Outcome, { kind: "failed" }>;

class ChatModel implements Model {
  readonly name: string;
  readonly #options: ChatModelOptions;
  readonly #limits: ChatLimits;
  readonly #connection: Connection;
  readonly #body: RequestBody;
  readonly #learner = new QuirkLearner();
  #quirks: Quirks;
  #hasSucceeded = false;
  /** Once is enough: a name that changed with every reply would change the bytes of all turns. */
  #knowsReasoningField = false;

  constructor(options: ChatModelOptions) {
    this.name = options.model;
    this.#options = options;
    this.#limits = { ...CHAT_LIMITS, ...options.limits };
    this.#connection = new Connection(options);
    this.#body = new RequestBody({ reasoningEffort: undefined, ...options });
    this.#quirks = firstQuirks(options.model);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    try {
      yield* this.#stream(request, signal);
    } catch (error) {
      // The port never throws; a defect shows as what it is.
      const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      const message = this.#clean(`The request could not be made: ${text}`);
      yield { kind: "failure", failure: { kind: "bad_request", message, partialText: "" } };
    }
  }

  async *#stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    let failures = 0;
    let lessons = 0;
    /** What the quirks were before the guess that is being tried. */
    let beforeGuess: Quirks | undefined;
    for (;;) {
      const outcome = yield* this.#attempt(request, failures + 1, signal);
      if (outcome.kind === "reply") {
        this.#noteSuccess(outcome.reasoningField);
        yield { kind: "reply", reply: outcome.reply };
        return;
      }
      if (outcome.kind === "aborted" || signal.aborted) {
        yield { kind: "failure", failure: abortedFailure(outcome.partialText) };
        return;
      }
      const isRefused = outcome.status === 400 || outcome.status === 422;
      if (beforeGuess && isRefused) this.#quirks = beforeGuess;
      beforeGuess = undefined;
      const lesson = lessons < LESSONS_MAX ? this.#learn(request, outcome) : undefined;
      if (lesson) {
        lessons++;
        if (lesson.isGuess) beforeGuess = this.#quirks;
        this.#quirks = lesson.quirks;
        yield { kind: "notice", level: "info", text: this.#clean(lesson.notice) };
        continue;
      }
      failures++;
      const decision = decideRetry(outcome.failure, failures, this.#limits);
      if (decision.kind === "stop") {
        yield { kind: "failure", failure: this.#finalFailure(outcome, decision.because) };
        return;
      }
      const reason = this.#clean(outcome.failure.message);
      yield { kind: "retry", attempt: failures, waitMs: decision.waitMs, reason };
      await this.#options.clock.sleep(decision.waitMs, signal);
      if (signal.aborted) {
        yield { kind: "failure", failure: abortedFailure(outcome.partialText) };
        return;
      }
    }
  }

  async *#attempt(
    request: ModelRequest,
    attempt: number,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, Outcome> {
    const { clock, debug } = this.#options;
    const atMs = clock.now();
    const body = this.#body.build(request, this.#quirks);
    const sent = debug && this.#clean(new TextDecoder().decode(body.bytes));
    const received: Uint8Array[] = [];
    let size = 0;
    const keep = (bytes: Uint8Array): void => {
      if (size < DUMP_BYTES_MAX) received.push(bytes.slice());
      size += bytes.length;
    };
    const outcome = yield* attemptReply({
      connection: this.#connection,
      body: body.bytes,
      limits: this.#limits,
      signal,
      now: () => clock.now(),
      onBytes: debug ? keep : undefined,
    });
    body.release();
    debug?.({
      atMs,
      endAtMs: clock.now(),
      attempt,
      apiBase: this.#connection.apiBase,
      request: sent ?? "",
      response: this.#clean(Buffer.concat(received).toString("utf8")),
      outcome: this.#clean(describeOutcome(outcome)),
    });
    return outcome;
  }

  #learn(request: ModelRequest, { failure, status, body }: Failed) {
    const sent = this.#body.describe(request, this.#quirks);
    const named: Lesson | undefined = this.#learner.learn(failure, body, this.#quirks, sent);
    if (named) return { ...named, isGuess: false };
    const mayGuess = failure.kind === "bad_request" && (status === 400 || status === 422);
    if (!mayGuess) return undefined;
    const guess = this.#learner.guess(body, this.#quirks, sent, this.#hasSucceeded);
    return guess && { ...guess, isGuess: true };
  }

  #noteSuccess(reasoningField: string | undefined): void {
    this.#hasSucceeded = true;
    if (reasoningField === undefined || this.#knowsReasoningField) return;
    this.#knowsReasoningField = true;
    if (reasoningField === this.#quirks.message.reasoningField) return;
    this.#quirks = changeMessages(this.#quirks, { reasoningField });
  }

  #finalFailure(outcome: Failed, because: string | undefined): ModelFailure {
    const { failure, partialText } = outcome;
    // A wrong path gets a 404, or the page that lives there.
    const isElsewhere =
      (outcome.status === 404 && failure.kind === "bad_request") ||
      (outcome.status === 200 && failure.kind === "bad_request" && outcome.body === "");
    const base = this.#connection.apiBase;
    const advice = isElsewhere ? `Is ${base} the right base URL of the API?` : because;
    const message = advice === undefined ? failure.message : `${failure.message}\n${advice}`;
    return { kind: failure.kind, message: this.#clean(message), partialText };
  }

  /** Some endpoints quote the key that they refuse. */
  #clean(text: string): string {
    const key = this.#options.apiKey ?? "";
    return key.length < KEY_LENGTH_MIN ? text : text.replaceAll(key, "[key]");
  }
}

function abortedFailure(partialText: string): ModelFailure {
  return { kind: "aborted", message: "The request was stopped.", partialText };
}

function describeOutcome(outcome: Outcome): string {
  if (outcome.kind === "reply") return `reply, finish ${String(outcome.reply.finish)}`;
  if (outcome.kind === "aborted") return "aborted";
  return `${outcome.failure.kind}: ${outcome.failure.message}`;
}

/** Makes a model; nothing is sent before its first `stream`. */
export function createChatModel(options: ChatModelOptions): Model {
  return new ChatModel(options);
}
