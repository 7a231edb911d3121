// `bosun policy COMMAND`: what would happen to a command, and why. Nothing runs.

import { homedir } from "node:os";
import { explainCommand } from "#capabilities/policy";
import { splitCommands } from "./commands-text";
import { UsageError } from "./config/arguments";
import { loadGrammar } from "./grammar";
import type { Invocation } from "./invocation";
import { readPolicyRules } from "./rules";

export async function runPolicyCommand(invocation: Invocation): Promise<number> {
  const { args, configuration, cwd } = invocation;
  const { settings } = configuration;
  const command = asTyped(args.words);
  if (command.trim() === "") {
    throw new UsageError('policy needs a command: bosun policy "COMMAND".');
  }
  const verdict = await explainCommand(command, {
    cwd,
    home: configuration.home,
    userHome: homedir(),
    extraReadOnly: splitCommands(settings.readOnlyCommands),
    loadGrammar,
    rules: await readPolicyRules(configuration),
  });
  if (settings.json) {
    const { verdict: word, reason } = verdict;
    await Bun.write(Bun.stdout, `${JSON.stringify({ command, verdict: word, reason })}\n`);
  } else {
    await Bun.write(Bun.stdout, `${verdict.verdict}: ${verdict.reason}\n`);
  }
  return 0;
}

/** One word is the whole command; several were split by a shell, which took their quotes away. */
function asTyped(words: readonly string[]): string {
  const [only = "", ...others] = words;
  if (others.length === 0) return only;
  return words
    .map((word) => (/^[\w@%+=:,./~*?-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
