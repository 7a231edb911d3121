// The name that was probably meant: used where a model or a person names something that is not.

/** Edits between two words (insert, delete, replace); Wagner and Fischer's algorithm. */
function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const shorter = Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      current.push(Math.min(replaced, shorter));
    }
    previous = current;
  }
  return previous[right.length] ?? 0;
}

/** Longer words are not compared: nobody mistypes a name of that length. */
const NAME_LENGTH_MAX = 64;

/** The nearest of `names` to `wanted`, or undefined when none is near (over half would change). */
export function nearestName(wanted: string, names: readonly string[]): string | undefined {
  if (wanted.length > NAME_LENGTH_MAX) return undefined;
  let best: { name: string; distance: number } | undefined;
  for (const name of names) {
    const distance = editDistance(wanted.toLowerCase(), name.toLowerCase());
    if (!best || distance < best.distance) best = { name, distance };
  }
  if (!best || best.distance > Math.ceil(Math.max(wanted.length, best.name.length) / 2)) {
    return undefined;
  }
  return best.name;
}
