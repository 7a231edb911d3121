// The session file in the project: the live context as JSON that its owner may read and edit,
// claimed by one instance, replaced whole at each checkpoint, repaired instead of refused. The
// truth is the session store; this is the copy that hands and tools can reach.

export { MirrorError } from "./mirror/error";
export type { MirrorReason, MirrorState } from "./mirror/format";
export type { MirrorContent } from "./mirror/read";
export type { RepairOptions, RepairResult } from "./mirror/repair";
export { RECOVERED_ANSWER, repairMessages } from "./mirror/repair";
export type {
  Mirror,
  MirrorLoad,
  MirrorOptions,
  MirrorSave,
  SaveOptions,
} from "./mirror/take";
export { takeMirror } from "./mirror/take";
export { findInvalid } from "./mirror/valid";
