// Settings for commands that nobody was asked about: git starts no program that the repository's
// own configuration names. The user's global configuration stays as it is: it is the user's.
// Not covered: submodules, whose git gets a fresh environment from git itself.
// Source: git-config(1), gitattributes(5).

import { realpathSync } from "node:fs";
import { delimiter, isAbsolute } from "node:path";

/** Settings that can always be given, and cost nothing. */
const ALWAYS: readonly (readonly [string, string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["log.showSignature", "false"],
  ["diff.ignoreSubmodules", "dirty"],
];

/** Takes the seven words that git gives an external diff program. */
const PLAIN_DIFF = 'bosun_diff() { diff -u -L "a/$1" -L "b/$1" "$2" "$5"; return 0; }; bosun_diff';

/** Settings that name a program, in the repository's configuration, and what takes their place. */
const NAMED: readonly { key: RegExp; value: string }[] = [
  { key: /^diff\.external$/i, value: PLAIN_DIFF },
  { key: /^diff\..+\.command$/i, value: PLAIN_DIFF },
  { key: /^diff\..+\.textconv$/i, value: "cat" },
  { key: /^filter\..+\.(?:clean|smudge)$/i, value: "cat" },
  { key: /^filter\..+\.process$/i, value: "" },
  { key: /^gpg(?:\..+)?\.program$/i, value: "false" },
];

/** A reading that takes longer is no repository worth waiting for. */
const READ_TIMEOUT_MS = 2000;

/** The variables that switch it off, for a command that may call git; none for others. */
export async function hardenedGit(command: string, cwd: string): Promise<Record<string, string>> {
  if (!/\bgit\b/.test(command)) return {};
  const settings = [...ALWAYS];
  for (const key of await repositoryKeys(cwd)) {
    const named = NAMED.find((candidate) => candidate.key.test(key));
    if (named) settings.push([key, named.value]);
  }
  const variables: Record<string, string> = {
    GIT_CONFIG_COUNT: String(settings.length),
    // Reading a part of a partial clone would fetch it, by a program that its config names.
    GIT_NO_LAZY_FETCH: "1",
  };
  settings.forEach(([key, value], at) => {
    variables[`GIT_CONFIG_KEY_${at}`] = key;
    variables[`GIT_CONFIG_VALUE_${at}`] = value;
  });
  return variables;
}

/** The names of all settings that come from the repository, its includes too. */
async function repositoryKeys(cwd: string): Promise<string[]> {
  const git = Bun.which("git", { PATH: trustedPath() });
  if (!git) return [];
  const child = Bun.spawn([git, "config", "--list", "--show-scope", "--name-only", "-z"], {
    cwd,
    env: process.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
    timeout: READ_TIMEOUT_MS,
  });
  const words = (await child.stdout.text()).split("\0");
  const keys: string[] = [];
  for (let at = 0; at + 1 < words.length; at += 2) {
    if (words[at] === "local" || words[at] === "worktree") keys.push(words[at + 1] ?? "");
  }
  return keys;
}

/** Folders that commands may write: one could have left a program of that name there. */
const UNTRUSTED = ["/tmp", "/dev"];

/** The PATH without relative folders, and without those that a command may write. */
function trustedPath(): string {
  const untrusted = [...UNTRUSTED, process.cwd()];
  const isTrusted = (folder: string): boolean => {
    try {
      const real = isAbsolute(folder) ? realpathSync(folder) : "";
      return real !== "" && !untrusted.some((at) => real === at || real.startsWith(`${at}/`));
    } catch {
      // Not there: then no program lies in it now, and whoever makes it is not known.
      return false;
    }
  };
  return (process.env.PATH ?? "").split(delimiter).filter(isTrusted).join(delimiter);
}
