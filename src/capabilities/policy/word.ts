// One word of a command as the shell would see it: what of it is known before it runs, and what
// only the shell will know. Every judgement about options and paths is made on these words.

export type Piece =
  /** Text that the shell passes on as it stands (quotes and escapes are already removed). */
  | { kind: "text"; value: string }
  /** `*`, `?` or a whole bracket expression: stands for names of files. */
  | { kind: "glob"; value: string }
  /** An unquoted `{`, `,` or `}` that takes part in a brace expansion. */
  | { kind: "brace"; value: string }
  | { kind: "variable"; name: string; quoted: boolean }
  /** A command substitution, or an expansion that is not understood. */
  | { kind: "unknown" };

export interface Word {
  /** Where it stands in the command; `end` is behind its last character. */
  start: number;
  end: number;
  /** As written, quotes and all. */
  raw: string;
  pieces: readonly Piece[];
  /** The whole value, when it is known. */
  literal: string | null;
  /** The known text before the first unknown piece. */
  lead: string;
  /** An unquoted expansion: may become no word, one, or many, with any content. */
  splits: boolean;
  /** A glob or brace expansion: may become several words, each beginning with `lead`. */
  multiplies: boolean;
  /** Begins with an unquoted `~`, which stands for a home directory. */
  tilde: boolean;
}

export interface WordPlace {
  start: number;
  end: number;
  raw: string;
  tilde: boolean;
}

/** Joins neighbouring texts, and takes braces that expand to nothing as the text they are. */
function tidyPieces(pieces: readonly Piece[]): Piece[] {
  const braces = pieces.filter((piece) => piece.kind === "brace").map((piece) => piece.value);
  const expands = braces.includes(",") || braces.includes("..");
  const tidy: Piece[] = [];
  for (const piece of pieces) {
    const asText = piece.kind === "text" || (piece.kind === "brace" && !expands);
    const last = tidy.at(-1);
    if (asText && last?.kind === "text") {
      tidy[tidy.length - 1] = { kind: "text", value: last.value + piece.value };
    } else {
      tidy.push(asText ? { kind: "text", value: piece.value } : piece);
    }
  }
  return tidy;
}

export function makeWord(place: WordPlace, given: readonly Piece[]): Word {
  const pieces = tidyPieces(given);
  const [first] = pieces;
  const isKnown = pieces.every((piece) => piece.kind === "text");
  const known = first?.kind === "text" ? first.value : "";
  return {
    ...place,
    pieces,
    literal: isKnown ? known : null,
    lead: known,
    splits: pieces.some(
      (piece) => (piece.kind === "variable" && !piece.quoted) || piece.kind === "unknown",
    ),
    multiplies: pieces.some((piece) => piece.kind === "glob" || piece.kind === "brace"),
  };
}

/** A word that the judge makes itself, with a known value. */
export function knownWord(value: string): Word {
  return makeWord({ start: -1, end: -1, raw: value, tilde: false }, [{ kind: "text", value }]);
}

/** The word may stand for more or fewer than exactly one. */
export function isSeveral(word: Word): boolean {
  return word.splits || word.multiplies;
}

/** The word may begin with a dash when the command runs, but does not show it. */
export function mayHideOption(word: Word): boolean {
  return word.literal === null && (word.splits || word.lead === "" || word.lead.startsWith("-"));
}

const BRACE_WORDS_MAX = 64;

/**
 * The words of a brace expansion without nesting (`src/{a,b}.ts`). Undefined when it is not that
 * simple: then the word stays what it is, and stands for anything that begins with its lead.
 */
export function expandBraces(word: Word): Word[] | undefined {
  let results: Piece[][] = [[]];
  let group: Piece[][] | undefined;
  for (const piece of word.pieces) {
    if (piece.kind !== "brace") {
      if (group) group.at(-1)?.push(piece);
      else for (const result of results) result.push(piece);
    } else if (piece.value === "{") {
      if (group) return undefined;
      group = [[]];
    } else if (piece.value === ",") {
      group?.push([]);
    } else {
      if (piece.value === ".." || !group || group.length < 2) return undefined;
      const alternatives: Piece[][] = group;
      results = results.flatMap((head) => alternatives.map((middle) => [...head, ...middle]));
      group = undefined;
      if (results.length > BRACE_WORDS_MAX) return undefined;
    }
  }
  if (group) return undefined;
  // Nothing at all becomes no word (`{,y}` is one), but an empty quote does. And braces expand
  // before tildes do, so that each result may name a home directory of its own.
  const words = results.filter((pieces) => pieces.length > 0);
  return words.map((pieces) => {
    const made = makeWord(word, pieces);
    return { ...made, tilde: made.lead.startsWith("~") };
  });
}
