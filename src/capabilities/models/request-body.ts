// The body of a request, put together from bytes that were made once: a message is serialised
// when it is first sent, behind those before it, so a step costs the same however long the
// history is. (Measured: a fresh megabyte for every request cost 1.4 ms of a step.)
// Keys stand in a fixed order with the messages last, so that a request begins with all the bytes
// of the one before (but the closing brackets), which is what prompt caches go by.

import type { ModelRequest, ToolSpecification } from "#agent/ports";
import type { Message } from "#base/protocol";
import { isObject, type JsonObject } from "./json";
import type { MessageQuirks, Quirks, Sent } from "./quirks";

export interface BodySettings {
  model: string;
  maxTokens: number;
  temperature: number | undefined;
  reasoningEffort: string | undefined;
  streamOptions: boolean;
  extraBody: boolean;
}

const MESSAGE_FIELDS = new Set([
  "role",
  "content",
  "name",
  "tool_calls",
  "tool_call_id",
  "reasoning_content",
]);
const CALL_FIELDS = new Set(["id", "type", "function"]);
const FUNCTION_FIELDS = new Set(["name", "arguments"]);

const encoder = new TextEncoder();
const TAIL = encoder.encode("]}");
const COMMA = 0x2c;

function isCallTurn(message: Message): boolean {
  return (
    message.role === "assistant" &&
    Array.isArray(message.tool_calls) &&
    message.tool_calls.length > 0
  );
}

function withoutFields(value: unknown, omitted: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutFields(item, omitted));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !omitted.has(key)));
}

function assistantForWire(message: JsonObject, isCall: boolean, quirks: MessageQuirks): JsonObject {
  const { reasoning_content: reasoning, content, ...rest } = message;
  const wire: JsonObject = { role: "assistant", content: content ?? "" };
  // Not all endpoints take null, but where there are calls it is what the protocol has.
  if (isCall && (content === null || content === "" || content === undefined)) {
    wire.content = quirks.emptyContent;
  }
  const isWanted = quirks.reasoning === "demanded" && isCall;
  if (quirks.reasoning !== "omitted" && (typeof reasoning === "string" || isWanted)) {
    wire[quirks.reasoningField] = reasoning ?? "";
  }
  for (const [key, value] of Object.entries(rest)) {
    if (key === "role" || quirks.omitted.has(key)) continue;
    // Some endpoints refuse an empty list of calls.
    if (key === "tool_calls" && !isCall) continue;
    wire[key] = value;
  }
  if (isCall && quirks.omitted.size > 0 && Array.isArray(wire.tool_calls)) {
    wire.tool_calls = wire.tool_calls.map((call) => {
      const kept = withoutFields(call, quirks.omitted);
      if (isObject(kept)) kept.function = withoutFields(kept.function, quirks.omitted);
      return kept;
    });
  }
  return wire;
}

/** Half a surrogate pair is no Unicode; several servers refuse the whole request for one. */
function wellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

function encodeMessage(message: Message, quirks: MessageQuirks): Uint8Array {
  const wire =
    message.role === "assistant"
      ? assistantForWire(message, isCallTurn(message), quirks)
      : Object.fromEntries(Object.entries(message).filter(([key]) => !quirks.omitted.has(key)));
  return encoder.encode(JSON.stringify(wire, wellFormed));
}

function toolForWire(tool: ToolSpecification): JsonObject {
  const { name, description, parameters } = tool;
  return { type: "function", function: { name, description, parameters } };
}

function addUnknown(target: Set<string>, value: unknown, known: ReadonlySet<string>): void {
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) if (!known.has(key)) target.add(key);
}

/** A body that is kept, so that the next one needs only what is new behind it. */
interface Draft {
  buffer: Uint8Array;
  head: string;
  quirks: MessageQuirks | undefined;
  messages: Message[];
  /** Where each message ends in the buffer, the head's end in front. */
  ends: number[];
}

export interface BuiltBody {
  bytes: Uint8Array;
  /** The bytes are no longer needed: the next body may be built in the same memory. */
  release(): void;
}

const DRAFT_BYTES_FIRST = 64 * 1024;

function reserve(draft: Draft, size: number): void {
  if (size <= draft.buffer.length) return;
  const grown = new Uint8Array(Math.max(size, draft.buffer.length * 2));
  grown.set(draft.buffer.subarray(0, draft.ends.at(-1) ?? 0));
  draft.buffer = grown;
}

function append(draft: Draft, bytes: Uint8Array): void {
  const at = draft.ends.at(-1) ?? 0;
  const comma = draft.ends.length > 1 ? 1 : 0;
  reserve(draft, at + comma + bytes.length + TAIL.length);
  if (comma) draft.buffer[at] = COMMA;
  draft.buffer.set(bytes, at + comma);
  draft.ends.push(at + comma + bytes.length);
}

export class RequestBody {
  #settings: BodySettings;
  /** Absent while a request is being sent: a second one beside it builds its own. */
  #spare: Draft | undefined;
  #toolJson = new WeakMap<readonly ToolSpecification[], string>();

  constructor(settings: BodySettings) {
    this.#settings = settings;
  }

  build(request: ModelRequest, quirks: Quirks): BuiltBody {
    const draft = this.#takeDraft(this.#head(request.tools, quirks), quirks.message);
    const { messages } = request;
    let same = 0;
    while (same < draft.messages.length && draft.messages[same] === messages[same]) same++;
    draft.messages.length = same;
    draft.ends.length = same + 1;
    for (const message of messages.slice(same)) {
      append(draft, encodeMessage(message, quirks.message));
      draft.messages.push(message);
    }
    const end = draft.ends.at(-1) ?? 0;
    draft.buffer.set(TAIL, end);
    const release = (): void => {
      this.#spare = draft;
    };
    return { bytes: draft.buffer.subarray(0, end + TAIL.length), release };
  }

  #takeDraft(head: string, quirks: MessageQuirks): Draft {
    const spare = this.#spare;
    this.#spare = undefined;
    if (spare && spare.head === head && spare.quirks === quirks) return spare;
    const draft: Draft = {
      buffer: spare?.buffer ?? new Uint8Array(DRAFT_BYTES_FIRST),
      head,
      quirks,
      messages: [],
      ends: [],
    };
    append(draft, encoder.encode(head));
    return draft;
  }

  /** What a request holds, for learning from its refusal; walks the whole history. */
  describe(request: ModelRequest, quirks: Quirks): Sent {
    const extraFields = new Set<string>();
    const turns = request.messages.filter((message) => message.role === "assistant");
    for (const message of turns) {
      addUnknown(extraFields, message, MESSAGE_FIELDS);
      for (const call of message.tool_calls ?? []) {
        addUnknown(extraFields, call, CALL_FIELDS);
        addUnknown(extraFields, call.function, FUNCTION_FIELDS);
      }
    }
    for (const field of quirks.message.omitted) extraFields.delete(field);
    const callTurns = turns.filter(isCallTurn);
    const sendsReasoning = quirks.message.reasoning !== "omitted";
    const isBare = (message: Message): boolean => typeof message.reasoning_content !== "string";
    return {
      parameters: Object.keys(this.#parameters(quirks)),
      extraFields,
      hasReasoning: sendsReasoning && turns.some((message) => !isBare(message)),
      hasCalls: callTurns.length > 0,
      lacksReasoning:
        quirks.message.reasoning === "omitted"
          ? callTurns.length > 0
          : quirks.message.reasoning === "kept" && callTurns.some(isBare),
      hasEmptyContent: callTurns.some((message) => !message.content),
      tokens: Math.min(this.#settings.maxTokens, quirks.tokensMax ?? Number.POSITIVE_INFINITY),
    };
  }

  #parameters(quirks: Quirks): JsonObject {
    const { model, maxTokens, temperature, reasoningEffort, streamOptions, extraBody } =
      this.#settings;
    const all: JsonObject = {
      model,
      stream: true,
      stream_options: streamOptions ? { include_usage: true } : undefined,
      temperature,
      [quirks.tokenLimitField]: Math.min(maxTokens, quirks.tokensMax ?? maxTokens),
      reasoning_effort: reasoningEffort,
      chat_template_kwargs: extraBody ? { enable_thinking: true } : undefined,
    };
    return Object.fromEntries(
      Object.entries(all).filter(([key, value]) => value !== undefined && !quirks.omitted.has(key)),
    );
  }

  #head(tools: readonly ToolSpecification[], quirks: Quirks): string {
    const parameters = JSON.stringify(this.#parameters(quirks)).slice(0, -1);
    if (tools.length === 0) return `${parameters},"messages":[`;
    let json = this.#toolJson.get(tools);
    if (json === undefined) {
      json = JSON.stringify(tools.map(toolForWire));
      this.#toolJson.set(tools, json);
    }
    return `${parameters},"tools":${json},"messages":[`;
  }
}
