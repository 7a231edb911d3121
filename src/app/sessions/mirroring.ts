// Keeps the session file of the project in step with the agent: a checkpoint at each point that a
// run may be cut at, and what is done about a file that was edited, broken or removed meanwhile.

import type { Agent } from "#agent";
import type { Event } from "#base/protocol";
import {
  type Mirror,
  type MirrorContent,
  MirrorError,
  type MirrorLoad,
  type MirrorReason,
  takeMirror,
} from "#stores/mirror";
import type { Session, SessionKeeper } from "./keeper";

export interface MirroringOptions {
  keeper: SessionKeeper;
  /** The working directory. */
  directory: string;
  /** The owner's own file for it. */
  file: string | undefined;
  /** The session that is asked for: an id, an empty text for the latest, undefined for none. */
  resume: string | undefined;
  model: string;
  apiBase: string;
}

export interface Mirroring {
  readonly session: Session;
  /** What happened at the start, one sentence each. */
  readonly told: readonly string[];
  /** From here on every checkpoint is written; `tell` gets what goes wrong with it. */
  follow(agent: Agent): void;
  /** Reads the file again, as its owner edited it, into the session at hand. */
  reload(agent: Agent): Promise<string>;
  /** The file, for `/session`. */
  readonly path: string;
  /** Writes what the agent holds at this moment. */
  checkpoint(reason: MirrorReason): void;
  close(): void;
}

/** Claims the file, and finds out with it which session to go on with. Throws a MirrorError. */
export async function startMirroring(options: MirroringOptions): Promise<Mirroring> {
  const { directory, file } = options;
  const mirror = await takeMirror({ directory, file });
  const told: string[] = [];
  if (mirror.instance > 1) {
    told.push(
      `Another Bosun uses ${mirror.wantedPath}; this one uses ${mirror.path} (instance ${mirror.instance}).`,
    );
  }
  try {
    const session = await findSession(mirror, options, told);
    told.push(`The session is kept in ${mirror.path}, too.`);
    return new FileMirroring({ mirror, session, told, options });
  } catch (error) {
    mirror.release();
    throw error;
  }
}

async function findSession(
  mirror: Mirror,
  { keeper, file, resume }: MirroringOptions,
  told: string[],
): Promise<Session> {
  const loaded = mirror.load();
  const goOn = async (id: string | undefined): Promise<Session> => {
    const session = await keeper.resume(id);
    told.push(session.told);
    return session;
  };
  if (loaded.kind === "corrupt") {
    told.push(`The session file was broken (${loaded.reason}); it is kept as ${loaded.movedTo}.`);
  }
  const take = async (state: MirrorContent, repairs: readonly string[]): Promise<Session> => {
    const imported = await keeper.importContext(state);
    told.push(`Read ${imported.count} messages from ${mirror.path}, as they were edited.`);
    for (const repair of [...repairs, ...imported.repairs]) told.push(`Mended: ${repair}.`);
    return imported.session;
  };
  if (file === undefined) {
    // A file that lay in the directory by itself, as in a fresh clone, is nobody's word: only an edit
    // of the very session that is asked for counts.
    const session = await goOn(resume || undefined);
    if (loaded.kind !== "loaded" || !loaded.state.isEdited) return session;
    return loaded.state.sessionId === session.session
      ? take(loaded.state, loaded.repairs)
      : session;
  }
  const named = loaded.kind === "absent" ? undefined : nameIn(loaded);
  const isKept = named !== undefined && (await keeper.has(named));
  const wanted = resume || (isKept ? named : undefined);
  if (loaded.kind !== "loaded" || (resume !== undefined && wanted !== named)) {
    return wanted === undefined && resume === undefined ? keeper.begin() : goOn(wanted);
  }
  const session = wanted === undefined ? await keeper.begin() : await goOn(wanted);
  if (isKept && !loaded.state.isEdited) return session;
  return take(loaded.state, loaded.repairs);
}

function nameIn(loaded: Exclude<MirrorLoad, { kind: "absent" }>): string | undefined {
  return loaded.kind === "loaded" ? loaded.state.sessionId : loaded.sessionId;
}

interface FileMirroringOptions {
  mirror: Mirror;
  session: Session;
  told: readonly string[];
  options: MirroringOptions;
}

class FileMirroring implements Mirroring {
  readonly session: Session;
  readonly told: readonly string[];
  readonly #mirror: Mirror;
  readonly #options: MirroringOptions;
  #agent: Agent | undefined;
  /** A failure was told and lasts: it is not told at every checkpoint. */
  #hasFailed = false;

  constructor({ mirror, session, told, options }: FileMirroringOptions) {
    this.#mirror = mirror;
    this.session = session;
    this.told = told;
    this.#options = options;
  }

  get path(): string {
    return this.#mirror.path;
  }

  follow(agent: Agent): void {
    this.#agent = agent;
    if (this.session.restored) this.checkpoint("resumed");
    agent.watch((event) => {
      const reason = reasonOf(event);
      if (reason) this.checkpoint(reason);
    });
  }

  async reload(agent: Agent): Promise<string> {
    const loaded = this.#mirror.load();
    if (loaded.kind === "absent") return `${this.path} is not there: nothing to read.`;
    if (loaded.kind === "corrupt") {
      this.checkpoint("reload");
      return `${this.path} was broken (${loaded.reason}); it is kept as ${loaded.movedTo}.`;
    }
    const imported = await this.#options.keeper.importContext(loaded.state);
    agent.adopt(imported.session);
    this.checkpoint("reload");
    const mended = [...loaded.repairs, ...imported.repairs].map((line) => `\n  mended: ${line}`);
    return `Read ${imported.count} messages from ${this.path}.${mended.join("")}`;
  }

  close(): void {
    this.checkpoint("process_exit");
    this.#mirror.release();
  }

  checkpoint(reason: MirrorReason): void {
    const agent = this.#agent;
    if (!agent) return;
    const { model, apiBase } = this.#options;
    const { session, step, usage, todo, cwd } = agent.ask({ kind: "state" });
    try {
      const { overwroteEdit } = this.#mirror.save(
        {
          sessionId: session,
          model,
          apiBase,
          cwd,
          stepCount: step,
          usage,
          todo,
          messages: agent.messages,
        },
        reason,
      );
      if (overwroteEdit) {
        agent.notice(
          "warning",
          `${this.path} was edited while Bosun ran: the edit is overwritten. /reload takes one over.`,
        );
      }
      if (this.#hasFailed) agent.notice("info", `${this.path} is kept again.`);
      this.#hasFailed = false;
    } catch (error) {
      if (!(error instanceof MirrorError)) throw error;
      if (!this.#hasFailed) agent.notice("warning", error.message);
      this.#hasFailed = true;
    }
  }
}

/** Undefined for events after which nothing new is worth a checkpoint. */
function reasonOf(event: Event): MirrorReason | undefined {
  switch (event.type) {
    case "step.started":
      return "before_llm_call";
    case "run.finished":
      return event.status === "stopped" ? "interrupted" : "loop_terminated";
    case "message":
      switch (event.message.role) {
        case "user":
          return "user_request";
        case "assistant":
          return "assistant_message";
        case "tool":
          return "tool_result";
      }
  }
  return undefined;
}
