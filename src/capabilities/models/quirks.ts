// What an endpoint turned out not to like, learned from its refusals and kept for the life of the
// model: each lesson costs one refused request. A refusal that names what it is about teaches;
// one that says nothing is a reason to guess, and a guess that does not help is taken back.

import type { ClassifiedFailure } from "./failure";
import { readErrorWords } from "./failure-words";
import { findTokenCounts } from "./token-limit";

export type TokenLimitField = "max_tokens" | "max_completion_tokens";

/** Never changed in place, so that the body may compare by identity. */
export interface Quirks {
  /** Request parameters that are not sent. */
  omitted: ReadonlySet<string>;
  tokenLimitField: TokenLimitField;
  /** The endpoint's own upper bound for an answer, where it named one below ours. */
  tokensMax: number | undefined;
  message: MessageQuirks;
}

/** What changes the bytes of messages. */
export interface MessageQuirks {
  /** Thinking in the history: sent where there is some, on every turn with calls, or never. */
  reasoning: "kept" | "demanded" | "omitted";
  /** The name that the endpoint itself uses for it. */
  reasoningField: string;
  /** What a turn that holds only calls has as its content. */
  emptyContent: null | "";
  /** Fields of messages that are not sent. */
  omitted: ReadonlySet<string>;
}

/** What the refused request held; the refusal can only be about that. */
export interface Sent {
  parameters: readonly string[];
  /** Fields of messages and calls that are not part of the protocol. */
  extraFields: ReadonlySet<string>;
  hasReasoning: boolean;
  hasCalls: boolean;
  /** A turn with calls and no thinking. */
  lacksReasoning: boolean;
  /** A turn with calls and no text. */
  hasEmptyContent: boolean;
  tokens: number;
}

export interface Lesson {
  quirks: Quirks;
  /** For the user: what is done differently from now on. */
  notice: string;
}

/** Parameters that a request can do without, with other names that endpoints give them. */
const OPTIONAL_PARAMETERS: Record<string, readonly string[]> = {
  stream_options: ["stream_options", "include_usage"],
  chat_template_kwargs: ["chat_template_kwargs", "enable_thinking", "extra_body"],
  reasoning_effort: ["reasoning_effort", "reasoning.effort", "thinking_budget"],
  temperature: ["temperature"],
  max_completion_tokens: ["max_completion_tokens"],
  max_tokens: ["max_tokens"],
};

/** The reasoning models of OpenAI refuse the older name, and say so in their documentation. */
const NEWER_LIMIT_MODELS = /(?:^|\/)(?:o[1-9](?:-|$)|gpt-5)/i;

const DEMAND =
  /missing|must (?:be|contain|have|include)|required|require|needs?\b|expected|absent/i;
const REFUSAL =
  /not (?:be )?(?:supported|permitted|allowed|included|accepted|valid|sent)|n't (?:support|allow)|unsupported|unrecognized|unknown|extra|unexpected|forbidden|remove|invalid|refused?|reject/i;
const BOUND =
  /at most|maximum|\bmax\b|range|less than|<=?|up to|exceed|limit|too (?:large|high|big)/i;
const NULL_REFUSED = /null|none|nil\b|string|missing|required|type/i;

export function firstQuirks(model: string): Quirks {
  return {
    omitted: new Set(),
    tokenLimitField: NEWER_LIMIT_MODELS.test(model) ? "max_completion_tokens" : "max_tokens",
    tokensMax: undefined,
    message: {
      reasoning: "kept",
      reasoningField: "reasoning_content",
      emptyContent: null,
      omitted: new Set(),
    },
  };
}

export function omitParameters(quirks: Quirks, names: readonly string[]): Quirks {
  return { ...quirks, omitted: new Set([...quirks.omitted, ...names]) };
}

export function changeMessages(quirks: Quirks, change: Partial<MessageQuirks>): Quirks {
  return { ...quirks, message: { ...quirks.message, ...change } };
}

/** Where a name stands in the text as a word of its own, or -1. */
function placeOf(name: string, text: string): number {
  const escaped = name.replace(/[^\w]/g, "\\$&");
  return text.search(new RegExp(`(?<![\\w])${escaped}(?![\\w])`, "i"));
}

/** A refusal with more words than this has said its reason, even if it names no name. */
const WORDLESS_LENGTH_MAX = 60;

/** Whether a refusal names anything: a parameter, or a part of the messages. */
function isAboutSomething(body: string, quirks: Quirks, sent: Sent): boolean {
  const words = readErrorWords(body, 400);
  const names = [
    ...Object.values(OPTIONAL_PARAMETERS).flat(),
    ...sent.extraFields,
    "reasoning_content",
    quirks.message.reasoningField,
    "content",
  ];
  if (words.own.length > WORDLESS_LENGTH_MAX) return true;
  return words.parameter !== undefined || names.some((name) => placeOf(name, words.own) >= 0);
}

export class QuirkLearner {
  /** What was tried already: nothing is learned twice, so learning ends. */
  #learned = new Set<string>();

  /** What a refusal teaches, or undefined when it teaches nothing new. */
  learn(failure: ClassifiedFailure, body: string, quirks: Quirks, sent: Sent): Lesson | undefined {
    const words = readErrorWords(body, 400);
    // Not the labels: "invalid_request_error" stands on demands, too.
    const text = words.own;
    if (failure.kind === "context_overflow") return this.#lessRoom(words, quirks, sent);
    if (!["bad_request", "unsupported_parameter", "server_error"].includes(failure.kind)) {
      return undefined;
    }
    // A fault of the server that happens to name a parameter is no refusal of it.
    if (failure.kind === "server_error" && !REFUSAL.test(text)) return undefined;
    return (
      this.#reasoning(text, quirks, sent) ??
      this.#parameter(words.parameter, text, quirks, sent) ??
      this.#field(text, quirks, sent) ??
      this.#content(text, quirks, sent)
    );
  }

  /**
   * For a refusal that names nothing we could change: one thing after another that such
   * endpoints are known for. The caller takes back what did not help.
   */
  guess(body: string, quirks: Quirks, sent: Sent, hasSucceeded: boolean): Lesson | undefined {
    if (isAboutSomething(body, quirks, sent)) return undefined;
    const extras = ["stream_options", "chat_template_kwargs", "reasoning_effort"];
    const present = extras.filter((name) => sent.parameters.includes(name));
    if (!hasSucceeded && present.length > 0 && this.#once("guess:parameters")) {
      const notice = `The endpoint refused the request without a reason; trying it without ${present.join(", ")}.`;
      return { quirks: omitParameters(quirks, present), notice };
    }
    const refused = "The endpoint refused the request without a reason; trying it";
    if (sent.hasReasoning && this.#once("guess:reasoning")) {
      const next = changeMessages(quirks, { reasoning: "omitted" });
      return { quirks: next, notice: `${refused} without the model's earlier thinking.` };
    }
    if (sent.lacksReasoning && this.#once("guess:demanded")) {
      const next = changeMessages(quirks, { reasoning: "demanded" });
      return { quirks: next, notice: `${refused} with a thinking field on every tool call.` };
    }
    if (sent.hasEmptyContent && this.#once("guess:content")) {
      const emptyContent = quirks.message.emptyContent === null ? "" : null;
      const shown = emptyContent === null ? "null" : "an empty string";
      const next = changeMessages(quirks, { emptyContent });
      return { quirks: next, notice: `${refused} with ${shown} as missing content.` };
    }
    return undefined;
  }

  #once(key: string): boolean {
    if (this.#learned.has(key)) return false;
    this.#learned.add(key);
    return true;
  }

  #reasoning(text: string, quirks: Quirks, sent: Sent): Lesson | undefined {
    const names = ["reasoning_content", quirks.message.reasoningField];
    if (!names.some((name) => placeOf(name, text) >= 0)) return undefined;
    const isDemand = DEMAND.test(text) && !REFUSAL.test(text);
    // Thinking came under another name than the one it is wanted back under.
    if (isDemand && sent.hasReasoning && placeOf(quirks.message.reasoningField, text) < 0) {
      if (!this.#once("field name")) return undefined;
      return {
        quirks: changeMessages(quirks, { reasoningField: "reasoning_content" }),
        notice: "The endpoint wants thinking back as reasoning_content; so it gets it now.",
      };
    }
    if ((isDemand || !sent.hasReasoning) && sent.lacksReasoning && this.#once("demanded")) {
      return {
        quirks: changeMessages(quirks, { reasoning: "demanded" }),
        notice: "The endpoint wants a thinking field on every tool call; it is sent from now on.",
      };
    }
    const isSent = sent.hasReasoning || quirks.message.reasoning === "demanded";
    if (!isSent || !this.#once("omitted")) return undefined;
    return {
      quirks: changeMessages(quirks, { reasoning: "omitted" }),
      notice: "The endpoint refuses the model's earlier thinking; it is left out from now on.",
    };
  }

  #parameter(
    named: string | undefined,
    text: string,
    quirks: Quirks,
    sent: Sent,
  ): Lesson | undefined {
    const found = Object.entries(OPTIONAL_PARAMETERS)
      .filter(([parameter]) => sent.parameters.includes(parameter))
      .map(([parameter, names]) => {
        // The body's own field for it counts more than any place in the text.
        const isNamed = named !== undefined && names.some((name) => placeOf(name, named) >= 0);
        const places = names.map((name) => placeOf(name, text)).filter((place) => place >= 0);
        return { parameter, place: isNamed ? -1 : Math.min(...places) };
      })
      .filter(({ place }) => Number.isFinite(place))
      .sort((left, right) => left.place - right.place)[0]?.parameter;
    if (found === undefined) return undefined;
    if (found === "max_tokens" || found === "max_completion_tokens") {
      return this.#tokenLimit(found, text, quirks, sent);
    }
    if (!this.#once(`parameter:${found}`)) return undefined;
    const notice = `The endpoint refuses ${found}; it is left out from now on.`;
    return { quirks: omitParameters(quirks, [found]), notice };
  }

  #tokenLimit(
    field: TokenLimitField,
    text: string,
    quirks: Quirks,
    sent: Sent,
  ): Lesson | undefined {
    const numbers = [...text.replace(/(\d),(?=\d{3})/g, "$1").matchAll(/\d{2,}/g)].map(Number);
    const bound = Math.max(...numbers.filter((number) => number < sent.tokens));
    if (BOUND.test(text) && Number.isFinite(bound) && this.#once("tokens")) {
      const notice = `The endpoint allows ${bound} tokens an answer; ${field} is lowered to that.`;
      return { quirks: { ...quirks, tokensMax: bound }, notice };
    }
    const other = field === "max_tokens" ? "max_completion_tokens" : "max_tokens";
    if (this.#once(`limit:${other}`)) {
      this.#learned.add(`limit:${field}`);
      const notice = `The endpoint refuses ${field}; ${other} is sent from now on.`;
      return { quirks: { ...quirks, tokenLimitField: other }, notice };
    }
    if (!this.#once("limit:none")) return undefined;
    const notice = "The endpoint refuses a limit for its answers; none is sent from now on.";
    return { quirks: omitParameters(quirks, [field]), notice };
  }

  /** The messages fit, and only the room kept for the answer does not. */
  #lessRoom(
    words: ReturnType<typeof readErrorWords>,
    quirks: Quirks,
    sent: Sent,
  ): Lesson | undefined {
    const { prompt, limit } = findTokenCounts(words);
    const field = quirks.tokenLimitField;
    if (prompt === undefined || limit === undefined || prompt >= limit) return undefined;
    if (!sent.parameters.includes(field) || !this.#once("limit:none")) return undefined;
    const notice = `The prompt fits, but not with ${sent.tokens} tokens for the answer; ${field} is left out from now on.`;
    return { quirks: omitParameters(quirks, [field]), notice };
  }

  #field(text: string, quirks: Quirks, sent: Sent): Lesson | undefined {
    const field = [...sent.extraFields].find((name) => placeOf(name, text) >= 0);
    if (field === undefined || !this.#once(`field:${field}`)) return undefined;
    const omitted = new Set([...quirks.message.omitted, field]);
    return {
      quirks: changeMessages(quirks, { omitted }),
      notice: `The endpoint refuses ${field} in messages; it is left out from now on.`,
    };
  }

  #content(text: string, quirks: Quirks, sent: Sent): Lesson | undefined {
    if (!sent.hasEmptyContent || placeOf("content", text) < 0) return undefined;
    const wasNull = quirks.message.emptyContent === null;
    if (wasNull && !NULL_REFUSED.test(text)) return undefined;
    if (!this.#once(wasNull ? "content:empty" : "content:null")) return undefined;
    return {
      quirks: changeMessages(quirks, { emptyContent: wasNull ? "" : null }),
      notice: wasNull
        ? "The endpoint refuses null as content; an empty string is sent from now on."
        : "The endpoint refuses an empty content; null is sent from now on.",
    };
  }
}
