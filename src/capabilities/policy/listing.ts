// Names that xargs takes from a pipe are known to be harmless only when a lister found them below
// a folder without private paths, and everything in between just leaves some of them out.

import type { SimpleCommand } from "./script";
import type { Word } from "./word";
import { type Place, whyNotSearched } from "./word-paths";

function isOption(word: Word, ...names: readonly string[]): boolean {
  const text = word.literal ?? "";
  return names.some(
    (name) =>
      text === name || (/^-\w$/.test(name) && /^-\w+$/.test(text) && text.includes(name.slice(1))),
  );
}

function isLister([program, ...words]: readonly Word[]): boolean {
  const name = program?.literal ?? "";
  const has = (...names: readonly string[]): boolean =>
    words.some((word) => isOption(word, ...names));
  if (name === "find" || name === "fd" || name === "fdfind") {
    return !words.some(
      (word) => /^-(?:printf|ls|fls|format)/.test(word.lead) || word.lead === "--format",
    );
  }
  if (name === "rg") return has("--files", "-l", "--files-with-matches");
  if (name === "grep" || name === "egrep") return has("-l", "-L", "--files-with-matches");
  if (name !== "git") return false;
  return words[0]?.literal === "ls-files" || (words[0]?.literal === "diff" && has("--name-only"));
}

export function listsNames(command: SimpleCommand, place: Place): boolean {
  const [, ...words] = command.words;
  if (!isLister(command.words) || whyNotSearched(undefined, place)) return false;
  return words.every(
    (word) => word.lead.startsWith("-") || (word.literal !== null && !whyNotSearched(word, place)),
  );
}

/** The command leaves some lines out, or orders them, and reads nothing but the pipe. */
export function passesNames({ words: [program, ...words], redirects }: SimpleCommand): boolean {
  const name = program?.literal ?? "";
  if (redirects.some((redirect) => redirect.operator.startsWith("<"))) return false;
  const operands = words.filter((word) => !/^-|^\d+$/.test(word.lead)).length;
  if (["head", "tail", "sort", "uniq", "tac"].includes(name)) return operands === 0;
  return (
    ["grep", "egrep", "fgrep"].includes(name) &&
    operands === 1 &&
    !words.some((word) => isOption(word, "-f", "-r", "-o"))
  );
}
