// The short form of `npm run bench`: it works, and what is no time holds its bounds everywhere.

import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");

test("the figures that do not depend on the machine hold", async () => {
  const child = Bun.spawn([process.execPath, "bench/bench.ts", "--short"], {
    cwd: ROOT,
    stdout: "pipe",
    stderr: "inherit",
  });
  const page = await new Response(child.stdout).text();
  await child.exited;
  const rows = page.split("\n").filter((row) => / (MB|bytes) \|/.test(row));
  expect(rows.length).toBe(4);
  for (const row of rows) expect(row).toEndWith("| 1 of 1 |");
}, 60_000);
