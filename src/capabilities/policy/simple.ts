// Judges one simple command: its assignments, redirections, name, options and the files that it
// names. The list of what is read-only is closed: what is not on it asks.

import { FILE_COMMANDS } from "./commands-files";
import { GIT_COMMANDS } from "./commands-git";
import { SYSTEM_COMMANDS } from "./commands-system";
import { TEXT_COMMANDS } from "./commands-text";
import { asksVersion, isHarmlessAssignment, WRAPPERS } from "./commands-wrappers";
import type { Call, Entry } from "./entry";
import type { Redirect, SimpleCommand } from "./script";
import { SECRET_NAME } from "./secret-names";
import type { Word } from "./word";
import { type Place, whyNotWrittenTo, wordReach } from "./word-paths";
import { writesGuarded } from "./writers";

export interface Finding {
  verdict: "read-only" | "ask" | "deny";
  reason: string;
  /** It asks whatever stands around it, so that no more needs to be known. */
  isCertain?: boolean;
}

export interface Surroundings {
  place: Place;
  input: Call["input"];
  moved: boolean;
  /** The user's own read-only commands, each cut into words. */
  extra: readonly (readonly string[])[];
}

const ENTRIES: ReadonlyMap<string, Entry> = new Map(
  [TEXT_COMMANDS, FILE_COMMANDS, SYSTEM_COMMANDS, GIT_COMMANDS, WRAPPERS].flatMap((table) =>
    Object.entries(table),
  ),
);

const NAME = /^(?:[A-Za-z0-9_][A-Za-z0-9_.+-]*|\[|:)$/;
const NESTING_MAX = 8;

function nameProblem(word: Word): string | null {
  if (word.literal === null) return `which command \`${word.raw}\` will be is not known`;
  if (/\//.test(word.literal)) return `\`${word.raw}\` is a path, not a well-known command`;
  if (word.raw !== word.literal) return `\`${word.raw}\` spells its command in a hidden way`;
  return NAME.test(word.raw) ? null : `\`${word.raw}\` is not a known command`;
}

function matchesExtra(words: readonly Word[], extra: Surroundings["extra"]): boolean {
  return extra.some(
    (tokens) =>
      tokens.length > 0 && tokens.every((token, index) => words[index]?.literal === token),
  );
}

function secretVariable(words: readonly Word[]): string | undefined {
  for (const { pieces } of words) {
    for (const piece of pieces) {
      if (piece.kind === "variable" && SECRET_NAME.test(piece.name)) return piece.name;
    }
  }
  return undefined;
}

/** Why the command named by `words` may do more than read; null when it only reads. */
function wordsProblem(words: readonly Word[], around: Surroundings, depth: number): string | null {
  const [name, ...rest] = words;
  if (!name) return null;
  if (depth > NESTING_MAX) return "too many commands run each other";
  if (name.raw === name.literal && matchesExtra(words, around.extra)) return null;
  const unknown = nameProblem(name);
  if (unknown !== null) return unknown;
  if (asksVersion(name.raw, rest)) return null;
  const entry = ENTRIES.get(name.raw);
  if (!entry) return `\`${name.raw}\` is not known to only read`;
  const secret = secretVariable(rest);
  if (secret !== undefined) return `the variable ${secret} may hold a secret`;
  if (entry.reads === "content") {
    for (const word of rest) {
      const reach = wordReach(word, around.place);
      if (reach.kind !== "open") return reach.why;
    }
  }
  return entry.judge({
    program: name.raw,
    words: rest,
    place: around.place,
    input: around.input,
    moved: around.moved,
    judgeInner: (inner) => wordsProblem(inner, around, depth + 1),
  });
}

const TO_DESCRIPTOR = /^(?:\d+|-)$/;

function redirectFinding(redirect: Redirect, place: Place): Finding | null {
  const { operator, target } = redirect;
  if (operator === "<<" || operator === "<<-") return null;
  if (operator === "<<<") {
    const secret = secretVariable([target]);
    return secret ? { verdict: "ask", reason: `the variable ${secret} may hold a secret` } : null;
  }
  if (operator === "<") {
    const reach = wordReach(target, place);
    if (reach.kind === "private") return { verdict: "deny", reason: reach.why };
    if (reach.kind === "hidden") return { verdict: "ask", reason: reach.why };
    const isDevice = /^\/dev\/(?!null$|stdin$|u?random$|zero$)/.test(target.literal ?? "");
    return isDevice
      ? { verdict: "ask", reason: `\`< ${target.raw}\` opens a device or the network` }
      : null;
  }
  if (target.raw === "/dev/null" && operator !== "<>") return null;
  if ((operator === ">&" || operator === "<&") && TO_DESCRIPTOR.test(target.raw)) return null;
  const guarded = whyNotWrittenTo(target, place);
  if (guarded) return { verdict: "deny", reason: guarded };
  const reach = wordReach(target, place);
  if (reach.kind === "private") return { verdict: "deny", reason: reach.why };
  const reason = `\`${operator}\` writes to ${target.raw}`;
  return { verdict: "ask", reason, isCertain: true };
}

/** What must be refused whatever anybody says. */
function denial(command: SimpleCommand, around: Surroundings): string | undefined {
  const entry = ENTRIES.get(command.words[0]?.literal ?? "");
  if (entry?.reads === "text" && !Object.hasOwn(WRAPPERS, command.words[0]?.literal ?? "")) {
    return undefined;
  }
  for (const word of [...command.words, ...command.assignments]) {
    const reach = wordReach(word, around.place);
    const isOnlyNamed = entry?.reads === "names" && reach.kind === "private" && reach.isCredential;
    if (reach.kind === "private" && !isOnlyNamed) return reach.why;
  }
  return writesGuarded(command.words, around.place);
}

/** What stands around the words: redirections and assignments. */
export function extrasFinding(command: SimpleCommand, place: Place): Finding | null {
  let asked: Finding | null = null;
  for (const redirect of command.redirects) {
    const finding = redirectFinding(redirect, place);
    if (finding?.verdict === "deny") return finding;
    asked ??= finding;
  }
  const assignment = command.assignments.find((word) => !isHarmlessAssignment(word));
  if (!assignment) return asked;
  const reason = `the variable in \`${assignment.raw}\` may change what runs`;
  return { verdict: "ask", reason, isCertain: true };
}

/** The name alone tells that it is not on the list. */
function isUnlisted(command: SimpleCommand, extra: Surroundings["extra"]): boolean {
  const [name, ...rest] = command.words;
  if (!name || name.literal === null || name.splits || matchesExtra(command.words, extra))
    return false;
  return !ENTRIES.has(name.raw) && !asksVersion(name.raw, rest);
}

export function judgeSimple(command: SimpleCommand, around: Surroundings): Finding {
  const denied = denial(command, around);
  if (denied) return { verdict: "deny", reason: denied };
  const extras = extrasFinding(command, around.place);
  if (extras?.verdict === "deny") return extras;
  const problem = wordsProblem(command.words, around, 0);
  if (problem !== null) {
    return { verdict: "ask", reason: problem, isCertain: isUnlisted(command, around.extra) };
  }
  if (extras) return extras;
  const name = command.words[0]?.raw;
  return { verdict: "read-only", reason: name ? `\`${name}\` only reads here` : "it runs nothing" };
}
