// How sessions are listed, for people: newest first, one a line.

import type { SessionId } from "#base/protocol";
import type { SessionRecord } from "#stores/sessions";

const MARK = { main: " ", fork: "⑂", worker: "·" } as const;

/** More of them push what is wanted off the screen. */
const LISTED_MAX = 25;

/** `current` is marked; so are those at work elsewhere. */
export function listSessions(
  records: readonly SessionRecord[],
  current: SessionId | undefined,
  { max = LISTED_MAX }: { max?: number } = {},
): string {
  if (records.length === 0) return "No sessions are kept for this directory.";
  const more = records.length - max;
  const lines = records.slice(0, max).map((record) => {
    const when = new Date(record.updated).toISOString().slice(0, 16).replace("T", " ");
    const title = record.title || "(no request)";
    const state =
      record.id === current
        ? "  (this one)"
        : record.owner === undefined
          ? ""
          : `  (at work, process ${record.owner})`;
    return `${MARK[record.kind]} ${record.id}  ${when}  ${title}${state}`;
  });
  if (more > 0) lines.push(`  ... and ${more} older ones. All of them: bosun sessions all`);
  return lines.join("\n");
}
