// Endpoints that refuse what others demand: each lesson costs one refused request, is told, and
// is kept. The servers here are as strict as the strictest that people have met.

import { afterEach, describe, expect, test } from "bun:test";
import type { Model, ModelEvent } from "#agent/ports";
import type { Message } from "#base/protocol";
import { recordingClock } from "../../../test/support/clock";
import {
  type RecordedRequest,
  type ScriptedReply,
  startModelServer,
} from "../../../test/support/model-server";
import { type ChatModelOptions, createChatModel } from "./chat";

type Json = Record<string, unknown>;
type Refuse = (json: Json, messages: Json[]) => ScriptedReply | string | undefined;

const servers: ReturnType<typeof startModelServer>[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const refusal = (message: string, more: object = {}, status = 400): ScriptedReply => ({
  status,
  body: JSON.stringify({ error: { message, type: "invalid_request_error", ...more } }),
});

/** A server that answers unless `refuse` finds something: then with 400 and those words. */
function strictServer(refuse: Refuse, reply: ScriptedReply = { text: "fine" }) {
  const server = startModelServer((request: RecordedRequest) => {
    const found = refuse(request.json, request.json.messages as Json[]);
    if (found === undefined) return reply;
    return typeof found === "string" ? refusal(found) : found;
  });
  servers.push(server);
  return server;
}

function modelAt(apiBase: string, more: Partial<ChatModelOptions> = {}): Model {
  return createChatModel({
    apiBase,
    model: "some-model",
    apiKey: "a-key-for-tests",
    maxTokens: 16_000,
    temperature: 0.7,
    reasoningEffort: "high",
    streamOptions: true,
    extraBody: true,
    clock: recordingClock(),
    ...more,
  });
}

const call = (id: string, more: Json = {}) => ({
  id,
  type: "function" as const,
  function: { name: "shell", arguments: "{}" },
  ...more,
});

const history: Message[] = [
  { role: "user", content: "do it" },
  { role: "assistant", content: null, reasoning_content: "I should", tool_calls: [call("a")] },
  { role: "tool", tool_call_id: "a", content: "done" },
  { role: "assistant", content: null, tool_calls: [call("b")] },
  { role: "tool", tool_call_id: "b", content: "done" },
];

async function ask(model: Model, messages: readonly Message[] = history): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  const { signal } = new AbortController();
  for await (const event of model.stream({ messages, tools: [] }, signal)) events.push(event);
  return events;
}

const kinds = (events: ModelEvent[]): string =>
  events.map((event) => (event.kind === "failure" ? event.failure.kind : event.kind)).join(" ");

/** Two requests in a row: the first pays for the lessons, the second goes through at once. */
async function learns(server: ReturnType<typeof strictServer>, model: Model, lessons: number) {
  const notices = Array.from({ length: lessons }, () => "notice ").join("");
  expect(kinds(await ask(model))).toBe(`${notices}text reply`);
  expect(kinds(await ask(model))).toBe("text reply");
  expect(server.requests.length).toBe(lessons + 2);
  return server.requests.at(-1)?.json ?? {};
}

describe("parameters that are refused are left out", () => {
  const forbidden = {
    status: 422,
    body: JSON.stringify({
      detail: [{ loc: ["body", "chat_template_kwargs"], msg: "Extra inputs are not permitted" }],
    }),
  };
  const fixed =
    "'temperature' does not support 0.7 with this model. Only the default is supported.";
  const inStream = 'data: {"error":{"code":400,"message":"stream_options is not supported"}}\n\n';
  const cases: [name: string, answer: ScriptedReply | string][] = [
    ["stream_options", "property 'stream_options' is unsupported, did you mean 'stream'?"],
    ["stream_options", refusal("Unknown field", { param: "stream_options" })],
    ["stream_options", { raw: inStream }],
    ["chat_template_kwargs", "Unrecognized request argument supplied: chat_template_kwargs"],
    ["chat_template_kwargs", 'Unknown name "enable_thinking": Cannot find field.'],
    ["chat_template_kwargs", forbidden],
    ["temperature", refusal(`Unsupported value: ${fixed}`, { param: "temperature" })],
    ["temperature", refusal("got an unexpected keyword argument 'temperature'", {}, 500)],
    ["reasoning_effort", "this model does not take reasoning_effort"],
  ];
  for (const [name, answer] of cases) {
    test(`${name}: ${JSON.stringify(answer).slice(0, 60)}`, async () => {
      const server = strictServer((json) => (name in json ? answer : undefined));
      const json = await learns(server, modelAt(server.url), 1);
      const all = [
        "stream_options",
        "temperature",
        "max_tokens",
        "reasoning_effort",
        "chat_template_kwargs",
      ];
      expect(all.filter((key) => !(key in json))).toEqual([name]);
    });
  }

  test("one after another, where several are", async () => {
    const names = ["temperature", "stream_options", "chat_template_kwargs", "reasoning_effort"];
    const server = strictServer((json) => {
      const found = names.find((name) => name in json);
      return found && `${found} is not supported`;
    });
    const json = await learns(server, modelAt(server.url), 4);
    expect(Object.keys(json)).toEqual(["model", "stream", "max_tokens", "messages"]);
  });

  test("without a reason given, both extras at once", async () => {
    const server = strictServer((json) =>
      json.stream_options || json.chat_template_kwargs ? "Bad request" : undefined,
    );
    const json = await learns(server, modelAt(server.url), 1);
    expect(json.temperature).toBe(0.7);
  });
});

describe("the limit of an answer", () => {
  test("under its newer name, and the other way round", async () => {
    for (const [model, refused] of [
      ["some-model", "max_tokens"],
      ["gpt-5", "max_completion_tokens"],
    ] as const) {
      const other = refused === "max_tokens" ? "max_completion_tokens" : "max_tokens";
      const words = `Unsupported parameter: '${refused}' is not supported. Use '${other}' instead.`;
      const server = strictServer((json) => (refused in json ? words : undefined));
      const json = await learns(server, modelAt(server.url, { model }), 1);
      expect([json[other], json[refused]]).toEqual([16_000, undefined]);
    }
  });

  test("lowered to what the endpoint allows", async () => {
    const server = strictServer((json) =>
      Number(json.max_tokens) > 8192
        ? "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"
        : undefined,
    );
    expect((await learns(server, modelAt(server.url), 1)).max_tokens).toBe(8192);
  });

  test("left out where the prompt fits and only the answer does not", async () => {
    const words =
      "This model's maximum context length is 16384 tokens. However, you requested 17000 tokens " +
      "(1000 in the messages, 16000 in the completion).";
    const server = strictServer((json) => ("max_tokens" in json ? words : undefined));
    expect((await learns(server, modelAt(server.url), 1)).max_tokens).toBeUndefined();
  });

  test("but a prompt that is too long stays one", async () => {
    const words =
      "This model's maximum context length is 16384 tokens. However, you requested 36000 tokens " +
      "(20000 in the messages, 16000 in the completion).";
    const server = strictServer(() => words);
    expect(kinds(await ask(modelAt(server.url)))).toBe("context_overflow");
    expect(server.requests.length).toBe(1);
  });
});

describe("thinking in the history", () => {
  const turns = (messages: Json[]) => messages.filter((message) => message.tool_calls);
  test("is sent as it is to whoever says nothing", async () => {
    const server = strictServer(() => undefined);
    await ask(modelAt(server.url));
    expect(server.requests[0]?.json.messages).toEqual(history);
  });

  test("is demanded on every turn with calls", async () => {
    for (const words of [
      "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
      "The `reasoning_content` in the thinking mode must be passed back to the API.",
      "Bad request",
    ]) {
      const server = strictServer((_, messages) =>
        turns(messages).every((turn) => typeof turn.reasoning_content === "string")
          ? undefined
          : words,
      );
      const model = modelAt(server.url, {
        streamOptions: false,
        extraBody: false,
        reasoningEffort: undefined,
      });
      const lessons = words === "Bad request" ? 2 : 1;
      const json = await learns(server, model, lessons);
      expect(turns(json.messages as Json[]).map((turn) => turn.reasoning_content)).toEqual([
        "I should",
        "",
      ]);
    }
  });

  test("is refused", async () => {
    for (const words of [
      "property 'reasoning_content' is unsupported",
      "messages.1.reasoning_content: Extra inputs are not permitted",
      "Bad request",
    ]) {
      const server = strictServer((_, messages) =>
        messages.some((message) => "reasoning_content" in message) ? words : undefined,
      );
      const model = modelAt(server.url, {
        streamOptions: false,
        extraBody: false,
        reasoningEffort: undefined,
      });
      const json = await learns(server, model, 1);
      expect(JSON.stringify(json)).not.toContain("reasoning_content");
    }
  });

  test("that is both refused and demanded ends", async () => {
    const server = strictServer((_, messages) =>
      messages.some((message) => "reasoning_content" in message)
        ? "reasoning_content is not supported"
        : "reasoning_content is missing",
    );
    const events = await ask(modelAt(server.url));
    expect(kinds(events)).toEndWith("bad_request");
    expect(server.requests.length).toBeLessThan(5);
  });

  test("goes back under the name that it came under", async () => {
    const raw = [{ reasoning: "hm" }, { content: "ok" }]
      .map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`)
      .join("");
    const server = strictServer(() => undefined, { raw: `${raw}data: [DONE]\n\n` });
    const model = modelAt(server.url);
    await ask(model);
    await ask(model);
    const [, first] = (server.requests[1]?.json.messages ?? []) as Json[];
    expect([first?.reasoning, first?.reasoning_content]).toEqual(["I should", undefined]);
  });
});

describe("content beside calls", () => {
  const turns = (messages: Json[]) => messages.filter((message) => message.tool_calls);
  const off = { streamOptions: false, extraBody: false, reasoningEffort: undefined };
  test("null is refused", async () => {
    for (const words of [
      "messages[1].content must be a string, got null",
      "Invalid value for 'content': expected a string, got null.",
      "messages: content: none is not an allowed value",
    ]) {
      const server = strictServer((_, messages) =>
        turns(messages).some((turn) => turn.content === null) ? words : undefined,
      );
      const json = await learns(server, modelAt(server.url, off), 1);
      expect(turns(json.messages as Json[]).map((turn) => turn.content)).toEqual(["", ""]);
    }
  });

  test("an empty string is refused: null is what goes first", async () => {
    const server = strictServer((_, messages) =>
      messages.some((message) => message.content === "") ? "content must not be empty" : undefined,
    );
    const spaced = history.map(
      (message): Message => (message.role === "assistant" ? { ...message, content: "" } : message),
    );
    expect(kinds(await ask(modelAt(server.url, off), spaced))).toBe("text reply");
  });

  test("both are refused: it ends", async () => {
    const server = strictServer((_, messages) =>
      turns(messages).some((turn) => !turn.content) ? "content is required" : undefined,
    );
    expect(kinds(await ask(modelAt(server.url, off)))).toEndWith("bad_request");
    expect(server.requests.length).toBeLessThan(5);
  });
});

test("fields of messages that are refused by name are left out", async () => {
  const extra: Message[] = [
    { role: "user", content: "x" },
    {
      role: "assistant",
      content: "y",
      annotations: [{ url: "u" }],
      "odd(field[*": 1,
      tool_calls: [call("a", { extra_content: { s: 1 } })],
    },
  ];
  const server = strictServer((_, messages) => {
    const text = JSON.stringify(messages);
    if (text.includes("annotations")) return "property 'annotations' is unsupported";
    return text.includes("extra_content")
      ? "Unknown parameter: 'messages[1].tool_calls[0].extra_content'."
      : undefined;
  });
  const model = modelAt(server.url);
  expect(kinds(await ask(model, extra))).toBe("notice notice text reply");
  expect(server.requests.at(-1)?.json.messages).toEqual([
    extra[0] as never,
    { role: "assistant", content: "y", "odd(field[*": 1, tool_calls: [call("a")] },
  ]);
});

describe("what teaches nothing", () => {
  test("a refusal of something that was not sent, or that cannot be left out", async () => {
    for (const words of [
      "'messages' must alternate between user and assistant",
      "property 'top_k' is unsupported",
      "Invalid 'model'",
      "The conversation must begin with a message of the user, and it does not here.",
    ]) {
      const server = strictServer(() => words);
      expect(kinds(await ask(modelAt(server.url)))).toMatch(
        /^(bad_request|unsupported_parameter|model_not_found)$/,
      );
      expect(server.requests.length).toBe(1);
    }
  });

  test("a refusal without a reason that nothing helps against: every guess is taken back", async () => {
    const server = strictServer(() => "Bad request");
    const model = modelAt(server.url);
    const events = await ask(model);
    expect(kinds(events)).toBe("notice notice notice notice bad_request");
    const { length } = server.requests;
    expect(kinds(await ask(model))).toBe("bad_request");
    expect(server.requests.length).toBe(length + 1);
    expect(server.requests.at(-1)?.body).toBe(server.requests[0]?.body ?? "");
  });

  test("a server error that happens to name a parameter", async () => {
    const server = strictServer(() => refusal("GPU temperature too high", {}, 500));
    const events = await ask(modelAt(server.url, { limits: { attemptsMax: 2 } }));
    expect(kinds(events)).toBe("retry server_error");
    expect(server.requests.every((request) => request.json.temperature === 0.7)).toBe(true);
  });
});
