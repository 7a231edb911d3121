// Commands that are known to write to their operands: enough of them to refuse what would change
// git's hooks and config, or Bosun's own files. All other writing is asked about anyway.

import type { Word } from "./word";
import { type Place, whyNotWrittenTo } from "./word-paths";

const WRITES_ALL = new Set(
  "rm mv touch tee truncate chmod chown chgrp ln mkdir rmdir unlink shred dd patch ed ex vi vim nano emacs sponge setfacl chattr rename unzip".split(
    " ",
  ),
);
/** These read all operands but the last, or the one behind `-t`. */
const WRITES_LAST = new Set(["cp", "install", "rsync", "scp"]);
/** These write only with an option like `-i`. */
const WRITES_IN_PLACE = /^-(?:[A-Za-z]*i|-in-place)/;

export function writesGuarded(words: readonly Word[], place: Place): string | undefined {
  const at = words.findIndex((word) => {
    const name = word.literal?.split("/").at(-1) ?? "";
    return WRITES_ALL.has(name) || WRITES_LAST.has(name) || name === "sed" || name === "perl";
  });
  if (at < 0) return undefined;
  const name = words[at]?.literal?.split("/").at(-1) ?? "";
  let targets = words.slice(at + 1);
  if (name === "sed" || name === "perl") {
    if (!targets.some((word) => WRITES_IN_PLACE.test(word.lead))) return undefined;
  } else if (WRITES_LAST.has(name)) {
    const into = targets.findIndex((word) => /^(?:-t|--target-directory)/.test(word.lead));
    targets = into >= 0 ? targets.slice(into, into + 2) : targets.slice(-1);
  }
  for (const target of targets) {
    const why = whyNotWrittenTo(target, place);
    if (why) return why;
  }
  return undefined;
}
