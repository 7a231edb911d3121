// The strict check of a history: what the strictest provider would refuse, in words. Written apart
// from the repair, so that each can be tested by the other.

import { isBlank, isObject, isObjectText, type OpenFields } from "./shape";

/** The first fault of the list, or undefined when any provider would take it. Never throws. */
export function findInvalid(messages: readonly unknown[]): string | undefined {
  const ids = new Set<string>();
  let waiting: string[] = [];
  let before: unknown;
  for (const [index, message] of messages.entries()) {
    const at = `message ${index + 1}`;
    if (!isObject(message)) return `${at} is no object`;
    if ((index === 0) !== (message.role === "system")) return `${at}: the system prompt is first`;
    if (message.role === "tool") {
      const expected = waiting.shift();
      if (expected === undefined) return `${at} answers no call`;
      if (message.tool_call_id !== expected) return `${at} is not the answer to ${expected}`;
      if (typeof message.content !== "string") return `${at} has no text`;
    } else {
      if (waiting.length > 0) return `${at} stands where the answer to ${waiting[0]} must`;
      if (message.role === "assistant" && before === "assistant") {
        return `${at} is a second assistant turn in a row`;
      }
      const fault = faultOf(message, ids);
      if (fault) return `${at} ${fault}`;
      waiting = callsOf(message).map((call) => String((call as OpenFields).id));
    }
    before = message.role;
  }
  if (messages.length === 0) return "there is no system prompt";
  return waiting.length > 0 ? `the call ${waiting[0]} has no answer` : undefined;
}

function faultOf(message: OpenFields, ids: Set<string>): string | undefined {
  const { role, content } = message;
  switch (role) {
    case "system":
      return typeof content === "string" ? undefined : "has no text";
    case "user":
      return isBlank(content) ? "is an empty request" : undefined;
    case "assistant":
      return faultOfAssistant(message, ids);
    default:
      return "has an unknown role";
  }
}

function faultOfAssistant(message: OpenFields, ids: Set<string>): string | undefined {
  const { content, tool_calls: calls } = message;
  if (content !== null && typeof content !== "string") return "has neither text nor null";
  if (calls === undefined) return isBlank(content) ? "is an empty turn" : undefined;
  if (!Array.isArray(calls) || calls.length === 0) return "has a list of calls that holds none";
  for (const call of calls) {
    const fault = faultOfCall(call);
    if (fault) return fault;
    if (ids.has(call.id)) return `uses the id ${call.id} again`;
    ids.add(call.id);
  }
  return undefined;
}

function faultOfCall(call: unknown): string | undefined {
  if (!isObject(call) || typeof call.id !== "string" || !call.id) return "has a call without id";
  if (call.type !== "function" || !isObject(call.function)) return `${call.id} calls no function`;
  const { name, arguments: text } = call.function;
  if (typeof name !== "string" || !name) return `has the call ${call.id} that names no tool`;
  const isRight = typeof text === "string" && isObjectText(text);
  return isRight ? undefined : `has the call ${call.id} whose arguments are no JSON object`;
}

function callsOf(message: OpenFields): unknown[] {
  return message.role === "assistant" && Array.isArray(message.tool_calls)
    ? message.tool_calls
    : [];
}
