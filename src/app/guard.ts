// What happens should the program be killed: the watchdog, told what to clean up and which
// conversation can be resumed.

import { createWatchdog, RUN_MARK, type Watchdog } from "#base/os";
import type { AgentHandle } from "#base/protocol";

export interface Guard {
  watchdog: Watchdog;
  /** For the runner of the commands that it ends. */
  runMark: string;
  /** From here on an end without farewell is unexpected. */
  follow(agent: AgentHandle, options: { isKept: boolean }): void;
}

export function createGuard(directory: string): Guard {
  const runMark = crypto.randomUUID();
  const watchdog = createWatchdog({ mark: `${RUN_MARK}=${runMark}`, directory });
  return {
    watchdog,
    runMark,
    follow(agent, { isKept }) {
      let offered: string | undefined;
      const offer = (): void => {
        const { session } = agent.ask({ kind: "state" });
        if (session === offered) return;
        offered = session;
        watchdog.arm(isKept ? `bosun --resume ${session}` : undefined);
      };
      offer();
      // A conversation that takes the place of another says so in a notice.
      agent.watch((event) => {
        if (event.type === "run.started" || event.type === "notice") offer();
      });
    },
  };
}
