// The tool `search`: lines that match a regular expression, with ripgrep where there is one and
// by our own walk where there is none.

import { stat } from "node:fs/promises";
import { relative, sep } from "node:path";
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from "#agent/ports";
import { OUTPUT_BYTES_MAX, type Workspace } from "#capabilities/exec";
import { about, optional, text, tuning, whole } from "./fields";
import { errorCode, failureOf } from "./file-snapshot";
import { Findings, type FoundFile } from "./findings";
import { globMatcher } from "./glob";
import { type ArgumentsOf, lenientParameters } from "./parameters";
import { checkStopped, JudgedPaths, missingFile, pathForModel, realPath } from "./paths";
import description from "./search.md" with { type: "text" };
import { compilePattern, findProblem, wantsLineBreak } from "./search-pattern";
import type { SearchRequest } from "./search-request";
import { searchByWalking } from "./search-walk";

/** Lines of context on each side, at most. */
const CONTEXT_LINES_MAX = 1000;

/** Matches shown without `limit`, and the most with it. */
const MATCHES = 100;
const MATCHES_MAX = 2000;

/** A pattern longer than this is a text to be searched for in another way. */
const PATTERN_CHARACTERS_MAX = 4000;

/** The longest search; what was found until then is shown. */
const SEARCH_MS_MAX = 20_000;

const parameters = lenientParameters("search", {
  pattern: text(),
  path: optional(text()),
  glob: optional(text()),
  context: tuning(about("lines around", optional(whole({ min: 0, max: CONTEXT_LINES_MAX })))),
  limit: tuning(optional(whole({ min: 1 }))),
});

type SearchArgs = ArgumentsOf<typeof parameters>;

export interface SearchOptions {
  workspace: Workspace;
  outputBytesMax?: number;
  /** False for real paths that tools must not read: what is in them is not shown. */
  mayRead?(path: string): boolean;
  /** The program; null for our own walk. Looked for on PATH when absent. */
  ripgrep?: string | null;
  searchMsMax?: number;
}

export function createSearchTool(options: SearchOptions): Tool<SearchArgs> {
  const paths = new JudgedPaths();
  return {
    name: "search",
    summary: "Search in files by regex.",
    description,
    tags: ["read"],
    parameters,
    effect: (args) => ({
      kind: "read",
      paths: [paths.judge(options.workspace, args, args.path || ".")],
    }),
    run: (args: SearchArgs, context: ToolContext) => search(options, paths, args, context),
  };
}

async function search(
  options: SearchOptions,
  paths: JudgedPaths,
  args: SearchArgs,
  context: ToolContext,
): Promise<ToolResult> {
  const { workspace } = options;
  requirePattern(args.pattern);
  const real = paths.confirm(workspace, args, args.path || ".");
  const shown = pathForModel(workspace, real);
  const isFolder = await isFolderThere(workspace, args.path || ".", real, shown);
  const findings = new Findings({
    matchesMax: Math.min(args.limit ?? MATCHES, MATCHES_MAX),
    bytesMax: options.outputBytesMax ?? OUTPUT_BYTES_MAX,
    name: (path) => pathForModel(workspace, path),
  });
  const msMax = options.searchMsMax ?? SEARCH_MS_MAX;
  const timeUp = AbortSignal.timeout(msMax);
  const isMatch = args.glob?.trim() ? globMatcher(args.glob) : undefined;
  const request: SearchRequest = {
    pattern: args.pattern,
    real,
    isFolder,
    glob: args.glob?.trim() || undefined,
    context: args.context ?? 0,
    matchesMax: findings.room,
    msMax,
    signal: AbortSignal.any([context.signal, timeUp]),
    isWanted: (path) =>
      (!isFolder || !isMatch || isMatch(relative(real, path).replaceAll(sep, "/"))) &&
      options.mayRead?.(path) !== false,
    skipped: (path) => findings.skipped.add(path),
  };
  const isCut = await searchWithBest(options, request, findings);
  checkStopped(context);
  if (isCut || timeUp.aborted) {
    const limit = timeUp.aborted ? `after ${msMax / 1000} s` : "at a limit";
    findings.ended = `stopped ${limit}: narrow path or glob`;
  }
  const place = shown === "." ? "the current directory" : shown;
  const where = request.glob ? `${place} (${request.glob})` : place;
  const nothing = `No matches in ${where}. Ignored and binary files are not searched.`;
  const truncated = findings.isFull || findings.ended !== undefined;
  return { content: findings.inWords(nothing), ok: true, truncated };
}

/** True when a limit ended the search early. */
async function searchWithBest(
  options: SearchOptions,
  request: SearchRequest,
  findings: Findings,
): Promise<boolean> {
  const take = (file: FoundFile): boolean => {
    findings.add(file);
    return !findings.isFull;
  };
  const regex = compilePattern(request.pattern);
  const problem = regex ? undefined : findProblem(request.pattern);
  if (problem) throw new ToolFailure(`Invalid regular expression: ${problem}`);
  // Loaded at the first search: reading its records takes a library that nothing else needs.
  const { findRipgrep, searchWithRipgrep } = await import("./search-ripgrep");
  const program =
    options.ripgrep === undefined ? findRipgrep(realPath(options.workspace.root)) : options.ripgrep;
  if (program !== null) {
    const outcome = await searchWithRipgrep(program, request, take);
    if (outcome.kind === "done") return outcome.isCut;
    if (outcome.kind === "failed" && !regex) {
      throw new ToolFailure(`The search failed: ${outcome.complaint}`);
    }
  }
  // Either there is no ripgrep, or this is a pattern that only our own engine takes.
  if (!regex) {
    throw new ToolFailure(`Invalid regular expression: ${request.pattern}`);
  }
  const { isCut } = await searchByWalking(regex, request, take);
  return isCut;
}

function requirePattern(pattern: string): void {
  if (pattern === "") throw new ToolFailure("pattern: is empty.");
  if (pattern.length > PATTERN_CHARACTERS_MAX) {
    throw new ToolFailure(`pattern: is longer than ${PATTERN_CHARACTERS_MAX} characters.`);
  }
  if (pattern.includes("\0")) throw new ToolFailure("pattern: must not contain a NUL character.");
  if (wantsLineBreak(pattern)) {
    throw new ToolFailure(
      "pattern: a search goes line by line, so \\n matches nothing. Search for one of the lines " +
        "and use context.",
    );
  }
}

async function isFolderThere(
  workspace: Workspace,
  path: string,
  real: string,
  shown: string,
): Promise<boolean> {
  try {
    const stats = await stat(real);
    if (!stats.isDirectory() && !stats.isFile()) {
      throw new ToolFailure(`${shown} is no regular file.`);
    }
    return stats.isDirectory();
  } catch (error) {
    if (errorCode(error) === "ENOENT") throw await missingFile(workspace, path);
    throw failureOf(error, shown);
  }
}
