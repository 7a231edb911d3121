// Which walls there are, and the words for them.

export interface Wall {
  stands: boolean;
  /** Why it does not, or what it lacks. */
  reason?: string;
}

export interface Walls {
  /** The version of Landlock's interface; 0 where there is none. */
  abi: number;
  /** No writing outside of the writable folders. */
  filesystem: Wall;
  /** Bosun's home is out of sight. */
  hidden: Wall;
  /** What is protected inside the workspace cannot be written. */
  protectedPaths: Wall;
  /** Neither memory, environment nor open files of processes outside. */
  processes: Wall;
  /** No signal to processes outside. */
  signals: Wall;
  /** No abstract sockets of processes outside. */
  ipc: Wall;
  /** No network, where the policy wants none. */
  network?: Wall;
}

const NAMES = {
  filesystem: "writes outside",
  hidden: "Bosun's home",
  protectedPaths: ".bosun and .git/hooks",
  processes: "other processes",
  signals: "signals to others",
  ipc: "abstract sockets",
  network: "network",
} as const;

export type WallName = keyof typeof NAMES;

/** Every wall of this policy with its name for people. */
export function listWalls(walls: Walls): { name: string; wall: Wall }[] {
  return (Object.keys(NAMES) as WallName[]).flatMap((key) => {
    const wall = walls[key];
    return wall ? [{ name: NAMES[key], wall }] : [];
  });
}

/** One line that says which walls do not stand and why; undefined when all do. */
export function missingWalls(walls: Walls): string | undefined {
  const missing = listWalls(walls).filter(({ wall }) => !wall.stands);
  if (missing.length === 0) return undefined;
  const words = missing.map(({ name, wall }) => `${name}${wall.reason ? ` (${wall.reason})` : ""}`);
  return `The sandbox does not guard: ${words.join("; ")}.`;
}
