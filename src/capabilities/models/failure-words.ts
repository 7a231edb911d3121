// The words of an error body: the message for a person, and what else tells its kind. Bodies are
// JSON of many shapes, pages of HTML, plain text, or empty.

import { isObject, type JsonObject, textOf, tryParse } from "./json";

export interface Refusal {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Against this a date without a `date` header is measured; milliseconds since the epoch. */
  nowMs?: number;
}

export interface ErrorWords {
  /** One or two lines, without markup or control characters. */
  message: string;
  /** The body's own message alone, as it came. */
  own: string;
  /** Type and code, as far as there are any. */
  labels: string;
  /** All that the body says, for patterns. */
  all: string;
  /** The status that the body names for itself, where that is an error's. */
  status: number | undefined;
  /** The parameter that the body is about. */
  parameter: string | undefined;
  /** The error object, or the whole body where it has none. */
  error: JsonObject;
}

/** More does not fit two lines of a terminal. */
const MESSAGE_LENGTH_MAX = 400;

/** Patterns look no further: some bodies quote the whole prompt. */
const SEARCH_LENGTH_MAX = 8_192;

const STATUS_WORDS: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  408: "Request Timeout",
  413: "Payload Too Large",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

/** Makes any text fit to be shown: no control characters, no runs of space, not too long. */
export function tidyText(text: string, lengthMax = MESSAGE_LENGTH_MAX): string {
  const escapes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g;
  const tidy = text
    .replace(escapes, "")
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .toWellFormed();
  if (tidy.length <= lengthMax) return tidy;
  return `${tidy.slice(0, lengthMax - 1).toWellFormed()}…`;
}

function isMarkup(body: string): boolean {
  return /^\s*(?:<!doctype|<html|<\?xml|<head|<body|<center|<h1)/i.test(body);
}

function textOfMarkup(body: string): string {
  const title = /<title[^>]*>([\s\S]*?)<\/title>/i.exec(body)?.[1];
  const heading = /<h1[^>]*>([\s\S]*?)<\/h1>/i.exec(body)?.[1];
  const plain = (title ?? heading ?? body.replace(/<(script|style)[\s\S]*?<\/\1>/gi, " "))
    .replace(/<[^>]*>/g, " ")
    .replace(/&nbsp;/g, " ")
    .replace(/&lt;/g, "<")
    .replace(/&gt;/g, ">")
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, "&");
  return tidyText(plain, 120);
}

/** What an answer is that no endpoint would give. */
export function describeForeign(body: string): string {
  return isMarkup(body)
    ? `a web page (${textOfMarkup(body)})`
    : `something else (${tidyText(body, 120)})`;
}

function withStatus(text: string, status: number): string {
  if (status < 400) return text;
  return text.startsWith(String(status)) ? `HTTP ${text}` : `${text} (HTTP ${status})`;
}

/** One line of a list of faults, as validating frameworks send it. */
function faultText(fault: unknown): string {
  if (!isObject(fault)) return typeof fault === "string" ? fault : "";
  const place = Array.isArray(fault.loc) ? fault.loc.map(String).join(".") : "";
  const text = textOf(fault.msg) ?? textOf(fault.message) ?? "";
  return place === "" ? text : `${place}: ${text}`;
}

/** A text that may itself be JSON, with the words that count inside. */
function innerText(value: unknown): string | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const parsed = tryParse(text);
  return (isObject(parsed) ? messageOf(parsed) : undefined) ?? text;
}

/** The body's own message, wherever it keeps it. */
function messageOf(body: JsonObject): string | undefined {
  const error = Array.isArray(body.error) ? body.error[0] : body.error;
  if (isObject(error)) {
    const metadata = isObject(error.metadata) ? error.metadata : {};
    const raw = innerText(metadata.raw);
    const own = innerText(error.message) ?? messageOf(error);
    // A gateway's own words are only "Provider returned error"; the provider's are in `raw`.
    if (raw !== undefined) return own === undefined || /^provider returned/i.test(own) ? raw : own;
    if (own !== undefined) return own;
  }
  const simple = textOf(error) ?? innerText(body.message) ?? textOf(body.msg);
  if (simple !== undefined) return simple;
  const detail = body.detail ?? body.errors ?? body.details ?? body.error_description;
  if (Array.isArray(detail)) return detail.map(faultText).filter(Boolean).join("; ") || undefined;
  if (isObject(detail)) return messageOf(detail);
  return textOf(detail) ?? textOf(body.title);
}

function statusIn(error: JsonObject, body: JsonObject): number | undefined {
  const found = [error.status_code, error.code, error.status, error.http_code, body.status_code]
    .concat([body.code, body.status, body.error_code])
    .map((value) => (typeof value === "string" ? Number(value) : value))
    .find((value) => typeof value === "number" && value >= 400 && value < 600);
  return typeof found === "number" ? found : undefined;
}

/** The name in `param`, else in a fault's place, else the first name in quotes. */
function parameterIn(error: JsonObject, body: JsonObject, all: string): string | undefined {
  const named = textOf(error.param) ?? textOf(body.param) ?? textOf(error.parameter);
  if (named !== undefined) return named;
  const faults = Array.isArray(body.detail) ? body.detail : [];
  for (const fault of faults) {
    const place = isObject(fault) && Array.isArray(fault.loc) ? fault.loc.map(String) : [];
    const path = place.filter((step) => step !== "body");
    if (path.length > 0) return path.join(".");
  }
  const quoted = /(?:^|[^\w])['"`“]([a-z][\w.[\]]*)['"`”]/.exec(all)?.[1];
  return quoted ?? /(?:argument|parameter|field|property)[^:]{0,30}: ?([a-z]\w+)/i.exec(all)?.[1];
}

export function readErrorWords(body: string, status: number): ErrorWords {
  const parsed = tryParse(body);
  const first = Array.isArray(parsed) ? parsed[0] : parsed;
  const whole = isObject(first) ? first : {};
  const error = isObject(whole.error) ? whole.error : whole;
  const own = isObject(first) ? messageOf(whole) : textOf(first);
  const labels = [error.type, error.code, error.status, whole.code, whole.type, whole.error_code]
    .filter((label) => typeof label === "string")
    .join(" ");
  const plain = isObject(first) || isMarkup(body) ? undefined : textOf(body.trim());
  const markup = isMarkup(body) ? `${textOfMarkup(body)} (a web page, no reply)` : undefined;
  const fallback =
    STATUS_WORDS[status] ??
    (labels === "" ? "The endpoint reported an error" : `The endpoint reported: ${labels}`);
  const text = tidyText(own ?? markup ?? plain ?? "") || fallback;
  const said = (own ?? markup ?? plain ?? "").slice(0, SEARCH_LENGTH_MAX);
  const named = statusIn(error, whole);
  return {
    message: withStatus(text, status >= 400 ? status : (named ?? status)),
    own: said,
    labels,
    all: `${said} ${labels}`,
    status: named,
    parameter: parameterIn(error, whole, own ?? plain ?? ""),
    error,
  };
}
