// A journal that lasts as long as the process: for runs that keep no session, and for tests.

import type { Event, Sequence } from "#base/protocol";
import type { Journal } from "./ports";

export class MemoryJournal implements Journal {
  readonly #events: Event[] = [];

  append(event: Event): Sequence {
    return this.#events.push(event);
  }

  *read(from: Sequence): Iterable<Event> {
    for (let at = Math.max(from, 1); at <= this.#events.length; at++) {
      const event = this.#events[at - 1];
      if (event) yield event;
    }
  }
}
