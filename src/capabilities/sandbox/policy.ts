// What commands may do to the machine, as plain data: the same policy is made into Landlock rules
// and mounts on Linux, and into a Seatbelt profile on macOS.

import { join } from "node:path";

export interface SandboxPolicy {
  /** Where the agent works; absolute and real. */
  workspace: string;
  /** Writable with all that is below. Reading and execution are allowed everywhere. */
  writable: readonly string[];
  /** Neither readable nor writable: Bosun's own home. */
  hidden: readonly string[];
  /** Not writable even where they lie inside something writable. */
  protected: readonly string[];
  /** Sockets of services that run commands for others outside of the walls: out of reach. */
  services: readonly string[];
  network: "all" | "none";
}

export interface PolicyOptions {
  workspace: string;
  /** Bosun's home. */
  home: string;
  userId: number;
  /** Names the terminal multiplexer that Bosun runs in, if it does. */
  environment: Readonly<Record<string, string | undefined>>;
  network?: "all" | "none";
}

/** For terminals, temporary files and devices; the workspace comes on top. */
const WRITABLE = ["/tmp", "/dev", "/dev/pts"];

/** Git runs the hooks, and Bosun reads the folder: neither is the agent's to write. */
const PROTECTED = [".bosun", ".git/hooks"];

const SERVICES = [
  "/run/docker.sock",
  "/run/containerd/containerd.sock",
  "/run/podman/podman.sock",
  "/run/systemd/private",
  "/run/dbus/system_bus_socket",
];
const USER_SERVICES = ["systemd", "bus", "podman", "docker.sock"];

/** The standard policy for a workspace. */
export function sandboxPolicy(options: PolicyOptions): SandboxPolicy {
  const { workspace, home, userId, environment } = options;
  const multiplexer = environment.TMUX?.split(",")[0];
  return {
    workspace,
    writable: [workspace, ...WRITABLE],
    hidden: [home],
    protected: PROTECTED.map((path) => join(workspace, path)),
    services: [
      ...SERVICES,
      ...USER_SERVICES.map((name) => `/run/user/${userId}/${name}`),
      ...(multiplexer ? [multiplexer] : []),
    ],
    network: options.network ?? "all",
  };
}

/** Whether a path is this folder or lies in it; both are absolute. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
