// The journal of one agent on one session: what may not be lost is on the disk when `append`
// returns; what only accompanies it waits for it, though never for long.

import { StoreFailure } from "#base/kit";
import type { Event, Message } from "#base/protocol";
import type { Entry, SessionHandle } from "./handle";
import { EMPTY_STATE, foldState, type SessionState } from "./records";

/**
 * Nothing is done before these are kept: a call is about to run, its result is known, the owner
 * spoke or is asked, the run ended. All others go with the next of these, in its commit.
 */
function mustLast(event: Event): boolean {
  if (event.type === "message") {
    // A reply with calls goes with the first of them; an answer is followed by nothing.
    return event.message.role !== "assistant" || !event.message.tool_calls?.length;
  }
  return ["tool.started", "approval.asked", "approval.answered", "run.finished"].includes(
    event.type,
  );
}

/** The longest that an entry waits for company. */
const COMPANY_MS = 50;

export class SessionJournal {
  readonly #cwd: () => string;
  #handle: SessionHandle | undefined;
  #state: SessionState;
  /** What is not written yet; after a failure it stays, and goes with the next attempt. */
  #waiting: Entry[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failure: StoreFailure | undefined;

  /** `cwd`: the directory that the next command starts in, kept with every commit. */
  constructor(options: { cwd: () => string; state?: SessionState }) {
    this.#cwd = options.cwd;
    this.#state = options.state ?? EMPTY_STATE;
  }

  /** From here on entries go to that session; what waited goes first. Throws a StoreFailure. */
  attach(handle: SessionHandle): void {
    this.#handle = handle;
    this.flush();
  }

  /** Throws a StoreFailure when the event, or one before it, cannot be kept. */
  append(event: Event): void {
    this.#state = foldState(this.#state, event);
    this.#waiting.push(event);
    if (this.#failure) throw this.#failure;
    if (mustLast(event)) this.flush();
    else this.#timer ??= setTimeout(() => this.#flushQuietly(), COMPANY_MS).unref();
  }

  /** Puts another live context in place of all that came before. Throws a StoreFailure. */
  replaceContext(messages: readonly Message[], at: string): void {
    const entry: Entry = { type: "context", at, messages };
    this.#waiting.push(entry);
    try {
      this.flush();
    } catch (error) {
      // Whoever asked for it is told that it failed: it must not come true later.
      this.#waiting = this.#waiting.filter((waiting) => waiting !== entry);
      throw error;
    }
  }

  /** Writes what waits, in one commit. Throws a StoreFailure. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#handle || this.#waiting.length === 0) return;
    const state = { ...this.#state, cwd: this.#cwd() };
    const contextFrom = this.#handle.append(this.#waiting, state);
    const replaced = this.#waiting.findLastIndex((entry) => entry.type === "context");
    if (replaced >= 0) {
      const behind = this.#waiting.length - 1 - replaced;
      this.#state = { ...this.#state, contextFrom: contextFrom - behind };
    }
    this.#waiting = [];
  }

  /** Writes what is left, as far as that is possible, and lets go of the session. */
  close(): void {
    this.#flushQuietly();
    try {
      this.#handle?.release();
    } catch {
      // A dead owner's claim is taken over by the next: nothing depends on this.
    }
    this.#handle = undefined;
    this.#failure ??= new StoreFailure("This session was closed: nothing is kept in it any more.");
  }

  #flushQuietly(): void {
    try {
      this.flush();
    } catch {
      // What waits is kept; the next append meets the same failure and tells it.
    }
  }
}
