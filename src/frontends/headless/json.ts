// `--json`: every event as one line on stdout, and nothing else there.

import type { Event, Watcher } from "#base/protocol";

export function createJsonPrinter(write: (text: string) => void): Watcher {
  return (event: Event) => write(`${JSON.stringify(event)}\n`);
}
