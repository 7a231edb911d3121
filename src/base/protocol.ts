// The words that every part of Bosun shares: plain data, no behaviour beyond making ids.
// Front ends, the agent, stores and providers all speak these types and nothing wider.

export type { Command, SessionAction } from "./protocol/command";
export type {
  ApprovalDecision,
  Event,
  EventBody,
  EventOf,
  NoticeLevel,
  Preview,
  RunStatus,
  TodoItem,
  Usage,
} from "./protocol/event";
export { EVENT_VERSION } from "./protocol/event";
export type { AgentHandle, AgentState, Phase, Query, Watcher } from "./protocol/handle";
export type { AgentId, CallId, SessionId } from "./protocol/ids";
export { makeCallId, makeSessionId } from "./protocol/ids";
export type {
  AssistantMessage,
  Message,
  SystemMessage,
  ToolCallPart,
  ToolMessage,
  UserMessage,
} from "./protocol/message";
export { readSlash, SLASH_COMMANDS, type SlashCommand, type SlashReading } from "./protocol/slash";
