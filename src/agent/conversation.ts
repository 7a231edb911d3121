// The history that the model gets: only appended to while a run goes on, so that every request
// starts with the whole of the one before. Whatever happens, each call in it has one answer.

import type { AssistantMessage, Message, ToolMessage } from "#base/protocol";

/** Fields that hold thinking under the names that providers use. */
const THINKING_FIELDS = ["reasoning_content", "reasoning", "reasoning_details"] as const;

export class Conversation {
  readonly #messages: Message[];
  readonly #callIds = new Set<string>();

  constructor(messages: readonly Message[]) {
    this.#messages = [...messages];
    for (const message of messages) this.#noteIds(message);
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  append(message: Message): void {
    this.#messages.push(message);
    this.#noteIds(message);
  }

  hasCallId(id: string): boolean {
    return this.#callIds.has(id);
  }

  /** Thinking belongs to one task: a new request drops it from every earlier turn. */
  clearThinking(): void {
    this.#messages.forEach((message, index) => {
      if (message.role !== "assistant") return;
      if (!THINKING_FIELDS.some((field) => field in message)) return;
      const kept: AssistantMessage = { ...message };
      for (const field of THINKING_FIELDS) delete kept[field];
      this.#messages[index] = kept;
    });
  }

  /**
   * Answers every call of the last assistant turn that has no answer yet, in order, directly behind
   * the answers that are there. Returns what was added.
   */
  answerOpenCalls(content: string): ToolMessage[] {
    const last = this.#messages.findLastIndex((message) => message.role === "assistant");
    const turn = this.#messages[last];
    if (turn?.role !== "assistant") return [];
    const answered = new Set(
      this.#messages.slice(last + 1).flatMap((m) => (m.role === "tool" ? [m.tool_call_id] : [])),
    );
    const added = (turn.tool_calls ?? [])
      .filter((call) => !answered.has(call.id))
      .map((call): ToolMessage => ({ role: "tool", tool_call_id: call.id, content }));
    this.#messages.splice(last + 1 + answered.size, 0, ...added);
    return added;
  }

  #noteIds(message: Message): void {
    if (message.role !== "assistant") return;
    for (const call of message.tool_calls ?? []) this.#callIds.add(call.id);
  }
}
