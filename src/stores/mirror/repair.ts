// Any list of messages made into one that a strict provider takes: a system prompt first, no empty
// and no doubled assistant turn, and behind each turn one answer to each of its calls, in order.
// Nothing that is right is changed, and every change is told.

import type { AssistantMessage, Message, ToolCallPart, ToolMessage } from "#base/protocol";
import { normaliseMessage, quote, RepairReport } from "./normalise";
import { isBlank } from "./shape";

/** The answer of a call whose own never came. It must not be taken for a result. */
export const RECOVERED_ANSWER =
  "[SESSION RECOVERED] The session ended before this call was answered. It may have run in part " +
  "or not at all. It was not re-executed; inspect the state before trying again.";

export interface RepairOptions {
  /** Keep the system prompt that is there; otherwise this run's takes its place. */
  keepSystemPrompt?: boolean | undefined;
}

export interface RepairResult {
  messages: Message[];
  /** One line for each change; empty exactly when the messages were right. */
  repairs: string[];
}

interface Slot {
  call: ToolCallPart;
  position: number;
  answer?: ToolMessage;
}

/** The calls of a turn that share one id, and what tells them apart. */
interface Group {
  slots: Slot[];
  known: Set<string>;
  answered: number;
}

/** An assistant turn with its calls and the answers that were found for them. */
interface Turn {
  message: AssistantMessage;
  /** Turns that are merged into it, joined at the end: a file may hold many in a row. */
  merged: AssistantMessage[];
  slots: Slot[];
  /** By the id that the file has: answers come under it. */
  byId: Map<string, Group>;
  /** The furthest call that has its answer; -1 without any. */
  lastAnswered: number;
}

type Block = { kind: "turn"; turn: Turn } | { kind: "message"; message: Message };

/**
 * Repairs messages of a file. Pure, never throws, and a second time finds nothing to do. Messages
 * that need no repair are the same objects in the result.
 */
export function repairMessages(
  messages: readonly unknown[],
  systemPrompt: string,
  { keepSystemPrompt = false }: RepairOptions = {},
): RepairResult {
  const report = new RepairReport();
  const arrangement = new Arrangement(report);
  const normal = messages.map((raw, index) => normaliseMessage(raw, index + 1, report));
  for (const message of normal) if (message) arrangement.reserveIds(message);
  const first = normal.findIndex((message) => message !== undefined);
  normal.forEach((message, index) => {
    if (!message) return;
    if (message.role === "system" && index === first) return;
    arrangement.add(message, index + 1);
  });
  const system = systemOf(normal[first], { systemPrompt, keepSystemPrompt, report });
  return { messages: [system, ...arrangement.finish()], repairs: report.lines };
}

function systemOf(
  first: Message | undefined,
  options: { systemPrompt: string; keepSystemPrompt: boolean; report: RepairReport },
): Message {
  const { systemPrompt, keepSystemPrompt, report } = options;
  if (first?.role !== "system") {
    report.add("the system prompt was missing and was put in front");
    return { role: "system", content: systemPrompt };
  }
  if (keepSystemPrompt || first.content === systemPrompt) return first;
  report.add("the system prompt was replaced by the one of this run");
  return { ...first, content: systemPrompt };
}

/** Puts messages into turns as they come, then into a list. */
class Arrangement {
  readonly #report: RepairReport;
  readonly #blocks: Block[] = [];
  /** The last turn with a call of that id. */
  readonly #turnOf = new Map<string, Turn>();
  readonly #reserved = new Set<string>();
  readonly #used = new Set<string>();
  readonly #counters = new Map<string, number>();

  constructor(report: RepairReport) {
    this.#report = report;
  }

  /** All ids of the file are known before the first is made up. */
  reserveIds(message: Message): void {
    if (message.role !== "assistant") return;
    for (const call of message.tool_calls ?? []) this.#reserved.add(call.id);
  }

  add(message: Message, number: number): void {
    switch (message.role) {
      case "assistant":
        this.#addTurn(message, number);
        break;
      case "tool":
        this.#addAnswer(message, number);
        break;
      case "system":
        this.#addLateSystem(message.content, number);
        break;
      case "user":
        this.#blocks.push({ kind: "message", message });
        break;
    }
  }

  finish(): Message[] {
    return this.#blocks.flatMap((block) =>
      block.kind === "message" ? [block.message] : this.#finishTurn(block.turn),
    );
  }

  /** Many providers take one only in front; as a request its words still count. */
  #addLateSystem(content: string, number: number): void {
    if (isBlank(content)) {
      this.#report.add(`message ${number} is an empty system message: dropped`);
      return;
    }
    this.#report.add(`message ${number} is a system message behind the first: made a user message`);
    this.#blocks.push({ kind: "message", message: { role: "user", content } });
  }

  #addTurn(message: AssistantMessage, number: number): void {
    const last = this.#blocks.at(-1);
    if (last?.kind === "turn" && last.turn.lastAnswered < 0) {
      this.#report.add(`message ${number} was merged into the assistant turn before it`);
      last.turn.merged.push(message);
      this.#addCalls(last.turn, message, number);
      return;
    }
    const turn: Turn = { message, merged: [], slots: [], byId: new Map(), lastAnswered: -1 };
    this.#blocks.push({ kind: "turn", turn });
    this.#addCalls(turn, message, number);
  }

  #addCalls(turn: Turn, message: AssistantMessage, number: number): void {
    for (const call of message.tool_calls ?? []) {
      const group = turn.byId.get(call.id) ?? { slots: [], known: new Set(), answered: 0 };
      const content = JSON.stringify([call.function.name, call.function.arguments]);
      if (call.id !== "" && group.known.has(content)) {
        this.#report.add(`message ${number} repeats the call ${quote(call.id)}: dropped`);
        continue;
      }
      const id = this.#takeId(call.id, number);
      const own = id === call.id ? call : { ...call, id };
      const slot: Slot = { call: own, position: turn.slots.length };
      turn.slots.push(slot);
      group.slots.push(slot);
      group.known.add(content);
      turn.byId.set(call.id, group);
      this.#turnOf.set(call.id, turn);
    }
  }

  /** Strict providers want each id once in a history, so a second call of that name is renamed. */
  #takeId(wanted: string, number: number): string {
    let id = wanted;
    if (wanted === "" || this.#used.has(wanted)) {
      const stem = wanted || "call_recovered";
      let count = this.#counters.get(stem) ?? 1;
      do {
        count += 1;
        id = `${stem}_${count}`;
      } while (this.#reserved.has(id) || this.#used.has(id));
      this.#counters.set(stem, count);
      if (wanted !== "") {
        this.#report.add(`message ${number} uses the id ${quote(wanted)} again: now ${quote(id)}`);
      }
    }
    this.#used.add(id);
    return id;
  }

  #addAnswer(message: ToolMessage, number: number): void {
    const id = message.tool_call_id;
    const turn = id === "" ? undefined : this.#turnOf.get(id);
    const group = turn?.byId.get(id);
    if (!turn || !group) {
      this.#report.add(`message ${number} answers no call before it (${quote(id)}): dropped`);
      return;
    }
    const slot = group.slots[group.answered];
    if (!slot) {
      this.#report.add(`message ${number} answers ${quote(id)} a second time: dropped`);
      return;
    }
    const last = this.#blocks.at(-1);
    const isInPlace = last?.kind === "turn" && last.turn === turn;
    if (!isInPlace || slot.position < turn.lastAnswered) {
      this.#report.add(`message ${number} answers ${quote(id)} out of place: moved to its turn`);
    }
    group.answered += 1;
    turn.lastAnswered = Math.max(turn.lastAnswered, slot.position);
    slot.answer = id === slot.call.id ? message : { ...message, tool_call_id: slot.call.id };
  }

  #finishTurn({ message: first, merged, slots }: Turn): Message[] {
    const message = merged.length > 0 ? mergeTurns([first, ...merged]) : first;
    const calls = message.tool_calls ?? [];
    const isSame = calls.length === slots.length && slots.every((s, at) => s.call === calls[at]);
    const whole = isSame ? message : { ...message, tool_calls: slots.map((slot) => slot.call) };
    const answers = slots.map(({ call, answer }): ToolMessage => {
      if (answer) return answer;
      const name = quote(call.function.name);
      this.#report.add(`the call ${quote(call.id)} of ${name} had no answer: marked as not re-run`);
      return { role: "tool", tool_call_id: call.id, content: RECOVERED_ANSWER };
    });
    return [whole, ...answers];
  }
}

/** All texts, all thoughts; of fields that we do not know, the earliest. Calls: by slots. */
function mergeTurns(turns: readonly AssistantMessage[]): AssistantMessage {
  const fields = new Map<string, unknown>();
  for (const turn of turns) {
    for (const [name, value] of Object.entries(turn)) {
      if (!fields.has(name)) fields.set(name, value);
    }
  }
  fields.set("content", joined(turns.map((turn) => turn.content)) ?? null);
  const thinking = joined(turns.map((turn) => turn.reasoning_content));
  if (thinking !== undefined) fields.set("reasoning_content", thinking);
  // Unlike assignments, this keeps a field named `__proto__` a field.
  return Object.fromEntries(fields) as AssistantMessage;
}

function joined(values: readonly unknown[]): string | undefined {
  const texts = values.filter((text): text is string => !isBlank(text));
  return texts.length > 0 ? texts.join("\n\n") : undefined;
}
