// Models: how Bosun reaches a language model. One wire so far, Chat Completions, for any endpoint
// that speaks it, however loosely. The SDK is loaded with the first request and not before.

export type { ChatModelOptions } from "./models/chat";
export { createChatModel } from "./models/chat";
export { probeEndpoint } from "./models/probe";
