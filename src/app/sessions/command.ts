// `bosun sessions`: the conversations of this directory, then where others lie; and copies.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeSessionId } from "#base/protocol";
import {
  openSessionStore,
  SessionJournal,
  type SessionRecord,
  type SessionStore,
} from "#stores/sessions";
import { UsageError } from "../config/arguments";
import type { Invocation } from "../invocation";
import { projectDirectory, STORE_FILE } from "../project";
import { listElsewhere } from "./elsewhere";
import { listSessions } from "./list";
import { answerOpenCalls, dropOpaqueParts } from "./recover";
import { routeOf } from "./route";

/** Lists the newest, with `all` all; `fork ID` copies a session of any directory to this one. */
export async function runSessionsCommand(invocation: Invocation): Promise<number> {
  const { args, configuration, cwd } = invocation;
  const [word, id, ...more] = args.words;
  const own = join(projectDirectory(configuration.home, cwd), STORE_FILE);
  if (id === undefined && (word === undefined || word === "all")) {
    return list(invocation, own, word === undefined ? undefined : Number.POSITIVE_INFINITY);
  }
  if (word !== "fork" || id === undefined || more.length > 0) {
    throw new UsageError("sessions takes no words, or: all, or: fork ID.");
  }
  const copied = copySession(invocation, own, id);
  await Bun.write(Bun.stdout, `Session ${copied} is a copy of ${id}: bosun --resume ${copied}\n`);
  return 0;
}

async function list(
  { configuration, cwd }: Invocation,
  own: string,
  max: number | undefined,
): Promise<number> {
  const records = existsSync(own) ? recordsOf(own) : [];
  const elsewhere = listElsewhere(configuration.home, own);
  if (configuration.settings.json) {
    const all = [...records, ...elsewhere.flatMap((place) => place.records)];
    await Bun.write(Bun.stdout, all.map((record) => `${JSON.stringify(record)}\n`).join(""));
    return 0;
  }
  const others = elsewhere.map(({ records: [newest, ...rest] }) => {
    const count = rest.length + 1;
    const sessions = count === 1 ? "1 session" : `${count} sessions`;
    const line = `${newest?.workspace}: ${sessions}, the latest ${newest?.id}  ${newest?.title}`;
    return `  ${oneLine(line)}`;
  });
  const parts = [
    `${oneLine(cwd)}\n${listSessions(records, undefined, max === undefined ? {} : { max })}`,
  ];
  if (others.length > 0) parts.push(`In other places:\n${others.join("\n")}`);
  await Bun.write(Bun.stdout, `${parts.join("\n\n")}\n`);
  return 0;
}

function recordsOf(path: string): SessionRecord[] {
  const store = openSessionStore(path);
  const records = store.list();
  for (const notice of store.notices) process.stderr.write(`bosun: ${notice}\n`);
  store.close();
  return records;
}

/** Only what every endpoint understands is copied: the copy may go on anywhere. */
function copySession({ configuration, cwd }: Invocation, own: string, id: string): string {
  const { apiBase = "", model = "" } = configuration.settings;
  const target = openSessionStore(own);
  const place = target.find(id)
    ? own
    : listElsewhere(configuration.home, own).find(({ records }) =>
        records.some((record) => record.id === id),
      )?.path;
  if (place === undefined) {
    target.close();
    throw new UsageError(`There is no session ${id}. See: bosun sessions.`);
  }
  const source: SessionStore = place === own ? target : openSessionStore(place);
  const { record, messages, calls, state } = source.peek(id);
  const copy = makeSessionId(Date.now());
  const handle = target.create({
    id: copy,
    kind: "main",
    model: model || record.model,
    route: apiBase === "" ? "" : routeOf(apiBase),
    workspace: cwd,
  });
  const answered = answerOpenCalls(dropOpaqueParts(messages), calls).messages;
  const journal = new SessionJournal({ cwd: () => cwd, state });
  journal.attach(handle);
  journal.replaceContext(answered, new Date().toISOString());
  handle.setTitle(record.title);
  journal.close();
  if (source !== target) source.close();
  target.close();
  return copy;
}

/** A directory may have any character in its name: none of them moves the cursor. */
function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, "?");
}
