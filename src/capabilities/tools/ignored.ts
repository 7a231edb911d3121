// What git ignores, as rules that go along with a walk: .gitignore of every folder down from the
// repository's top, .git/info/exclude, and the user's own excludes. Outside of a repository only
// the rules from the start of the walk downwards count.

import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import ignore, { type Ignore } from "ignore";

/** A larger .gitignore is no list of patterns. */
const RULES_BYTES_MAX = 1024 * 1024;

/** Rules of one file, with the folder that their patterns are relative to. */
interface RuleFile {
  base: string;
  matcher: Ignore;
}

/** The rules in force in one folder; those later in the list win. */
export class IgnoreRules {
  /** The start of the walk is ignored itself, so that rules from above it do not count. */
  readonly isStartHidden: boolean;
  /** The top of the repository that the walk starts in, if it does. */
  readonly repository: string | undefined;
  readonly #files: readonly RuleFile[];

  private constructor(
    files: readonly RuleFile[],
    from: { isStartHidden: boolean; repository: string | undefined },
  ) {
    this.#files = files;
    this.isStartHidden = from.isStartHidden;
    this.repository = from.repository;
  }

  /** The rules in force where a walk of `start` (a real path) begins. */
  static at(start: string): IgnoreRules {
    const top = repositoryOf(start);
    const files: (RuleFile | undefined)[] = [];
    if (top !== undefined) {
      files.push(
        readRules(globalExcludes(), top),
        readRules(join(gitFolder(top), "info", "exclude"), top),
      );
      for (const folder of foldersBetween(top, start)) {
        files.push(readRules(join(folder, ".gitignore"), folder));
      }
    }
    const known = files.filter((file) => file !== undefined);
    // Who names a folder means it, even if a rule ignores it.
    const isStartHidden = known.some((file) => hides(file, start));
    return new IgnoreRules(isStartHidden ? [] : known, { isStartHidden, repository: top });
  }

  /**
   * The rules inside `folder`, which has a .gitignore if `hasOwn`. A rule that hides the folder,
   * but was overruled by a deeper one, has no say in it.
   */
  enter(folder: string, hasOwn: boolean): IgnoreRules {
    const files = this.#files.filter((file) => !hides(file, folder));
    const own = hasOwn ? readRules(join(folder, ".gitignore"), folder) : undefined;
    if (!own && files.length === this.#files.length) return this;
    return new IgnoreRules(own ? [...files, own] : files, this);
  }

  /** Whether git would leave out this entry of a folder that it does not leave out. */
  isIgnored(path: string, isFolder: boolean): boolean {
    for (let index = this.#files.length - 1; index >= 0; index--) {
      const file = this.#files[index];
      if (!file) continue;
      const name = relative(file.base, path);
      const verdict = file.matcher.test(isFolder ? `${name}/` : name);
      if (verdict.ignored) return true;
      if (verdict.unignored) return false;
    }
    return false;
  }
}

/** True when a rule leaves out the folder itself, or one above it: all inside would be hidden. */
function hides(file: RuleFile, folder: string): boolean {
  const name = relative(file.base, folder);
  return name !== "" && !name.startsWith("..") && file.matcher.ignores(`${name}/`);
}

function readRules(path: string | undefined, base: string): RuleFile | undefined {
  if (path === undefined) return undefined;
  try {
    const { size } = statSync(path);
    if (size === 0 || size > RULES_BYTES_MAX) return undefined;
    const text = readFileSync(path, "utf8").replace(/^\ufeff/, "");
    return { base, matcher: ignore({ ignorecase: false, allowRelativePaths: true }).add(text) };
  } catch {
    // Not there or not readable: git goes on without it, too.
    return undefined;
  }
}

/** The folder with `.git` at or above `start`. */
export function repositoryOf(start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

/** `.git` itself, or where the file `.git` of a worktree points, to its shared part. */
function gitFolder(top: string): string {
  const git = join(top, ".git");
  try {
    if (statSync(git).isDirectory()) return git;
    const target = /^gitdir: (.*)$/m.exec(readFileSync(git, "utf8"))?.[1];
    if (target === undefined) return git;
    const own = resolve(top, target.trim());
    const shared = join(own, "commondir");
    return existsSync(shared) ? resolve(own, readFileSync(shared, "utf8").trim()) : own;
  } catch {
    // Unreadable: then there is no exclude file to be found in it either.
    return git;
  }
}

/** From the top down to `start`, without `start` itself: its rules are read on entering it. */
function foldersBetween(top: string, start: string): string[] {
  const folders: string[] = [];
  for (let folder = start; folder !== top; folder = dirname(folder)) {
    if (folder !== start) folders.unshift(folder);
  }
  return start === top ? [] : [top, ...folders];
}

/** The user's excludes: `core.excludesFile` of the global configuration, or its usual place. */
function globalExcludes(): string {
  const home = homedir();
  const configured = process.env.XDG_CONFIG_HOME || join(home, ".config");
  for (const path of [join(home, ".gitconfig"), join(configured, "git", "config")]) {
    try {
      const text = readFileSync(path, "utf8");
      const file = /^\s*excludesfile\s*=\s*"?([^"\n#;]+?)"?\s*$/im.exec(text)?.[1];
      if (file) return file.startsWith("~/") ? join(home, file.slice(2)) : resolve(home, file);
    } catch {
      // No such configuration: the next one, or the default.
    }
  }
  return join(configured, "git", "ignore");
}
