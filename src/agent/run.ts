// One run: from a request to its end. Each step is one reply of the model and the calls in it.
// What ends a run: completion (through the verify gate), an answer without calls, a limit, a stop,
// a failure of the provider. A defect is thrown, and the agent tells its story.

import type {
  AssistantMessage,
  EventBody,
  Message,
  Phase,
  RunStatus,
  TodoItem,
  Usage,
} from "#base/protocol";
import { makeCallId } from "#base/protocol";
import type { ActOutcome, Actor } from "./act";
import { completionSummary } from "./completion";
import type { Conversation } from "./conversation";
import type { AgentOptions } from "./options";
import { plan } from "./plan";
import type { ModelFailure, ModelReply, RequestedCall } from "./ports";
import { ProgressBudget } from "./progress";
import { words } from "./words";

export interface RunResult {
  status: RunStatus;
  summary: string;
  exit: number;
}

interface RunOptions
  extends Pick<
    AgentOptions,
    | "model"
    | "specifications"
    | "stepsMax"
    | "replyTokensMax"
    | "verify"
    | "takeNews"
    | "scrub"
    | "understand"
  > {
  conversation: Conversation;
  actor: Actor;
  signal: AbortSignal;
  emit(body: EventBody): void;
  setPhase(phase: Phase): void;
  append(message: Message): void;
  addUsage(usage: Usage): void;
  takeSteering(): string[];
  hasSteering(): boolean;
  /** Resolves at once, or when the owner lets a paused run go on. */
  whileGoing(): Promise<void>;
  todo(): readonly TodoItem[];
  startStep(step: number): void;
}

const EXIT = { complete: 0, error: 1, limit: 2, stopped: 130 } as const;

/** Replies in a row that the token limit cut before anything in them could run. */
const CUT_REPLIES_MAX = 2;

const TASK_COMPLETE = "task_complete";

export class Run {
  readonly #options: RunOptions;
  readonly #progress = new ProgressBudget();
  readonly #todoBefore: readonly TodoItem[];
  #cutReplies = 0;
  /** The model was already asked to go on after a reply that was no ending. */
  #hasNudged = false;
  /** Words for the model that wait for the next step. */
  readonly #notes: string[] = [];

  constructor(options: RunOptions) {
    this.#options = options;
    this.#todoBefore = options.todo();
  }

  async work(request: string): Promise<RunResult> {
    const { conversation, append, signal, stepsMax, startStep, emit } = this.#options;
    conversation.clearThinking();
    append({ role: "user", content: request });
    for (let step = 1; ; step++) {
      await this.#options.whileGoing();
      if (signal.aborted) return this.#stopped();
      if (step > stepsMax) {
        return this.#end("limit", `Stopped after ${stepsMax} steps (--max-steps).`);
      }
      this.#deliver();
      startStep(step);
      emit({ type: "step.started", step });
      const result = await this.#step();
      if (result) return result;
    }
  }

  /** Puts what came in since the last step behind the history, as one user message. */
  #deliver(): void {
    const { append, emit, takeNews, takeSteering } = this.#options;
    const parts = [...this.#notes.splice(0), ...takeNews()];
    for (const text of takeSteering()) {
      emit({ type: "steer", text });
      this.#progress.reset();
      parts.push(text);
    }
    if (parts.length > 0) append({ role: "user", content: parts.join("\n\n") });
  }

  async #step(): Promise<RunResult | undefined> {
    const { model, specifications, conversation, signal, emit, setPhase } = this.#options;
    const planned = await plan({
      model,
      request: { messages: conversation.messages, tools: specifications },
      signal,
      emit,
      setPhase,
    });
    if (planned.kind === "failure") return this.#fail(planned.failure);
    const reply = this.#withFreshIds(planned.reply);
    this.#options.append(withSomeContent(reply.message));
    if (reply.usage) this.#options.addUsage(reply.usage);
    if (reply.calls.length === 0) return this.#answer(reply);
    return this.#actOn(reply);
  }

  #fail(failure: ModelFailure): RunResult {
    if (failure.partialText) {
      this.#options.append({ role: "assistant", content: failure.partialText });
    }
    if (failure.kind === "aborted") return this.#stopped();
    const message = this.#options.scrub(failure.message);
    this.#options.emit({ type: "error", kind: failure.kind, message });
    return this.#end("error", message);
  }

  /** Some providers count their ids anew in each reply; in a history every id is used once. */
  #withFreshIds(reply: ModelReply): ModelReply {
    const { conversation } = this.#options;
    if (!reply.calls.some((call) => conversation.hasCallId(call.id))) return reply;
    const fresh = reply.calls.map((call) =>
      conversation.hasCallId(call.id) ? { ...call, id: makeCallId() } : call,
    );
    const message: AssistantMessage = {
      ...reply.message,
      tool_calls: (reply.message.tool_calls ?? []).map((call, index) => ({
        ...call,
        id: fresh[index]?.id ?? call.id,
      })),
    };
    return { ...reply, calls: fresh, message };
  }

  // --- Replies with calls ----------------------------------------------------------------------

  async #actOn(reply: ModelReply): Promise<RunResult | undefined> {
    const { actor, signal } = this.#options;
    const isAlone = reply.calls.length === 1;
    const completion = reply.calls.find((call) => this.#isCompletion(call));
    if (completion && isAlone && completion.arguments.kind !== "broken") {
      return this.#completeByCall(completion, completion.arguments.value, reply.message.content);
    }
    const isRefused = (call: RequestedCall): boolean => !isAlone && this.#isCompletion(call);
    const runnable = reply.calls.filter((call) => !isRefused(call));
    const outcome = await actor.act(runnable, signal);
    for (const call of reply.calls) {
      if (isRefused(call)) this.#closeCompletion(call, {}, words.completeAlone, { ok: false });
    }
    if (signal.aborted) return this.#stopped();
    if (outcome.guidance !== undefined) this.#takeGuidance(outcome.guidance);
    if (outcome.ownerApproved) this.#progress.reset();
    return this.#judgeCut(reply, outcome) ?? this.#judgeProgress(outcome.attempts);
  }

  #isCompletion(call: RequestedCall): boolean {
    return (this.#options.understand(call.name, {})?.name ?? call.name) === TASK_COMPLETE;
  }

  #takeGuidance(guidance: string): void {
    this.#options.emit({ type: "steer", text: guidance });
    this.#progress.reset();
    this.#notes.push(guidance);
  }

  #judgeCut(reply: ModelReply, outcome: ActOutcome): RunResult | undefined {
    if (!reply.cutByLength) {
      this.#cutReplies = 0;
      return undefined;
    }
    // Something in it was whole and ran: that is no standing still.
    if (outcome.hasRun) this.#cutReplies = 0;
    return this.#noteCut();
  }

  #noteCut(): RunResult | undefined {
    const { emit, replyTokensMax } = this.#options;
    this.#cutReplies += 1;
    const limit = `${replyTokensMax} tokens (--max-tokens)`;
    if (this.#cutReplies >= CUT_REPLIES_MAX) {
      const message = `${CUT_REPLIES_MAX} replies in a row were cut off at ${limit}. Raise the limit.`;
      emit({ type: "error", kind: "reply_cut", message });
      return this.#end("error", message);
    }
    emit({ type: "notice", level: "warning", text: `The reply was cut off at ${limit}.` });
    this.#notes.push(words.cutOff(replyTokensMax));
    return undefined;
  }

  #judgeProgress(attempts: ActOutcome["attempts"]): RunResult | undefined {
    const verdict = this.#progress.record(attempts);
    if (verdict.kind === "go on") return undefined;
    if (verdict.kind === "stop") return this.#end("limit", `No progress: ${verdict.text}`);
    this.#options.emit({ type: "notice", level: "warning", text: verdict.text });
    this.#notes.push(verdict.text);
    return undefined;
  }

  // --- Endings ---------------------------------------------------------------------------------

  async #completeByCall(
    call: RequestedCall,
    args: Record<string, unknown>,
    text: string | null,
  ): Promise<RunResult | undefined> {
    const summary = [args.summary, args.result, text].find(
      (candidate): candidate is string => typeof candidate === "string" && candidate.trim() !== "",
    );
    const refusal = summary === undefined ? words.summaryMissing : await this.#verify();
    this.#closeCompletion(call, args, refusal ?? "Accepted.", { ok: refusal === undefined });
    if (this.#options.signal.aborted) return this.#stopped();
    if (refusal !== undefined) {
      const attempt = { name: TASK_COMPLETE, args: JSON.stringify(args), result: refusal };
      return this.#judgeProgress([attempt]);
    }
    if (this.#options.hasSteering()) return undefined;
    return this.#end("complete", summary ?? "");
  }

  #closeCompletion(
    call: RequestedCall,
    args: Record<string, unknown>,
    content: string,
    { ok }: { ok: boolean },
  ): void {
    const { append, emit } = this.#options;
    emit({ type: "tool.started", call: call.id, name: TASK_COMPLETE, args });
    emit({
      type: "tool.finished",
      call: call.id,
      name: TASK_COMPLETE,
      ok,
      exitCode: null,
      ms: 0,
      truncated: false,
      result: content,
    });
    append({ role: "tool", tool_call_id: call.id, content });
  }

  /** A reply without calls: an answer that ends the turn, unless it plainly is no ending. */
  async #answer(reply: ModelReply): Promise<RunResult | undefined> {
    const text = reply.message.content ?? "";
    const refusal = reply.message.refusal;
    if (reply.cutByLength) return this.#noteCut();
    this.#cutReplies = 0;
    if (reply.finish === "content_filter") {
      return this.#giveUp("content_filter", "The provider's content filter cut the reply off.");
    }
    if (typeof refusal === "string" && refusal !== "") return this.#giveUp("refusal", refusal);
    const summary = completionSummary(text);
    if (summary === undefined && !this.#hasNudged) {
      const nudge = this.#whyNoEnding(reply, text);
      if (nudge) {
        this.#hasNudged = true;
        this.#options.emit({ type: "notice", level: "warning", text: nudge.notice });
        this.#notes.push(nudge.note);
        return undefined;
      }
    }
    if (text.trim() === "") return this.#giveUp("empty_reply", "The model answered with nothing.");
    return this.#completeByWords(summary ?? text);
  }

  #giveUp(kind: string, message: string): RunResult {
    this.#options.emit({ type: "error", kind, message });
    return this.#end("error", message);
  }

  #whyNoEnding(reply: ModelReply, text: string): { notice: string; note: string } | undefined {
    if (reply.announcedCalls) {
      return { notice: "Announced tool calls never arrived.", note: words.callsMissing };
    }
    if (text.trim() === "") {
      return { notice: "The model answered with nothing.", note: words.emptyReply };
    }
    const todo = this.#options.todo();
    // A list that this run never touched belongs to an earlier request.
    const open = todo === this.#todoBefore ? [] : todo.filter((item) => item.state !== "done");
    if (open.length === 0) return undefined;
    return {
      notice: `The model stopped with ${open.length} open todo items.`,
      note: words.todoOpen(open.map((item) => item.text)),
    };
  }

  async #completeByWords(summary: string): Promise<RunResult | undefined> {
    const refusal = await this.#verify();
    if (this.#options.signal.aborted) return this.#stopped();
    if (refusal !== undefined) {
      this.#notes.push(refusal);
      return this.#judgeProgress([{ name: "answer", args: "", result: refusal }]);
    }
    if (this.#options.hasSteering()) return undefined;
    return this.#end("complete", summary);
  }

  /** Undefined when the completion is accepted, else what to tell the model. */
  async #verify(): Promise<string | undefined> {
    const { verify, emit, signal, setPhase, scrub } = this.#options;
    if (!verify) return undefined;
    setPhase("running");
    const { ok, exitCode, output } = await verify(signal);
    if (signal.aborted) return "Not verified: the owner stopped the run.";
    const shown = scrub(output);
    emit({ type: "verify", ok, exitCode, output: shown });
    return ok ? undefined : words.verifyFailed(exitCode, shown);
  }

  #stopped(): RunResult {
    return this.#end("stopped", "Stopped by the owner.");
  }

  #end(status: RunStatus, summary: string): RunResult {
    return { status, summary, exit: EXIT[status] };
  }
}

/** Strict providers take no empty turn, templates of local models no two of the user's in a row. */
function withSomeContent(message: AssistantMessage): AssistantMessage {
  const { content, tool_calls: calls, refusal } = message;
  const isEmpty = (content ?? "").trim() === "" && !calls?.length && !refusal;
  return isEmpty ? { ...message, content: "(The reply was empty.)" } : message;
}
