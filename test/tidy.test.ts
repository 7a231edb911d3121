// The architecture as a test: who may import whom, and how large anything may grow.
// A new arrow changes the table here and ARCHITECTURE.md in the same commit.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { Glob } from "bun";

const ROOT = resolve(import.meta.dir, "..");
const LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;
const LINE_WIDTH_MAX = 100;

/** A module may import itself and what is named here; `base/*` stands for all of base. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  main: ["app"],
  app: ["frontends", "agent", "capabilities/*", "stores/*", "base/*"],
  frontends: ["base/*"],
  agent: ["base/*"],
  "agent/ports": ["base/protocol"],
  "capabilities/models": ["agent/ports", "base/*"],
  "capabilities/policy": ["agent/ports", "base/protocol", "base/kit"],
  "capabilities/exec": ["agent/ports", "stores/*", "base/*"],
  "capabilities/sandbox": ["base/*"],
  "capabilities/tools": ["agent/ports", "capabilities/exec", "stores/*", "base/*"],
  "stores/*": ["base/*"],
  "base/protocol": [],
  "base/kit": [],
  "base/os": ["base/kit"],
};

/** Folders whose direct children are modules of their own; elsewhere the folder is the module. */
const RINGS_OF_MODULES = ["base", "capabilities", "stores"];

const BANNED_NAMES = /(^|[-/])(utils?|helpers?|services?|managers?|common|misc)(\.|\/|$)/;
const BANNED_TYPES = /\b(?:class|interface|type)\s+\w+(?:V\d+|Next|Legacy|Manager|Handler)\b/;

interface SourceFile {
  path: string;
  module: string;
  text: string;
  imports: { target: string; viaDoor: boolean; line: number }[];
}

function moduleOf(path: string): string {
  const parts = path
    .replace(/^src\//, "")
    .replace(/\.ts$/, "")
    .split("/");
  const [ring = "", child] = parts;
  if (parts.join("/") === "agent/ports") return "agent/ports";
  if (RINGS_OF_MODULES.includes(ring) && child) return `${ring}/${child}`;
  return ring;
}

function importsOf(path: string, text: string): SourceFile["imports"] {
  const found: SourceFile["imports"] = [];
  const pattern = /(?:from\s+|import\s*\(\s*|import\s+)"([#.][^"]*)"/g;
  for (const match of text.matchAll(pattern)) {
    const specifier = match[1] ?? "";
    const line = text.slice(0, match.index).split("\n").length;
    if (specifier.startsWith("#")) {
      found.push({ target: `src/${specifier.slice(1)}.ts`, viaDoor: true, line });
    } else {
      const target = relative(ROOT, resolve(ROOT, dirname(path), specifier));
      found.push({ target: /\.\w+$/.test(target) ? target : `${target}.ts`, viaDoor: false, line });
    }
  }
  // Only the project's own code is judged; package.json and packages are not.
  return found.filter((entry) => entry.target.startsWith("src/"));
}

function readSources(): SourceFile[] {
  const paths = [...new Glob("src/**/*.{ts,tsx}").scanSync({ cwd: ROOT })].sort();
  return paths.map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    return { path, module: moduleOf(path), text, imports: importsOf(path, text) };
  });
}

function isAllowed(from: string, to: string): boolean {
  if (from === to || (from === "agent" && to === "agent/ports")) return true;
  const own = MAY_IMPORT[from] ?? MAY_IMPORT[`${from.split("/")[0]}/*`] ?? [];
  // Ports are the agent's own words: the ring that may import agent may import them, too.
  return own.some((allowed) =>
    allowed.endsWith("/*")
      ? to.startsWith(allowed.slice(0, -1))
      : allowed === to || to === `${allowed}/ports`,
  );
}

/** The first cycle among modules, as the path that closes it. */
function findCycle(sources: SourceFile[]): string[] | undefined {
  const graph = new Map<string, string[]>();
  for (const source of sources) {
    if (source.path.endsWith(".test.ts")) continue;
    graph.set(
      source.path,
      source.imports.map((entry) => entry.target).filter((t) => t.endsWith(".ts")),
    );
  }
  const done = new Set<string>();
  const walk = (path: string, trail: string[]): string[] | undefined => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const next of graph.get(path) ?? []) {
      const cycle = walk(next, [...trail, path]);
      if (cycle) return cycle;
    }
    done.add(path);
    return undefined;
  };
  for (const path of graph.keys()) {
    const cycle = walk(path, []);
    if (cycle) return cycle;
  }
  return undefined;
}

/** Functions longer than the limit, found by indentation: the formatter guarantees it. */
function longFunctions(source: SourceFile): string[] {
  const lines = source.text.split("\n");
  const opening =
    /^(\s*)(?:export\s+)?(?:(?:async\s+)?function\b|(?:(?:public|private|protected|static|override|async|get|set)\s+|\*)*[\w#]+\s*\(.*\{$|(?:const|let)\s+\w+.*=>\s*\{$)/;
  const found: string[] = [];
  lines.forEach((line, index) => {
    const match = opening.exec(line);
    if (!match || /^\s*(?:if|for|while|switch|catch|return|describe|test)\b/.test(line)) return;
    const end = lines.findIndex((other, at) => at > index && other.startsWith(`${match[1]}}`));
    const length = end - index + 1;
    if (end > 0 && length > FUNCTION_LINES_MAX)
      found.push(`${source.path}:${index + 1} (${length} lines)`);
  });
  return found;
}

const sources = readSources();
const production = sources.filter((source) => !source.path.endsWith(".test.ts"));

describe("imports", () => {
  test("the table knows every module", () => {
    const unknown = sources.filter(
      ({ module }) => !(module in MAY_IMPORT) && !(`${module.split("/")[0]}/*` in MAY_IMPORT),
    );
    expect(unknown.map((source) => source.path)).toEqual([]);
    expect(sources.length).toBeGreaterThan(10);
  });

  test("every import follows the table", () => {
    const wrong = production.flatMap((source) =>
      source.imports
        .filter((entry) => !isAllowed(source.module, moduleOf(entry.target)))
        .map((entry) => `${source.path}:${entry.line} imports ${entry.target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("another module is imported by its door, with a #, and one's own with a dot", () => {
    const wrong = production.flatMap((source) =>
      source.imports
        .filter((entry) => entry.viaDoor === (moduleOf(entry.target) === source.module))
        .filter(
          (entry) => !entry.target.endsWith(".md") && moduleOf(entry.target) !== "agent/ports",
        )
        .filter((entry) => source.module !== "app" || !entry.viaDoor)
        .map((entry) => `${source.path}:${entry.line} imports ${entry.target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("no cycles", () => {
    expect(findCycle(sources)).toBeUndefined();
  });

  test("every child gets an environment of our choosing", () => {
    // Without one Bun hands on its own copy of what it was started with, credentials included.
    const spawning = production.filter((source) => /\bBun\.spawn(?:Sync)?\(/.test(source.text));
    const wrong = spawning.filter(({ text }) => {
      const calls = text.match(/\bBun\.spawn(?:Sync)?\(/g)?.length ?? 0;
      return (text.match(/\benv:/g)?.length ?? 0) < calls;
    });
    expect(spawning.length).toBeGreaterThan(0);
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  test("policy does no input or output", () => {
    const wrong = production.filter(
      (source) =>
        source.module === "capabilities/policy" &&
        /from "node:(?!path)|Bun\.(?:file|write|spawn)|\bfetch\(/.test(source.text),
    );
    expect(wrong.map((source) => source.path)).toEqual([]);
  });
});

describe("size and names", () => {
  test(`no file over ${LINES_MAX} lines`, () => {
    const long = sources
      .map((source) => ({ path: source.path, lines: source.text.split("\n").length - 1 }))
      .filter((entry) => entry.lines > LINES_MAX);
    expect(long).toEqual([]);
  });

  test(`no function over ${FUNCTION_LINES_MAX} lines`, () => {
    expect(production.flatMap(longFunctions)).toEqual([]);
  });

  test(`no line wider than ${LINE_WIDTH_MAX} characters, but for long literals`, () => {
    const wide = production.flatMap((source) =>
      source.text
        .split("\n")
        .map((line, index) => ({ at: `${source.path}:${index + 1}`, line }))
        .filter(({ line }) => line.length > LINE_WIDTH_MAX && !/["'`/]/.test(line))
        .map(({ at }) => at),
    );
    expect(wide).toEqual([]);
  });

  test("no banned names", () => {
    expect(sources.map((source) => source.path).filter((path) => BANNED_NAMES.test(path))).toEqual(
      [],
    );
    expect(
      sources.filter((source) => BANNED_TYPES.test(source.text)).map((source) => source.path),
    ).toEqual([]);
  });

  test("every file opens by saying what it is", () => {
    const silent = production.filter((source) => !/^(?:#!.*\n)?\/\//.test(source.text));
    expect(silent.map((source) => source.path)).toEqual([]);
  });

  test("no unfinished words and no empty catch", () => {
    const unfinished = /\b(?:TODO|FIXME|XXX)\b(?! \()|not implemented|catch(?: \(\w+\))? \{\s*\}/;
    const wrong = production.filter((source) => unfinished.test(source.text));
    expect(wrong.map((source) => source.path)).toEqual([]);
  });
});
