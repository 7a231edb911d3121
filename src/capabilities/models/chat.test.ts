// The model on the wire: what it sends, and what it makes of what comes back.

import { afterEach, describe, expect, test } from "bun:test";
import type { Message } from "#base/protocol";
import {
  ask,
  closeServers,
  failureOf,
  hello,
  KEY,
  modelAt,
  replyOf,
  serve,
  shape,
} from "../../../test/support/chat-model";
import { recordingClock } from "../../../test/support/clock";

afterEach(closeServers);

describe("requests", () => {
  test("say what was set, in a fixed order, with the messages last", async () => {
    const server = serve([{ text: "yes" }]);
    const tool = { name: "shell", description: "Runs.", parameters: { type: "object" } };
    const signal = new AbortController().signal;
    await ask(modelAt(`${server.url}/`, { reasoningEffort: "low" }), hello, signal, [tool]);
    const [request] = server.requests;
    expect(request?.path).toBe("/v1/chat/completions");
    expect(request?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(request?.headers["content-type"]).toBe("application/json");
    expect(request?.body).toBe(
      JSON.stringify({
        model: "some-model",
        stream: true,
        stream_options: { include_usage: true },
        temperature: 0.7,
        max_tokens: 500,
        reasoning_effort: "low",
        chat_template_kwargs: { enable_thinking: true },
        tools: [{ type: "function", function: tool }],
        messages: hello,
      }),
    );
  });

  test("leave out what was not set, tools and the key among it", async () => {
    const server = serve([{ text: "yes" }]);
    const off = { streamOptions: false, extraBody: false, temperature: undefined };
    await ask(modelAt(server.url, { ...off, apiKey: undefined, model: "gpt-5-mini" }));
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(server.requests[0]?.json).toEqual({
      model: "gpt-5-mini",
      stream: true,
      max_completion_tokens: 500,
      messages: hello,
    });
  });

  test("begin with every byte of the one before, whatever the reply held", async () => {
    const server = serve([
      { raw: replyWithExtras },
      { text: "two", reasoning: "hm" },
      { text: "three 🙂" },
    ]);
    const model = modelAt(server.url);
    let messages = hello;
    for (let step = 0; step < 3; step++) {
      const reply = replyOf(await ask(model, messages));
      if (!reply) throw new Error("no reply");
      const results = reply.calls.map(
        ({ id }): Message => ({ role: "tool", tool_call_id: id, content: "half a pair: \ud83d" }),
      );
      messages = [...messages, reply.message, ...results];
    }
    const bodies = server.requests.map((request) => request.body);
    expect(bodies[1]?.startsWith(bodies[0]?.slice(0, -2) ?? "-")).toBe(true);
    expect(bodies[2]?.startsWith(bodies[1]?.slice(0, -2) ?? "-")).toBe(true);
    expect(bodies[2]).not.toContain("\\ud83d");
    const sent = server.requests[2]?.json.messages as Message[];
    expect(sent[1]).toEqual({
      role: "assistant",
      content: null,
      provider_metadata: { route: 7 },
      tool_calls: [
        {
          id: "c",
          type: "function",
          function: { name: "shell", arguments: '{"a":1}' },
          extra_content: { google: { thought_signature: "S" } },
        },
      ],
    });
    expect(sent[3]).toEqual({ role: "assistant", content: "two", reasoning_content: "hm" });
  });

  test("go on correctly after the history was replaced", async () => {
    const server = serve(() => ({ text: "yes" }));
    const model = modelAt(server.url);
    const other: Message[] = [
      { role: "system", content: "s" },
      { role: "user", content: "new" },
    ];
    const long: Message[] = [...hello, ...other, { role: "user", content: "x".repeat(200_000) }];
    for (const messages of [hello, long, other, [], long, hello]) await ask(model, messages);
    expect(server.requests.map((request) => request.json.messages)).toEqual([
      hello,
      long,
      other,
      [],
      long,
      hello,
    ]);
  });

  test("beside each other do not mix", async () => {
    const server = serve((request) => ({
      text: String((request.json.messages as Message[])[0]?.content),
      delayMs: 20,
    }));
    const model = modelAt(server.url);
    const texts = ["a", "bb", "ccc".repeat(50_000), "d"];
    const replies = await Promise.all(
      texts.map((content) => ask(model, [{ role: "user", content }])),
    );
    expect(replies.map((events) => replyOf(events)?.message.content)).toEqual(texts);
  });
});

const replyWithExtras = `data: ${JSON.stringify({
  choices: [
    {
      index: 0,
      delta: {
        content: null,
        provider_metadata: { route: 7 },
        tool_calls: [
          {
            index: 0,
            id: "c",
            function: { name: "shell", arguments: '{"a":1}' },
            extra_content: { google: { thought_signature: "S" } },
          },
        ],
      },
      finish_reason: "tool_calls",
    },
  ],
})}\n\ndata: [DONE]\n\n`;

describe("bodies that are no stream", () => {
  const completion = {
    object: "chat.completion",
    choices: [
      { index: 0, message: { role: "assistant", content: "whole" }, finish_reason: "stop" },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  };
  test("a whole completion is a reply", async () => {
    const server = serve([
      { body: JSON.stringify(completion, null, 2) },
      { body: `\n\uFEFF${JSON.stringify(completion)}`, pieces: 1 },
      { body: JSON.stringify({ choices: [{ message: { content: "no finish" } }] }) },
    ]);
    const model = modelAt(server.url);
    const first = await ask(model);
    expect(shape(first)).toEqual(["text", "reply whole"]);
    expect(replyOf(first)?.usage?.billable).toBe(3);
    expect(shape(await ask(model))).toEqual(["text", "reply whole"]);
    expect(shape(await ask(model))).toEqual(["text", "reply no finish"]);
  });

  test("half of one is none, and neither is a page or an answer without a reply", async () => {
    const server = serve((_, index) => ({
      body:
        [
          JSON.stringify(completion).slice(0, 90),
          "<!doctype html><title>Sign in</title>",
          '{"status":"ok"}',
          "",
        ][index % 4] ?? "",
      headers: { "content-type": index === 1 ? "text/html" : "application/json" },
    }));
    const model = modelAt(server.url, { limits: { attemptsMax: 1 } });
    for (const part of [
      "cannot be read",
      "a web page (Sign in) instead of a reply.\nIs ",
      'something else ({"status":"ok"})',
      "without a reply",
    ]) {
      const events = await ask(model);
      expect(failureOf(events)?.message).toContain(part);
    }
  });
});

describe("incomplete replies", () => {
  const calls = [{ name: "shell", args: { command: "ls" } }];
  test("are made again, and never give a call", async () => {
    const server = serve([
      { calls, cutAfterBytes: 420 },
      { text: "part", cutAfterBytes: 400 },
      { cutAfterBytes: 0 },
      { raw: 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n' },
      { raw: 'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"error":{"code":502}}\n\n' },
      { raw: "" },
      { raw: "data: [DONE]\n\n" },
      { text: "whole" },
    ]);
    const clock = recordingClock();
    const events = await ask(modelAt(server.url, { clock }));
    expect(replyOf(events)?.message.content).toBe("whole");
    const retries = events.filter((event) => event.kind === "retry");
    expect(retries.map((event) => event.attempt)).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(clock.slept).toEqual(retries.map((event) => event.waitMs));
    expect(events.filter((event) => event.kind === "reply").length).toBe(1);
  });

  test("end with what was streamed, when no attempt gets further", async () => {
    const raw = 'data: {"choices":[{"delta":{"content":"some text"}}]}\n\n';
    const server = serve(() => ({ raw }));
    const events = await ask(modelAt(server.url));
    expect(failureOf(events)).toEqual({
      kind: "incomplete",
      message: expect.stringMatching(/no finish reason.*\nGiven up after 11 attempts/),
      partialText: "some text",
    });
    expect(server.requests.length).toBe(11);
  });

  test("only lack the end: a finish reason, or the end mark, makes a reply whole", async () => {
    const chunk = (delta: object, finish?: string) =>
      `data: ${JSON.stringify({ choices: [{ delta, finish_reason: finish }] })}\n\n`;
    const server = serve([
      { raw: chunk({ content: "a" }, "stop") },
      { raw: `${chunk({ content: "b" })}data: [DONE]\n\n` },
      { raw: chunk({ content: "c" }, "stop"), hang: true },
      { raw: `${chunk({ content: "d" }, "stop")}data: [DONE]\n\n`, hang: true },
    ]);
    const model = modelAt(server.url, { limits: { tailMs: 50 } });
    for (const text of ["a", "b", "c", "d"]) {
      expect(shape(await ask(model))).toEqual(["text", `reply ${text}`]);
    }
  });

  test("an error behind the end mark is none, a line that cannot be read is one", async () => {
    const whole = 'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n';
    const server = serve([
      { raw: `${whole}data: [DONE]\n\ndata: {"error":{"message":"late"}}\n\n` },
      { raw: `data: ping\n\n${whole}data:\n\ndata: [DONE]\n\n` },
      { raw: whole.replaceAll("\n\n", "\n") + whole.replace("a", "") },
      { raw: `data: {"choices":[{"delta":{"con\n\n${whole}data: [DONE]\n\n` },
    ]);
    const model = modelAt(server.url, { limits: { attemptsMax: 1 } });
    for (let index = 0; index < 3; index++) {
      expect(shape(await ask(model))).toEqual(["text", "reply a"]);
    }
    expect(failureOf(await ask(model))?.message).toContain("cannot be read");
  });
});
