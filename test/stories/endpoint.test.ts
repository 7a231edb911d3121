// What an endpoint can do to a run, seen from the command line.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, runBosun } from "../support/bosun";
import { type Script, type ScriptedAnswer, startModelServer } from "../support/model-server";
import { messagesOf } from "../support/requests";

let place: Place;

beforeEach(() => {
  place = makePlace();
});

afterEach(() => place.remove());

const done: Script[number] = { calls: [{ name: "task_complete", args: { summary: "ok" } }] };

async function play(script: Script | ScriptedAnswer, args: readonly string[] = []) {
  const server = startModelServer(script);
  const started = Date.now();
  const run = await runBosun({
    place,
    args: ["--json", "--auto-approve", ...args, "go"],
    env: { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m", BOSUN_API_KEY: "sk-endpoint-0123456789" },
  });
  const ms = Date.now() - started;
  await server.close();
  return { run, server, ms };
}

const refuse = (status: number, message: string, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: JSON.stringify({ error: { message } }),
});

describe("failures that pass", () => {
  test("429 waits as long as it is told, and says so", async () => {
    const { run, ms } = await play([refuse(429, "slow down", { "retry-after": "1" }), done]);
    expect(run.exit).toBe(0);
    expect(run.all("retry").map(({ waitMs }) => waitMs >= 1000)).toEqual([true]);
    expect(ms).toBeGreaterThan(1000);
  });

  test("a reply that is cut is asked for again, and nothing in it runs", async () => {
    const half =
      'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"shell","arguments":"{\\"command\\":\\"touch cut\\"}"}}]}}]}\n\n';
    const { run } = await play([{ raw: half }, done]);
    expect(run.exit).toBe(0);
    expect(run.all("retry").length).toBe(1);
    expect(existsSync(join(place.cwd, "cut"))).toBe(false);
  });

  test("an error in the middle of a stream is asked for again", async () => {
    const raw =
      'data: {"choices":[{"delta":{"content":"half an ans"}}]}\n\n' +
      'data: {"error":{"code":502,"message":"upstream died"}}\n\n';
    const { run } = await play([{ raw }, { text: "a whole answer" }]);
    expect(run.exit).toBe(0);
    expect(run.all("retry")[0]?.reason).toContain("upstream died");
    expect(run.all("run.finished")[0]?.summary).toBe("a whole answer");
  });
});

describe("failures that stay", () => {
  test.each([
    [401, "Incorrect API key provided: sk-endpoint-0123456789.", "auth"],
    [404, "The model `m` does not exist", "model_not_found"],
    [400, "messages[0]: too odd", "bad_request"],
  ])("%i ends the run with the provider's words", async (status, message, kind) => {
    const { run, server } = await play(() => refuse(status, message));
    expect(run.exit).toBe(1);
    // A refusal that gives no reason may be tried once without what not every endpoint knows.
    expect(server.requests.length).toBeLessThanOrEqual(status === 400 ? 2 : 1);
    expect(run.all("error")[0]?.kind).toBe(kind);
    expect(run.all("error")[0]?.message).toContain(message.split(":")[0] ?? "");
    expect(run.stdout).not.toContain("sk-endpoint");
  });
});

describe("quirks", () => {
  test("what an endpoint refuses is left out from then on", async () => {
    const { run, server } = await play((request) => {
      if ("stream_options" in request.json) {
        return refuse(400, "Unrecognized request argument supplied: stream_options");
      }
      if ("chat_template_kwargs" in request.json) {
        return refuse(422, "extra_forbidden: chat_template_kwargs");
      }
      if ("max_tokens" in request.json) {
        return refuse(
          400,
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        );
      }
      return server0.next();
    });
    expect(run.exit).toBe(0);
    expect(run.all("notice").length).toBeGreaterThanOrEqual(3);
    expect(server.requests.length).toBe(5);
    expect(server.requests.at(-1)?.json.max_completion_tokens).toBe(16_000);
  });

  test("thinking goes back with the history unless the endpoint refuses it", async () => {
    const think: Script[number] = {
      reasoning: "deep thought",
      calls: [{ name: "shell", args: { command: "true" } }],
    };
    const kept = await play([think, done]);
    expect(JSON.stringify(messagesOf(kept.server, 1))).toContain("deep thought");
    const refusing = await play((request, index) => {
      const body = JSON.stringify(request.json.messages);
      if (body.includes("reasoning_content")) {
        return refuse(400, "Unknown field reasoning_content in messages");
      }
      return index === 0 ? (think as object) : (done as object);
    });
    expect(refusing.run.exit).toBe(0);
    expect(JSON.stringify(messagesOf(refusing.server, 2))).not.toContain("deep thought");
  });
});

/** Plays a call, then the end, whatever was refused in between. */
const server0 = {
  replies: 0,
  next(): object {
    this.replies += 1;
    return this.replies === 1 ? { calls: [{ name: "shell", args: { command: "true" } }] } : done;
  },
};

describe("calls", () => {
  test("cut by the token limit never run; the model is told, and the second ends the run", async () => {
    const cut = {
      calls: [{ name: "write_file", args: '{"path":"a","content":"abc' }],
      finish: "length",
    };
    const { run, server } = await play([cut, cut, done]);
    expect(run.exit).toBe(1);
    expect(server.requests.length).toBe(2);
    expect(messagesOf(server, 1).at(-1)?.content).toContain("cut off at 16000 tokens");
    expect(existsSync(join(place.cwd, "a"))).toBe(false);
  });

  test("broken JSON is answered with the place, a wrong name with the right one", async () => {
    const { run } = await play([
      { calls: [{ name: "shell", args: '{"command": ls}' }] },
      { calls: [{ name: "shel", args: { command: "ls" } }] },
      { calls: [{ name: "bash", args: { command: "echo understood" } }] },
      done,
    ]);
    const results = run.all("tool.finished").map(({ ok, result }) => [ok, result]);
    expect(results[0]?.[0]).toBe(false);
    expect(String(results[1]?.[1])).toContain("Did you mean shell?");
    expect(String(results[2]?.[1])).toContain("understood");
  });

  test("several in one reply are each answered, in order", async () => {
    const { server } = await play([
      {
        calls: ["a", "b", "c"].map((word) => ({
          name: "shell",
          args: { command: `echo ${word}` },
        })),
      },
      done,
    ]);
    const answers = messagesOf(server, 1).filter((message) => message.role === "tool");
    expect(answers.map((answer) => answer.content?.slice(0, 1))).toEqual(["a", "b", "c"]);
  });
});
