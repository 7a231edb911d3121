// Running commands: a shell in a terminal and a session of its own for each, output made fit for
// a model, nothing left behind. The working directory carries over, nothing else does.

export type { CommandEnd, CommandRequest, CommandResult, Workspace } from "./exec/command";
export { CREDENTIAL_NAMES } from "./exec/environment";
export type { Job, JobStart, Jobs } from "./exec/jobs";
export type { CommandRunner, CommandRunnerOptions } from "./exec/runner";
export { createCommandRunner, OUTPUT_BYTES_MAX } from "./exec/runner";
export type { SessionWatch } from "./exec/sessions";
export type { Verification } from "./exec/verification";
export { runVerification } from "./exec/verification";
export { describeEnd } from "./exec/wording";
