// Looks through commands that run other commands, for rules that forbid: `env rm x` is also `rm x`.
// Only for refusing: nothing is ever allowed because of what is found here.

import { lex } from "./lex";
import { cut } from "./script";
import { knownWord, type Word } from "./word";

const WRAPPERS = new Set(
  "env timeout nice nohup time command builtin exec stdbuf setsid sudo doas xargs ionice chrt watch strace ltrace unbuffer script flock parallel busybox toybox caffeinate chroot unshare nsenter systemd-run npx bunx".split(
    " ",
  ),
);
const SHELLS = new Set(["sh", "bash", "dash", "zsh", "ksh", "ash"]);
const DEPTH_MAX = 4;

function nameOf(word: Word | undefined): string {
  return word?.literal?.split("/").at(-1) ?? "";
}

/** Scripts that the command hands to a shell, as text. */
export function innerScripts(words: readonly Word[]): string[] {
  const found: string[] = [];
  words.forEach((word, index) => {
    const name = nameOf(word);
    if (SHELLS.has(name)) {
      const flag = words.findIndex((each, at) => at > index && /^-\w*c$/.test(each.literal ?? ""));
      const script = flag < 0 ? undefined : words[flag + 1]?.literal;
      if (script) found.push(script);
    }
    if (name === "eval" || name === "watch") {
      const rest = words.slice(index + 1).filter((each) => !each.lead.startsWith("-"));
      found.push(rest.map((each) => each.literal ?? "").join(" "));
    }
  });
  return found;
}

/**
 * The words, and every tail of them that a wrapper in front may run. Where a wrapper's options end
 * is not worked out: each word behind it may be the command.
 */
export function unwrap(words: readonly Word[], depth = 0): Word[][] {
  const [first] = words;
  const found: Word[][] = [[...words]];
  if (!first || depth > DEPTH_MAX) return found;
  const name = nameOf(first);
  if (name !== first.literal && first.literal) found.push([knownWord(name), ...words.slice(1)]);
  if (WRAPPERS.has(name)) {
    for (let at = 1; at < words.length; at++) found.push([...words.slice(at)]);
  }
  if (name === "find" || name === "fd") {
    words.forEach((word, at) => {
      if (/^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(word.literal ?? "")) {
        found.push([...words.slice(at + 1)]);
      }
    });
  }
  for (const script of innerScripts(words)) {
    for (const pipeline of cut(lex(script)).pipelines) {
      for (const command of pipeline) found.push(...unwrap(command.words, depth + 1));
    }
  }
  return found;
}
