// Looks for processes that outlived their owner.

import { readdirSync, readFileSync } from "node:fs";

/** Commands of all running processes (zombies aside) whose environment holds `marker`. */
export function processesWith(marker: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const state = /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
        if (state === "Z" || state === "X") return [];
        if (!readFileSync(`/proc/${pid}/environ`, "utf8").includes(marker)) return [];
        return [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`];
      } catch {
        // It ended while we looked: then it is not left behind.
        return [];
      }
    });
}

/** Waits until no process holds the marker; returns those that still do after a moment. */
export async function survivors(marker: string): Promise<string[]> {
  for (let tries = 0; tries < 20; tries++) {
    const found = processesWith(marker);
    if (found.length === 0) return [];
    await Bun.sleep(100);
  }
  return processesWith(marker);
}
