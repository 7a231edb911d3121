// What a refusal of an endpoint means: its kind, whether the same request may be sent again, and
// when. Endpoints share neither statuses nor shapes, so the words of the body count first.

import type { FailureKind } from "#agent/ports";
import { type ErrorWords, type Refusal, readErrorWords } from "./failure-words";
import { readRetryAfter } from "./retry-after";
import { findTokenCounts } from "./token-limit";

export interface ClassifiedFailure {
  kind: FailureKind;
  /** One or two lines for a person, in the provider's own words. */
  message: string;
  /** Sending the very same request again can help. */
  retryable: boolean;
  retryAfterMs?: number;
  /** Tokens: what fits, and what was asked for, where the body tells. */
  limit?: number;
  requested?: number;
  /** The parameter that is not supported. */
  parameter?: string;
}

/** One list for every endpoint: a text of these says that the prompt is too long. */
const OVERFLOW: readonly RegExp[] = [
  /context_length_exceeded|exceed_context_size|too_many_prompt_tokens|model_max_prompt_tokens/i,
  /maximum (context|prompt) length|max(imum)? context (window|size)/i,
  /context (window|length|size)[^.]{0,40}(exceed|overflow|too (long|large|small))/i,
  /exceed[^.]{0,60}\bcontext (window|length|size)\b/i,
  /(prompt|input|request|conversation|messages?) (is |are |was )?too long/i,
  /(total )?length of (all )?(the )?messages is too long/i,
  /context the overflows|context length (?:of|is) only/i,
  /exceed(s|ed)?[^.]{0,30} (model )?token limit\b|token limit: ?\d+ ?\(requested/i,
  /input token count[^.]{0,40}exceed/i,
  /(max_tokens|max_completion_tokens) must be at least 1, got -/i,
  /reduce the length of (the|your) (messages|prompt|input)/i,
  /larger than the (model'?s )?(maximum|max|context)/i,
];

const QUOTA =
  /insufficient[_ ](quota|balance|credits?|funds)|exceeded your current quota|credit balance|billing[_ ](hard[_ ]limit|not[_ ]active)|payment required|out of credits|requires more credits|quota (has been |is )?exhausted|account (is )?(not active|deactivated|suspended)/i;

const AUTH =
  /authentication[_ ]error|invalid[_ ]api[_ ]key|incorrect api key|invalid x-api-key|unauthorized|unauthenticated|permission[_ ](denied|error)/i;

const MODEL_NOT_FOUND =
  /model[_ ]not[_ ]found|model_not_supported|(model\b[^.]{0,80}(does not exist|not found|is not available|not a valid model|is not supported by))|(no such|unknown|invalid) model\b|not a valid model|no endpoints found/i;

const TOOL_CALL_FAILED =
  /tool_use_failed|tool call validation failed|failed to call a function|(failed to parse|invalid|malformed)[^.]{0,20} (tool|function)[_ ]call/i;

const UNSUPPORTED =
  /unsupported|not supported|does(n't| not) support|unrecognized|unknown (name|parameter|field|argument|key)|extra (inputs|fields)[^.]{0,20}not (permitted|allowed)|extra_forbidden|not permitted|unexpected (keyword|field|property|parameter|argument)|additional ?propert/i;

const OVERLOADED = /overloaded|over capacity|at capacity|too busy|model is (currently )?loading/i;
const RATE_LIMIT = /rate[_ -]?limit|too many requests|resource_exhausted/i;

/** Statuses below 500 that say nothing against the request itself. */
const PASSING_STATUSES = new Set([408, 409, 425, 429]);
/** Statuses from 500 that will not pass. */
const LASTING_STATUSES = new Set([501, 505]);

/** Kinds where the server's own "do try again" cannot be right. */
const NEVER_AGAIN = new Set<FailureKind>(["auth", "quota", "context_overflow", "model_not_found"]);

/** Errors inside a reply that began with 200 may name their status in the body. */
function effectiveStatus(refusal: Refusal, words: ErrorWords): number {
  return refusal.status >= 400 ? refusal.status : (words.status ?? refusal.status);
}

function isOverflow(status: number, words: ErrorWords): boolean {
  // A rate limit that the request alone exceeds will never let it pass.
  if (/request too large/i.test(words.all) && (status === 413 || status === 429)) return true;
  if (status === 413) return true;
  return status !== 429 && OVERFLOW.some((pattern) => pattern.test(words.all));
}

function kindOf(status: number, words: ErrorWords, mayWait: boolean): FailureKind {
  const { all } = words;
  const isClientError = status >= 400 && status < 500;
  if (isOverflow(status, words)) return "context_overflow";
  if (status === 402) return "quota";
  // A "quota" with a time to wait is a rate limit under another name.
  if (QUOTA.test(all) && !mayWait) return "quota";
  if (status === 401 || status === 403 || status === 407) return "auth";
  if (TOOL_CALL_FAILED.test(all)) return "tool_call_failed";
  if (status === 429) return "rate_limit";
  if (MODEL_NOT_FOUND.test(all) && (isClientError || status < 400)) return "model_not_found";
  if (status === 404 && /\bmodel\b/i.test(all)) return "model_not_found";
  if (status === 529) return "overloaded";
  if (status >= 500) return OVERLOADED.test(all) ? "overloaded" : "server_error";
  if (status === 408 || status === 409 || status === 425) return "server_error";
  if (isClientError) return UNSUPPORTED.test(all) ? parameterKind(words) : "bad_request";
  return kindFromWords(words);
}

function parameterKind(words: ErrorWords): FailureKind {
  return words.parameter === undefined ? "bad_request" : "unsupported_parameter";
}

/** An error without a status: all there is are its type and its code. */
function kindFromWords(words: ErrorWords): FailureKind {
  const { all, labels } = words;
  if (AUTH.test(labels)) return "auth";
  if (OVERLOADED.test(all)) return "overloaded";
  if (RATE_LIMIT.test(labels) || /too many requests/i.test(all)) return "rate_limit";
  if (/invalid_request|bad_request|invalid_argument/i.test(labels)) {
    return UNSUPPORTED.test(all) ? parameterKind(words) : "bad_request";
  }
  return "server_error";
}

function isRetryable(kind: FailureKind, status: number, headers: Refusal["headers"]): boolean {
  const advice = headers["x-should-retry"]?.toLowerCase();
  if (advice === "false") return false;
  if (advice === "true" && !NEVER_AGAIN.has(kind)) return true;
  switch (kind) {
    case "rate_limit":
    case "overloaded":
    case "tool_call_failed":
      return true;
    case "server_error":
      return status < 400 || PASSING_STATUSES.has(status) || !LASTING_STATUSES.has(status);
    default:
      return false;
  }
}

/** Reads a refusal: an HTTP answer that is no reply, or an error inside a reply. */
export function classifyFailure(refusal: Refusal): ClassifiedFailure {
  const words = readErrorWords(refusal.body, refusal.status);
  const status = effectiveStatus(refusal, words);
  const retryAfterMs = readRetryAfter(refusal, words);
  const kind = kindOf(status, words, retryAfterMs !== undefined);
  const retryable = isRetryable(kind, status, refusal.headers);
  const counts = kind === "context_overflow" ? findTokenCounts(words) : {};
  return {
    kind,
    message: words.message,
    retryable,
    ...(retryable && retryAfterMs !== undefined ? { retryAfterMs } : {}),
    ...(counts.limit === undefined ? {} : { limit: counts.limit }),
    ...(counts.requested === undefined ? {} : { requested: counts.requested }),
    ...(kind === "unsupported_parameter" && words.parameter !== undefined
      ? { parameter: words.parameter }
      : {}),
  };
}
