// Arguments of a call, from the text that a model wrote: strict first, then mended where there is
// only one way to read it, else broken with the place. Broken arguments never run.

import type { CallArguments } from "#agent/ports";
import { isObject, type JsonObject, tryParse } from "./json";
import { readLenient } from "./lenient-json";

/** What the arguments came to, and the JSON that goes into the history for them. */
export interface ReadArguments {
  arguments: CallArguments;
  json: string;
}

export interface ArgumentOptions {
  /** The reply hit its token limit: nothing may be mended, and nothing missing is "none". */
  cutByLength: boolean;
}

/** Characters of the arguments that are quoted on either side of the fault. */
const NEAR_LENGTH = 30;
const FENCE = /^\s*```[a-zA-Z0-9]*[ \t]*\r?\n?([\s\S]*?)\r?\n?```\s*$/;

function quote(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f]/g, (control) => JSON.stringify(control).slice(1, -1));
}

/** `at character 12: …{"command": >>>ls}`. */
function locate(text: string, at: number): string {
  const from = Math.max(0, at - NEAR_LENGTH);
  const before = quote(text.slice(from, at));
  const behind = quote(text.slice(at, at + NEAR_LENGTH));
  const lead = from > 0 ? "…" : "";
  const tail = at + NEAR_LENGTH < text.length ? "…" : "";
  return `at character ${at + 1}: ${lead}${before}>>>${behind}${tail}`;
}

function broken(problem: string): ReadArguments {
  return { arguments: { kind: "broken", problem }, json: "{}" };
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "string" ? "a string" : `the ${typeof value} ${JSON.stringify(value)}`;
}

function notAnObject(value: unknown): ReadArguments {
  return broken(`The arguments must be one JSON object, but they are ${nameOf(value)}.`);
}

/** Some servers encode the object a second time, as a string: there is one way to read that. */
function decodedTwice(value: unknown): JsonObject | undefined {
  const inner = typeof value === "string" ? tryParse(value) : undefined;
  return isObject(inner) ? inner : undefined;
}

function mend(raw: string): ReadArguments {
  const fenced = FENCE.exec(raw)?.[1];
  const result = readLenient(fenced ?? raw);
  if (result.kind === "unreadable") {
    const where = locate(fenced ?? raw, result.at);
    return result.isCut
      ? broken(
          `The arguments are cut off: ${result.what}, ${where}\n` +
            `They end after ${raw.length} characters; send them again whole.`,
        )
      : broken(`The arguments are not valid JSON: ${result.what}, ${where}`);
  }
  if (!isObject(result.value)) return notAnObject(result.value);
  const how = [...result.mended, ...(fenced === undefined ? [] : ["a code fence around it"])];
  return {
    arguments: { kind: "repaired", value: result.value, how: how.join(", ") },
    json: JSON.stringify(result.value),
  };
}

/** Reads the arguments of one call. */
export function readArguments(raw: string, options: ArgumentOptions): ReadArguments {
  const trimmed = raw.trim();
  if (trimmed === "" || trimmed === "null" || trimmed === '""') {
    if (options.cutByLength) return broken("The reply was cut off before the arguments began.");
    return { arguments: { kind: "valid", value: {} }, json: "{}" };
  }
  const strict = tryParse(raw);
  if (isObject(strict)) return { arguments: { kind: "valid", value: strict }, json: raw };
  if (strict !== undefined) {
    const inner = decodedTwice(strict);
    if (!inner || options.cutByLength) return notAnObject(strict);
    const how = "it was encoded twice";
    return {
      arguments: { kind: "repaired", value: inner, how },
      json: JSON.stringify(inner),
    };
  }
  const mended = mend(raw);
  if (options.cutByLength && mended.arguments.kind === "repaired") {
    return broken(
      `The reply was cut off at its token limit, and the arguments are not valid JSON ` +
        `(${mended.arguments.how}).`,
    );
  }
  return mended;
}

/** Every value of `before` is found in `after`, grown or as it was. */
function isGrownFrom(before: unknown, after: unknown): boolean {
  if (typeof before === "string" && typeof after === "string") return after.startsWith(before);
  if (Array.isArray(before) && Array.isArray(after)) {
    return before.every((item, index) => isGrownFrom(item, after[index]));
  }
  if (isObject(before) && isObject(after)) {
    return Object.entries(before).every(([key, value]) => isGrownFrom(value, after[key]));
  }
  return Object.is(before, after);
}

function isGrowing(pieces: readonly string[]): boolean {
  return pieces.every((piece, index) => index === 0 || piece.startsWith(pieces[index - 1] ?? ""));
}

/** Whole objects, each the one before with more in it. */
function isGrowingObjects(pieces: readonly string[]): boolean {
  const values = pieces.map(tryParse);
  return values.every(
    (value, index) => isObject(value) && (index === 0 || isGrownFrom(values[index - 1], value)),
  );
}

/**
 * One text out of the pieces that came for a call. Plain joining is the rule; only where that
 * gives no JSON object may the pieces be repetitions: each holding all so far, the whole sent
 * twice, or a placeholder `{}` before the real thing.
 */
export function joinPieces(pieces: readonly string[]): string {
  const joined = pieces.join("");
  const solid = pieces.filter((piece) => piece.trim() !== "");
  if (solid.length < 2 || isObject(tryParse(joined))) return joined;
  const first = solid[0] ?? "";
  const last = solid.at(-1) ?? "";
  const behindFirst = solid.slice(1).join("");
  const beforeLast = solid.slice(0, -1).join("");
  const half = joined.slice(0, joined.length / 2);
  const candidates = [
    { holds: isGrowing(solid) || isGrowingObjects(solid), text: last },
    { holds: /^\{\s*\}$/.test(first), text: joinPieces(solid.slice(1)) },
    { holds: first === behindFirst, text: first },
    { holds: last === beforeLast, text: last },
    { holds: half + half === joined, text: half },
  ];
  const found = candidates.find(({ holds, text }) => holds && isObject(tryParse(text)));
  return found?.text ?? joined;
}
