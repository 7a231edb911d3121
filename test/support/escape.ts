// Attempts to get out of the sandbox, played by the built executable and judged from outside. Each
// is played once behind the walls and once without them: what works without was a real attempt.

import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Place, runBosun } from "./bosun";
import { type Script, type ScriptedCall, startModelServer } from "./model-server";

export const isRoot = process.getuid?.() === 0;

/** System calls that no program makes for us, by their numbers on this processor. */
const NUMBERS = {
  x64: {
    ptrace: 101,
    process_vm_readv: 310,
    prlimit: 302,
    init_module: 175,
    renameat2: 316,
    settimeofday: 164,
  },
  arm64: {
    ptrace: 117,
    process_vm_readv: 270,
    prlimit: 261,
    init_module: 105,
    renameat2: 276,
    settimeofday: 170,
  },
};

/** What an attempt finds and leaves. */
export interface Seen {
  /** A folder that no command may write, with a file `victim` that says `whole`. */
  out: string;
  cwd: string;
  home: string;
  /** What the model got. */
  result: string;
  exitCode: number | null;
  /** The victim's process, started by the test. */
  victim: number;
}

export interface Attempt {
  name: string;
  /**
   * For bash. It finds `$OUT`, `$HOME`, `$BOSUN_PID`, `$VICTIM` (a process of the test's own), the
   * numbers of system calls as `$SYS_ptrace`, and an empty directory of its own in the project.
   */
  script?: string;
  /** Instead of a script: a call of another tool. */
  call?: (seen: Pick<Seen, "out" | "cwd" | "home">) => ScriptedCall;
  wentThrough(seen: Seen): boolean;
  /** Programs that it needs. */
  needs?: readonly string[];
  /** Files of which it needs one that can be opened from outside. */
  oneOf?: readonly string[];
  /** Without walls only root can do it. */
  isRootOnly?: boolean;
  /** Why it is not tried without walls. */
  noControl?: string;
  /** Why no wall holds it: then it must go through, so that this is seen when it changes. */
  limit?: string;
}

export const victimChanged = ({ out }: Seen): boolean =>
  !existsSync(join(out, "victim")) || readFileSync(join(out, "victim"), "utf8") !== "whole";
export const appeared =
  (name: string) =>
  ({ out }: Seen): boolean =>
    existsSync(join(out, name));
export const succeeded = ({ exitCode }: Seen): boolean => exitCode === 0;
export const said =
  (text: string) =>
  ({ result }: Seen): boolean =>
    result.includes(text);

export const SECRET = "the-word-nobody-may-read";
export const API_KEY = "sk-escape-0123456789abcdef";

/** Not below /tmp, which commands may write. */
export function makeWalledPlace(): Place & { outside: string } {
  const root = mkdtempSync("/var/tmp/bosun-escape-");
  const place = { cwd: join(root, "project"), home: join(root, "home") };
  const outside = join(root, "outside");
  const folders = [outside, join(place.home, ".bosun"), join(place.cwd, ".bosun")];
  for (const path of [...folders, join(place.cwd, ".git/hooks")]) {
    mkdirSync(path, { recursive: true });
  }
  Bun.spawnSync(["git", "init", "-q"], { cwd: place.cwd, env: { PATH: process.env.PATH ?? "" } });
  writeFileSync(join(place.home, ".bosun", "config.toml"), `# ${SECRET}\n`);
  writeFileSync(join(place.home, ".profile"), "# plain words\n");
  return { ...place, outside, remove: () => rmSync(root, { recursive: true, force: true }) };
}

export interface Played {
  /** By the attempt's name: whether it went through; undefined for those that were not played. */
  outcome: ReadonlyMap<string, boolean>;
  exit: number;
  /** Every attempt had its turn, and Bosun lived to the end. */
  isWhole: boolean;
  /** The words of the notice about walls that do not stand. */
  missing: string;
  state: "on" | "off";
}

/** One run of the executable plays them all, in order. */
export async function play(
  attempts: readonly Attempt[],
  { isWalled, args = [], env = {} }: PlayOptions,
): Promise<Played> {
  const place = makeWalledPlace();
  const victim = Bun.spawn(["sleep", "600"], {
    env: { PATH: process.env.PATH ?? "", VICTIM_WORD: SECRET },
    detached: true,
  });
  try {
    const chosen = attempts.filter((attempt) => isPlayable(attempt, { isWalled }));
    const seen = chosen.map((attempt, index) => prepare(attempt, { place, index, victim }));
    using server = startModelServer([
      ...seen.map(({ reply }) => reply),
      { calls: [{ name: "task_complete", args: { summary: "ok" } }] },
    ]);
    const run = await runBosun({
      place,
      args: ["--json", "--auto-approve", ...args, ...(isWalled ? [] : ["--disable-sandbox"]), "go"],
      env: { BOSUN_API_BASE: server.url, BOSUN_MODEL: "m", BOSUN_API_KEY: API_KEY, ...env },
    });
    const results = run.all("tool.finished");
    const outcome = new Map(
      seen.map(({ attempt, out }, index) => {
        const { result = "", exitCode = null } = results[index] ?? {};
        if (process.env.ESCAPE_SHOW) {
          console.log(`--- ${isWalled ? "walled" : "bare"} ${attempt.name}: ${exitCode} ${result}`);
        }
        const { cwd, home } = place;
        const through = attempt.wentThrough({
          ...{ out, cwd, home, result, exitCode },
          victim: victim.pid,
        });
        return [attempt.name, through] as const;
      }),
    );
    const missing = run.all("notice").map((notice) => notice.text);
    return {
      outcome,
      exit: run.exit,
      isWhole: results.length > seen.length,
      missing: missing.filter((text) => text.includes("does not guard")).join(" "),
      state: run.all("run.started")[0]?.sandbox ?? "off",
    };
  } finally {
    victim.kill("SIGKILL");
    place.remove();
  }
}

export interface PlayOptions {
  isWalled: boolean;
  args?: readonly string[];
  env?: Record<string, string>;
}

export function isPlayable(attempt: Attempt, { isWalled }: { isWalled: boolean }): boolean {
  if (attempt.needs?.some((program) => Bun.which(program) === null)) return false;
  if (attempt.oneOf && !attempt.oneOf.some(mayOpen)) return false;
  return isWalled || (attempt.noControl === undefined && (isRoot || !attempt.isRootOnly));
}

function mayOpen(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    // Not there, or not for us: then a refusal behind the walls would tell nothing.
    return false;
  }
}

function prepare(
  attempt: Attempt,
  options: { place: Place & { outside: string }; index: number; victim: Bun.Subprocess },
) {
  const { place, index, victim } = options;
  const out = join(place.outside, String(index));
  const own = join(place.cwd, `attempt-${index}`);
  for (const folder of [out, own]) mkdirSync(folder);
  writeFileSync(join(out, "victim"), "whole");
  const numbers = Object.entries(NUMBERS[process.arch === "arm64" ? "arm64" : "x64"]);
  const head = [
    ...numbers.map(([name, number]) => `SYS_${name}=${number}`),
    `OUT=${out} PROJECT=${place.cwd} VICTIM=${victim.pid}`,
    `export OUT PROJECT VICTIM ${numbers.map(([name]) => `SYS_${name}`).join(" ")}`,
    `cd ${own}`,
  ];
  // In a file, so that it is the walls that refuse and not the reading of the command.
  const file = join(own, "attempt.sh");
  writeFileSync(file, `${[...head, attempt.script ?? ""].join("\n")}\n`);
  const command = `BOSUN_PID=$PPID bash ${file}`;
  const call = attempt.call?.({ out, ...place }) ?? { name: "shell", args: { command } };
  const reply: Script[number] = { calls: [call] };
  return { attempt, out, reply };
}

export type Verdict = "stopped" | "went through" | "not played";

/** What came of an attempt. */
export function verdictOf({ outcome }: Played, { name }: Attempt): Verdict {
  const through = outcome.get(name);
  if (through === undefined) return "not played";
  return through ? "went through" : "stopped";
}
