// Keeps the agent's conversations: opens the store of this directory, makes sessions, takes old ones
// up again, copies them. One at a time is the agent's; the keeper owns it until it is closed.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Restored } from "#agent";
import type { Journal } from "#agent/ports";
import {
  EVENT_VERSION,
  type Message,
  makeSessionId,
  type SessionId,
  type TodoItem,
} from "#base/protocol";
import type {
  LoadedSession,
  SessionHandle,
  SessionJournal,
  SessionRecord,
  SessionStore,
} from "#stores/sessions";
import { UsageError } from "../config/arguments";
import { projectDirectory, STORE_FILE } from "../project";
import { answerOpenCalls, dropOpaqueParts } from "./recover";
import { routeOf } from "./route";

export interface KeeperOptions {
  /** Bosun's home. */
  home: string;
  /** The real path of the directory that is worked in. */
  workspace: string;
  route: string;
  model: string;
  /** The directory that the next command starts in. */
  cwd(): string;
  setCwd(path: string): void;
}

/** What an agent works on. */
export interface Session {
  session: SessionId;
  journal: Journal;
  restored?: Restored;
}

export class SessionKeeper {
  readonly #options: KeeperOptions;
  #store: SessionStore | undefined;
  #current: SessionJournal | undefined;
  #currentId = "";

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  get storePath(): string {
    const { home, workspace } = this.#options;
    return join(projectDirectory(home, workspace), STORE_FILE);
  }

  /** What the store said when it was opened. */
  get notices(): readonly string[] {
    return this.#store?.notices ?? [];
  }

  /** A new conversation. Its session is there before anything is asked of a model. */
  async begin(): Promise<Session> {
    const store = await this.#open();
    const id = makeSessionId(Date.now());
    const journal = await this.#journalOf(store.create(this.#startOf(id)));
    this.#adopt(journal, id);
    return { session: id, journal };
  }

  /** Takes up a session of this directory: that one, or the latest that nobody works on. */
  async resume(id: SessionId | undefined): Promise<Session & { told: string }> {
    const store = await this.#open();
    const record = id === undefined ? latestFree(store) : await this.#find(store, id);
    if (record.id === this.#currentId) throw new UsageError("That is the session at hand.");
    this.#checkRoute(record);
    const { handle, loaded } = store.claim(record.id);
    return this.#takeUp(handle, loaded);
  }

  /** Whether that session is kept for this directory. */
  async has(id: SessionId): Promise<boolean> {
    return (await this.#open()).find(id) !== undefined;
  }

  /** Puts what was read from a session file in place of the context of the session at hand. */
  async importContext(content: {
    messages: readonly unknown[];
    todo: readonly TodoItem[];
    apiBase: string | undefined;
  }): Promise<{ session: Session; count: number; repairs: string[] }> {
    const journal = this.#current;
    if (!journal) throw new Error("No session is open.");
    const { repairMessages } = await import("#stores/mirror");
    const repaired = repairMessages(content.messages, "", { keepSystemPrompt: true });
    const repairs = [...repaired.repairs];
    let messages = withoutSystem(repaired.messages);
    // What only another provider can read is never sent to this one.
    if (content.apiBase !== undefined && routeOf(content.apiBase) !== this.#options.route) {
      messages = dropOpaqueParts(messages);
      repairs.push("parts that only the endpoint it came from understands were left out");
    }
    const at = new Date().toISOString();
    journal.append({ v: EVENT_VERSION, at, agent: "main", type: "todo", items: [...content.todo] });
    journal.replaceContext(messages, at);
    return {
      session: { session: this.#currentId, journal, restored: { messages, todo: content.todo } },
      count: messages.length,
      repairs,
    };
  }

  async list(): Promise<readonly SessionRecord[]> {
    return (await this.#open()).list();
  }

  async describe(): Promise<string> {
    const store = await this.#open();
    const record = store.find(this.#currentId);
    if (!record) return `Session ${this.#currentId}: nothing is kept yet.`;
    const { messages, state } = store.peek(record.id);
    return [
      `Session ${record.id}: ${record.title || "no request yet"}`,
      `  kept in   ${store.path}`,
      `  messages  ${messages.length}, steps ${state.step}`,
      `  endpoint  ${record.route}, model ${record.model}`,
    ].join("\n");
  }

  /** A copy of the session at hand, which the agent goes on with. */
  async fork(): Promise<Session & { told: string }> {
    const store = await this.#open();
    const parent = this.#currentId;
    this.#current?.flush();
    if (!store.find(parent)) throw new UsageError("There is nothing to copy yet.");
    const handle = store.fork(parent, {
      ...this.#startOf(makeSessionId(Date.now())),
      kind: "fork",
    });
    const session = await this.#takeUp(handle, handle.load());
    return { ...session, told: `This is session ${session.session}, a copy of ${parent}.` };
  }

  close(): void {
    this.#release();
    this.#store?.close();
    this.#store = undefined;
  }

  async #open(): Promise<SessionStore> {
    if (this.#store) return this.#store;
    const { openSessionStore } = await import("#stores/sessions");
    this.#store ??= openSessionStore(this.storePath);
    return this.#store;
  }

  async #journalOf(handle: SessionHandle, loaded?: LoadedSession): Promise<SessionJournal> {
    const { SessionJournal } = await import("#stores/sessions");
    const journal = new SessionJournal({
      cwd: () => this.#options.cwd(),
      ...(loaded ? { state: loaded.state } : {}),
    });
    journal.attach(handle);
    return journal;
  }

  /** Only when all went well: whoever cannot have the new session keeps the old one. */
  #adopt(journal: SessionJournal, id: SessionId): void {
    this.#release();
    this.#current = journal;
    this.#currentId = id;
  }

  #release(): void {
    this.#current?.close();
    this.#current = undefined;
  }

  #startOf(id: SessionId) {
    const { model, route, workspace } = this.#options;
    return { id, kind: "main" as const, model, route, workspace };
  }

  async #find(store: SessionStore, id: SessionId): Promise<SessionRecord> {
    const record = store.find(id);
    if (record) return record;
    const { findElsewhere } = await import("./elsewhere");
    const place = findElsewhere(this.#options.home, this.storePath, id);
    if (place === undefined)
      throw new UsageError(`There is no session ${id}. See: bosun sessions.`);
    throw new UsageError(
      `Session ${id} belongs to ${place.replace(/\p{C}/gu, "?")}. Go there to resume it, or copy it to this directory: ` +
        `bosun sessions fork ${id}.`,
    );
  }

  #checkRoute(record: SessionRecord): void {
    const { route } = this.#options;
    if (record.route === route || record.route === "") return;
    throw new UsageError(
      `Session ${record.id} was held with ${record.route}, not with ${route}. Use --api-base ` +
        `${record.route}, or copy it for this endpoint: bosun sessions fork ${record.id}.`,
    );
  }

  /** The history as a model may get it, with what had to be added written down first. */
  async #takeUp(handle: SessionHandle, loaded: LoadedSession): Promise<Session & { told: string }> {
    const journal = await this.#journalOf(handle, loaded);
    const answered = answerOpenCalls(withoutSystem(loaded.messages), loaded.calls);
    let messages: Message[];
    try {
      const { repairMessages } = await import("#stores/mirror");
      messages = withoutSystem(repairMessages(answered.messages, "").messages);
      keepRepairs(journal, loaded.messages, messages);
      this.#restoreCwd(loaded.state.cwd);
    } catch (error) {
      journal.close();
      throw error;
    }
    this.#adopt(journal, handle.id);
    const told = [
      `Restored ${messages.length} messages (session ${handle.id}, step ${loaded.state.step}).`,
      ...(answered.recovered > 0
        ? [`Calls without an end: ${answered.recovered}, not re-run.`]
        : []),
      ...(loaded.damaged > 0 ? [`Entries that cannot be read: ${loaded.damaged}.`] : []),
    ].join(" ");
    return {
      session: handle.id,
      journal,
      restored: { messages, todo: loaded.state.todo },
      told,
    };
  }

  #restoreCwd(path: string | null): void {
    if (path === null || !existsSync(path) || !statSync(path).isDirectory()) return;
    this.#options.setCwd(path);
  }
}

function withoutSystem(messages: readonly Message[]): Message[] {
  return messages.filter((message) => message.role !== "system");
}

/** What was only added at the end is appended; anything else is a new context. */
function keepRepairs(
  journal: SessionJournal,
  loaded: readonly Message[],
  repaired: readonly Message[],
): void {
  const at = new Date().toISOString();
  if (loaded.every((message, index) => message === repaired[index])) {
    for (const message of repaired.slice(loaded.length)) {
      journal.append({ v: EVENT_VERSION, at, agent: "main", type: "message", message });
    }
  } else {
    journal.replaceContext(repaired, at);
  }
}

function latestFree(store: SessionStore): SessionRecord {
  const record = store.list().find(({ owner, kind }) => owner === undefined && kind !== "worker");
  if (!record) throw new UsageError("There is no session here to resume. See: bosun sessions.");
  return record;
}
