// How long an endpoint asks to wait. It may say so in three headers, in a field, or in words;
// where two differ the longer one is the safe reading. Source: RFC 9110, section 10.2.3.

import type { ErrorWords, Refusal } from "./failure-words";
import { isObject } from "./json";

const SECOND_MS = 1000;
const UNIT_MS: Record<string, number> = { h: 3_600_000, m: 60_000, s: SECOND_MS, ms: 1 };

/** A number from here on is a point in time in milliseconds, not a span. */
const EPOCH_MS_MIN = 1e12;

const WAIT_IN_WORDS =
  /(?:try|retry)(?: your request)? (?:again )?(?:in|after) ((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|hours?|h|minutes?|min|m|seconds?|sec|s)(?![a-z])(?:[\s,]|and)*)+)/i;

function spanInWords(text: string): number | undefined {
  const words = WAIT_IN_WORDS.exec(text)?.[1];
  if (words === undefined) return undefined;
  let span = 0;
  for (const [, amount, unit = ""] of words.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)) {
    const name = unit.toLowerCase();
    const short = name === "ms" || name.startsWith("milli") ? "ms" : (name[0] ?? "s");
    span += Number(amount) * (UNIT_MS[short] ?? SECOND_MS);
  }
  return span;
}

function spanInHeader(value: string | undefined, headers: Refusal["headers"], nowMs: number) {
  if (value === undefined || value.trim() === "") return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds * SECOND_MS;
  const at = Date.parse(value);
  if (Number.isNaN(at)) return undefined;
  // The server's own clock, where it tells: ours may be wrong.
  const sent = Date.parse(headers.date ?? "");
  return at - (Number.isNaN(sent) ? nowMs : sent);
}

/** Fields of the body: seconds, "34.4s", or a point in time under a gateway's own headers. */
function spansInBody(words: ErrorWords, nowMs: number): (number | undefined)[] {
  const { error } = words;
  const spans: (number | undefined)[] = [];
  if (typeof error.retry_after === "number") spans.push(error.retry_after * SECOND_MS);
  if (typeof error.retry_after_ms === "number") spans.push(error.retry_after_ms);
  for (const detail of Array.isArray(error.details) ? error.details : []) {
    const delay = isObject(detail) && typeof detail.retryDelay === "string" && detail.retryDelay;
    if (delay) spans.push(Number.parseFloat(delay) * SECOND_MS);
  }
  const metadata = isObject(error.metadata) ? error.metadata : {};
  const reset = isObject(metadata.headers) ? Number(metadata.headers["X-RateLimit-Reset"]) : 0;
  if (reset >= EPOCH_MS_MIN) spans.push(reset - nowMs);
  return spans;
}

/** Milliseconds to wait, or undefined when nothing was said. */
export function readRetryAfter(refusal: Refusal, words: ErrorWords): number | undefined {
  const { headers } = refusal;
  const nowMs = refusal.nowMs ?? Date.now();
  const milliseconds = headers["retry-after-ms"];
  const spans = [
    spanInHeader(headers["retry-after"], headers, nowMs),
    milliseconds === undefined || milliseconds === "" ? undefined : Number(milliseconds),
    ...spansInBody(words, nowMs),
    spanInWords(words.all),
  ].filter((span) => span !== undefined && Number.isFinite(span) && span > 0);
  return spans.length === 0 ? undefined : Math.round(Math.max(...spans.map(Number)));
}
