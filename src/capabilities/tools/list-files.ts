// The tool `list_files`: what is in a folder, as git sees it. Without a pattern a tree, opened as
// deep as fits; with one, every file that matches.

import { readlink, stat } from "node:fs/promises";
import { relative, sep } from "node:path";
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from "#agent/ports";
import { OUTPUT_BYTES_MAX, type Workspace } from "#capabilities/exec";
import { optional, text, tuning, whole } from "./fields";
import { errorCode, failureOf } from "./file-snapshot";
import { type Folder, Walk, type WalkEntry, walkFiles } from "./folder-walk";
import { anchored, globMatcher } from "./glob";
import description from "./list-files.md" with { type: "text" };
import { type ArgumentsOf, lenientParameters } from "./parameters";
import { absolutePath, checkStopped, JudgedPaths, missingFile, pathForModel } from "./paths";
import { counted, showControls } from "./text";

const parameters = lenientParameters("list_files", {
  path: optional(text()),
  pattern: optional(text()),
  limit: tuning(optional(whole({ min: 1 }))),
});

type ListArgs = ArgumentsOf<typeof parameters>;

/** Entries shown without `limit`, and the most with it. */
const ENTRIES_SHOWN = 200;
const ENTRIES_SHOWN_MAX = 2000;

/** Entries looked at: a large repository's, a second or two of work. */
const ENTRIES_SEEN_MAX = 50_000;

/** The longest walk; what was found until then is shown. */
const WALK_MS_MAX = 5000;

export interface ListOptions {
  workspace: Workspace;
  outputBytesMax?: number;
  /** False for real paths that tools must not read: they are not shown. */
  mayRead?(path: string): boolean;
}

export function createListFilesTool(options: ListOptions): Tool<ListArgs> {
  const paths = new JudgedPaths();
  return {
    name: "list_files",
    summary: "List files, or find them by glob.",
    description,
    tags: ["read"],
    parameters,
    effect: (args) => ({
      kind: "read",
      paths: [paths.judge(options.workspace, args, args.path || ".")],
    }),
    run: (args: ListArgs, context: ToolContext) => listFiles(options, paths, args, context),
  };
}

async function listFiles(
  options: ListOptions,
  paths: JudgedPaths,
  args: ListArgs,
  context: ToolContext,
): Promise<ToolResult> {
  const { workspace, mayRead } = options;
  const path = args.path || ".";
  const real = paths.confirm(workspace, args, path);
  const shown = pathForModel(workspace, real);
  if (!(await isFolder(workspace, path, real, shown))) {
    return { content: `${shown} is a file. Read it with read_file.`, ok: true };
  }
  const walk = new Walk({
    entriesMax: ENTRIES_SEEN_MAX,
    msMax: WALK_MS_MAX,
    signal: context.signal,
    ...(mayRead ? { mayRead } : {}),
  });
  const listing: Listing = {
    walk,
    real,
    name: (entry) => pathForModel(workspace, entry),
    shown,
    entriesMax: Math.min(args.limit ?? ENTRIES_SHOWN, ENTRIES_SHOWN_MAX),
    bytesMax: options.outputBytesMax ?? OUTPUT_BYTES_MAX,
  };
  const pattern = args.pattern?.trim();
  const isAll = !pattern || pattern === "*" || pattern === "." || pattern === "./";
  const result = isAll ? await listTree(listing) : await listMatches(listing, pattern);
  checkStopped(context);
  return result;
}

async function isFolder(
  workspace: Workspace,
  path: string,
  real: string,
  shown: string,
): Promise<boolean> {
  try {
    return (await stat(real)).isDirectory();
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw failureOf(error, shown);
    const failure = await missingFile(workspace, path);
    const isGone = real === absolutePath(workspace, ".");
    throw isGone ? new ToolFailure(`The directory ${workspace.cwd} is gone.`) : failure;
  }
}

interface Listing {
  walk: Walk;
  real: string;
  shown: string;
  name(path: string): string;
  entriesMax: number;
  bytesMax: number;
}

async function listMatches(listing: Listing, pattern: string): Promise<ToolResult> {
  const { walk, real, name } = listing;
  const isMatch = globMatcher(pattern);
  const found: string[] = [];
  for await (const entry of walkFiles(walk, real)) {
    if (isMatch(relative(real, entry.path).replaceAll(sep, "/"))) found.push(name(entry.path));
  }
  if (found.length === 0) {
    const cut = walk.isCut ? " among those looked at; start deeper with path" : "";
    const content = `No files match ${anchored(pattern)} in ${listing.shown}${cut}. Ignored files are left out.`;
    return { content, ok: true };
  }
  return present(listing, found, counted(found.length, "file"), "a narrower pattern or path");
}

/** One folder of the tree, with what a walk found in it. */
interface Branch {
  path: string;
  depth: number;
  rows: { entry: WalkEntry; branch: Branch | undefined }[];
  /** Files in it and below. */
  files: number;
}

async function listTree(listing: Listing): Promise<ToolResult> {
  const { walk, real } = listing;
  const root: Branch = { path: real, depth: 0, rows: [], files: 0 };
  await grow(walk, root, walk.start(real));
  if (root.rows.length === 0) {
    return { content: `${listing.shown} is empty, or all of it is ignored by git.`, ok: true };
  }
  const depth = deepestFit(root, listing.entriesMax);
  const rows: string[] = [];
  const show = async (branch: Branch): Promise<void> => {
    for (const { entry, branch: inner } of branch.rows) {
      if (rows.length >= listing.entriesMax + 1) return;
      rows.push(await rowOf(listing, entry, inner, depth));
      if (inner && inner.depth <= depth) await show(inner);
    }
  };
  await show(root);
  const all = sizeAt(root, depth);
  const more = Array.from({ length: Math.max(0, all - rows.length) }, () => "");
  return present(listing, [...rows, ...more], counted(root.files, "file"), "path or pattern");
}

/** Level by level, so that the upper ones are whole when a limit ends the walk. */
async function grow(walk: Walk, root: Branch, start: Folder): Promise<void> {
  const queue: { branch: Branch; folder: Folder; above: Branch[] }[] = [
    { branch: root, folder: start, above: [root] },
  ];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { branch, folder, above } = next;
    const { entries, inside } = await walk.read(folder);
    for (const entry of entries) {
      if (entry.kind !== "folder") {
        for (const upper of above) upper.files++;
        branch.rows.push({ entry, branch: undefined });
        continue;
      }
      const inner: Branch = { path: entry.path, depth: branch.depth + 1, rows: [], files: 0 };
      branch.rows.push({ entry, branch: inner });
      queue.push({ branch: inner, folder: inside(entry.path), above: [...above, inner] });
    }
  }
}

/** Rows of the tree when folders down to `depth` are opened. */
function sizeAt(branch: Branch, depth: number): number {
  return branch.rows.reduce(
    (sum, { branch: inner }) =>
      sum + 1 + (inner && inner.depth <= depth ? sizeAt(inner, depth) : 0),
    0,
  );
}

function deepestFit(root: Branch, rowsMax: number): number {
  let depth = 0;
  let size = sizeAt(root, 0);
  for (;;) {
    const next = sizeAt(root, depth + 1);
    if (next === size || next > rowsMax) return next === size ? depth + 1 : depth;
    size = next;
    depth++;
  }
}

async function rowOf(
  listing: Listing,
  entry: WalkEntry,
  branch: Branch | undefined,
  depth: number,
): Promise<string> {
  const name = showControls(listing.name(entry.path)).replaceAll("\n", "\u240a");
  if (branch) {
    if (branch.depth <= depth) return `${name}/`;
    const cut = listing.walk.isCut ? " or more" : "";
    return `${name}/ (${counted(branch.files, "file")}${cut})`;
  }
  if (entry.kind === "link") return `${name} -> ${showControls(await targetOf(entry.path))}`;
  if (entry.kind === "other") return `${name} (no regular file)`;
  return name;
}

async function targetOf(path: string): Promise<string> {
  try {
    return await readlink(path);
  } catch {
    // Gone since it was listed.
    return "?";
  }
}

function present(listing: Listing, rows: string[], total: string, narrower: string): ToolResult {
  const shown: string[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, listing.entriesMax)) {
    bytes += Buffer.byteLength(row) + 1;
    if (bytes > listing.bytesMax) break;
    shown.push(row);
  }
  const isWhole = shown.length === rows.length && !listing.walk.isCut;
  const count = listing.walk.isCut ? `${total} seen, there are more` : `${total} in all`;
  const hint = isWhole ? "" : `; ${counted(shown.length, "row")} shown: use ${narrower}, or limit`;
  return { content: `${shown.join("\n")}\n[${count}${hint}]`, ok: true, truncated: !isWhole };
}
