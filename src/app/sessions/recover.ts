// What a restored history needs before a model may get it: an answer for every call, even for those
// whose end nobody saw. Nothing is ever run again because of it.

import type { Message, ToolMessage } from "#base/protocol";

const RECOVERED = "[SESSION RECOVERED]";

const NOT_STARTED = `${RECOVERED} Bosun ended before this call began. It was not executed.`;
const UNCERTAIN =
  `${RECOVERED} Bosun ended while this call ran. It was not re-executed, and whether it took effect ` +
  "is uncertain: inspect the state before you try it again.";

/**
 * Puts an answer behind every call that has none: the recorded result where there is one. `calls`
 * holds the calls that began, with their results.
 */
export function answerOpenCalls(
  messages: readonly Message[],
  calls: ReadonlyMap<string, string | undefined>,
): { messages: Message[]; recovered: number } {
  const result: Message[] = [];
  let open: string[] = [];
  let recovered = 0;
  const close = (): void => {
    for (const id of open) {
      const content = calls.get(id) ?? (calls.has(id) ? UNCERTAIN : NOT_STARTED);
      const answer: ToolMessage = { role: "tool", tool_call_id: id, content };
      result.push(answer);
      recovered++;
    }
    open = [];
  };
  for (const message of messages) {
    if (message.role === "tool") open = open.filter((id) => id !== message.tool_call_id);
    else close();
    result.push(message);
    if (message.role === "assistant") open = (message.tool_calls ?? []).map(({ id }) => id);
  }
  close();
  return { messages: result, recovered };
}

/** Only what every endpoint understands: signatures and the like belong to the one they came from. */
export function dropOpaqueParts(messages: readonly Message[]): Message[] {
  return messages.map((message): Message => {
    switch (message.role) {
      case "assistant":
        return {
          role: "assistant",
          content: message.content,
          ...(message.tool_calls
            ? {
                tool_calls: message.tool_calls.map((call) => ({
                  id: call.id,
                  type: "function" as const,
                  function: { name: call.function.name, arguments: call.function.arguments },
                })),
              }
            : {}),
        };
      case "tool":
        return { role: "tool", tool_call_id: message.tool_call_id, content: message.content };
      default:
        return { role: message.role, content: message.content };
    }
  });
}
