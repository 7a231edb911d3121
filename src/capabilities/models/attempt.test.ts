// Trouble on the wire: silence, refusals, lines that break, and being stopped in the middle.

import { afterEach, describe, expect, test } from "bun:test";
import {
  ask,
  closeServers,
  failureOf,
  hello,
  KEY,
  modelAt,
  replyOf,
  said,
  serve,
  shape,
} from "../../../test/support/chat-model";
import { realClock, recordingClock } from "../../../test/support/clock";
import type { Script } from "../../../test/support/model-server";
import type { ExchangeDump } from "./chat";

afterEach(closeServers);

describe("silence", () => {
  test("ends an attempt, before the headers and behind them; comments are a sign of life", async () => {
    const comments = ": keep-alive\n\n".repeat(8);
    const server = serve([
      { delayMs: 5000 },
      { hang: true },
      { text: "part", hang: true, raw: 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n' },
      {
        raw: `${comments}data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\n`,
        pieces: 14,
        pieceDelayMs: 40,
      },
    ]);
    const startMs = performance.now();
    const events = await ask(modelAt(server.url, { limits: { idleMs: 150 } }));
    expect(shape(events)).toEqual(["retry", "retry", "text", "retry", "text", "reply ok"]);
    expect(performance.now() - startMs).toBeLessThan(4000);
    await Bun.sleep(30);
    expect(server.requests.slice(0, 3).map((request) => request.aborted)).toEqual([
      true,
      true,
      true,
    ]);
  });
});

describe("retries", () => {
  test("wait as long as the endpoint asks", async () => {
    const at = new Date(Date.now() + 5000).toUTCString();
    const date = new Date(Date.now() - 2000).toUTCString();
    const server = serve([
      said(429, "slow down", { "retry-after": "2" }),
      said(429, "slow down", { "retry-after": at, date }),
      said(503, "later", { "retry-after-ms": "1500", "retry-after": "1" }),
      { text: "now" },
    ]);
    const clock = recordingClock();
    const events = await ask(modelAt(server.url, { clock }));
    expect(shape(events).at(-1)).toBe("reply now");
    expect(clock.slept[0]).toBe(2000);
    expect(clock.slept[1]).toBeGreaterThanOrEqual(6000);
    expect(clock.slept[1]).toBeLessThanOrEqual(8000);
    expect(clock.slept[2]).toBe(1500);
  });

  test("are not made where the wait is the user's to decide on", async () => {
    const server = serve([said(429, "come back later", { "retry-after": "3600" })]);
    const clock = recordingClock();
    const events = await ask(modelAt(server.url, { clock }));
    expect(events).toEqual([
      {
        kind: "failure",
        failure: {
          kind: "rate_limit",
          message:
            "come back later (HTTP 429)\nThe endpoint asks to wait 60 minutes; ask again then.",
          partialText: "",
        },
      },
    ]);
    expect(clock.slept).toEqual([]);
  });

  test("are not made of refusals", async () => {
    const refusals = [
      said(401, "bad key"),
      said(403, "no"),
      said(402, "pay"),
      said(404, "the model x does not exist"),
      said(400, "messages[0].content is wrong in 'messages[0].content'"),
      said(413, "too large"),
      said(429, "You exceeded your current quota, please check your plan and billing details."),
      said(500, "no", { "x-should-retry": "false" }),
    ];
    const server = serve(refusals);
    const model = modelAt(server.url);
    for (const _ of refusals) expect(shape(await ask(model)).length).toBe(1);
    expect(server.requests.length).toBe(refusals.length);
  });

  test("outlast an endpoint that is gone for two minutes, and end some time", async () => {
    const clock = recordingClock();
    const events = await ask(modelAt("http://127.0.0.1:9/v1", { clock }));
    expect(failureOf(events)?.kind).toBe("network");
    expect(failureOf(events)?.message).toContain("Cannot reach 127.0.0.1:9: connection refused.");
    const waited = clock.slept.reduce((sum, ms) => sum + ms, 0);
    expect(waited).toBeGreaterThan(125_000);
    expect(waited).toBeLessThan(180_000);
    expect(clock.slept[0]).toBeLessThan(1500);
  });

  test("find an endpoint that came back", async () => {
    const server = serve([{ text: "back" }]);
    await server.down(300);
    const limits = { backoffFirstMs: 100, backoffMaxMs: 100 };
    const events = await ask(modelAt(server.url, { clock: realClock, limits }));
    expect(shape(events).slice(-1)).toEqual(["reply back"]);
  });

  test("of a call that the provider could not read are few", async () => {
    const body = JSON.stringify({ error: { code: "tool_use_failed", message: "no such call" } });
    const server = serve(() => ({ status: 400, body }));
    const events = await ask(modelAt(server.url));
    expect(shape(events)).toEqual(["retry", "retry", "failure tool_call_failed"]);
  });
});

describe("stopping", () => {
  const cases: [name: string, script: Script, seen: string[]][] = [
    ["before the headers", [{ delayMs: 5000 }], []],
    ["behind the headers", [{ hang: true }], []],
    [
      "in the middle",
      [{ raw: 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n', hang: true }],
      ["text"],
    ],
    ["in a wait", [said(429, "wait", { "retry-after": "30" })], ["retry"]],
  ];
  for (const [name, script, seen] of cases) {
    test(name, async () => {
      const server = serve(script);
      const abort = new AbortController();
      setTimeout(() => abort.abort(), 150);
      const startMs = performance.now();
      const events = await ask(modelAt(server.url, { clock: realClock }), hello, abort.signal);
      expect(performance.now() - startMs).toBeLessThan(400);
      expect(shape(events)).toEqual([...seen, "failure aborted"]);
      expect(failureOf(events)?.partialText).toBe(name === "in the middle" ? "x" : "");
      await Bun.sleep(40);
      expect(server.requests[0]?.aborted).toBe(name !== "in a wait");
    });
  }

  test("before anything was sent", async () => {
    const server = serve([]);
    const events = await ask(modelAt(server.url), hello, AbortSignal.abort());
    expect(shape(events)).toEqual(["failure aborted"]);
    expect(server.requests).toEqual([]);
  });

  test("by whoever listens going away", async () => {
    const raw = 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
    const server = serve([{ raw, hang: true }]);
    for await (const event of modelAt(server.url).stream(
      { messages: hello, tools: [] },
      new AbortController().signal,
    )) {
      expect(event.kind).toBe("text");
      break;
    }
    await Bun.sleep(50);
    expect(server.requests[0]?.aborted).toBe(true);
  });
});

describe("what people get to see", () => {
  test("never holds the key", async () => {
    const server = serve((_, index) =>
      index === 0
        ? said(500, `proxy saw Bearer ${KEY}`)
        : said(401, `Incorrect API key provided: ${KEY}.`),
    );
    const dumps: ExchangeDump[] = [];
    const events = await ask(modelAt(server.url, { debug: (dump) => dumps.push(dump) }));
    expect(shape(events)).toEqual(["retry", "failure auth"]);
    expect(failureOf(events)?.message).toBe("Incorrect API key provided: [key]. (HTTP 401)");
    expect(JSON.stringify([events, dumps])).not.toContain(KEY);
    expect(dumps.map(({ attempt, outcome }) => [attempt, outcome.split(":")[0]])).toEqual([
      [1, "server_error"],
      [2, "auth"],
    ]);
    expect(JSON.parse(dumps[0]?.request ?? "").messages).toEqual(hello);
    expect(dumps[1]?.response).toContain("Incorrect API key");
  });

  test("says where the mistake may be", async () => {
    const server = serve([{ status: 404, body: "404 page not found" }]);
    expect(failureOf(await ask(modelAt(server.url)))?.message).toBe(
      `HTTP 404 page not found\nIs ${server.url} the right base URL of the API?`,
    );
    for (const base of ["localhost:11434", "", "not a url"]) {
      expect(failureOf(await ask(modelAt(base)))?.message).toContain("must begin with http");
    }
  });

  test("comes in few pieces, however many deltas there are", async () => {
    const server = serve([{ text: "word ".repeat(5000), deltas: 5000 }]);
    const events = await ask(modelAt(server.url));
    expect(events.length).toBeLessThan(500);
    expect(replyOf(events)?.message.content?.length).toBe(25_000);
  });
});
