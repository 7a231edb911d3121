// The ground under the program: processes, the few calls of libc that Bun lacks, time, terminals.

export type { SystemClock } from "./os/clock";
export { systemClock } from "./os/clock";
export type { LockAttempt, TryLock } from "./os/file-lock";
export { loadFileLock } from "./os/file-lock";
export type { HiddenCredentials } from "./os/hide-credentials";
export { hideCredentials } from "./os/hide-credentials";
export type { Kernel } from "./os/landlock";
export { loadKernel } from "./os/landlock";
export type { Libc } from "./os/libc";
export { loadLibc } from "./os/libc";
export type { Output } from "./os/output";
export { isTerminal, openStandardOutput } from "./os/output";
export type { PrivateDirectory } from "./os/private-directory";
export { createPrivateDirectory, removeStaleDirectories } from "./os/private-directory";
export type { ProcessEntry } from "./os/processes";
export {
  childrenOf,
  isRunning,
  listProcesses,
  lockHoldersOf,
  readEnvironment,
  readProcess,
  signalProcess,
  workingDirectoryOf,
} from "./os/processes";
export { RUN_MARK } from "./os/run-mark";
export type { Place } from "./os/system-tape";
export { SystemTape } from "./os/system-tape";
export type { Watchdog } from "./os/watchdog";
export { createWatchdog } from "./os/watchdog";
