// Every recorded error body, read to what it means; and what must not be taken for something else.

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FailureKind } from "#agent/ports";
import { type ClassifiedFailure, classifyFailure } from "./failure";

const FIXTURES = join(import.meta.dir, "../../../test/fixtures/provider-streams");

interface Expected {
  http: { status: number; headers: Record<string, string> };
  expected: {
    kind: FailureKind;
    retryable: boolean;
    retry_after_ms: number | null;
    limit?: number | null;
    requested?: number | null;
    param?: string;
  };
}

const names = readdirSync(FIXTURES).filter((name) =>
  /^error-.*(?<!expected)\.(json|txt)$/.test(name),
);

describe("recorded error bodies", () => {
  test("are all there", () => expect(names.length).toBeGreaterThanOrEqual(42));
  for (const name of names) {
    test(name, () => {
      const body = readFileSync(join(FIXTURES, name), "utf8");
      const file = join(FIXTURES, name.replace(/\.\w+$/, ".expected.json"));
      const { http, expected } = JSON.parse(readFileSync(file, "utf8")) as Expected;
      const { message, ...found } = classifyFailure({ ...http, body });
      const details = {
        retryAfterMs: expected.retry_after_ms,
        limit: expected.limit,
        requested: expected.requested,
        parameter: expected.param,
      };
      const known = Object.entries(details).filter(
        ([, value]) => value !== null && value !== undefined,
      );
      const { kind, retryable } = expected;
      const wanted: Partial<ClassifiedFailure> = { kind, retryable, ...Object.fromEntries(known) };
      expect<Partial<ClassifiedFailure>>(found).toEqual(wanted);
      expect(message).toMatch(/\w{3}/);
      expect(message.length).toBeLessThan(440);
      expect(message).not.toMatch(/<\w|[\u0000-\u001f]|\{"/);
    });
  }
});

function classify(status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return classifyFailure({ status, headers, body: text, nowMs: Date.UTC(2026, 0, 5, 10) });
}

const said = (message: string, more: object = {}) => ({ error: { message, ...more } });

describe("kinds", () => {
  const cases: [status: number, body: unknown, kind: FailureKind, retryable: boolean][] = [
    [401, "", "auth", false],
    [403, said("Forbidden"), "auth", false],
    [402, said("Insufficient Balance"), "quota", false],
    [429, said("You have insufficient credits."), "quota", false],
    [403, said("Your account is not active", { code: "billing_not_active" }), "quota", false],
    [404, said("model 'llama9' not found"), "model_not_found", false],
    [400, said("nope/nope is not a valid model ID"), "model_not_found", false],
    [404, "404 page not found", "bad_request", false],
    [408, "", "server_error", true],
    [409, "", "server_error", true],
    [500, "Internal error", "server_error", true],
    [501, "", "server_error", false],
    [503, said("The engine is currently overloaded"), "overloaded", true],
    [503, said("Service temporarily unavailable"), "server_error", true],
    [529, "", "overloaded", true],
    [429, "", "rate_limit", true],
    [
      429,
      said("Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000."),
      "context_overflow",
      false,
    ],
    [500, said("Input is too long for requested model."), "context_overflow", false],
    [
      422,
      { detail: [{ loc: ["body", "top_k"], msg: "Extra inputs are not permitted" }] },
      "unsupported_parameter",
      false,
    ],
    [400, said("Bad request"), "bad_request", false],
    [418, "I'm a teapot", "bad_request", false],
    [400, said("Failed to parse tool call arguments as JSON"), "tool_call_failed", true],
    [200, said("x", { type: "invalid_api_key" }), "auth", false],
    [200, said("slow down", { type: "rate_limit_error" }), "rate_limit", true],
    [200, said("x", { code: 502 }), "server_error", true],
    [200, { error: { code: 502 } }, "server_error", true],
    [200, said("x", { code: "401" }), "auth", false],
    [200, "<html><title>Log in</title></html>", "server_error", true],
    // What only sounds like another kind.
    [
      429,
      said("Rate limit exceeded: 20000 input tokens per minute, your prompt is too long a wait"),
      "rate_limit",
      true,
    ],
    [429, said("free-models-per-day. Add 10 credits to unlock 1000 requests"), "rate_limit", true],
    [400, said("temperature must be at most 2"), "bad_request", false],
    [400, said("tools[0].function.description is too long"), "bad_request", false],
    [400, said("max_tokens must be at least 1, got 0"), "bad_request", false],
    [500, said("the model crashed and does not support recovery"), "server_error", true],
    [400, said("messages: text content blocks must be non-empty"), "bad_request", false],
    [413, "<html><h1>413 Request Entity Too Large</h1></html>", "context_overflow", false],
  ];
  for (const [status, body, kind, retryable] of cases) {
    test(`${status} ${JSON.stringify(body).slice(0, 70)}`, () => {
      const found = classify(status, body);
      expect([found.kind, found.retryable]).toEqual([kind, retryable]);
    });
  }
  test("the server's own word on trying again", () => {
    expect(classify(500, "", { "x-should-retry": "false" }).retryable).toBe(false);
    expect(classify(400, "", { "x-should-retry": "true" }).retryable).toBe(true);
    expect(classify(401, "", { "x-should-retry": "true" }).retryable).toBe(false);
  });
});

describe("time to wait", () => {
  const wait = (headers: Record<string, string>, body: unknown = "") =>
    classify(429, body, headers).retryAfterMs;
  test("in headers", () => {
    expect(wait({ "retry-after": "2" })).toBe(2000);
    expect(wait({ "retry-after": "0.5" })).toBe(500);
    expect(wait({ "retry-after-ms": "1500" })).toBe(1500);
    expect(wait({ "retry-after": "1", "retry-after-ms": "1500" })).toBe(1500);
    expect(wait({ "retry-after": "Mon, 05 Jan 2026 10:00:03 GMT" })).toBe(3000);
    const date = "Mon, 05 Jan 2026 09:59:00 GMT";
    expect(wait({ "retry-after": "Mon, 05 Jan 2026 10:00:03 GMT", date })).toBe(63_000);
    expect(wait({ "retry-after": "3600" })).toBe(3_600_000);
  });
  test("in words and fields", () => {
    const words = (text: string) => wait({}, said(text));
    expect(words("Please try again in 4.77s.")).toBe(4770);
    expect(words("try again in 7m12.5s")).toBe(432_500);
    expect(words("Please retry after 26 seconds.")).toBe(26_000);
    expect(words("try again in 120ms")).toBe(120);
    expect(words("Try again in 2 minutes")).toBe(120_000);
    expect(words("try again in 1 hour and 5 minutes")).toBe(3_900_000);
    expect(wait({}, said("x", { retry_after: 3 }))).toBe(3000);
    const metadata = { headers: { "X-RateLimit-Reset": String(Date.UTC(2026, 0, 5, 10, 0, 9)) } };
    expect(wait({}, said("x", { metadata }))).toBe(9000);
  });
  test("that is none", () => {
    for (const value of ["", "soon", "-3", "0", "Mon, 05 Jan 2026 09:00:00 GMT", "NaN"]) {
      expect(wait({ "retry-after": value })).toBeUndefined();
    }
    expect(wait({}, said("try again in a while"))).toBeUndefined();
    // Where trying again is useless there is nothing to wait for.
    expect(classify(401, "", { "retry-after": "5" }).retryAfterMs).toBeUndefined();
  });
});

describe("counts of tokens", () => {
  const counts = (message: string) => {
    const { limit, requested } = classify(400, said(message));
    return [limit, requested];
  };
  test("in other words", () => {
    expect(
      counts("The input token count (12345) exceeds the maximum number of tokens allowed (10000)."),
    ).toEqual([10_000, 12_345]);
    expect(
      counts(
        "request (15,021 tokens) exceeds the available context size (8,192 tokens), try increasing it",
      ),
    ).toEqual([8192, 15_021]);
    expect(
      counts(
        "You passed 5000 input tokens and requested 16000 output tokens. However, the model's context length is only 8192 tokens",
      ),
    ).toEqual([8192, 21_000]);
  });
});

describe("words for people", () => {
  const message = (status: number, body: unknown) => classify(status, body).message;
  test("are the provider's own, with the status", () => {
    expect(message(401, said("Invalid key"))).toBe("Invalid key (HTTP 401)");
    expect(message(500, "")).toBe("Internal Server Error (HTTP 500)");
    expect(message(502, "<html><head><title>502 Bad Gateway</title></head></html>")).toBe(
      "HTTP 502 Bad Gateway (a web page, no reply)",
    );
    expect(message(200, { error: { code: 502 } })).toBe(
      "The endpoint reported an error (HTTP 502)",
    );
    expect(message(422, { detail: [{ loc: ["body", "x"], msg: "no" }] })).toBe(
      "body.x: no (HTTP 422)",
    );
    const raw = JSON.stringify(said("the real reason"));
    expect(message(429, said("Provider returned error", { metadata: { raw } }))).toBe(
      "the real reason (HTTP 429)",
    );
    expect(message(400, [said("in a list")])).toBe("in a list (HTTP 400)");
  });
  test("hold no control characters, no markup and no end", () => {
    expect(message(400, said("a\u001b[31mred\u001b[0m\r\n\u0000b\u202e"))).toBe(
      "ared b (HTTP 400)",
    );
    expect(message(400, "x".repeat(10_000)).length).toBeLessThan(440);
    expect(message(503, `<!DOCTYPE html><body>${"<p>sorry</p>".repeat(500)}`)).not.toMatch(/<p>/);
  });
});
