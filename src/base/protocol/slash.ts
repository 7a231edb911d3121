// The registry of slash commands: words of the owner to the program, never to the model. Every face
// reads them from here; what is only of a face (help, quitting) it does itself.

import type { Command } from "./command";
import type { AgentState } from "./handle";

export interface SlashCommand {
  name: string;
  aliases: readonly string[];
  /** The argument's name in help; absent when it takes none. */
  argument?: string;
  help: string;
}

export const SLASH_COMMANDS: readonly SlashCommand[] = [
  { name: "help", aliases: [], help: "Show these commands." },
  {
    name: "stop",
    aliases: [],
    help: "Stop the run: a pending reply and a running command are cut.",
  },
  { name: "pause", aliases: [], help: "Hold the run after its current step; again goes on." },
  {
    name: "resume",
    aliases: ["unpause"],
    argument: "[ID]",
    help: "Go on after a pause; otherwise go on with a session.",
  },
  { name: "sessions", aliases: [], help: "List the conversations of this directory." },
  { name: "session", aliases: [], help: "Show this session: its id, its file, what is kept." },
  { name: "reload", aliases: [], help: "Read the session file again, as it was edited." },
  { name: "fork", aliases: [], help: "Go on in a copy of this conversation." },
  { name: "new", aliases: [], help: "Start a new conversation; this one stays in /sessions." },
  { name: "clear", aliases: [], help: "Stop, and start a new conversation." },
  { name: "autoapprove", aliases: ["aa"], help: "Switch asking off or on." },
  { name: "approve", aliases: [], help: "Approve the call that waits." },
  { name: "reject", aliases: [], help: "Skip the call that waits." },
  {
    name: "suggest",
    aliases: [],
    argument: "TEXT",
    help: "Skip the call and say what to do instead.",
  },
  { name: "todo", aliases: [], help: "Show the task list." },
  { name: "quit", aliases: ["exit"], help: "Stop and leave." },
];

export type SlashReading =
  | { kind: "command"; command: Command }
  /** The face's own business. */
  | { kind: "local"; name: "help" | "todo" | "quit" }
  | { kind: "wrong"; text: string };

/** Reads a line that begins with a slash; undefined when it is no slash command but a request. */
export function readSlash(line: string, state: AgentState): SlashReading | undefined {
  const match = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(line.trim());
  if (!match) return undefined;
  const [, word = "", argument = ""] = match;
  const entry = SLASH_COMMANDS.find(({ name, aliases }) => name === word || aliases.includes(word));
  if (!entry) {
    // A path or a sentence may begin with a slash, too: only a slip of the finger is an error.
    const names = SLASH_COMMANDS.flatMap(({ name, aliases }) => [name, ...aliases]);
    const near = names.find((name) => name.startsWith(word) || word.startsWith(name));
    if (near === undefined) return undefined;
    return { kind: "wrong", text: `There is no /${word}. Did you mean /${near}?` };
  }
  const command = (value: Command): SlashReading => ({ kind: "command", command: value });
  const call = state.pendingApproval;
  switch (entry.name) {
    case "stop":
      return command({ kind: "stop" });
    case "pause":
      return command({ kind: state.pausing ? "resume" : "pause" });
    case "resume":
      if (state.pausing) return command({ kind: "resume" });
      if (argument === "") return command({ kind: "session", action: "list" });
      return command({ kind: "session", action: "resume", id: argument.trim() });
    case "sessions":
      return command({ kind: "session", action: "list" });
    case "session":
      return command({ kind: "session", action: "show" });
    case "fork":
    case "reload":
    case "new":
    case "clear":
      return command({ kind: "session", action: entry.name });
    case "autoapprove":
      return command({ kind: "autoApprove", on: !state.autoApprove });
    case "approve":
    case "reject":
    case "suggest":
      if (call === null) return { kind: "wrong", text: "Nothing waits for approval." };
      return answer(entry.name, call, argument);
    default:
      return { kind: "local", name: entry.name as "help" | "todo" | "quit" };
  }
}

function answer(name: "approve" | "reject" | "suggest", call: string, text: string): SlashReading {
  switch (name) {
    case "approve":
      return { kind: "command", command: { kind: "approve", call, always: false } };
    case "reject":
      return { kind: "command", command: { kind: "reject", call, note: text } };
    case "suggest":
      if (text === "") return { kind: "wrong", text: "/suggest needs words: /suggest TEXT." };
      return { kind: "command", command: { kind: "suggest", call, text } };
  }
}
