// The model server's own behaviour, as seen through fetch.

import { expect, test } from "bun:test";
import { type Script, startModelServer } from "./model-server";

async function ask(url: string, signal?: AbortSignal): Promise<Response> {
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }] });
  return await fetch(`${url}/chat/completions`, { method: "POST", body, signal: signal ?? null });
}

test("plays its script in order and records what it was asked", async () => {
  const script: Script = [
    { text: "hello there", reasoning: "hm", deltas: 3 },
    (request, index) => ({ calls: [{ name: `n${index}`, args: { model: request.json.model } }] }),
  ];
  using server = startModelServer(script);
  const first = await (await ask(server.url)).text();
  expect(first.match(/"content":"[^"]+"/g)).toEqual([
    '"content":"hel"',
    '"content":"lo t"',
    '"content":"here"',
  ]);
  expect(first).toEndWith("data: [DONE]\n\n");
  const second = await (await ask(server.url)).text();
  expect(second).toContain('"finish_reason":"tool_calls"');
  expect(second).toContain("n1");
  const third = await ask(server.url);
  expect([third.status, await third.text()]).toEqual([
    500,
    expect.stringContaining("has 2 replies, but this is request 3"),
  ]);
  expect(server.requests.map((request) => request.json.model)).toEqual(["m", "m", "m"]);
  expect(server.requests.map((request) => request.aborted)).toEqual([false, false, false]);
});

test("lists models", async () => {
  using server = startModelServer([], { models: ["a", "b"] });
  const list = await (await fetch(`${server.url}/models`)).json();
  expect(list).toEqual({
    object: "list",
    data: [
      { id: "a", object: "model" },
      { id: "b", object: "model" },
    ],
  });
  expect(server.requests).toEqual([]);
});

test("a cut drops the connection, before or after the headers", async () => {
  using server = startModelServer([{ cutAfterBytes: 0 }, { text: "x", cutAfterBytes: 30 }]);
  expect(ask(server.url)).rejects.toThrow();
  await Bun.sleep(20);
  const response = await ask(server.url);
  expect(response.status).toBe(200);
  expect(response.text()).rejects.toThrow();
});

test("a client that goes away is noticed", async () => {
  using server = startModelServer([{ hang: true }, { delayMs: 10_000 }]);
  for (const index of [0, 1]) {
    const abort = new AbortController();
    const pending = ask(server.url, abort.signal);
    await Bun.sleep(50);
    abort.abort();
    await pending.then(
      (response) => expect(response.text()).rejects.toThrow(),
      (error: unknown) => expect(error).toBeInstanceOf(Error),
    );
    await Bun.sleep(50);
    expect(server.requests[index]?.aborted).toBe(true);
  }
});

test("goes down and comes back on the same port", async () => {
  using server = startModelServer([{ text: "back" }]);
  await server.down(100);
  expect(ask(server.url)).rejects.toThrow();
  await Bun.sleep(200);
  expect(await (await ask(server.url)).text()).toContain("back");
});
