// Tool calls out of their pieces. Pieces belong together by `index`; without one, by `id`; with
// neither, a name opens a call and anything else goes on with the last one. Endpoints break each
// of these in some way, so what a piece would do to the call that it seems to belong to decides.

import { joinPieces } from "./arguments";
import { mergeUnknown } from "./fields";
import { isObject, type JsonObject, textOf, tryParse } from "./json";

/** A call as far as it has come. */
export interface OpenCall {
  id: string;
  name: string;
  pieces: string[];
  /** Unknown fields of the call, and of its `function`. */
  extra: JsonObject;
  functionExtra: JsonObject;
}

const CALL_FIELDS = new Set(["index", "id", "type", "function", "name", "arguments"]);
const FUNCTION_FIELDS = new Set(["name", "arguments"]);

/** A reply with more calls than this is no reply. */
const CALLS_MAX = 256;

function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : "";
}

function isWhole(call: OpenCall): boolean {
  return isObject(tryParse(joinPieces(call.pieces)));
}

/** Whether a piece with this name and id, at the call's own place, begins another call. */
function beginsAnother(call: OpenCall, id: string, name: string, text: string): boolean {
  if (name === "" || call.name === "") return false;
  if (id !== "" && call.id !== "") {
    // Some rotate the id while the call goes on; a whole call cannot go on.
    return id !== call.id && (name !== call.name || isWhole(call));
  }
  if (!isWhole(call)) return false;
  if (name !== call.name) return true;
  // The same name again, without ids: a repetition (which joining sorts out), or a second call.
  return text !== "" && !isObject(tryParse(joinPieces([...call.pieces, text])));
}

export class CallAssembler {
  readonly calls: OpenCall[] = [];
  #byIndex = new Map<string, OpenCall>();
  #last: OpenCall | undefined;

  /** One entry of `delta.tool_calls`. */
  takePiece(piece: unknown): void {
    if (!isObject(piece)) return;
    const call = this.#callFor(piece);
    if (call) this.#fill(call, piece);
  }

  /** A whole list of calls: each entry is one call, whatever its index says. */
  takeWhole(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces) {
      const call = isObject(piece) ? this.#open(undefined) : undefined;
      if (call && isObject(piece)) this.#fill(call, piece);
    }
  }

  #callFor(piece: JsonObject): OpenCall | undefined {
    const body = isObject(piece.function) ? piece.function : piece;
    const id = idOf(piece);
    const name = nameOf(body);
    const text = argumentText(body.arguments);
    if (typeof piece.index === "number" || typeof piece.index === "string") {
      const index = String(piece.index);
      const call = this.#byIndex.get(index);
      return call && !beginsAnother(call, id, name, text) ? call : this.#open(index);
    }
    const last = this.#last;
    if (id !== "") {
      const known = this.calls.findLast((call) => call.id === id);
      if (known) return known;
      // A call of its own would have no name; where the last one is open, it goes on.
      const goesOn = last && name === "" && (last.id === "" || !isWhole(last));
      return goesOn ? last : this.#open(undefined);
    }
    if (!last) return this.#open(undefined);
    if (name === "" || last.name === "") return last;
    const goesOn = name === last.name && !beginsAnother(last, id, name, text);
    return goesOn ? last : this.#open(undefined);
  }

  #open(index: string | undefined): OpenCall | undefined {
    if (this.calls.length >= CALLS_MAX) return undefined;
    const call = { id: "", name: "", pieces: [], extra: {}, functionExtra: {} };
    this.calls.push(call);
    if (index !== undefined) this.#byIndex.set(index, call);
    return call;
  }

  #fill(call: OpenCall, piece: JsonObject): void {
    this.#last = call;
    const body = isObject(piece.function) ? piece.function : piece;
    if (call.id === "") call.id = idOf(piece);
    if (call.name === "") call.name = nameOf(body);
    const text = argumentText(body.arguments);
    if (text !== "") call.pieces.push(text);
    mergeUnknown(call.extra, piece, CALL_FIELDS);
    if (body !== piece) mergeUnknown(call.functionExtra, body, FUNCTION_FIELDS);
  }
}

function idOf(piece: JsonObject): string {
  return typeof piece.id === "number" ? String(piece.id) : (textOf(piece.id) ?? "");
}

/** Some models leave white space or marks of their template in a name; no endpoint takes those. */
function nameOf(body: JsonObject): string {
  return (textOf(body.name) ?? "").trim().replace(/[^\w.:/-]/g, "_");
}
