// The flat list of what a model can call. A new tool is one line here.

import type { Tool } from "#agent/ports";
import type { CommandRunner, Workspace } from "#capabilities/exec";
import {
  createEditFileTool,
  createListFilesTool,
  createReadArtifactTool,
  createReadFileTool,
  createReadLedger,
  createSearchTool,
  createShellTool,
  createTaskCompleteTool,
  createTodoTool,
  createWriteFileTool,
} from "#capabilities/tools";
import type { ArtifactStore } from "#stores/artifacts";

export interface ToolSurroundings {
  workspace: Workspace;
  runner: CommandRunner;
  artifacts: ArtifactStore;
  outputBytesMax: number;
  /** Whether path rules let tools read this real path. */
  mayRead(path: string): boolean;
  isReadOnly(command: string, cwd: string): Promise<boolean>;
}

export function createTools(surroundings: ToolSurroundings): Tool[] {
  const { workspace, runner, artifacts, outputBytesMax, isReadOnly, mayRead } = surroundings;
  const ledger = createReadLedger();
  return [
    createShellTool({ workspace, runner, jobs: runner.jobs, outputBytesMax, isReadOnly }),
    createReadFileTool({ workspace, ledger, outputBytesMax }),
    createEditFileTool({ workspace, ledger }),
    createWriteFileTool({ workspace, ledger }),
    createListFilesTool({ workspace, outputBytesMax, mayRead }),
    createSearchTool({ workspace, outputBytesMax, mayRead }),
    createReadArtifactTool({ artifacts }),
    createTodoTool(),
    createTaskCompleteTool(),
  ];
}
