// What a session file says: our format, AI-Commander's, or a bare array of messages. A field of a
// wrong type falls back and is named; only the messages must be there, and they are not judged here.

import { isUtf8 } from "node:buffer";
import type { TodoItem, Usage } from "#base/protocol";
import { checksumOf } from "./format";

/** What was read. The messages are as the file has them: repair them before use. */
export interface MirrorContent {
  format: "bosun" | "ai-commander" | "messages";
  /** Undefined where the file names none, or nothing that can be one. */
  sessionId: string | undefined;
  updatedAt: string | undefined;
  reason: string | undefined;
  model: string | undefined;
  apiBase: string | undefined;
  cwd: string | undefined;
  stepCount: number;
  usage: Usage;
  todo: TodoItem[];
  messages: unknown[];
  /** Whether the messages or the task list are other than Bosun wrote them. */
  isEdited: boolean;
}

export type MirrorReading =
  | { kind: "read"; state: MirrorContent; repairs: string[] }
  /** Not a session; `isForeign` when it does not even begin like one or holds other JSON. */
  | { kind: "unreadable"; reason: string; isForeign: boolean };

/** Writing nests at most a few thousand levels; nothing honest comes near this. */
const DEPTH_MAX = 200;
const TODO_ITEMS_MAX = 500;
const REPAIRS_MAX = 50;
const VERSION = 1;
const SESSION_ID = /^[\w.-]{1,128}$/;
const TODO_STATES = ["pending", "current", "done"] as const;

type Fields = Record<string, unknown>;

/** Never throws, whatever the bytes are. */
export function readMirror(bytes: Uint8Array): MirrorReading {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString("utf8")
    .replace(/^\ufeff/, "");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // NUL bytes at the start are what a power loss leaves of a file that was one of ours.
    const isForeign = !/^[\s\0]*(?:[[{]|$)/.test(text);
    return { kind: "unreadable", reason: problemOf(text, error), isForeign };
  }
  if (isDeeperThan(value, DEPTH_MAX)) {
    const reason = `it is nested more than ${DEPTH_MAX} levels deep`;
    return { kind: "unreadable", reason, isForeign: false };
  }
  const repairs: string[] = [];
  if (!isUtf8(bytes)) repairs.push("bytes that are no UTF-8 were replaced");
  if (Array.isArray(value)) {
    if (!mayBeMessages(value)) return NO_MESSAGES;
    return { kind: "read", state: readFields({ messages: value }, value, repairs), repairs };
  }
  const fields = isObject(value) ? value : {};
  if (!Array.isArray(fields.messages)) {
    const reason = 'it has no list of "messages"';
    const isForeign = !("bosun_session_version" in fields || "aic_session_version" in fields);
    return { kind: "unreadable", reason, isForeign };
  }
  if (!mayBeMessages(fields.messages)) return NO_MESSAGES;
  const state = readFields(fields, fields.messages, repairs);
  if (repairs.length > REPAIRS_MAX) {
    const more = repairs.splice(REPAIRS_MAX).length;
    repairs.push(`and ${more} more`);
  }
  return { kind: "read", state, repairs };
}

const NO_MESSAGES = {
  kind: "unreadable",
  reason: "its list holds no message of a conversation",
  isForeign: true,
} as const;

/** Any other list of anything must not be taken for a conversation, and written over. */
function mayBeMessages(list: readonly unknown[]): boolean {
  return (
    list.length === 0 || list.some((entry) => isObject(entry) && typeof entry.role === "string")
  );
}

function readFields(fields: Fields, messages: unknown[], repairs: string[]): MirrorContent {
  const text = (name: string): string | undefined => {
    const value = fields[name];
    if (value === undefined || (typeof value === "string" && !value.includes("\0"))) return value;
    repairs.push(`"${name}" is no text and was left out`);
    return undefined;
  };
  const isOurs = "bosun_session_version" in fields;
  const version = fields[isOurs ? "bosun_session_version" : "aic_session_version"];
  if (version !== undefined && version !== VERSION) {
    repairs.push(`the file has another version than ${VERSION}: read as far as it is known`);
  }
  let sessionId = text("session_id");
  if (sessionId !== undefined && !SESSION_ID.test(sessionId)) {
    repairs.push('"session_id" is no session\'s name and was left out');
    sessionId = undefined;
  }
  return {
    format: isOurs ? "bosun" : "aic_session_version" in fields ? "ai-commander" : "messages",
    sessionId,
    updatedAt: text("updated_at"),
    reason: text("reason"),
    model: text("model"),
    apiBase: text("api_base"),
    cwd: text("cwd"),
    stepCount: readCount(fields, "step_count", repairs),
    usage: readUsage(fields.usage, repairs),
    todo: readTodo(fields.todo, repairs),
    messages,
    isEdited: fields.checksum !== checksumOf({ todo: fields.todo ?? [], messages }),
  };
}

function readCount(fields: Fields, name: string, repairs: string[]): number {
  const value = fields[name];
  if (value === undefined) return 0;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  repairs.push(`"${name}" is no count and was set to 0`);
  return 0;
}

function readUsage(value: unknown, repairs: string[]): Usage {
  if (value !== undefined && !isObject(value)) repairs.push('"usage" is no object: counted from 0');
  const fields = isObject(value) ? value : {};
  return {
    input: readCount(fields, "input_tokens", repairs),
    output: readCount(fields, "output_tokens", repairs),
    cached: readCount(fields, "cached_tokens", repairs),
    billable: readCount(fields, "billable_tokens", repairs),
  };
}

function readTodo(value: unknown, repairs: string[]): TodoItem[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    repairs.push('"todo" is no list and was left out');
    return [];
  }
  const items: TodoItem[] = [];
  for (const [index, entry] of value.slice(0, TODO_ITEMS_MAX).entries()) {
    if (!isObject(entry) || typeof entry.text !== "string") {
      repairs.push(`todo ${index + 1} has no text and was left out`);
      continue;
    }
    const state = TODO_STATES.find((known) => known === entry.state);
    if (!state) repairs.push(`todo ${index + 1} has an unknown state and was set to pending`);
    items.push({ text: entry.text, state: state ?? "pending" });
  }
  if (value.length > TODO_ITEMS_MAX) repairs.push(`todo was cut to ${TODO_ITEMS_MAX} items`);
  return items;
}

function problemOf(text: string, error: unknown): string {
  if (text.trim() === "") return "it is empty";
  if (text.includes("\0")) return "it holds NUL bytes";
  const message = error instanceof Error ? error.message : String(error);
  return `it is no valid JSON (${message.replace(/^JSON Parse error: /, "").slice(0, 100)})`;
}

/** Walks without recursion: the depth is what may be hostile. */
function isDeeperThan(value: unknown, levelsMax: number): boolean {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levelsMax) return true;
    level = level.flatMap((entry) =>
      typeof entry === "object" && entry !== null ? Object.values(entry) : [],
    );
  }
  return false;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
