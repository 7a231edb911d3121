// Measures the walls: a shell inside them tries what is forbidden, and says what went through.

import { accessSync, constants, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isWithin, type SandboxPolicy } from "./policy";

/** The shell does six small things; something is badly wrong when it takes that long. */
const PROBE_MS = 5000;

/** Each attempt in a subshell, which a refused redirection ends. */
const SCRIPT = `
try() { name=$1; shift; if ("$@") 2>/dev/null; then echo "$name open"; else echo "$name shut"; fi; }
put() { : >"$1"; }
get() { : <"$1"; }
[ -n "$1" ] && try filesystem put "$1"
[ -n "$2" ] && try hidden get "$2"
[ -n "$3" ] && try protectedPaths put "$3"
try processes get "/proc/$4/environ"
try signals kill -0 "$5"
echo done
`;

export type Attempt = "filesystem" | "hidden" | "protectedPaths" | "processes" | "signals";

export type ProbeResult =
  | { kind: "measured"; open: ReadonlySet<Attempt>; shut: ReadonlySet<Attempt> }
  | { kind: "failed"; reason: string };

export interface ProbeOptions {
  /** The words in front of a command. */
  launcher: readonly string[];
  policy: SandboxPolicy;
  /** A hidden folder that stands behind a cover. */
  hidden: string | undefined;
  /** A protected folder that is there. */
  protectedPath: string | undefined;
}

/** Never throws; leaves nothing behind. */
export async function probeWalls(options: ProbeOptions): Promise<ProbeResult> {
  const { launcher, policy, hidden, protectedPath } = options;
  const name = `.bosun-probe-${process.pid}`;
  const at = (folder: string | undefined): string => (folder ? join(folder, name) : "");
  const outside = at(placeOutside(policy));
  const marker = at(hidden);
  const inProtected = at(protectedPath);
  try {
    if (marker) writeFileSync(marker, "");
    const numbers = [String(process.pid), String(process.ppid)];
    const child = Bun.spawn(
      [...launcher, "/bin/sh", "-c", SCRIPT, "sh", outside, marker, inProtected, ...numbers],
      {
        cwd: policy.workspace,
        env: { PATH: "/usr/bin:/bin" },
        stdio: ["ignore", "pipe", "pipe"],
        timeout: PROBE_MS,
      },
    );
    const [said, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    const status = await child.exited;
    return understand(said, complaint.trim() || `the probe ended with ${status}`);
  } catch (error) {
    return { kind: "failed", reason: error instanceof Error ? error.message : String(error) };
  } finally {
    for (const path of [outside, marker, inProtected]) if (path) rmSync(path, { force: true });
  }
}

function understand(said: string, complaint: string): ProbeResult {
  const lines = said.trim().split("\n");
  if (lines.pop() !== "done") {
    return {
      kind: "failed",
      reason: complaint.replace(/^bosun: sandbox: /, "").replace(/error 0+/, "error "),
    };
  }
  const chosen = (state: string): Set<Attempt> =>
    new Set(
      lines
        .filter((line) => line.endsWith(` ${state}`))
        .map((line) => line.split(" ")[0] as Attempt),
    );
  return { kind: "measured", open: chosen("open"), shut: chosen("shut") };
}

/** A folder that we may write and a command may not: there the refusal tells something. */
function placeOutside({ writable, hidden, workspace }: SandboxPolicy): string | undefined {
  const candidates = [
    ...hidden.map((path) => dirname(path)),
    ...hidden,
    "/var/tmp",
    dirname(workspace),
  ];
  return candidates.find(
    (path) => !writable.some((folder) => isWithin(path, folder)) && isWritable(path),
  );
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    // Not ours to write, or not there: another one may do.
    return false;
  }
}
