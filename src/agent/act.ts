// Carries out the calls of one reply: parse, validate, preview, pass the gate, run, answer. This is
// the only place that turns a ToolFailure into words for the model; every call gets one answer.

import { nearestName } from "#base/kit";
import type { EventBody, Phase, Preview, TodoItem, ToolMessage } from "#base/protocol";
import type { Gate } from "./gate";
import {
  type Clock,
  PreviewStale,
  type RequestedCall,
  type Tool,
  type ToolCall,
  ToolFailure,
  type ToolResult,
} from "./ports";

export interface ActOptions {
  tools: () => ReadonlyMap<string, Tool>;
  /** Our name and parameters for a call that uses another agent's name, if it is well known. */
  understand(name: string, args: Args): UnderstoodCall | undefined;
  gate: Gate;
  clock: Clock;
  /** Takes credentials out of whatever a tool says. */
  scrub(text: string): string;
  /** The same across the pieces of one live output; `end` gives what was held back. */
  scrubStream(): { push(text: string): string; end(): string };
  emit(body: EventBody): void;
  setPhase(phase: Phase): void;
  append(message: ToolMessage): void;
  setTodo(items: readonly TodoItem[]): void;
}

type Args = Record<string, unknown>;

export interface UnderstoodCall {
  name: string;
  mapArguments(args: Args): Args;
}

/** How the calls of a reply came out, for the loop to go on from. */
export interface ActOutcome {
  attempts: { name: string; args: string; result: string }[];
  /** What the owner wants instead; calls behind it did not run. */
  guidance: string | undefined;
  ownerApproved: boolean;
  /** True when at least one call was carried out. */
  hasRun: boolean;
}

/** A file that keeps changing under an edit: after so many previews the call is given up. */
const PREVIEWS_MAX = 3;

const STOPPED = "Not run: the owner stopped the run.";
const REDIRECTED = "Not run: the owner gave new guidance first.";

interface Prepared {
  call: ToolCall;
  tool: Tool;
  /** Put in front of the result: what was mended or renamed. */
  note: string;
}

/** What the stages of one call share. */
interface CallProgress {
  signal: AbortSignal;
  outcome: ActOutcome;
  announce(args: Args, preview?: Preview): void;
  timer: { startedAt: number };
}

export class Actor {
  readonly #options: ActOptions;

  constructor(options: ActOptions) {
    this.#options = options;
  }

  /** Runs the calls: neighbours that only read side by side, the rest in order. */
  async act(calls: readonly RequestedCall[], signal: AbortSignal): Promise<ActOutcome> {
    const outcome: ActOutcome = {
      attempts: [],
      guidance: undefined,
      ownerApproved: false,
      hasRun: false,
    };
    let next = 0;
    while (next < calls.length) {
      const batch = this.#takeBatch(calls, next);
      next += batch.length;
      const answers = await Promise.all(batch.map((call) => this.#one(call, signal, outcome)));
      batch.forEach((call, index) => {
        const content = answers[index] ?? "";
        this.#options.append({ role: "tool", tool_call_id: call.id, content });
        outcome.attempts.push({
          name: call.name,
          args: call.arguments.kind === "broken" ? "" : JSON.stringify(call.arguments.value),
          result: content,
        });
      });
    }
    return outcome;
  }

  #takeBatch(calls: readonly RequestedCall[], from: number): RequestedCall[] {
    const isRead = (call: RequestedCall | undefined): boolean =>
      call !== undefined && (this.#find(call)?.tool.tags.includes("read") ?? false);
    let to = from + 1;
    if (isRead(calls[from])) while (isRead(calls[to])) to++;
    return calls.slice(from, to);
  }

  #find(call: RequestedCall): { tool: Tool; mapArguments(args: Args): Args } | undefined {
    const own = this.#options.tools().get(call.name);
    if (own) return { tool: own, mapArguments: (args) => args };
    const known = this.#options.understand(call.name, argumentsOf(call));
    const tool = known && this.#options.tools().get(known.name);
    return tool && known ? { tool, mapArguments: (args) => known.mapArguments(args) } : undefined;
  }

  async #one(requested: RequestedCall, signal: AbortSignal, outcome: ActOutcome): Promise<string> {
    const { emit, scrub, clock } = this.#options;
    // The time of the work itself: not what the owner took to approve it.
    const timer = { startedAt: clock.now() };
    const finish = (result: ToolResult, name: string): string => {
      const content = scrub(result.content);
      emit({
        type: "tool.finished",
        call: requested.id,
        name,
        ok: result.ok,
        exitCode: result.exitCode ?? null,
        ms: clock.now() - timer.startedAt,
        truncated: result.truncated ?? false,
        result: content,
      });
      return content;
    };
    if (signal.aborted) return STOPPED;
    if (outcome.guidance !== undefined) return REDIRECTED;
    const name = this.#find(requested)?.tool.name ?? requested.name;
    let isAnnounced = false;
    const announce = (args: Args, preview?: Preview): void => {
      isAnnounced = true;
      emit({
        type: "tool.started",
        call: requested.id,
        name,
        args,
        ...(preview ? { preview } : {}),
      });
    };
    try {
      const prepared = this.#prepare(requested);
      const result = await this.#passAndRun(prepared, { signal, outcome, announce, timer });
      return finish({ ...result, content: prepared.note + result.content }, prepared.tool.name);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      if (!isAnnounced) announce(argumentsOf(requested));
      return finish({ content: `Error: ${error.message}`, ok: false }, name);
    }
  }

  #prepare(requested: RequestedCall): Prepared {
    const found = this.#find(requested);
    if (!found) throw new ToolFailure(this.#unknownTool(requested.name));
    if (requested.arguments.kind === "broken") {
      const parameters = parameterNames(found.tool).join(", ");
      throw new ToolFailure(
        `${requested.arguments.problem} The call did not run. ` +
          `${found.tool.name} takes one JSON object with: ${parameters}.`,
      );
    }
    const notes: string[] = [];
    if (found.tool.name !== requested.name) {
      notes.push(`(${requested.name} is called ${found.tool.name} here.)`);
    }
    if (requested.arguments.kind === "repaired") {
      notes.push(`(Your arguments were not valid JSON; mended: ${requested.arguments.how}.)`);
    }
    const parsed = found.tool.parameters.safeParse(found.mapArguments(requested.arguments.value));
    if (!parsed.success) {
      const issues = parsed.error.issues
        .map((issue) => `${issue.path.join(".") || "arguments"}: ${issue.message}`)
        .join("; ");
      throw new ToolFailure(`Wrong arguments for ${found.tool.name}: ${issues}.`);
    }
    return {
      call: { id: requested.id, name: found.tool.name, args: { ...parsed.data } },
      tool: found.tool,
      note: notes.length > 0 ? `${notes.join("\n")}\n` : "",
    };
  }

  #unknownTool(name: string): string {
    const names = [...this.#options.tools().keys()];
    if (name === "") return `The call has no tool name. The tools are: ${names.join(", ")}.`;
    const nearest = nearestName(name, names);
    const hint = nearest ? ` Did you mean ${nearest}?` : "";
    return `There is no tool named "${name}".${hint} The tools are: ${names.join(", ")}.`;
  }

  async #passAndRun(
    { call, tool }: Prepared,
    { signal, outcome, announce, timer }: CallProgress,
  ): Promise<ToolResult> {
    const { emit, gate, setPhase, clock } = this.#options;
    const stream = this.#options.scrubStream();
    const output = (text: string): void => {
      if (text) emit({ type: "tool.output", call: call.id, text });
    };
    const context = { call: call.id, signal, output: (text: string) => output(stream.push(text)) };
    for (let previews = 1; previews <= PREVIEWS_MAX; previews++) {
      const shown = await tool.preview?.(call.args, context);
      if (previews === 1) announce(call.args, shown);
      const isOvertaken = (): boolean => outcome.guidance !== undefined;
      const passage = await gate.pass(call, tool.effect(call.args), shown, signal, isOvertaken);
      if (passage.kind === "stopped") return { content: STOPPED, ok: false };
      if (passage.kind === "overtaken") return { content: REDIRECTED, ok: false };
      if (passage.kind === "denied") return { content: `Denied: ${passage.note}`, ok: false };
      if (passage.kind === "redirected") {
        outcome.guidance = passage.guidance;
        return { content: "Skipped: the owner wants something else (see below).", ok: false };
      }
      outcome.ownerApproved ||= passage.byOwner;
      // The owner, or a journal that could not keep the call, may have ended the run just now.
      if (signal.aborted) return { content: STOPPED, ok: false };
      setPhase("running");
      timer.startedAt = clock.now();
      try {
        const result = await tool.run(call.args, shown ? { ...context, shown } : context);
        outcome.hasRun = true;
        if (result.todo) this.#options.setTodo(result.todo);
        if (result.changed?.length) emit({ type: "changes", files: [...result.changed] });
        return result;
      } catch (error) {
        if (!(error instanceof PreviewStale)) throw error;
      } finally {
        output(stream.end());
      }
    }
    throw new ToolFailure("The file keeps changing while the change waits. Read it again first.");
  }
}

function argumentsOf(requested: RequestedCall): Args {
  return requested.arguments.kind === "broken" ? {} : requested.arguments.value;
}

function parameterNames(tool: Tool): string[] {
  const { properties } = tool.parameters.schema;
  return typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
}
