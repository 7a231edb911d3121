// How much fits and how much was asked for, out of the words with which endpoints refuse a prompt
// that is too long.

import type { ErrorWords } from "./failure-words";

export interface TokenCounts {
  limit?: number;
  requested?: number;
  /** The part of `requested` that the messages take, where the room for the answer is named. */
  prompt?: number;
}

interface CountPattern {
  pattern: RegExp;
  /** What the groups of the pattern are, in order. */
  groups: readonly (keyof TokenCounts | "answer")[];
}

const PATTERNS: readonly CountPattern[] = [
  {
    pattern: /maximum context length is (\d+) .*?requested (\d+) tokens \((\d+) in the messages/is,
    groups: ["limit", "requested", "prompt"],
  },
  {
    pattern: /(?:passed|has|have) (\d+) input tokens and requested (\d+) output .*?only (\d+)/is,
    groups: ["prompt", "answer", "limit"],
  },
  {
    pattern:
      /too large: (\d+)\..*?maximum context length is (\d+) tokens.*?(\d+) (?:input )?tokens/is,
    groups: ["answer", "limit", "prompt"],
  },
  {
    pattern:
      /maximum context length is (\d+).*?(?:resulted in|requested|has|have|contains) (\d+)/is,
    groups: ["limit", "requested"],
  },
  {
    pattern: /maximum (?:prompt|context) length is (\d+) .*?(\d+) tokens/is,
    groups: ["limit", "requested"],
  },
  { pattern: /prompt is too long: (\d+) tokens > (\d+)/i, groups: ["requested", "limit"] },
  { pattern: /limit:? (\d+),? \(?requested:? (\d+)/i, groups: ["limit", "requested"] },
  { pattern: /first (\d+) tokens .*?length of only (\d+)/is, groups: ["requested", "limit"] },
  {
    pattern: /token count \(?(\d+)\)? exceeds .*?\(?(\d+)\)?/is,
    groups: ["requested", "limit"],
  },
  {
    pattern: /\((\d+) tokens\) exceeds .*?\((\d+) tokens\)/is,
    groups: ["requested", "limit"],
  },
  {
    pattern: /(\d+) tokens? (?:exceeds?|is (?:longer|larger|greater)) .*?(\d+)/is,
    groups: ["requested", "limit"],
  },
];

function countOf(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 ? value : undefined;
}

export function findTokenCounts(words: ErrorWords): TokenCounts {
  const requested = countOf(words.error.n_prompt_tokens);
  const limit = countOf(words.error.n_ctx);
  if (requested !== undefined && limit !== undefined) return { requested, limit };
  const text = words.all.replace(/(\d),(?=\d{3})/g, "$1");
  for (const { pattern, groups } of PATTERNS) {
    const match = pattern.exec(text);
    if (!match) continue;
    const found: Record<string, number> = {};
    groups.forEach((name, index) => {
      found[name] = Number(match[index + 1]);
    });
    const { answer, ...counts } = found as TokenCounts & { answer?: number };
    if (answer !== undefined) counts.requested = (counts.prompt ?? 0) + answer;
    return counts;
  }
  return {};
}
