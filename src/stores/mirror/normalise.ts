// One message of a hand-edited file, brought into the shape that the agent holds: what is right
// stays the same object, what can be read one way is read so, the rest is dropped. Each change is
// told in one line.

import type { AssistantMessage, Message, ToolCallPart } from "#base/protocol";
import { isBlank, isObject, isObjectText, type OpenFields } from "./shape";

/** More lines than this are counted, not shown. */
const REPAIRS_MAX = 100;
const QUOTE_LENGTH_MAX = 40;

/** The repairs as lines for their owner; messages are counted from 1. */
export class RepairReport {
  readonly #lines: string[] = [];
  #more = 0;

  add(line: string): void {
    if (this.#lines.length < REPAIRS_MAX) this.#lines.push(line);
    else this.#more += 1;
  }

  get lines(): string[] {
    return this.#more > 0 ? [...this.#lines, `and ${this.#more} more repairs`] : this.#lines;
  }
}

/** Text from the file inside a line: short, and nothing in it that steers a terminal. */
export function quote(text: string): string {
  const cut = text.length > QUOTE_LENGTH_MAX ? `${text.slice(0, QUOTE_LENGTH_MAX)}...` : text;
  return `"${cut.replace(/[^\x20-\x7e]/g, "?")}"`;
}

/** Undefined for what is dropped. A call that needs an id has the empty one. */
export function normaliseMessage(
  raw: unknown,
  number: number,
  report: RepairReport,
): Message | undefined {
  const drop = (why: string): undefined => {
    report.add(`message ${number} ${why}: dropped`);
    return undefined;
  };
  if (!isObject(raw)) return drop("is no object");
  switch (raw.role) {
    case "system":
    case "user": {
      const content = readContent(raw.content, number, report);
      if (content === undefined) return drop("has no text");
      if (raw.role === "user" && isBlank(content)) return drop("is an empty request");
      return withFields(raw, { content });
    }
    case "assistant":
      return normaliseAssistant(raw, number, report);
    case "tool": {
      if (typeof raw.tool_call_id !== "string") return drop("answers no call");
      const content = readContent(raw.content, number, report);
      return withFields(raw, { content: content ?? textOfAnswer(raw.content, number, report) });
    }
    default:
      return drop(
        typeof raw.role === "string" ? `has the unknown role ${quote(raw.role)}` : "has no role",
      );
  }
}

function normaliseAssistant(
  raw: OpenFields,
  number: number,
  report: RepairReport,
): AssistantMessage | undefined {
  let content = raw.content === null ? null : readContent(raw.content, number, report);
  const calls = raw.tool_calls === undefined ? [] : readCalls(raw.tool_calls, number, report);
  if (calls.length === 0 && isBlank(content)) {
    report.add(`message ${number} is an empty assistant turn: dropped`);
    return undefined;
  }
  if (content === undefined) {
    report.add(`message ${number} has no text: its content was set to null`);
    content = null;
  }
  const message = withFields(raw, { content }) as AssistantMessage;
  if (raw.tool_calls === undefined) return message;
  if (calls.length > 0) return withFields(message, { tool_calls: calls }) as AssistantMessage;
  const { tool_calls: _, ...rest } = message;
  if (Array.isArray(raw.tool_calls) && raw.tool_calls.length === 0) {
    report.add(`message ${number} has an empty list of calls: removed`);
  }
  return rest as AssistantMessage;
}

/** The same array when every call in it is right. */
function readCalls(raw: unknown, number: number, report: RepairReport): ToolCallPart[] {
  if (!Array.isArray(raw)) {
    report.add(`message ${number} has calls that are no list: removed`);
    return [];
  }
  const calls = raw.flatMap((entry) => readCall(entry, number, report) ?? []);
  const isSame = calls.length === raw.length && calls.every((call, at) => call === raw[at]);
  return isSame ? raw : calls;
}

function readCall(raw: unknown, number: number, report: RepairReport): ToolCallPart | undefined {
  const called = isObject(raw) && isObject(raw.function) ? raw.function : undefined;
  const name = called?.name;
  if (!isObject(raw) || !called || typeof name !== "string" || name === "") {
    report.add(`message ${number} has a call that names no tool: call dropped`);
    return undefined;
  }
  if (raw.type !== undefined && raw.type !== "function") {
    report.add(`message ${number} has a call of ${quote(name)} of an unknown type: call dropped`);
    return undefined;
  }
  const about = `message ${number}, call of ${quote(name)}`;
  if (raw.type === undefined) report.add(`${about}: its missing type was added`);
  const hasId = typeof raw.id === "string" && raw.id !== "";
  if (!hasId) report.add(`${about}: it had no id and was given one`);
  return withFields(raw, {
    id: hasId ? raw.id : "",
    type: "function",
    function: withFields(called, { arguments: readArguments(called.arguments, about, report) }),
  }) as unknown as ToolCallPart;
}

function readArguments(raw: unknown, about: string, report: RepairReport): string {
  if (typeof raw === "string" && isObjectText(raw)) return raw;
  if (isObject(raw)) {
    report.add(`${about}: its arguments were an object and became text`);
    return JSON.stringify(raw);
  }
  report.add(`${about}: its arguments are no JSON object and were set to {}`);
  return "{}";
}

/** The text; the parts of a list joined; undefined when it is neither, or a list without text. */
function readContent(raw: unknown, number: number, report: RepairReport): string | undefined {
  if (typeof raw === "string") return raw;
  if (!Array.isArray(raw)) return undefined;
  const texts = raw.flatMap((part: unknown) => {
    const text = isObject(part) ? part.text : part;
    return typeof text === "string" ? [text] : [];
  });
  const lost = raw.length - texts.length;
  const without = lost > 0 ? `, without ${lost} that hold none` : "";
  report.add(`message ${number} is in parts: their text was joined${without}`);
  return texts.length > 0 ? texts.join("\n") : undefined;
}

function textOfAnswer(raw: unknown, number: number, report: RepairReport): string {
  report.add(`message ${number} is an answer that is no text: it was made one`);
  const isNothing = raw === undefined || raw === null || Array.isArray(raw);
  return isNothing ? "" : JSON.stringify(raw);
}

/** The same object when the fields are what they should be already. */
function withFields(raw: OpenFields, fields: OpenFields): Message {
  const isSame = Object.entries(fields).every(([name, value]) => raw[name] === value);
  return (isSame ? raw : { ...raw, ...fields }) as unknown as Message;
}
