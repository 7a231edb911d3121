// The environment of commands: Bosun's own without credentials, and without what would change how
// the shell starts; with settings that keep programs from paging, prompting and opening editors.

/** What Bosun itself reads as a credential. A name that ends in `*` stands for all that begin so. */
export const CREDENTIAL_NAMES: readonly string[] = [
  "BOSUN_API_KEY",
  "BOSUN_PASSPHRASE",
  "AIC_API_KEY",
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "DEVPLACE_API_KEY",
  "TELEGRAM_BOT_TOKEN",
  "TAI_*",
];

/** Scripts that a shell runs at its start, options it takes over, and what a new shell sets. */
const SHELL_STATE = ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PWD", "OLDPWD", "_"];
/** Sizes of another terminal. */
const TERMINAL_STATE = ["COLUMNS", "LINES"];

const NEVER_ASK: Readonly<Record<string, string>> = {
  TERM: "xterm-256color",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: ":",
  DEBIAN_FRONTEND: "noninteractive",
  // Programs that would ask for a password ask this one instead, and it fails at once.
  SSH_ASKPASS_REQUIRE: "force",
};

export function commandEnvironment(options: {
  from: Readonly<Record<string, string | undefined>>;
  secretNames: readonly string[];
}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.from)) {
    if (value === undefined || isSecret(name, options.secretNames)) continue;
    if (SHELL_STATE.includes(name) || TERMINAL_STATE.includes(name)) continue;
    environment[name] = value;
  }
  Object.assign(environment, NEVER_ASK);
  environment.SSH_ASKPASS = Bun.which("false") ?? "/bin/false";
  return environment;
}

function isSecret(name: string, secretNames: readonly string[]): boolean {
  return secretNames.some((secret) =>
    secret.endsWith("*") ? name.startsWith(secret.slice(0, -1)) : name === secret,
  );
}
