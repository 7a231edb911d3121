// The file tools and the tools of control: what a model can do besides running commands. Each
// factory takes the surroundings that its tool works in; nothing is looked up.

export { createEditFileTool } from "./tools/edit-file";
export { understandCall } from "./tools/foreign-calls";
export { createReadLedger } from "./tools/ledger";
export { createListFilesTool } from "./tools/list-files";
export { createReadArtifactTool } from "./tools/read-artifact";
export { createReadFileTool } from "./tools/read-file";
export { createSearchTool } from "./tools/search";
export { createShellTool, type ShellToolOptions } from "./tools/shell";
export { toSpecification } from "./tools/specification";
export { createTaskCompleteTool } from "./tools/task-complete";
export { createTodoTool } from "./tools/todo";
export { createWriteFileTool } from "./tools/write-file";
