// When a failed request is made again. An endpoint that is gone for two minutes, for a restart
// say, is waited for; one that refuses is not asked twice.

import type { ClassifiedFailure } from "./failure";

export interface RetryLimits {
  /** Requests for one reply, those that an endpoint's refusal taught something not counted. */
  attemptsMax: number;
  backoffFirstMs: number;
  backoffMaxMs: number;
  /** A longer wait than this is the user's to decide on. */
  retryAfterMaxMs: number;
}

/** The waits add up to 151 s, or 128 s with the shortest jitter. */
export const RETRY_LIMITS: RetryLimits = {
  attemptsMax: 11,
  backoffFirstMs: 500,
  backoffMaxMs: 30_000,
  retryAfterMaxMs: 10 * 60_000,
};

/** A call that the provider could not read: a model that fails so thrice will fail again. */
const TOOL_CALL_ATTEMPTS_MAX = 3;

/** So often the endpoint's own waiting time is taken as it is; then it may not be short. */
const HINTS_TRUSTED = 4;

/** Waits differ by this part, so that clients that failed together do not return together. */
const JITTER = 0.15;

export type RetryDecision = { kind: "wait"; waitMs: number } | { kind: "stop"; because?: string };

export function spanText(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1000)} seconds`;
  if (ms < 2 * 3_600_000) return `${Math.round(ms / 60_000)} minutes`;
  return `${Math.round(ms / 3_600_000)} hours`;
}

/** What comes after the `attempt`th failure, counted from 1. */
export function decideRetry(
  failure: ClassifiedFailure,
  attempt: number,
  limits: RetryLimits,
): RetryDecision {
  if (!failure.retryable) return { kind: "stop" };
  const { retryAfterMs } = failure;
  if (retryAfterMs !== undefined && retryAfterMs > limits.retryAfterMaxMs) {
    const span = spanText(retryAfterMs);
    return { kind: "stop", because: `The endpoint asks to wait ${span}; ask again then.` };
  }
  const isToolCall = failure.kind === "tool_call_failed";
  const kindMax = isToolCall ? TOOL_CALL_ATTEMPTS_MAX : limits.attemptsMax;
  const attemptsMax = Math.min(kindMax, limits.attemptsMax);
  if (attempt >= attemptsMax) {
    if (attempt === 1) return { kind: "stop" };
    return { kind: "stop", because: `Given up after ${attempt} attempts.` };
  }
  const doubled = limits.backoffFirstMs * 2 ** (attempt - 1);
  const spread = 1 - JITTER + 2 * JITTER * Math.random();
  const backoff = Math.round(Math.min(doubled, limits.backoffMaxMs) * spread);
  if (retryAfterMs === undefined) return { kind: "wait", waitMs: backoff };
  const waitMs = attempt <= HINTS_TRUSTED ? retryAfterMs : Math.max(retryAfterMs, backoff);
  return { kind: "wait", waitMs };
}
