// The short form of `npm run soak`: conversations that are killed and resumed lose nothing.

import { expect, test } from "bun:test";
import { join } from "node:path";

test("killed at random moments, every conversation goes on to its end", async () => {
  const child = Bun.spawn([process.execPath, "bench/soak.ts", "--runs", "12"], {
    cwd: join(import.meta.dir, ".."),
    stdout: "pipe",
    stderr: "inherit",
  });
  const told = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  expect(told).toContain("12 conversations");
  expect(told).toContain(" 0 faults");
}, 60_000);
