// The agent's handle with its conversations: commands about sessions are answered here, all others
// go through. What came of it is said as a notice, so every front end shows it.

import type { Agent } from "#agent";
import { StoreFailure } from "#base/kit";
import type { AgentHandle, Command, SessionAction, SessionId } from "#base/protocol";
import { UsageError } from "../config/arguments";
import type { SessionKeeper } from "./keeper";
import { listSessions } from "./list";
import type { Mirroring } from "./mirroring";

type SessionCommand = Extract<Command, { kind: "session" }>;

/** What may be asked while the agent works. */
const ANY_TIME: ReadonlySet<SessionAction> = new Set(["list", "show", "clear"]);

const NO_SESSION = "No session is kept in this run (--no-session).";

interface Kept {
  agent: Agent;
  keeper: SessionKeeper;
  /** Absent when no session file is kept. */
  mirroring: Mirroring | undefined;
}

/** Without a keeper no session is kept. */
export function withSessions(
  agent: Agent,
  keeper: SessionKeeper | undefined,
  mirroring: Mirroring | undefined,
): AgentHandle {
  /** Switches that are under way: what is said meanwhile is for the conversation that comes. */
  let switches = 0;
  let settled: Promise<void> = Promise.resolve();
  const later = (work: () => void | Promise<void>): void => {
    switches++;
    settled = settled
      .then(work)
      .catch((error: unknown) => agent.notice("error", `A defect: ${String(error)}`))
      .finally(() => {
        switches--;
      });
  };
  return {
    send(command) {
      if (command.kind !== "session") {
        if (switches > 0) later(() => agent.send(command));
        else agent.send(command);
      } else if (keeper) {
        later(() => answer({ agent, keeper, mirroring }, command));
      } else {
        agent.notice("warning", NO_SESSION);
      }
    },
    watch: (watcher) => agent.watch(watcher),
    ask: (query) => agent.ask(query),
  };
}

async function answer(kept: Kept, { action, id }: SessionCommand): Promise<void> {
  const { agent } = kept;
  if (agent.ask({ kind: "state" }).phase !== "idle" && !ANY_TIME.has(action)) {
    agent.notice("warning", `/${action} waits for an idle agent. /stop ends the run.`);
    return;
  }
  try {
    agent.notice("info", await act(kept, action, id));
  } catch (error) {
    if (!(error instanceof StoreFailure || error instanceof UsageError)) throw error;
    agent.notice("error", error.message);
  }
}

async function act(
  { agent, keeper, mirroring }: Kept,
  action: SessionAction,
  id: SessionId | undefined,
): Promise<string> {
  switch (action) {
    case "list":
      return listSessions(await keeper.list(), agent.ask({ kind: "state" }).session);
    case "show": {
      const file = mirroring ? `\n  file      ${mirroring.path}` : "";
      return (await keeper.describe()) + file;
    }
    case "clear":
    case "new": {
      agent.send({ kind: "stop" });
      await agent.idle;
      const session = await keeper.begin();
      agent.adopt(session);
      mirroring?.checkpoint("cleared");
      return `This is a new conversation (session ${session.session}).`;
    }
    case "fork":
    case "resume": {
      const session = action === "fork" ? await keeper.fork() : await keeper.resume(id);
      agent.adopt(session);
      mirroring?.checkpoint("resumed");
      return session.told;
    }
    case "reload":
      return mirroring?.reload(agent) ?? "No session file is kept in this run (--session FILE).";
  }
}
