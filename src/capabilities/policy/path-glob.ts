// Globs over whole paths for rules: `*` and `?` stay inside one segment, `**` crosses them.

export function compileGlob(pattern: string): RegExp {
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (found) => {
    if (found === "**/") return "(?:.*/)?";
    if (found === "**") return ".*";
    if (found === "*") return "[^/]*";
    return found === "?" ? "[^/]" : `\\${found}`;
  });
  return new RegExp(`^${source}$`, "s");
}
