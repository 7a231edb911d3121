// What the scripted model of `--demo` says: a small real job, told step by step. It looks at the
// history only far enough to notice that its owner said no, or that a step did not go as written.

import type { Message } from "#base/protocol";

export interface ScriptedTurn {
  text: string;
  calls: { name: string; args: Record<string, unknown> }[];
}

const WITH_MISTAKE = `#!/usr/bin/env bash
# Prints the prime numbers up to a limit.
set -euo pipefail

limit=\${1:?usage: primes.sh LIMIT}

is_prime() {
  local candidate=$1 divisor
  for ((divisor = 2; divisor * divisor <= candidate; divisor++)); do
    ((candidate % divisor == 0)) && return 1
  done
  return 0
}

for ((number = 2; number <= limit; number++)); do
  if is_prime "$numbr"; then printf '%s ' "$number"; fi
done
echo
`;

const FIRST_PRIMES = "2 3 5 7 11 13 17 19 23 29";

function todo(done: number): ScriptedTurn["calls"][number] {
  const texts = ["Write a program", "Run it", "Mend what fails", "Check the result"];
  const items = texts.map((text, index) => ({
    text,
    state: index < done ? "done" : index === done ? "current" : "pending",
  }));
  return { name: "todo", args: { items } };
}

/** The turns in order; `folder` is one that does not exist yet. */
function turns(folder: string): ScriptedTurn[] {
  const path = `${folder}/primes.sh`;
  const check = `test "$(bash ${path} 30)" = "${FIRST_PRIMES} " && echo "as expected"`;
  return [
    {
      text:
        "I am a script, not a model: what I say was written beforehand. What I do is real: " +
        "Bosun runs each call in this directory, under your approval. First a look around.",
      calls: [{ name: "list_files", args: {} }, todo(0)],
    },
    {
      text: "I write a small program. It has a mistake in it, as first drafts do.",
      calls: [{ name: "write_file", args: { path, content: WITH_MISTAKE } }],
    },
    {
      text: "Now I run it.",
      calls: [todo(1), { name: "shell", args: { command: `bash ${path} 30` } }],
    },
    {
      text: "A name is misspelt: numbr. I mend that one place.",
      calls: [
        todo(2),
        {
          name: "edit_file",
          args: { path, old_string: 'is_prime "$numbr"', new_string: 'is_prime "$number"' },
        },
      ],
    },
    {
      text: "Again, and this time the result is compared with what it should be.",
      calls: [todo(3), { name: "shell", args: { command: check } }],
    },
    {
      text: "",
      calls: [
        {
          name: "task_complete",
          args: {
            summary:
              `The demo wrote ${path}, ran it, mended a mistake and checked the result. ` +
              `Delete ${folder} when you like. For real work, give Bosun an endpoint: ` +
              "bosun --help.",
          },
        },
      ],
    },
  ];
}

function ending(summary: string): ScriptedTurn {
  return { text: "", calls: [{ name: "task_complete", args: { summary } }] };
}

/** The next turn for a history of messages. */
export function nextTurn(messages: readonly Message[], folder: string): ScriptedTurn {
  const results = messages.flatMap((message) => (message.role === "tool" ? [message.content] : []));
  if (results.some((result) => /^(Denied|Skipped|Not run)/.test(result))) {
    return ending(
      "A step of the demo was not approved, so the script ends here: it cannot think of another " +
        "way, which a model would. Approve the steps, or start with --auto-approve.",
    );
  }
  const failure = results.find((result) => result.startsWith("Error: "));
  if (failure !== undefined) {
    return ending(
      `A step of the demo failed, and a script cannot think of another way. ${failure}`,
    );
  }
  const script = turns(folder);
  const spoken = messages.filter((message) => message.role === "assistant").length;
  return script[Math.min(spoken, script.length - 1)] ?? { text: "", calls: [] };
}
