// How sessions are listed, for people: newest first, one a line.

import type { SessionId } from "#base/protocol";
import type { SessionRecord } from "#stores/sessions";

const MARK = { main: " ", fork: "⑂", worker: "·" } as const;

/** `current` is marked; so are those at work elsewhere. */
export function listSessions(
  records: readonly SessionRecord[],
  current: SessionId | undefined,
): string {
  if (records.length === 0) return "No sessions are kept for this directory.";
  return records
    .map((record) => {
      const when = new Date(record.updated).toISOString().slice(0, 16).replace("T", " ");
      const title = record.title || "(no request)";
      const state =
        record.id === current
          ? "  (this one)"
          : record.owner === undefined
            ? ""
            : `  (at work, process ${record.owner})`;
      return `${MARK[record.kind]} ${record.id}  ${when}  ${title}${state}`;
    })
    .join("\n");
}
