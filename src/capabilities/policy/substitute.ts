// Puts the value of a loop's variable into the words that use it.

import type { SimpleCommand } from "./script";
import { makeWord, type Piece, type Word } from "./word";

function substituteWord(word: Word, bindings: ReadonlyMap<string, Word>): Word {
  if (!word.pieces.some((piece) => piece.kind === "variable" && bindings.has(piece.name))) {
    return word;
  }
  let splits = false;
  const pieces: Piece[] = word.pieces.flatMap((piece): Piece[] => {
    const value = piece.kind === "variable" ? bindings.get(piece.name) : undefined;
    if (piece.kind !== "variable" || !value) return [piece];
    // Unquoted, names of files are cut at their blanks, and those are not known.
    const isPlain = /^[\w.,:@%+=/-]+$/.test(value.literal ?? "");
    if (!piece.quoted && !isPlain) splits = true;
    return [...value.pieces];
  });
  const made = makeWord(word, pieces);
  const [first] = word.pieces;
  const value = first?.kind === "variable" ? bindings.get(first.name) : undefined;
  // One round of the loop has one name, however many a glob found.
  return {
    ...made,
    multiplies: word.multiplies,
    splits: made.splits || splits,
    tilde: value?.tilde ?? word.tilde,
  };
}

export function substitute(
  command: SimpleCommand,
  bindings: ReadonlyMap<string, Word>,
): SimpleCommand {
  if (bindings.size === 0) return command;
  const change = (word: Word): Word => substituteWord(word, bindings);
  return {
    assignments: command.assignments.map(change),
    words: command.words.map(change),
    redirects: command.redirects.map((redirect) => ({
      ...redirect,
      target: change(redirect.target),
    })),
  };
}
