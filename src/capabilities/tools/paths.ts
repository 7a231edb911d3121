// From a path as the model wrote it to the file that is meant, links resolved: policy judges the
// real path, and the tools act on that same path and on no other.

import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { type ToolContext, ToolFailure } from "#agent/ports";
import { nearestName } from "#base/kit";
import type { Workspace } from "#capabilities/exec";

/** As many as Linux follows itself. */
const LINKS_MAX = 40;

/** Names looked at for a suggestion: enough for any folder written by hand. */
const SUGGESTION_NAMES_MAX = 5000;

/** Suggestions made for one missing file. */
const SUGGESTIONS_MAX = 3;

/** The absolute path that a model's `path` names; relative ones start at the shell's directory. */
export function absolutePath(workspace: Workspace, path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return resolve(workspace.cwd, path);
}

/**
 * The real path behind `path`, also when the file, or the target of a dangling link, does not exist
 * yet: then the deepest existing folder is resolved. Never throws, for policy must get an answer;
 * what cannot be resolved stays as it is, and opening it fails later with a proper error.
 */
export function realPath(path: string, links = 0): string {
  try {
    return realpathSync(path);
  } catch {
    // Not there, a loop, or out of reach: resolved piece by piece below.
  }
  const parent = dirname(path);
  if (parent === path) return path;
  try {
    if (links < LINKS_MAX && lstatSync(path).isSymbolicLink()) {
      return realPath(resolve(realPath(parent, links + 1), readlinkSync(path)), links + 1);
    }
  } catch {
    // Does not exist: only its folder can be resolved.
  }
  return join(realPath(parent, links), basename(path));
}

function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function relativeTo(folder: string, path: string): string {
  const real = realPath(folder);
  const base = isInside(real, path) ? real : folder;
  return isInside(base, path) ? relative(base, path) || "." : path;
}

/** The path as the model can use it again: relative to the shell's directory, if inside. */
export function pathForModel(workspace: Workspace, path: string): string {
  return relativeTo(workspace.cwd, path);
}

/** The path relative to the workspace where it lies inside it, for people and for change lists. */
export function pathInWorkspace(workspace: Workspace, path: string): string {
  return relativeTo(workspace.root, path);
}

/** Remembers which real path `effect` named for a call, so that `run` touches that one only. */
export class JudgedPaths {
  readonly #judged = new WeakMap<object, string>();

  /** The real path of `path`, remembered as what policy judged for these arguments. */
  judge(workspace: Workspace, args: object, path: string): string {
    const real = realPath(absolutePath(workspace, path));
    this.#judged.set(args, real);
    return real;
  }

  /** The real path now; fails when a link or the directory was moved since policy judged. */
  confirm(workspace: Workspace, args: object, path: string): string {
    if (path.includes("\0")) throw new ToolFailure("path: must not contain a NUL character.");
    const real = realPath(absolutePath(workspace, path));
    const judged = this.#judged.get(args);
    if (judged !== undefined && judged !== real) {
      throw new ToolFailure(`${path} is another file than a moment ago (${judged}). Try again.`);
    }
    return real;
  }
}

/** Refuses what `write_file` and `edit_file` cannot mean. */
export function requireFileName(path: string): void {
  if (path.trim() === "") throw new ToolFailure("path: is empty; name a file.");
  if (/[\\/]$/.test(path)) throw new ToolFailure(`${path} names a directory, not a file.`);
}

/** "No such file", with the names that may have been meant. */
export async function missingFile(workspace: Workspace, path: string): Promise<ToolFailure> {
  const absolute = absolutePath(workspace, path);
  const shown = isAbsolute(path) ? path : `${path} (in ${workspace.cwd})`;
  let folder = dirname(absolute);
  let name = basename(absolute);
  let names = await namesIn(folder);
  while (names === undefined && dirname(folder) !== folder) {
    name = basename(folder);
    folder = dirname(folder);
    names = await namesIn(folder);
  }
  const isParent = folder === dirname(absolute);
  const near = nearNames(name, names ?? []).map((near) =>
    pathForModel(workspace, join(realPath(folder), near)),
  );
  const where = isParent ? "" : ` ${pathForModel(workspace, realPath(folder))} has no ${name}.`;
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  return new ToolFailure(`No such file: ${shown}.${where}${hint}`);
}

async function namesIn(folder: string): Promise<string[] | undefined> {
  try {
    return (await readdir(folder)).slice(0, SUGGESTION_NAMES_MAX);
  } catch {
    // Not a folder, or not ours to read: the caller goes up.
    return undefined;
  }
}

function nearNames(name: string, names: readonly string[]): string[] {
  const left = new Set(names);
  const found: string[] = [];
  const stem = (full: string): string => full.replace(/(?<=.)\.[^.]*$/, "").toLowerCase();
  for (const other of names) {
    if (found.length < SUGGESTIONS_MAX && stem(other) === stem(name)) {
      found.push(other);
      left.delete(other);
    }
  }
  while (found.length < SUGGESTIONS_MAX) {
    const next = nearestName(name, [...left]);
    if (next === undefined) break;
    found.push(next);
    left.delete(next);
  }
  return found;
}

/** Fails when the run was stopped; called between the pieces of long work. */
export function checkStopped(context: Pick<ToolContext, "signal">): void {
  if (context.signal.aborted) throw new ToolFailure("Stopped by the owner.");
}
