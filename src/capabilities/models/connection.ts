// The line to an endpoint: the vendor's SDK for URL, headers and proxies, and words for what goes
// wrong below HTTP. Bodies are read elsewhere; the SDK's own retries are off, since ours know more.

import type { OpenAI } from "openai";
import { type Refusal, tidyText } from "./failure-words";
import { isObject } from "./json";

export interface Endpoint {
  apiBase: string;
  apiKey: string | undefined;
}

export type Exchange =
  | { kind: "answer"; response: Response }
  | { kind: "refusal"; refusal: Refusal }
  | { kind: "broken"; message: string; retryable: boolean };

/** Our own limit is that of silence; the SDK's timer must not come before it. */
const SDK_TIMEOUT_MS = 2 ** 31 - 1;

/** The SDK insists on a key; without one the header is left out instead. */
const NO_KEY = "none";

const CERTIFICATE_FAULT = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)|TLS|SSL|certificate/i;
const REASONS: readonly [RegExp, string][] = [
  [/ConnectionRefused|ECONNREFUSED|FailedToOpenSocket/i, "connection refused"],
  [/ENOTFOUND|EAI_AGAIN|getaddrinfo|DNS/i, "the host name is not known"],
  [/ECONNRESET|closed unexpectedly|ConnectionClosed|EPIPE|socket/i, "the connection was closed"],
  [/ETIMEDOUT|timed? ?out/i, "the connection timed out"],
  [/EHOSTUNREACH|ENETUNREACH|unreachable/i, "the network is unreachable"],
];

/** The URL up to the path that every call has in front; users paste the full one, too. */
export function cleanApiBase(apiBase: string): string {
  const [path = "", query] = apiBase.trim().split("?", 2);
  const clean = path.replace(/\/+$/, "").replace(/\/chat\/completions$/, "");
  return query === undefined ? clean : `${clean}?${query}`;
}

function isWebUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

function hostOf(apiBase: string): string {
  return URL.canParse(apiBase) ? new URL(apiBase).host : apiBase;
}

/** A fault below HTTP, in one line; a certificate does not mend itself by trying again. */
export function describeFault(
  error: unknown,
  apiBase: string,
): { message: string; retryable: boolean } {
  const words: string[] = [];
  let cause: unknown = error;
  for (let depth = 0; depth < 4 && cause instanceof Error; depth++) {
    const code: unknown = isObject(cause) ? cause.code : undefined;
    words.push(`${typeof code === "string" ? code : ""} ${cause.message}`);
    cause = cause.cause;
  }
  const all = words.join(" ");
  const host = hostOf(apiBase);
  const innermost = tidyText(words.at(-1) ?? String(error), 160);
  if (/EPROTO|handshake failed|WRONG_VERSION/i.test(all)) {
    return { message: `${host} does not speak TLS on this port: ${innermost}`, retryable: false };
  }
  if (CERTIFICATE_FAULT.test(all)) {
    const advice = "NODE_EXTRA_CA_CERTS names a file with further authorities to trust.";
    const message = `The certificate of ${host} is not accepted: ${innermost}\n${advice}`;
    return { message, retryable: false };
  }
  const reason = REASONS.find(([pattern]) => pattern.test(all))?.[1] ?? innermost;
  return { message: `Cannot reach ${host}: ${reason}.`, retryable: true };
}

export class Connection {
  #endpoint: Endpoint;
  #client: Promise<OpenAI> | undefined;
  /** Bodies of refusals by their headers: the SDK's errors carry the headers, not the text. */
  #bodies = new WeakMap<Headers, string>();

  constructor(endpoint: Endpoint) {
    this.#endpoint = { ...endpoint, apiBase: cleanApiBase(endpoint.apiBase) };
  }

  get apiBase(): string {
    return this.#endpoint.apiBase;
  }

  /** Sends one request; never throws. */
  async post(body: Uint8Array, signal: AbortSignal): Promise<Exchange> {
    if (!isWebUrl(this.apiBase)) {
      const message = `"${this.apiBase}" is no URL of an endpoint: it must begin with http(s)://`;
      return { kind: "broken", message, retryable: false };
    }
    const { OpenAI, APIError } = await import("openai");
    try {
      this.#client ??= Promise.resolve(this.#makeClient(OpenAI));
      const client = await this.#client;
      const response = await client
        .post("/chat/completions", {
          body,
          headers: { "content-type": "application/json", accept: "text/event-stream, */*" },
          stream: true,
          signal,
          maxRetries: 0,
        })
        .asResponse();
      return { kind: "answer", response };
    } catch (error) {
      if (error instanceof APIError && error.status !== undefined && error.headers) {
        const headers = Object.fromEntries(error.headers.entries());
        const text = this.#bodies.get(error.headers) ?? error.message;
        const status = Number(error.status);
        return { kind: "refusal", refusal: { status, headers, body: text } };
      }
      return { kind: "broken", ...describeFault(error, this.apiBase) };
    }
  }

  #makeClient(Client: typeof OpenAI): OpenAI {
    const { apiKey, apiBase } = this.#endpoint;
    return new Client({
      apiKey: apiKey || NO_KEY,
      baseURL: apiBase,
      // Nothing of the environment's own OpenAI account may reach another endpoint.
      organization: null,
      project: null,
      adminAPIKey: null,
      maxRetries: 0,
      timeout: SDK_TIMEOUT_MS,
      logLevel: "off",
      defaultHeaders: apiKey ? {} : { authorization: null },
      fetch: (url, init) => this.#fetch(url, init),
    });
  }

  async #fetch(url: string | URL | Request, init: RequestInit | undefined): Promise<Response> {
    // Bun ends a silent request by itself otherwise; local models think for longer than that.
    const response = await fetch(url, { ...init, timeout: false } as RequestInit);
    if (response.ok) return response;
    const text = await response.text();
    const { status, statusText, headers } = response;
    // Some statuses may not have a body, not even an empty one.
    const copy = new Response(text || null, { status, statusText, headers });
    this.#bodies.set(copy.headers, text);
    return copy;
  }
}
