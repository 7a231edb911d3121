// Globs as models write them: `*.ts` means at any depth, one with a slash starts at the folder
// that is searched. Several may be joined with commas; `!` leaves out.

/** A test for paths relative to the folder that the globs are meant for. */
export function globMatcher(globs: string): (path: string) => boolean {
  const parts = splitGlobs(globs);
  const wanted = parts.filter((part) => !part.startsWith("!")).map(compile);
  const unwanted = parts
    .filter((part) => part.startsWith("!"))
    .map((part) => compile(part.slice(1)));
  return (path) =>
    (wanted.length === 0 || wanted.some((glob) => glob.match(path))) &&
    !unwanted.some((glob) => glob.match(path));
}

function compile(glob: string): Bun.Glob {
  return new Bun.Glob(anchored(glob));
}

/** Splits at commas that are not inside of braces. */
export function splitGlobs(globs: string): string[] {
  return globs
    .split(/,(?![^{]*\})/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** The glob from the folder downwards: a name alone at any depth, `src/` as all that is in it. */
export function anchored(glob: string): string {
  const trimmed = glob.trim().replace(/^(?:\.\/)+/, "");
  const whole = trimmed.endsWith("/") ? `${trimmed}**` : trimmed;
  if (whole.startsWith("/")) return whole.slice(1);
  return whole.includes("/") ? whole : `**/${whole}`;
}
