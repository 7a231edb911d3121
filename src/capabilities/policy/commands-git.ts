// git, command by command. Even a reading command runs programs that the repository's own config
// names (core.fsmonitor, diff.external, pagers): Bosun's shell switches those off in the
// environment, so here only what leads around that is refused: other directories, other config.

import { type Call, type Entry, special } from "./entry";
import { GIT_OPTIONS } from "./git-options";
import { hasOption, type ParsedOptions, parseOptions } from "./options";
import type { Word } from "./word";
import { exactPath, whyNotSearched } from "./word-paths";

const GLOBAL_FLAGS = new Set([
  "--no-pager",
  "-P",
  "--no-optional-locks",
  "--literal-pathspecs",
  "--glob-pathspecs",
  "--noglob-pathspecs",
  "--icase-pathspecs",
  "--no-replace-objects",
  "--no-lazy-fetch",
]);

/** `%G` in a format, and `signature` in a field, make git run a program that checks signatures. */
const SIGNATURE = /%G|signature/i;

type Check = (parsed: ParsedOptions, call: Call) => string | null;

const WITH_LIST = ["--list"];
const FILTERS = ["--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];

/** An operand names a new branch or tag, unless the command was told to list. */
function listing(name: string, ...lists: readonly string[]): Check {
  return (parsed) =>
    parsed.operands.length === 0 || hasOption(parsed, ...WITH_LIST, ...FILTERS, ...lists)
      ? null
      : `\`git ${name}\` with a name creates one`;
}

function firstOperand(parsed: ParsedOptions): string | undefined {
  const word = parsed.operands[0];
  return word ? (word.literal ?? "?") : undefined;
}

const SECRET_KEY = /extraheader|password|passwd|token|secret|credential|\.pass$|apikey/i;

function checkConfig(parsed: ParsedOptions): string | null {
  const names = parsed.operands.map((word) => word.literal);
  if (names.includes(null)) return "the name of the setting is not known";
  const secret = names.find((name) => SECRET_KEY.test(name ?? ""));
  if (secret) return `\`${secret}\` may hold a secret`;
  if (hasOption(parsed, "--get", "--get-all", "--get-regexp", "--get-urlmatch")) return null;
  if (hasOption(parsed, "--get-color", "--get-colorbool")) return null;
  if (hasOption(parsed, "-l", "--list")) return names.length === 0 ? null : "it may set a value";
  if (names[0] === "list") return names.length === 1 ? null : "it may set a value";
  if (names[0] === "get") return names.length <= 3 ? null : "it may set a value";
  const reads = names.length === 1 && (names[0] ?? "").includes(".");
  return reads ? null : "`git config` may set a value";
}

function onlyAction(name: string, ...actions: readonly string[]): Check {
  return (parsed) => {
    const action = firstOperand(parsed) ?? "";
    return actions.includes(action) ? null : `\`git ${name} ${action}\` is not known to only read`;
  };
}

function checkStash(parsed: ParsedOptions): string | null {
  const action = firstOperand(parsed);
  return action === "list" || action === "show" ? null : "`git stash` changes the work tree";
}

function checkReflog(parsed: ParsedOptions): string | null {
  const action = firstOperand(parsed);
  if (action === undefined || ["show", "list", "exists", "HEAD"].includes(action)) return null;
  return /^HEAD@\{/.test(action) ? null : `\`git reflog ${action}\` is not known to only read`;
}

function checkRemote(parsed: ParsedOptions): string | null {
  const action = firstOperand(parsed);
  return action === undefined ? null : `\`git remote ${action}\` may change or reach a remote`;
}

/** Outside of a repository, or when told so, it compares whole folders. */
function checkDiff(parsed: ParsedOptions, call: Call): string | null {
  for (const operand of parsed.operands) {
    const why = whyNotSearched(operand, call.place);
    if (why) return why;
  }
  return null;
}

const CHECKS: Record<string, Check> = {
  branch: listing("branch"),
  tag: listing("tag", "-l"),
  remote: checkRemote,
  stash: checkStash,
  reflog: checkReflog,
  diff: checkDiff,
  config: checkConfig,
  notes: onlyAction("notes", "list", "show"),
  bisect: onlyAction("bisect", "log"),
  worktree: (parsed) => (firstOperand(parsed) === "list" ? null : "`git worktree` may change one"),
  apply: (parsed) =>
    hasOption(parsed, "--check", "--stat", "--numstat", "--summary")
      ? null
      : "`git apply` changes files",
  "symbolic-ref": (parsed) =>
    parsed.operands.length === 1 ? null : "`git symbolic-ref` with two operands writes",
};

function checkRemoteWords(words: readonly Word[]): string | null {
  const [action, ...rest] = words;
  if (action?.literal !== "get-url") return "";
  const bad = rest.find((word) => word.literal === null || /^-(?!-push$|-all$)/.test(word.literal));
  return bad ? `\`${bad.raw}\` is not known to only read` : null;
}

/** Names that git itself knows; another one is an alias of the config, with any format in it. */
const FORMAT = /^(?:oneline|short|medium|full|fuller|reference|email|raw|mboxrd|t?format:|[^%]*%)/;

function formatProblem(parsed: ParsedOptions): string | null {
  for (const { name, value, word } of parsed.options) {
    if (!/^--(?:format|pretty|sort|group)$/.test(name)) continue;
    if (name === "--pretty" && word.literal === name) continue;
    if (value === null) return `the format \`${word.raw}\` is not known`;
    if (SIGNATURE.test(value)) return `\`${word.raw}\` runs a program that checks signatures`;
    if (name === "--pretty" && !FORMAT.test(value)) return `the format \`${value}\` is not known`;
  }
  return null;
}

/** These read what to do from their first word; options in front of it mean something else. */
const WITH_ACTION = new Set(["stash", "reflog", "worktree", "remote", "notes", "bisect"]);

function judgeSubcommand(name: string, words: readonly Word[], call: Call): string | null {
  const notation = Object.hasOwn(GIT_OPTIONS, name) ? GIT_OPTIONS[name] : undefined;
  if (notation === undefined) return `\`git ${name}\` is not known to only read`;
  if (name === "remote" && words.length > 0) {
    const why = checkRemoteWords(words);
    if (why !== "") return why;
  }
  const parsed = parseOptions(`git ${name}`, words, notation);
  if (parsed.problem !== null) return parsed.problem;
  // Its help page opens in a pager or a browser.
  if (hasOption(parsed, "--help")) return `\`git ${name} --help\` opens a page`;
  const unknownFormat = formatProblem(parsed);
  if (unknownFormat !== null) return unknownFormat;
  const action = parsed.operands[0];
  if (WITH_ACTION.has(name) && action && action !== words[0]) {
    return `\`${action.raw}\` stands behind an option of \`git ${name}\``;
  }
  return CHECKS[name]?.(parsed, call) ?? null;
}

function judgeGit(call: Call): string | null {
  let at = 0;
  for (; at < call.words.length; at++) {
    const word = call.words[at];
    const text = word?.literal;
    if (text === null || text === undefined) return "it is not known what git is told to do";
    if (text === "-C") {
      const folder = call.words[++at];
      const isHere = folder && exactPath(folder, call.place)?.replace(/\/$/, "") === call.place.cwd;
      if (!isHere) return "the config of another repository can run programs";
    } else if (!GLOBAL_FLAGS.has(text)) {
      break;
    }
  }
  const name = call.words[at]?.literal ?? "";
  if (name === "--version" || name === "-v") return null;
  if (name === "" || name.startsWith("-")) {
    return name === ""
      ? "git without a command opens no page, but is not known to only read"
      : `option \`${name}\` of git is not known to only read`;
  }
  if (call.moved) return "after `cd`, the config of another repository can run programs";
  const alias = name === "annotate" ? "blame" : name;
  return judgeSubcommand(alias, call.words.slice(at + 1), call);
}

export const GIT_COMMANDS: Record<string, Entry> = { git: special(judgeGit) };
