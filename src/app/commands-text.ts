// Commands that a setting names, as a list.

/** `make -n, htop` are two commands; without a comma, blanks separate them. */
export function splitCommands(text: string): string[] {
  const separator = /[,\n]/.test(text) ? /[,\n]/ : /\s+/;
  return text
    .split(separator)
    .map((command) => command.trim())
    .filter((command) => command !== "");
}
