// Sessions of other directories: below Bosun's home, one store for each. Only looked at.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { StoreFailure } from "#base/kit";
import type { SessionId } from "#base/protocol";
import { openSessionStore, type SessionRecord } from "#stores/sessions";
import { STORE_FILE } from "../project";

/** Every store below `home` but `own`. */
function otherStores(home: string, own: string): string[] {
  let names: string[];
  try {
    names = readdirSync(join(home, "projects"));
  } catch {
    // Nothing was ever kept.
    return [];
  }
  return names
    .map((name) => join(home, "projects", name, STORE_FILE))
    .filter((path) => path !== own && existsSync(path));
}

/** The sessions of other directories, by store; a store that cannot be read is left out. */
export function listElsewhere(
  home: string,
  own: string,
): { path: string; records: SessionRecord[] }[] {
  return otherStores(home, own).flatMap((path) => {
    try {
      const store = openSessionStore(path, { mends: false });
      const records = store.list();
      store.close();
      return records.length > 0 ? [{ path, records }] : [];
    } catch (error) {
      if (!(error instanceof StoreFailure)) throw error;
      return [];
    }
  });
}

/** The directory that the session belongs to; undefined when there is no such session. */
export function findElsewhere(home: string, own: string, id: SessionId): string | undefined {
  for (const { records } of listElsewhere(home, own)) {
    const record = records.find((candidate) => candidate.id === id);
    if (record) return record.workspace;
  }
  return undefined;
}
