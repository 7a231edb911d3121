// Which files a word may name: resolved against every directory that the command may stand in by
// then, with what only the shell will know left open.

import { posix } from "node:path";
import {
  findPrivate,
  guardedFromWriting,
  holdsPrivate,
  type PathOptions,
  segmentsOf,
} from "./private-paths";
import type { Piece, Word } from "./word";

/** Where a command stands: every directory that a `cd` before it may have led to. */
export interface Place {
  paths: PathOptions;
  cwd: string;
  bases: readonly string[];
  /** A `cd` led to a directory that is not known. */
  isLost: boolean;
}

/** Private stand-ins inside a path: such characters never get this far in a command's own text. */
const ONE_SEGMENT = "\u0001";
const ANYTHING = "\u0002";

/**
 * Variables whose values are numbers or plain names, never paths. `#listed` stands for names that
 * a lister found, see commands-wrappers.ts.
 */
const PLAIN_VARIABLES = new Set(
  "#listed # ? $ ! - RANDOM LINENO SECONDS UID EUID PPID USER LOGNAME HOSTNAME TERM SHLVL OSTYPE HOSTTYPE MACHTYPE BASH_VERSION COLUMNS LINES".split(
    " ",
  ),
);

function templateOf(piece: Piece, place: Place): string {
  if (piece.kind === "text") return piece.value;
  if (piece.kind === "glob") return ONE_SEGMENT;
  if (piece.kind !== "variable") return ANYTHING;
  if (piece.name === "HOME") return place.paths.userHome;
  if (piece.name === "PWD" && place.bases.length === 1 && !place.isLost) return place.cwd;
  return PLAIN_VARIABLES.has(piece.name) ? ONE_SEGMENT : ANYTHING;
}

/** An option in front of a path is never that long, and each suffix is looked at as a path. */
const CANDIDATE_LENGTH_MAX = 512;

/** The word as a path, and what in it may be one: behind `=`, `@` or `:`, or glued to an option. */
function candidatesOf(template: string): string[] {
  const found = [template];
  for (const match of template.slice(0, CANDIDATE_LENGTH_MAX).matchAll(/[=@:]/g)) {
    found.push(template.slice(match.index + 1));
  }
  if (/^-[A-Za-z0-9]./.test(template)) found.push(template.slice(2));
  return found.filter((each) => each !== "");
}

function resolveAll(candidate: string, place: Place): string[] {
  if (candidate === "~" || candidate.startsWith("~/")) {
    return [posix.normalize(`${place.paths.userHome}/${candidate.slice(1)}`)];
  }
  if (candidate.startsWith("/")) return [posix.normalize(candidate)];
  return place.bases.map((base) => posix.normalize(`${base}/${candidate}`));
}

function matchesSegment(segment: string, wanted: string): boolean {
  if (!segment.includes(ONE_SEGMENT)) return segment === wanted;
  // Globs do not match a leading dot.
  if (wanted.startsWith(".") && segment.startsWith(ONE_SEGMENT)) return false;
  const source = segment
    .split(ONE_SEGMENT)
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
    .join(".*");
  return new RegExp(`^${source}$`, "s").test(wanted);
}

export type Reach =
  | { kind: "open" }
  /** Names a private path, as anybody can see. */
  | { kind: "private"; why: string; isCredential: boolean }
  /** May name one when it runs. */
  | { kind: "hidden"; why: string };

const OPEN: Reach = { kind: "open" };

function reachOf(path: string, place: Place): Reach {
  const segments = segmentsOf(path);
  const found = findPrivate(segments, place.paths, matchesSegment);
  if (!found) return OPEN;
  if (!path.includes(ONE_SEGMENT)) {
    const why = `${path} may not be read: ${found.what}`;
    return { kind: "private", why, isCredential: found.isCredential };
  }
  const folder = segments.findIndex((segment) => segment.includes(ONE_SEGMENT));
  const isInside = found.isFolder && !found.except && folder >= found.segments.length;
  const shown = path.replaceAll(ONE_SEGMENT, "*");
  return isInside
    ? {
        kind: "private",
        why: `${shown} may not be read: ${found.what}`,
        isCredential: found.isCredential,
      }
    : { kind: "hidden", why: `${shown} may be a path that is not to be read: ${found.what}` };
}

/** What the word may reach if it names a file that is read. */
export function wordReach(word: Word, place: Place): Reach {
  const template = word.pieces.map((piece) => templateOf(piece, place)).join("");
  let hidden: Reach = OPEN;
  for (const candidate of candidatesOf(template)) {
    if (candidate.includes(ANYTHING)) continue;
    for (const path of resolveAll(candidate, place)) {
      const reach = reachOf(path, place);
      if (reach.kind === "private") return reach;
      if (reach.kind === "hidden") hidden = reach;
    }
  }
  if (hidden.kind !== "open") return hidden;
  const isOtherHome = word.tilde && /^~[^/]/.test(template);
  if (template.includes(ANYTHING) || isOtherHome) {
    return { kind: "hidden", why: `\`${word.raw}\` may name any file` };
  }
  if (place.isLost && !/^[~/-]/.test(template)) {
    return { kind: "hidden", why: `it is not known in which directory \`${word.raw}\` is read` };
  }
  // Before version 5.2 bash lets `.*` match `..` as well.
  if (new RegExp(`(?:^|/)\\.${ONE_SEGMENT}.*/`, "s").test(template)) {
    return { kind: "hidden", why: `\`${word.raw}\` may leave the directory` };
  }
  return OPEN;
}

/** Why nothing may be written to the file that the word names; undefined when it may. */
export function whyNotWrittenTo(word: Word, place: Place): string | undefined {
  const template = word.pieces.map((piece) => templateOf(piece, place)).join("");
  for (const candidate of candidatesOf(template)) {
    for (const path of resolveAll(candidate.split(ANYTHING)[0] ?? "", place)) {
      const why = guardedFromWriting(path);
      if (why) return `${path.replaceAll(ONE_SEGMENT, "*")} may not be written: ${why}`;
    }
  }
  return undefined;
}

/** Why reading everything below the word's directory would read too much. */
export function whyNotSearched(
  word: Word | undefined,
  place: Place,
  options: { skipsHidden?: boolean } = {},
): string | undefined {
  const template = word ? word.pieces.map((piece) => templateOf(piece, place)).join("") : ".";
  const [known = ""] = template.split(ONE_SEGMENT);
  const folder = known === template ? known : known.slice(0, known.lastIndexOf("/") + 1);
  for (const path of resolveAll(folder || ".", place)) {
    const found = holdsPrivate(path, place.paths, options);
    if (!found) continue;
    return `a search through ${path} would read /${found.segments.join("/")}: ${found.what}`;
  }
  return place.isLost ? "it is not known which directory is searched" : undefined;
}

/** The one path that the word names, when that is certain. */
export function exactPath(word: Word, place: Place): string | undefined {
  const template = word.pieces.map((piece) => templateOf(piece, place)).join("");
  if (template.includes(ANYTHING) || template.includes(ONE_SEGMENT)) return undefined;
  if (word.tilde && /^~[^/]/.test(template)) return undefined;
  const paths = resolveAll(template, place);
  return paths.length === 1 && (!place.isLost || /^[~/]/.test(template)) ? paths[0] : undefined;
}
