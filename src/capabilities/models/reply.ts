// One reply out of its chunks, tolerantly: whatever shape an endpoint gives its deltas, here they
// become text, thinking, calls and one message that can go back into the history.

import type { ModelReply, RequestedCall } from "#agent/ports";
import { type AssistantMessage, makeCallId, type ToolCallPart, type Usage } from "#base/protocol";
import { joinPieces, readArguments } from "./arguments";
import { CallAssembler, type OpenCall } from "./calls";
import { mergeUnknown } from "./fields";
import { isObject, type JsonObject, textOf } from "./json";
import { ThinkingSplitter } from "./thinking";
import { usageOfChunk } from "./usage";

/** Names of the field that holds thinking as a string; the first that is not empty counts. */
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text", "thinking"] as const;

/** Fields of a delta that have a meaning here; any other goes into the message as it came. */
const DELTA_FIELDS = new Set<string>([
  ...REASONING_FIELDS,
  "role",
  "content",
  "refusal",
  "tool_calls",
  "function_call",
  "index",
  "token_id",
]);

const LENGTH_FINISHES = new Set(["length", "max_tokens", "model_length", "max_output_tokens"]);
const CALL_FINISHES = new Set(["tool_calls", "function_call", "tool_use", "tool_call"]);

/** The name in the history of a call that came without one: no endpoint takes an empty name. */
const UNNAMED = "unnamed";

/** Text out of a list of content parts, or out of a reasoning block, in any of their shapes. */
function readable(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(readable).join("");
  if (!isObject(value)) return "";
  return readable(value.text ?? value.summary ?? value.thinking ?? value.content ?? "");
}

function isThinkingPart(part: unknown): boolean {
  return isObject(part) && typeof part.type === "string" && /think|reason/.test(part.type);
}

export class ReplyBuilder {
  text = "";
  reasoning = "";
  finish: string | null = null;
  /** `[DONE]` came. */
  isDone = false;
  /** The name under which this endpoint sends thinking as a string. */
  reasoningField: string | undefined;
  #usage: Usage | null = null;
  #refusal = "";
  #extra: JsonObject = {};
  #calls = new CallAssembler();
  #splitter = new ThinkingSplitter();
  #lastMessage: JsonObject | undefined;
  #pending = { reasoning: "", text: "" };

  /** A chunk with a choice in it came: the endpoint did begin a reply. */
  hasChoices = false;

  takeChunk(chunk: JsonObject): void {
    this.#usage = usageOfChunk(chunk) ?? this.#usage;
    const choices = Array.isArray(chunk.choices) ? chunk.choices : [];
    for (const choice of choices) {
      if (!isObject(choice) || (choice.index ?? 0) !== 0) continue;
      this.hasChoices = true;
      this.#takeChoice(choice);
    }
  }

  /** What came since the last call. Half a surrogate pair waits for its other half. */
  takePending(): { reasoning: string; text: string } {
    const pending = this.#pending;
    const reasoningCut = endsInHalfPair(pending.reasoning) ? 1 : 0;
    const textCut = endsInHalfPair(pending.text) ? 1 : 0;
    this.#pending = {
      reasoning: pending.reasoning.slice(pending.reasoning.length - reasoningCut),
      text: pending.text.slice(pending.text.length - textCut),
    };
    return {
      reasoning: pending.reasoning.slice(0, pending.reasoning.length - reasoningCut),
      text: pending.text.slice(0, pending.text.length - textCut),
    };
  }

  /** No more chunks: what was held back comes out, and `takePending` gives the last of it. */
  end(): void {
    this.#takeLastMessage();
    const held = this.#splitter.end();
    this.#addReasoning(held.reasoning);
    this.#addText(held.text);
    // A refusal is what the model has to say; without this the reply would look empty.
    if (this.text === "" && this.#refusal !== "") this.#addText(this.#refusal);
  }

  build(): ModelReply {
    const cutByLength = LENGTH_FINISHES.has((this.finish ?? "").toLowerCase());
    const taken = new Set<string>();
    const calls: RequestedCall[] = [];
    const parts: ToolCallPart[] = [];
    for (const open of this.#calls.calls) {
      const id = open.id === "" || taken.has(open.id) ? makeCallId() : open.id;
      taken.add(id);
      const { call, part } = finishCall(open, id, cutByLength);
      calls.push(call);
      parts.push(part);
    }
    const message: AssistantMessage = {
      role: "assistant",
      content: this.text === "" && parts.length > 0 ? null : this.text.toWellFormed(),
    };
    if (this.reasoning !== "") message.reasoning_content = this.reasoning.toWellFormed();
    if (this.#refusal !== "") message.refusal = this.#refusal;
    Object.assign(message, this.#extra);
    if (parts.length > 0) message.tool_calls = parts;
    const announced = CALL_FINISHES.has((this.finish ?? "").toLowerCase());
    return {
      message,
      calls,
      finish: this.finish,
      cutByLength,
      announcedCalls: announced && calls.length === 0,
      usage: this.#usage,
    };
  }

  #takeChoice(choice: JsonObject): void {
    const finish = textOf(choice.finish_reason);
    if (finish !== undefined) this.finish = finish;
    if (isObject(choice.delta)) this.#takeDelta(choice.delta);
    if (isObject(choice.message)) this.#lastMessage = choice.message;
  }

  #takeDelta(delta: JsonObject): void {
    this.#takeReasoning(delta);
    this.#takeContent(delta.content);
    if (typeof delta.refusal === "string") this.#refusal += delta.refusal;
    if (Array.isArray(delta.tool_calls)) {
      for (const piece of delta.tool_calls) this.#calls.takePiece(piece);
    } else if (isObject(delta.tool_calls)) {
      this.#calls.takePiece(delta.tool_calls);
    }
    if (isObject(delta.function_call)) {
      this.#calls.takePiece({ index: "function_call", function: delta.function_call });
    }
    mergeUnknown(this.#extra, delta, DELTA_FIELDS);
  }

  /** A whole message, in a chunk or as the whole body: it fills what the deltas left empty. */
  #takeLastMessage(): void {
    const message = this.#lastMessage;
    this.#lastMessage = undefined;
    if (!message) return;
    const { tool_calls: calls, content, refusal, ...rest } = message;
    const whole: JsonObject = { ...rest };
    if (this.text === "") whole.content = content;
    if (this.#refusal === "") whole.refusal = refusal;
    if (this.reasoning !== "") {
      for (const field of [...REASONING_FIELDS, "reasoning_details"]) delete whole[field];
    }
    if (this.#calls.calls.length > 0) delete whole.function_call;
    else this.#calls.takeWhole(calls);
    for (const known of Object.keys(this.#extra)) delete whole[known];
    this.#takeDelta(whole);
  }

  #takeReasoning(delta: JsonObject): void {
    for (const field of REASONING_FIELDS) {
      const text = readable(delta[field]);
      if (text === "") continue;
      this.reasoningField = field;
      this.#addReasoning(text);
      return;
    }
    // Blocks repeat what the string says, sometimes in a chunk of their own: never both.
    if (this.reasoningField !== undefined || !Array.isArray(delta.reasoning_details)) return;
    this.#addReasoning(readable(delta.reasoning_details));
  }

  #takeContent(content: unknown): void {
    if (typeof content === "string") {
      this.#splitContent(content);
      return;
    }
    if (isObject(content)) this.#takeContent([content]);
    if (!Array.isArray(content)) return;
    for (const part of content) {
      if (isThinkingPart(part)) this.#addReasoning(readable(part));
      else if (isObject(part) && typeof part.refusal === "string") this.#refusal += part.refusal;
      else this.#splitContent(readable(part));
    }
  }

  #splitContent(content: string): void {
    if (content === "") return;
    const { reasoning, text } = this.#splitter.push(content);
    this.#addReasoning(reasoning);
    this.#addText(text);
  }

  #addText(text: string): void {
    if (text === "") return;
    this.text += text;
    this.#pending.text += text;
  }

  #addReasoning(text: string): void {
    if (text === "") return;
    this.reasoning += text;
    this.#pending.reasoning += text;
  }
}

function endsInHalfPair(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

function finishCall(
  open: OpenCall,
  id: string,
  cutByLength: boolean,
): { call: RequestedCall; part: ToolCallPart } {
  const read = readArguments(joinPieces(open.pieces), { cutByLength });
  const name = open.name === "" ? UNNAMED : open.name;
  const problem = "The call came without the name of a tool.";
  const call: RequestedCall = {
    id,
    name,
    arguments: open.name === "" ? { kind: "broken", problem } : read.arguments,
  };
  const body = { ...open.functionExtra, name, arguments: read.json };
  return { call, part: { ...open.extra, id, type: "function", function: body } };
}
