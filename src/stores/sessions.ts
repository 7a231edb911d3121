// Sessions: every conversation of a project in one SQLite file outside of it, appended to and never
// rewritten. What is told as saved has reached the disk.

export type { SessionHandle } from "./sessions/handle";
export { SessionJournal } from "./sessions/journal";
export type { LoadedSession, SessionKind, SessionRecord, SessionStart } from "./sessions/records";
export { openSessionStore, type SessionStore } from "./sessions/store";
