// The operating-system sandbox of commands: what they may write, see and signal, whatever was
// approved. Walls are measured by trying them. This door hands out words for in front of a command.

export { createSandbox, type Sandbox } from "./sandbox/create";
export { type SandboxPolicy, sandboxPolicy } from "./sandbox/policy";
export { listWalls, missingWalls, type Wall, type Walls } from "./sandbox/walls";
