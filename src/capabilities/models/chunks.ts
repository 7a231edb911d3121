// Chunks of a reply out of the bytes of its body: an event stream as a rule, but some endpoints
// answer a streaming request with one whole JSON body, with lines of JSON, or with a web page.

import { isObject, type JsonObject, textOf, tryParse } from "./json";
import { EventDecoder, type ServerEvent } from "./sse";

export type ReplyItem =
  | { kind: "chunk"; chunk: JsonObject }
  /** `[DONE]`, or the end of a body that was sent whole. */
  | { kind: "done" }
  /** An error inside the reply; `body` is its JSON or its text. */
  | { kind: "error"; body: string }
  /** Part of the reply is lost: a line that should have been JSON and is not. */
  | { kind: "garbled"; text: string }
  /** Text that belongs to no protocol. */
  | { kind: "noise"; text: string }
  /** A whole body that is neither a reply nor an error: something else lives at this URL. */
  | { kind: "foreign"; text: string };

/** A body that is no stream is kept in memory whole. */
const WHOLE_BODY_BYTES_MAX = 64 * 1024 * 1024;

const SKIPPED_BYTES = new Set([0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0a, 0x0d]);
/** No line of an event stream begins with one of these: `{`, `[` and `<`. */
const WHOLE_BODY_BYTES = new Set([0x7b, 0x5b, 0x3c]);

function isErrorValue(value: unknown): boolean {
  return isObject(value) ? Object.keys(value).length > 0 : textOf(value) !== undefined;
}

/** The error that an object is or holds, as a body to classify; undefined when it is none. */
function errorIn(value: JsonObject, eventName: string): string | undefined {
  if (isErrorValue(value.error)) return JSON.stringify(value);
  const choices = Array.isArray(value.choices) ? value.choices : undefined;
  const choice: unknown = choices?.[0];
  if (isObject(choice) && isErrorValue(choice.error)) {
    return JSON.stringify({ error: choice.error });
  }
  if (isObject(choice) && choice.finish_reason === "error") {
    return JSON.stringify({ error: { message: "The endpoint ended the reply with an error." } });
  }
  if (choices) return undefined;
  const isNamed = eventName === "error" || value.object === "error" || value.type === "error";
  const hasWords = isErrorValue(value.detail) || isErrorValue(value.message);
  return isNamed || (hasWords && value.usage === undefined) ? JSON.stringify(value) : undefined;
}

function itemsOfValue(value: unknown, eventName: string): ReplyItem[] {
  if (Array.isArray(value)) return value.flatMap((item) => itemsOfValue(item, eventName));
  if (!isObject(value)) return [];
  const error = errorIn(value, eventName);
  const items: ReplyItem[] = [{ kind: "chunk", chunk: value }];
  return error === undefined ? items : [...items, { kind: "error", body: error }];
}

function itemsOfText(text: string, eventName: string): ReplyItem[] {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  if (/^\[?done\]?$/i.test(trimmed)) return [{ kind: "done" }];
  const value = tryParse(trimmed);
  if (value !== undefined) return itemsOfValue(value, eventName);
  if (eventName === "error") return [{ kind: "error", body: trimmed }];
  return [{ kind: /^[{[]/.test(trimmed) ? "garbled" : "noise", text: trimmed }];
}

/** Some servers leave out the empty line between events: then each line is one. */
function itemsOfLines(text: string, eventName: string): ReplyItem[] {
  const whole = itemsOfText(text, eventName);
  if (whole[0]?.kind !== "garbled" || !text.includes("\n")) return whole;
  const single = text.split("\n").flatMap((line) => itemsOfText(line, eventName));
  return single.some((item) => item.kind === "garbled") ? whole : single;
}

function itemsOfWholeBody(text: string): ReplyItem[] {
  if (text.startsWith("<")) return [{ kind: "foreign", text }];
  const value = tryParse(text);
  if (value === undefined) return itemsOfLines(text, "");
  const items = itemsOfValue(value, "");
  const isReply = items.some((item) => item.kind === "chunk" && Array.isArray(item.chunk.choices));
  if (isReply) return [...items, { kind: "done" }];
  const hasError = items.some((item) => item.kind === "error");
  return hasError ? items : [{ kind: "foreign", text }];
}

export class ChunkReader {
  #events = new EventDecoder();
  #whole: Uint8Array[] | undefined;
  #wholeSize = 0;
  #isDecided = false;
  /** Bytes that do not tell yet what the body is. */
  #undecided: Uint8Array[] = [];

  feed(bytes: Uint8Array): ReplyItem[] {
    if (!this.#isDecided) {
      const first = bytes.find((byte) => !SKIPPED_BYTES.has(byte));
      if (first === undefined) {
        // A copy: the runtime may use the memory again.
        this.#undecided.push(bytes.slice());
        return [];
      }
      this.#isDecided = true;
      if (WHOLE_BODY_BYTES.has(first)) this.#whole = [];
      const early = this.#undecided;
      this.#undecided = [];
      return [...early, bytes].flatMap((part) => this.#take(part));
    }
    return this.#take(bytes);
  }

  end(): ReplyItem[] {
    if (!this.#whole) return this.#events.end().flatMap(itemsOfEvent);
    const text = new TextDecoder().decode(Buffer.concat(this.#whole)).trim();
    return itemsOfWholeBody(text);
  }

  #take(bytes: Uint8Array): ReplyItem[] {
    if (!this.#whole) return this.#events.feed(bytes).flatMap(itemsOfEvent);
    this.#wholeSize += bytes.length;
    if (this.#wholeSize > WHOLE_BODY_BYTES_MAX) return [{ kind: "garbled", text: "(too large)" }];
    this.#whole.push(bytes.slice());
    return [];
  }
}

function itemsOfEvent(event: ServerEvent): ReplyItem[] {
  return itemsOfLines(event.data, event.name);
}
