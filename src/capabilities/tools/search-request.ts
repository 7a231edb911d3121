// One search as both engines are asked for it.

export interface SearchRequest {
  pattern: string;
  real: string;
  isFolder: boolean;
  glob: string | undefined;
  context: number;
  matchesMax: number;
  msMax: number;
  /** Aborted when the owner stops the run or the time is up. */
  signal: AbortSignal;
  isWanted(path: string): boolean;
  /** Notes a file with a line that was too long, or took too long. */
  skipped(path: string): void;
}
