import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const SECRET = "sk-test-0123456789abcdef";
const source = JSON.stringify(join(import.meta.dir, "hide-credentials"));

/** Hides, tells what it still knows, and waits to be looked at. */
const program = `
  const key = process.env.BOSUN_API_KEY;
  const flag = process.argv[process.argv.indexOf("--api-key") + 1];
  const { hideCredentials } = await import(${source});
  const hidden = await hideCredentials({
    names: ["BOSUN_API_KEY", "OPENAI_API_KEY", "NOT_SET"],
    flags: ["--api-key"],
  });
  const child = Bun.spawnSync(["/usr/bin/env"], { env: process.env }).stdout.toString();
  console.log(JSON.stringify({ hidden, key, flag, left: process.env.BOSUN_API_KEY ?? null,
    path: process.env.PATH, childKnows: child.includes("sk-test") }));
  await Bun.stdin.text();
`;

test.if(process.platform === "linux")("nothing of it can be read from outside", async () => {
  const words = ["--", "first", "--api-key", SECRET, `--api-key=${SECRET}`, "last"];
  const child = Bun.spawn([process.execPath, "-e", program, ...words], {
    env: { ...process.env, BOSUN_API_KEY: SECRET, OPENAI_API_KEY: `${SECRET}-2` },
    stdin: "pipe",
    stdout: "pipe",
  });
  const reader = child.stdout.getReader();
  const told = JSON.parse(new TextDecoder().decode((await reader.read()).value));
  const readEnvironment = () => readFileSync(`/proc/${child.pid}/environ`, "latin1");
  const isRoot = process.getuid?.() === 0;
  // Who is not root may not look at all.
  if (!isRoot) expect(readEnvironment).toThrow("EACCES");
  const environment = isRoot ? readEnvironment() : undefined;
  const command = readFileSync(`/proc/${child.pid}/cmdline`, "latin1");
  child.stdin.end();
  await child.exited;

  expect(told).toEqual({
    hidden: { names: ["BOSUN_API_KEY", "OPENAI_API_KEY"], arguments: 2 },
    key: SECRET,
    flag: SECRET,
    left: null,
    path: process.env.PATH,
    childKnows: false,
  });
  if (environment !== undefined) {
    expect(environment).not.toContain("sk-test");
    expect(environment).toContain(`BOSUN_API_KEY=${"x".repeat(SECRET.length)}\0`);
    expect(environment).toContain(`PATH=${process.env.PATH}\0`);
  }
  expect(command).not.toContain(SECRET);
  expect(command).toContain("\0first\0--api-key\0xxx");
  expect(command).toEndWith("\0last\0");
});

test("without credentials it hides nothing", async () => {
  const { hideCredentials } = await import("./hide-credentials");
  expect(await hideCredentials({ names: ["BOSUN_NOT_SET"], flags: ["--api-key"] })).toEqual({
    names: [],
    arguments: 0,
  });
});
