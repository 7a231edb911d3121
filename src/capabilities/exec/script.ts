// The words that Bosun puts around a command, for bash and for a plain sh. A bash waits for two
// NUL-ended parts on descriptor 3, the setup and the command: the setup reads the command and
// closes the descriptor. The two leave nothing behind that the command could notice,
// but for an EXIT trap: that reports the status and the directory, and stops the shell, which so
// stays the leader of its session until Bosun has looked for what still runs in it.

/** The descriptor that the setup and the command come through. */
export const CHANNEL = 3;
/** The names that a shell of ours is called by in its own messages. */
export const SHELL_NAME = "bash";

export interface ScriptOptions {
  nonce: string;
  cwd: string;
  /** Variables for this command alone. */
  variables: Readonly<Record<string, string>>;
  /** A file that holds the command, for those too long for the channel. */
  commandFile: string | undefined;
}

/**
 * All that a shell does before it has a command: it waits, and ends at the end of the channel.
 * What does not depend on the command stands here, since bash reads a channel byte by byte.
 */
export function waitingScript(nonce: string): string {
  return [
    `IFS= read -r -d '' -u ${CHANNEL} BASH_EXECUTION_STRING || exit`,
    `trap ${quote(reportText(nonce))} EXIT`,
    'eval "$BASH_EXECUTION_STRING"',
    // A shell that was started in its directory has none to go back to.
    "unset -v OLDPWD",
    "export OLDPWD",
    "SECONDS=0",
    // What `$_` holds when a shell begins.
    ': "$BASH"',
    // A level of its own: each level of eval shows in the output of `set -x`.
    'eval "$BASH_EXECUTION_STRING"',
  ].join("; ");
}

/** The first part for a waiting bash; the command itself is the second one. */
export function bashSetup(options: ScriptOptions, command: string): string {
  const source = options.commandFile ? `<${quote(options.commandFile)}` : `-u ${CHANNEL}`;
  return [
    `IFS= read -r -d '' ${source} BASH_EXECUTION_STRING`,
    `exec ${CHANNEL}<&-`,
    ...assignments(options.variables),
    `command cd -- ${quote(options.cwd)}`,
    // Only a command that may replace our trap needs the guard: it can be seen by `type trap`.
    ...(/\btrap\b/.test(command) ? [trapGuard(options.nonce)] : []),
  ].join(";");
}

/** The whole script of a command for a shell that has no such channel. */
export function plainScript(options: ScriptOptions, command: string): string {
  const text = options.commandFile ? `. ${quote(options.commandFile)}` : command;
  const setup = [
    ...assignments(options.variables),
    `trap ${quote(reportText(options.nonce))} EXIT`,
  ].join("; ");
  return `${setup}; ${text}`;
}

/**
 * Written to the terminal by path, since the command may have sent its output elsewhere. `set +x`
 * keeps it out of traces. When it cannot be written the shell ends in the ordinary way.
 */
function reportText(nonce: string): string {
  const collect = "{ _bosun=$?; set +exv; command cd -P .; } 2>/dev/null";
  const report = `command printf '\\033]%s;%s;%s\\007' ${nonce} "$_bosun" "\${PWD-}" >/dev/tty`;
  return `${collect}; { ${report}; } 2>/dev/null && command kill -STOP $$`;
}

/** Keeps the report behind whatever EXIT trap the command sets; subshells are left alone. */
function trapGuard(nonce: string): string {
  const report = quote(reportText(nonce));
  return (
    `trap() { builtin trap "$@"; set -- $?; [ "$BASHPID" = $$ ] || return $1; ` +
    `set -- $1 "$(builtin trap -p EXIT)"; case $2 in *${nonce}*) return $1;; ` +
    `"") builtin trap -- ${report} EXIT; return $1;; esac; eval "set -- $1 \${2#trap -- }"; ` +
    `builtin trap -- "_bosun=\\$?; set +e; (exit \\$_bosun); $2"$'\\n'"(exit \\$_bosun); "${report} EXIT; ` +
    "return $1; }"
  );
}

function assignments(variables: Readonly<Record<string, string>>): string[] {
  return Object.entries(variables).map(([name, value]) => `export ${name}=${quote(value)}`);
}

export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
