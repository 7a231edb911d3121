// The progress budget: a run goes on as long as it learns something. A step is productive when it
// tries an action that is new, gets a result that is new, or follows a word of the owner.
// Numbers: the progress rows of tai, one of the three systems that Bosun unites.

/** The same action with the same result, so often in a row: the model is warned. */
export const REPEATS_BEFORE_WARNING = 3;
/** The same, so often: the run ends. */
export const REPEATS_BEFORE_STOP = 5;
/** Steps without anything new before the run ends: the owner's own agent. */
export const PATIENCE_STEPS = 25;

export interface Attempt {
  name: string;
  args: string;
  result: string;
}

export type ProgressVerdict =
  | { kind: "go on" }
  | { kind: "warn"; text: string }
  | { kind: "stop"; text: string };

/**
 * What differs between two runs of the same command although nothing happened: times of day, dates
 * and durations. Other numbers stay: a counter that moves is news.
 */
const PASSING_TIME: readonly [RegExp, string][] = [
  [/\b\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?/g, "<date>"],
  [
    /\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +([A-Z][a-z]{2} +\d{1,2}|\d{1,2} +[A-Z][a-z]{2})/g,
    "<date>",
  ],
  [/\b\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[AP]M)?\b/g, "<time>"],
  [/\b\d+(\.\d+)? ?(ms|µs|us|ns|s|sec|secs|seconds?|minutes?|min|m)\b/g, "<duration>"],
  [/\b1[6-9]\d{8}(\.\d+)?\b|\b1[6-9]\d{11}\b/g, "<epoch>"],
];

function withoutPassingTime(text: string): string {
  return PASSING_TIME.reduce((rest, [pattern, word]) => rest.replace(pattern, word), text);
}

export class ProgressBudget {
  readonly #patience: number;
  readonly #seenActions = new Set<number | bigint>();
  readonly #seenResults = new Set<number | bigint>();
  #lastStep: number | bigint | undefined;
  #repeats = 0;
  #stalled = 0;

  constructor(patience: number = PATIENCE_STEPS) {
    this.#patience = patience;
  }

  /** The owner said or approved something: whatever follows has a reason to be tried. */
  reset(): void {
    this.#stalled = 0;
    this.#repeats = 0;
    this.#lastStep = undefined;
  }

  /** Judges one step by what it tried and what came back. */
  record(attempts: readonly Attempt[]): ProgressVerdict {
    const actions = attempts.map((attempt) => Bun.hash(`${attempt.name}\0${attempt.args}`));
    const results = attempts.map((attempt) =>
      Bun.hash(`${attempt.name}\0${attempt.args}\0${withoutPassingTime(attempt.result)}`),
    );
    const step = Bun.hash(results.join());
    this.#repeats = step === this.#lastStep ? this.#repeats + 1 : 1;
    this.#lastStep = step;
    const isProductive =
      actions.some((action) => !this.#seenActions.has(action)) ||
      results.some((result) => !this.#seenResults.has(result));
    for (const action of actions) this.#seenActions.add(action);
    for (const result of results) this.#seenResults.add(result);
    this.#stalled = isProductive ? 0 : this.#stalled + 1;
    return this.#verdict(attempts[0]?.name ?? "reply");
  }

  #verdict(name: string): ProgressVerdict {
    if (this.#repeats >= REPEATS_BEFORE_STOP) {
      return {
        kind: "stop",
        text: `The same call (${name}) gave the same result ${this.#repeats} times in a row.`,
      };
    }
    if (this.#stalled >= this.#patience) {
      return { kind: "stop", text: `${this.#stalled} steps in a row brought nothing new.` };
    }
    if (this.#repeats === REPEATS_BEFORE_WARNING) {
      return {
        kind: "warn",
        text:
          `You made the same call (${name}) ${this.#repeats} times and got the same result. ` +
          "Try something else, or call task_complete and say what is in the way. " +
          `After ${REPEATS_BEFORE_STOP} times the run ends.`,
      };
    }
    return { kind: "go on" };
  }
}
