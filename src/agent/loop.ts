// The agent: takes commands, runs turns, says what happens. A turn is one request worked on in
// steps: plan (one reply of the model), act (its calls), and around again until it is done.
// Nothing here touches files, processes or the network: all of that comes in through the ports.

import { StoreFailure } from "#base/kit";
import type {
  AgentHandle,
  AgentState,
  Command,
  Event,
  EventBody,
  Message,
  NoticeLevel,
  Phase,
  Query,
  TodoItem,
  Usage,
  Watcher,
} from "#base/protocol";
import { EVENT_VERSION } from "#base/protocol";
import { Actor } from "./act";
import { Conversation } from "./conversation";
import { Gate } from "./gate";
import type { AgentOptions } from "./options";
import type { Tool } from "./ports";
import { Run, type RunResult } from "./run";

const NO_USAGE: Usage = { input: 0, output: 0, cached: 0, billable: 0 };

/** Events that are only watched: the message that follows holds the same text whole. */
const NOT_KEPT: ReadonlySet<EventBody["type"]> = new Set([
  "reasoning.delta",
  "text.delta",
  "tool.output",
]);

function begin({ systemPrompt, restored }: AgentOptions): Conversation {
  return new Conversation([
    { role: "system", content: systemPrompt },
    ...(restored?.messages ?? []),
  ]);
}

export class Agent implements AgentHandle {
  #options: AgentOptions;
  readonly #watchers = new Set<Watcher>();
  #conversation: Conversation;
  readonly #gate: Gate;
  readonly #actor: Actor;
  readonly #steering: string[] = [];
  #run: Run | undefined;
  #abort = new AbortController();
  #working = Promise.resolve();
  #phase: Phase = "idle";
  #step = 0;
  #usage: Usage = NO_USAGE;
  #todo: readonly TodoItem[] = [];
  /** Why this run cannot be kept; it ends for that. */
  #storeFailure: StoreFailure | undefined;
  #paused: { promise: Promise<void>; resolve(): void } | undefined;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#conversation = begin(options);
    this.#todo = options.restored?.todo ?? [];
    const emit = (body: EventBody): void => this.#emit(body);
    options.watchJobs((job) => emit({ ...job, tail: options.scrub(job.tail) }));
    const setPhase = (phase: Phase): void => {
      this.#phase = phase;
    };
    this.#gate = new Gate({ approver: options.approver, emit, setPhase });
    let tools: Map<string, Tool> | undefined;
    this.#actor = new Actor({
      tools: () => {
        tools ??= new Map(options.tools().map((tool) => [tool.name, tool]));
        return tools;
      },
      understand: options.understand,
      gate: this.#gate,
      clock: options.clock,
      scrub: options.scrub,
      scrubStream: options.scrubStream,
      emit,
      setPhase,
      append: (message) => this.#append(message),
      setTodo: (items) => {
        this.#todo = items;
        emit({ type: "todo", items: [...items] });
      },
    });
  }

  send(command: Command): void {
    switch (command.kind) {
      case "prompt":
        if (this.#run) this.#steering.push(command.text);
        else this.#working = this.#work(command.text);
        break;
      case "stop":
        this.#abort.abort();
        this.#resume();
        break;
      case "pause":
        if (this.#run) this.#paused ??= Promise.withResolvers<void>();
        break;
      case "resume":
        this.#resume();
        break;
      case "approve":
      case "reject":
      case "suggest":
        this.#gate.answer(command);
        break;
      case "session":
        // Which conversation is worked on is decided by whoever keeps them.
        break;
      case "autoApprove":
        this.#options.approver.autoApprove = command.on;
        if (command.on) this.#gate.reconsider();
        break;
    }
  }

  /** Goes on with another conversation; only while no run is on. */
  adopt(session: Pick<AgentOptions, "session" | "journal" | "restored">): void {
    if (this.#run) throw new Error("The agent is at work.");
    this.#options = { ...this.#options, restored: undefined, ...session };
    this.#conversation = begin(this.#options);
    this.#todo = session.restored?.todo ?? [];
    this.#step = 0;
    this.#usage = NO_USAGE;
  }

  /** Resolves when no run is on. */
  get idle(): Promise<void> {
    return this.#working;
  }

  /** Says something that belongs to no run. */
  notice(level: NoticeLevel, text: string): void {
    this.#emit({ type: "notice", level, text });
  }

  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** The live context: what the next request begins with. */
  get messages(): readonly Message[] {
    return this.#conversation.messages;
  }

  ask(query: Query): AgentState {
    switch (query.kind) {
      case "state":
        return {
          session: this.#options.session,
          phase: this.#phase,
          step: this.#step,
          autoApprove: this.#options.approver.autoApprove,
          pausing: this.#paused !== undefined,
          pendingApproval: this.#gate.pendingCall,
          cwd: this.#options.cwd(),
          usage: this.#usage,
          todo: this.#todo,
        };
    }
  }

  async #work(request: string): Promise<void> {
    const { model, session, sandbox, cwd } = this.#options;
    this.#abort = new AbortController();
    this.#step = 0;
    this.#usage = NO_USAGE;
    this.#storeFailure = undefined;
    this.#run = this.#makeRun();
    this.#emit({
      type: "run.started",
      session,
      request,
      model: model.name,
      cwd: cwd(),
      sandbox,
    });
    let result: RunResult;
    try {
      result = await this.#run.work(request);
    } catch (error) {
      result = { status: "error", summary: this.#tellDefect(error), exit: 1 };
    }
    this.#closeOpenCalls();
    this.#dropSteering();
    if (this.#storeFailure) result = this.#tellStoreFailure(this.#storeFailure);
    this.#run = undefined;
    this.#phase = "idle";
    this.#resume();
    this.#emit({
      type: "run.finished",
      ...result,
      steps: this.#step,
      usage: this.#usage,
    });
  }

  #makeRun(): Run {
    return new Run({
      ...this.#options,
      conversation: this.#conversation,
      actor: this.#actor,
      signal: this.#abort.signal,
      emit: (body) => this.#emit(body),
      setPhase: (phase) => {
        this.#phase = phase;
      },
      append: (message) => this.#append(message),
      addUsage: (usage) => this.#addUsage(usage),
      takeSteering: () => this.#steering.splice(0),
      hasSteering: () => this.#steering.length > 0,
      whileGoing: () => this.#waitWhilePaused(),
      todo: () => this.#todo,
      startStep: (step) => {
        this.#step = step;
      },
    });
  }

  /** Whatever ended the run, the next request must be one that a strict provider accepts. */
  #closeOpenCalls(): void {
    const added = this.#conversation.answerOpenCalls("Not run: the run ended first.");
    for (const message of added) this.#emit({ type: "message", message });
  }

  /** Words for a run that has ended belong to no other; the owner is told and can say them again. */
  #dropSteering(): void {
    for (const text of this.#steering.splice(0)) {
      this.#emit({
        type: "notice",
        level: "warning",
        text: `Not delivered, the run ended: ${text}`,
      });
    }
  }

  #tellStoreFailure({ message }: StoreFailure): RunResult {
    this.#emit({ type: "error", kind: "storage", message });
    return { status: "error", summary: message, exit: 1 };
  }

  #tellDefect(error: unknown): string {
    const story = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const message = this.#options.scrub(`A defect in Bosun ended the run. ${story}`);
    this.#emit({ type: "error", kind: "defect", message });
    return "A defect in Bosun ended the run.";
  }

  #append(message: Parameters<Conversation["append"]>[0]): void {
    this.#conversation.append(message);
    this.#emit({ type: "message", message });
  }

  #addUsage(usage: Usage): void {
    this.#usage = {
      input: this.#usage.input + usage.input,
      output: this.#usage.output + usage.output,
      cached: this.#usage.cached + usage.cached,
      billable: this.#usage.billable + usage.billable,
    };
    this.#emit({ type: "usage", ...usage });
  }

  async #waitWhilePaused(): Promise<void> {
    if (!this.#paused) return;
    this.#phase = "paused";
    this.#emit({
      type: "notice",
      level: "info",
      text: "Paused. Resume goes on with the same step.",
    });
    await this.#paused.promise;
    if (!this.#abort.signal.aborted) {
      this.#emit({ type: "notice", level: "info", text: "Resumed." });
    }
  }

  #resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  #emit(body: EventBody): void {
    const { clock, id } = this.#options;
    const event: Event = {
      v: EVENT_VERSION,
      at: new Date(clock.now()).toISOString(),
      agent: id,
      ...body,
    };
    if (!NOT_KEPT.has(body.type)) this.#keep(event);
    for (const watcher of this.#watchers) watcher(event);
  }

  /** Nothing goes on that cannot be kept: the run is cut as by a stop, and tells why at its end. */
  #keep(event: Event): void {
    try {
      this.#options.journal.append(event);
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      this.#storeFailure ??= error;
      this.#abort.abort();
      this.#resume();
    }
  }
}
