// The policy as a Seatbelt profile for macOS. Source: the comments of Apple's own profiles in
// /System/Library/Sandbox/Profiles; the last rule that matches decides.

import type { SandboxPolicy } from "./policy";

const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** What macOS calls the same places: the public names are links there. */
const REAL_PLACES: Readonly<Record<string, string>> = { "/tmp": "/private/tmp" };

/** The words in front of a command. */
export function seatbeltWords(policy: SandboxPolicy): readonly string[] {
  return [SANDBOX_EXEC, "-p", seatbeltProfile(policy)];
}

export function seatbeltProfile(policy: SandboxPolicy): string {
  const writable = [...new Set(policy.writable.flatMap(placesOf))];
  const lines = [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(allow file-write* ${writable.map(subpath).join(" ")})`,
    ...policy.protected.flatMap((path) => [
      `(deny file-write* ${subpath(path)})`,
      // Its parents may not be renamed away from it, either.
      `(deny file-write-unlink (path-ancestors ${quoted(path)}))`,
    ]),
    ...policy.hidden.map((path) => `(deny file-read* file-write* ${subpath(path)})`),
    ...policy.services.map((path) => `(deny network-outbound (literal ${quoted(path)}))`),
    "(deny signal)",
    // Commands of one run are not in one group for Seatbelt: those of one command are.
    "(allow signal (target same-sandbox))",
    "(deny process-info* (target others))",
    "(allow process-info* (target same-sandbox))",
    ...(policy.network === "none" ? ["(deny network*)"] : []),
  ];
  return `${lines.join("\n")}\n`;
}

function placesOf(path: string): string[] {
  const real = REAL_PLACES[path];
  return real === undefined ? [path] : [path, real];
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
