// Fields of a reply that we do not know: kept and sent back as they came, since providers put
// signatures and other opaque parts there. Here their pieces become one value.

import { isObject, type JsonObject } from "./json";

/** Lists of reasoning blocks come in pieces of one block; `text` and `summary` are what grows. */
const GROWING_FIELDS = ["text", "summary"] as const;

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}

function continues(last: unknown, piece: JsonObject): last is JsonObject {
  if (!isObject(last) || last.type !== piece.type || last.type === undefined) return false;
  if (last.index !== piece.index) return false;
  if (isPresent(last.id) && isPresent(piece.id) && last.id !== piece.id) return false;
  return GROWING_FIELDS.some((field) => isPresent(last[field]) || isPresent(piece[field]));
}

/** An encrypted block has no growing field, so it never merges: each stays as it was sent. */
function addBlock(blocks: unknown[], piece: unknown): void {
  const last = blocks.at(-1);
  if (!isObject(piece) || !continues(last, piece)) {
    blocks.push(structuredClone(piece));
    return;
  }
  for (const [key, value] of Object.entries(piece)) {
    if (key === "__proto__") continue;
    const before = last[key];
    if (GROWING_FIELDS.some((field) => field === key) && typeof value === "string") {
      last[key] = (typeof before === "string" ? before : "") + value;
    } else if (isPresent(value) || before === undefined) {
      last[key] = value;
    }
  }
}

/** Puts one more piece of a field into `target`: lists grow, objects merge, else the last wins. */
export function mergeField(target: JsonObject, key: string, value: unknown): void {
  // JSON may hold a key of this name, and merging into it would reach every object there is.
  if (value === undefined || value === null || key === "__proto__") return;
  const before = Object.hasOwn(target, key) ? target[key] : undefined;
  if (Array.isArray(value)) {
    if (value.length === 0 && before === undefined) return;
    const list: unknown[] = Array.isArray(before) ? before : [];
    for (const piece of value) addBlock(list, piece);
    target[key] = list;
  } else if (isObject(value)) {
    const merged: JsonObject = isObject(before) ? before : {};
    for (const [inner, part] of Object.entries(value)) mergeField(merged, inner, part);
    target[key] = merged;
  } else if (value !== "" || before === undefined) {
    target[key] = value;
  }
}

/** All fields of `source` but the known ones. */
export function mergeUnknown(target: JsonObject, source: JsonObject, known: Set<string>): void {
  for (const [key, value] of Object.entries(source)) {
    if (!known.has(key)) mergeField(target, key, value);
  }
}
