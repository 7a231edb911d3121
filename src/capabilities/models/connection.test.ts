// Below HTTP: certificates, proxies and addresses, as the environment sets them. The runtime reads
// these variables at its start, so each case is a program of its own.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelServer } from "../../../test/support/model-server";
import { cleanApiBase, describeFault } from "./connection";
import { probeEndpoint } from "./probe";

const hasOpenssl = Bun.which("openssl") !== null;
const CHAT = join(import.meta.dir, "chat.ts");
const CLOCK = join(import.meta.dir, "../../../test/support/clock.ts");
let folder = "";

/** Asks once in a new process, and gives the events that matter. */
async function askWith(apiBase: string, env: Record<string, string>): Promise<string[]> {
  const program = join(folder, `ask-${crypto.randomUUID()}.ts`);
  const options = { apiBase, model: "m", maxTokens: 9, streamOptions: true, extraBody: false };
  writeFileSync(
    program,
    `import { createChatModel } from ${JSON.stringify(CHAT)};
    import { recordingClock } from ${JSON.stringify(CLOCK)};
    const model = createChatModel({ ...${JSON.stringify(options)}, clock: recordingClock(),
      limits: { attemptsMax: 2 } });
    const request = { messages: [{ role: "user", content: "hi" }], tools: [] };
    for await (const event of model.stream(request, new AbortController().signal)) {
      if (event.kind === "retry") console.log("retry");
      if (event.kind === "failure") console.log(event.failure.kind + ": " + event.failure.message);
      if (event.kind === "reply") console.log("reply: " + event.reply.message.content);
    }`,
  );
  const { PATH = "", HOME = "" } = process.env;
  const child = Bun.spawn([process.execPath, program], {
    cwd: join(import.meta.dir, "../../.."),
    env: { PATH, HOME, ...env },
    stdout: "pipe",
    stderr: "inherit",
  });
  return (await new Response(child.stdout).text()).trim().split("\n");
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "bosun-models-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("proxies", () => {
  const dead = "http://127.0.0.1:9";
  test("are used where they are set, and not for what NO_PROXY names", async () => {
    using server = startModelServer(() => ({ text: "direct" }));
    const asked: string[] = [];
    const proxy = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request) => {
        asked.push(request.url);
        return Response.json({ choices: [{ message: { content: "by proxy" } }] });
      },
    });
    const through = `http://127.0.0.1:${proxy.port}`;
    try {
      expect(await askWith("http://models.invalid/v1", { HTTP_PROXY: through })).toEqual([
        "reply: by proxy",
      ]);
      expect(asked).toEqual(["http://models.invalid/v1/chat/completions"]);
      for (const NO_PROXY of ["127.0.0.1", "localhost,127.0.0.1", "*"]) {
        const env = { HTTP_PROXY: dead, HTTPS_PROXY: dead, NO_PROXY };
        expect(await askWith(server.url, env)).toEqual(["reply: direct"]);
      }
      expect(await askWith("https://models.invalid/v1", { HTTPS_PROXY: dead })).toEqual([
        "retry",
        expect.stringMatching(/^network: Cannot reach models.invalid: connection refused/),
        "Given up after 2 attempts.",
      ]);
    } finally {
      await proxy.stop(true);
    }
  });
});

describe.skipIf(!hasOpenssl)("certificates", () => {
  test("that are not trusted end at once, with one clear line; a named authority adds", async () => {
    const key = join(folder, "key.pem");
    const cert = join(folder, "cert.pem");
    const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";
    const made = Bun.spawnSync(
      [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-keyout",
        key,
        "-out",
        cert,
      ].concat(["-days", "2", "-subj", "/CN=localhost", "-addext", names]),
    );
    expect(made.exitCode).toBe(0);
    let requests = 0;
    const server = Bun.serve({
      port: 0,
      tls: { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") },
      fetch: () => {
        requests++;
        return Response.json({ choices: [{ message: { content: "over TLS" } }] });
      },
    });
    const base = `https://localhost:${server.port}/v1`;
    try {
      const lines = await askWith(base, {});
      expect(lines[0]).toMatch(
        /^network: The certificate of localhost:\d+ is not accepted: .*self/,
      );
      expect(lines[1]).toContain("NODE_EXTRA_CA_CERTS");
      expect(lines.length).toBe(2);
      expect(requests).toBe(0);
      expect(await askWith(base, { NODE_EXTRA_CA_CERTS: cert })).toEqual(["reply: over TLS"]);
    } finally {
      await server.stop(true);
    }
  });

  test("are not blamed where no TLS is spoken", async () => {
    using server = startModelServer([]);
    const lines = await askWith(server.url.replace("http:", "https:"), {});
    expect(lines).toEqual([expect.stringMatching(/^network: .* does not speak TLS on this port/)]);
  });
});

describe("faults", () => {
  const fault = (code: string, message = "") =>
    describeFault(Object.assign(new Error(message), { code }), "http://host:1/v1");
  test("of certificates never pass by themselves", () => {
    for (const code of [
      "CERT_HAS_EXPIRED",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "ERR_TLS_CERT_ALTNAME_INVALID",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    ]) {
      expect([code, fault(code).retryable]).toEqual([code, false]);
    }
  });
  test("of the line may", () => {
    for (const code of [
      "ECONNREFUSED",
      "ECONNRESET",
      "ETIMEDOUT",
      "ENOTFOUND",
      "EPIPE",
      "ConnectionClosed",
      "ODD",
    ]) {
      const { message, retryable } = fault(code, "it broke");
      expect([code, retryable]).toEqual([code, true]);
      expect(message).toStartWith("Cannot reach host:1: ");
    }
  });
});

test("the base URL is what lies in front of every call", () => {
  const cases: [given: string, clean: string][] = [
    ["http://h/v1", "http://h/v1"],
    [" http://h/v1// ", "http://h/v1"],
    ["http://h/v1/chat/completions/", "http://h/v1"],
    ["https://h/openai?api-version=2", "https://h/openai?api-version=2"],
    ["https://h/openai/chat/completions?api-version=2", "https://h/openai?api-version=2"],
    ["http://[::1]:80/v1", "http://[::1]:80/v1"],
  ];
  for (const [given, clean] of cases) expect(cleanApiBase(given)).toBe(clean);
});

describe("probe", () => {
  const options = { apiKey: "a-key-for-tests", timeoutMs: 300 };
  test("lists the models of whoever answers", async () => {
    using server = startModelServer([], { models: ["b", "a"] });
    const probe = await probeEndpoint({ ...options, apiBase: `${server.url}/` });
    expect(probe).toEqual({ kind: "ok", models: ["b", "a"], ms: expect.any(Number) });
  });

  test("says why not, otherwise", async () => {
    const server = Bun.serve({
      port: 0,
      fetch: (request) => {
        const { pathname } = new URL(request.url);
        if (pathname.startsWith("/slow")) return new Promise<Response>(() => undefined);
        if (pathname.startsWith("/page")) return new Response("<html></html>");
        return Response.json(
          { error: { message: `bad ${request.headers.get("authorization")}` } },
          { status: 401 },
        );
      },
    });
    const base = `http://127.0.0.1:${server.port}`;
    try {
      const reasons = await Promise.all(
        [`${base}/v1`, `${base}/slow`, `${base}/page`, "http://127.0.0.1:9/v1", "nonsense"].map(
          async (apiBase) => {
            const probe = await probeEndpoint({ ...options, apiBase });
            return probe.kind === "failed" ? probe.reason : "ok";
          },
        ),
      );
      expect(reasons).toEqual([
        "bad Bearer [key] (HTTP 401)",
        "no answer within 300 ms",
        `${base}/page/models did not answer with a list.`,
        "Cannot reach 127.0.0.1:9: connection refused.",
        expect.stringContaining("nonsense"),
      ]);
      const signal = AbortSignal.abort();
      expect(await probeEndpoint({ ...options, apiBase: base, signal })).toEqual({
        kind: "failed",
        reason: "stopped",
      });
    } finally {
      await server.stop(true);
    }
  });
});
