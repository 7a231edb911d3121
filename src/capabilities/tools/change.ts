// A change to one file that is first shown and then made: the part that `edit_file` and
// `write_file` share. What is made is what was shown, or nothing.

import { PreviewStale, type ToolContext, ToolFailure, type ToolResult } from "#agent/ports";
import type { Preview } from "#base/protocol";
import type { Workspace } from "#capabilities/exec";
import { type FileSnapshot, fingerprintOf } from "./file-snapshot";
import type { Ledger } from "./ledger";
import { pathInWorkspace } from "./paths";
import { replaceFile } from "./replace-file";
import { diffFiles } from "./unified-diff";

export interface FileChange {
  real: string;
  /** The path in words of the model. */
  shown: string;
  /** Undefined for a new file. */
  before: FileSnapshot | undefined;
  after: Buffer;
  afterFingerprint: string;
  preview(): DiffPreview;
}

export interface PlannedChange extends FileChange {
  /** The model gave the whole content, and so knows it. */
  isWhole: boolean;
  /** What the model is told when it is done. */
  report: string;
}

type DiffPreview = Extract<Preview, { kind: "diff" }>;

export function changeOf(parts: {
  workspace: Workspace;
  real: string;
  shown: string;
  before: FileSnapshot | undefined;
  after: Buffer;
}): FileChange {
  const { workspace, real, shown, before, after } = parts;
  const preview = (): DiffPreview => {
    const path = pathInWorkspace(workspace, real);
    const diff = diffFiles(path, before?.bytes, after);
    return { kind: "diff", path, ...diff, created: before === undefined };
  };
  return { real, shown, before, after, afterFingerprint: fingerprintOf(after), preview };
}

interface ShownChangesOptions<Args> {
  workspace: Workspace;
  ledger: Ledger;
  /** Works out the change for the file as it is now; refuses with a ToolFailure. */
  plan(args: Args): Promise<PlannedChange>;
}

/** What a preview was made from: the same again means the same change. */
interface Basis {
  real: string;
  before: string | undefined;
  after: string;
}

export class ShownChanges<Args extends object> {
  readonly #options: ShownChangesOptions<Args>;
  readonly #bases = new WeakMap<Preview, Basis>();

  constructor(options: ShownChangesOptions<Args>) {
    this.#options = options;
  }

  async preview(args: Args): Promise<Preview> {
    const change = await this.#options.plan(args);
    const preview = change.preview();
    this.#bases.set(preview, basisOf(change));
    return preview;
  }

  async run(args: Args, context: ToolContext): Promise<ToolResult> {
    if (context.signal.aborted) throw new ToolFailure("Stopped before anything was written.");
    const change = await this.#planAsShown(args, context.shown);
    const { workspace, ledger } = this.#options;
    const { real, shown, before, after } = change;
    const { notes } = await replaceFile(real, shown, after, before?.stats);
    if (change.isWhole || !before) ledger.saw(real, change.afterFingerprint);
    else ledger.changed(real, before.fingerprint, change.afterFingerprint);
    const told = notes.length > 0 ? `${change.report}\n(${notes.join("; ")})` : change.report;
    return { content: told, ok: true, changed: [pathInWorkspace(workspace, real)] };
  }

  async #planAsShown(args: Args, shown: Preview | undefined): Promise<PlannedChange> {
    if (!shown) return this.#options.plan(args);
    let change: PlannedChange;
    try {
      change = await this.#options.plan(args);
    } catch (error) {
      // It could be done when it was shown. A new preview tells the model what is wrong now.
      if (error instanceof ToolFailure) throw new PreviewStale(error.message);
      throw error;
    }
    if (!this.#isAsShown(change, shown)) throw new PreviewStale(`${change.shown} changed.`);
    return change;
  }

  #isAsShown(change: FileChange, shown: Preview): boolean {
    const basis = this.#bases.get(shown);
    if (basis) return Bun.deepEquals(basis, basisOf(change));
    // A copy of the preview: the same diff of the same file.
    return Bun.deepEquals(change.preview(), shown);
  }
}

function basisOf(change: FileChange): Basis {
  return {
    real: change.real,
    before: change.before?.fingerprint,
    after: change.afterFingerprint,
  };
}
