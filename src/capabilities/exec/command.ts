// The words of running a command: what is asked, what comes back. Plain data.

/** Where an agent works. */
export interface Workspace {
  /** Where Bosun was started, as a real path. */
  readonly root: string;
  /** Where the next command starts: carried over by `cd`. */
  cwd: string;
}

export interface CommandRequest {
  command: string;
  cwd: string;
  /** Default: the runner's. */
  timeoutMs?: number;
  outputBytesMax?: number;
  signal?: AbortSignal;
  /** Gets the cleaned output as it appears; CR in it means that its line begins anew. */
  onOutput?: (text: string) => void;
  /** More variables, for this command alone. */
  variables?: Readonly<Record<string, string>>;
  /** For commands that nobody was asked about: git's own settings can start no program. */
  harden?: boolean;
}

/** How a command came to its end. */
export type CommandEnd =
  | "exited"
  | "timed out"
  | "stopped"
  | "too much output"
  | "waited for input"
  | "not started";

export interface CommandResult {
  ended: CommandEnd;
  /** Null when the shell was killed, or never started. */
  exitCode: number | null;
  /** The signal that killed the shell. */
  signal: string | null;
  /** Cleaned for a model, and cut to `outputBytesMax`. */
  text: string;
  truncated: boolean;
  /** Holds the whole output, when it was cut. */
  artifactId?: string;
  /** The directory after it. */
  cwd: string;
  ms: number;
  /** Processes of the command that still run after it. */
  stillRunning: number;
  /** What else a reader of the result must know, a sentence each. */
  notes: readonly string[];
}
