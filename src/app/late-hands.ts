// The agent's hands before they are there: loaded once, at the latest when a reply needs them.

import type { JobNews } from "#agent";
import type { Tool } from "#agent/ports";
import type { Hands } from "./hands";

export class LateHands {
  readonly #make: () => Promise<Hands>;
  readonly #watchers: ((job: JobNews) => void)[] = [];
  #loading: Promise<Hands> | undefined;
  #hands: Hands | undefined;

  constructor(make: () => Promise<Hands>) {
    this.#make = make;
  }

  load(): Promise<Hands> {
    this.#loading ??= this.#make().then((hands) => {
      this.#hands = hands;
      for (const tell of this.#watchers) hands.watchJobs(tell);
      return hands;
    });
    return this.#loading;
  }

  /** Throws when they were not loaded: no reply may be handed on before. */
  get tools(): readonly Tool[] {
    return this.#loaded.tools;
  }

  understand(...call: Parameters<Hands["understand"]>): ReturnType<Hands["understand"]> {
    return this.#loaded.understand(...call);
  }

  /** Nothing has run before they are there. */
  takeNews(): string[] {
    return this.#hands?.takeNews() ?? [];
  }

  watchJobs(tell: (job: JobNews) => void): void {
    this.#watchers.push(tell);
    this.#hands?.watchJobs(tell);
  }

  async close(): Promise<void> {
    await (await this.#loading)?.runner.close();
  }

  get #loaded(): Hands {
    if (!this.#hands) throw new Error("The tools were not loaded before a reply was acted on.");
    return this.#hands;
  }
}
