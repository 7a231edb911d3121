// find's expression, by allow-list (GNU findutils 4.9, BSD find): tests, -print and its kin. What
// runs (-exec, -ok), deletes or writes a file (-fprint) is simply not on the list.

import type { Call } from "./entry";
import { isSeveral, mayHideOption } from "./word";

const WITH_VALUE = new Set(
  "name iname path ipath wholename iwholename regex iregex lname ilname type xtype size mtime mmin atime amin ctime cmin Bmin newer anewer cnewer maxdepth mindepth user group uid gid perm links inum samefile fstype used regextype printf context".split(
    " ",
  ),
);
const ALONE = new Set(
  "print print0 ls prune quit empty readable writable executable depth d mount xdev x follow nouser nogroup true false not a o and or daystart noleaf warn nowarn ignore_readdir_race noignore_readdir_race help version".split(
    " ",
  ),
);
const NEWER = /^newer[aBcmt][aBcmt]$/;

export function judgeFind(call: Call): string | null {
  for (let index = 0; index < call.words.length; index++) {
    const word = call.words[index];
    if (!word) break;
    if (word.literal === null) {
      if (mayHideOption(word)) return `\`${word.raw}\` may become an action of find`;
      continue;
    }
    const text = word.literal;
    if (/^-(?:[HLPEXs]|O[0-3])$/.test(text)) continue;
    if (!text.startsWith("-")) continue;
    const name = text.slice(1);
    if (ALONE.has(name)) continue;
    if (!WITH_VALUE.has(name) && !NEWER.test(name)) {
      return `\`${text}\` of find is not known to only read`;
    }
    const value = call.words[++index];
    if (!value) return `\`${text}\` of find lacks its value`;
    if (isSeveral(value)) return `\`${value.raw}\` may become several words, and an action of find`;
  }
  return null;
}
