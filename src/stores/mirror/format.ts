// The text of the session file: indented JSON that is easy to read and edit, the messages in it
// exactly as the agent holds them. Source: AI-Commander's `.aicsession`, version 1, with a name of
// our own for the version and the task list added.

import type { Message, TodoItem, Usage } from "#base/protocol";

/** Larger files are neither written nor read: a context of this size fits no model. */
export const MIRROR_BYTES_MAX = 64 * 1024 * 1024;

/** Which checkpoint wrote the file. */
export type MirrorReason =
  | "user_request"
  | "before_llm_call"
  | "assistant_message"
  | "tool_result"
  | "loop_terminated"
  | "process_exit"
  | "signal_1"
  | "signal_2"
  | "signal_15"
  | "interrupted"
  | "cleared"
  | "reload"
  | "resumed";

/**
 * What is saved. The messages are taken as they stand and their text is remembered by object: one
 * that was saved must be replaced, never changed in place.
 */
export interface MirrorState {
  sessionId: string;
  model: string;
  /** May hold credentials: they do not get into the file. */
  apiBase: string;
  cwd: string;
  stepCount: number;
  usage: Usage;
  todo: readonly TodoItem[];
  messages: readonly Message[];
}

export interface FormatOptions {
  reason: MirrorReason;
  instance: number;
  /** Milliseconds since the epoch. */
  nowMs: number;
}

const SECRET_PARAMETER = /key|token|secret|passw|pwd|auth|sig|cred/i;
const MESSAGE_INDENT = "    ";

/** Texts of messages, by object: from save to save nearly all of them are the same. */
const texts = new WeakMap<Message, string>();

/** Hashes of messages, by object, as for their texts. */
const hashes = new WeakMap<object, string>();

/** Tells whether somebody edited what was saved: a change of the layout alone is no edit. */
export function checksumOf(content: { todo: unknown; messages: readonly unknown[] }): string {
  const whole = new Bun.CryptoHasher("sha256").update(JSON.stringify(content.todo) ?? "");
  for (const message of content.messages) whole.update(hashOfMessage(message));
  return whole.digest("hex");
}

function hashOfMessage(message: unknown): string {
  const known = typeof message === "object" && message !== null ? hashes.get(message) : undefined;
  if (known !== undefined) return known;
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(message) ?? "").digest("hex");
  if (typeof message === "object" && message !== null) hashes.set(message, hash);
  return hash;
}

export function formatMirror(state: MirrorState, options: FormatOptions): string {
  const todo = state.todo.map(({ text, state: progress }) => ({ text, state: progress }));
  const head = {
    bosun_session_version: 1,
    session_id: state.sessionId,
    updated_at: `${new Date(options.nowMs).toISOString().slice(0, 19)}Z`,
    reason: options.reason,
    model: state.model,
    api_base: withoutCredentials(state.apiBase),
    cwd: state.cwd,
    instance_number: options.instance,
    step_count: state.stepCount,
    usage: {
      input_tokens: state.usage.input,
      output_tokens: state.usage.output,
      cached_tokens: state.usage.cached,
      billable_tokens: state.usage.billable,
    },
    todo,
    checksum: checksumOf({ todo, messages: state.messages }),
  };
  const opening = JSON.stringify(head, null, 2).slice(0, -"\n}".length);
  const messages = state.messages.map(textOf).join(",\n");
  return `${opening},\n  "messages": [${messages && `\n${messages}\n  `}]\n}\n`;
}

function textOf(message: Message): string {
  let text = texts.get(message);
  if (text === undefined) {
    // A line break inside a string is escaped, so every one that is there belongs to the layout.
    const lines = JSON.stringify(message, null, 2).replaceAll("\n", `\n${MESSAGE_INDENT}`);
    text = MESSAGE_INDENT + lines;
    texts.set(message, text);
  }
  return text;
}

/** The address without user, password, fragment and parameters that look like keys. */
export function withoutCredentials(address: string): string {
  const url = URL.parse(address);
  if (!url || !/^(?:https?|wss?):$/.test(url.protocol)) {
    // No address that we understand: what may hold a secret goes.
    return address.replace(/[?#].*$/s, "").replace(/^(\w+:\/\/)?.*@/s, "$1");
  }
  const secret = [...url.searchParams.keys()].filter((name) => SECRET_PARAMETER.test(name));
  const isClean = !url.username && !url.password && !url.hash && secret.length === 0;
  if (isClean && !address.includes("@")) return address;
  for (const name of secret) url.searchParams.delete(name);
  url.username = "";
  url.password = "";
  url.hash = "";
  return url.href;
}
