// How Bosun thinks and acts: the loop and what it is made of. It knows the world only through the
// ports that it declares itself; app/ hands it their implementations.

export { Agent } from "./agent/loop";
export { noJournal } from "./agent/no-journal";
export type { AgentOptions, JobNews, Restored, Verification } from "./agent/options";
export { composeSystemPrompt } from "./agent/prompt";
