// What this session knows of the files it read or wrote: the content each had when it was seen.
// `write_file` overwrites only what is still as it was seen.

/** How a real path stands against what the session knows. */
export type Knowledge = "unseen" | "current" | "changed";

export interface Ledger {
  /** The file had this fingerprint when its content was shown to, or came from, the model. */
  saw(realPath: string, fingerprint: string): void;
  /** Moves knowledge along with an edit: only a file that was known stays known. */
  changed(realPath: string, before: string, after: string): void;
  knows(realPath: string, fingerprint: string): Knowledge;
}

/** Files remembered; the one seen longest ago is forgotten first and must be read again. */
const FILES_MAX = 10_000;

export function createReadLedger(): Ledger {
  const seen = new Map<string, string>();
  const saw = (realPath: string, fingerprint: string): void => {
    seen.delete(realPath);
    seen.set(realPath, fingerprint);
    if (seen.size > FILES_MAX) seen.delete(seen.keys().next().value ?? realPath);
  };
  const knows = (realPath: string, fingerprint: string): Knowledge => {
    const known = seen.get(realPath);
    if (known === undefined) return "unseen";
    return known === fingerprint ? "current" : "changed";
  };
  return {
    saw,
    knows,
    changed(realPath, before, after) {
      if (knows(realPath, before) === "current") saw(realPath, after);
    },
  };
}
