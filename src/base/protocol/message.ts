// One message of the conversation, as the Chat Completions wire has it and kept verbatim:
// providers put signatures and other opaque parts into fields that we do not know, so every type
// here is open. Source: the OpenAI API reference, "Chat Completions", request field `messages`.

interface OpenObject {
  [field: string]: unknown;
}

/** One call inside an assistant message. `arguments` is always a string that holds valid JSON. */
export interface ToolCallPart extends OpenObject {
  id: string;
  type: "function";
  function: { name: string; arguments: string } & OpenObject;
}

export interface SystemMessage extends OpenObject {
  role: "system";
  content: string;
}

export interface UserMessage extends OpenObject {
  role: "user";
  content: string;
}

export interface AssistantMessage extends OpenObject {
  role: "assistant";
  /** The answer's text; null when the reply held only calls. */
  content: string | null;
  tool_calls?: ToolCallPart[];
  /** Thinking, sent back for the rest of the task and removed at the next request. */
  reasoning_content?: string;
}

export interface ToolMessage extends OpenObject {
  role: "tool";
  tool_call_id: string;
  content: string;
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;
