// The tool `edit_file`: replaces one exact text. Whatever is wrong with an edit is said before its
// owner is asked, and what runs is what was shown.

import { type Tool, type ToolContext, ToolFailure, type ToolResult } from "#agent/ports";
import type { Workspace } from "#capabilities/exec";
import { changeOf, type FileChange, type PlannedChange, ShownChanges } from "./change";
import description from "./edit-file.md" with { type: "text" };
import { optional, text, yesNo } from "./fields";
import { FILE_BYTES_MAX, type FileSnapshot, requireWritable, takeSnapshot } from "./file-snapshot";
import type { Ledger } from "./ledger";
import { LineWindow } from "./line-window";
import { explainMismatch } from "./mismatch";
import { type ArgumentsOf, lenientParameters } from "./parameters";
import { JudgedPaths, missingFile, pathForModel, requireFileName } from "./paths";
import { COUNT_MAX, type EditedRange, lineEndsOf, replaceText, withLineFeeds } from "./replacement";
import { counted, decodeText, kindOf, showControls, wholeCharacters } from "./text";

const parameters = lenientParameters("edit_file", {
  path: text(),
  old_string: text(),
  new_string: text(),
  replace_all: optional(yesNo()),
});

type EditArgs = ArgumentsOf<typeof parameters>;

/** Lines of new text that the result shows, and bytes of each. */
const LINES_SHOWN_MAX = 3;
const LINE_BYTES_MAX = 160;

export interface EditOptions {
  workspace: Workspace;
  ledger: Ledger;
}

export function createEditFileTool(options: EditOptions): Tool<EditArgs> {
  const { workspace, ledger } = options;
  const paths = new JudgedPaths();
  const plan = (args: EditArgs): Promise<PlannedChange> => planEdit(workspace, paths, args);
  const changes = new ShownChanges<EditArgs>({ workspace, ledger, plan });
  return {
    name: "edit_file",
    summary: "Replace exact text in a file.",
    description,
    tags: ["write"],
    parameters,
    effect: (args) => ({ kind: "write", paths: [paths.judge(workspace, args, args.path)] }),
    preview: (args: EditArgs, _context: ToolContext) => changes.preview(args),
    run: (args: EditArgs, context: ToolContext): Promise<ToolResult> => changes.run(args, context),
  };
}

async function planEdit(
  workspace: Workspace,
  paths: JudgedPaths,
  args: EditArgs,
): Promise<PlannedChange> {
  requireFileName(args.path);
  requireSense(args);
  const real = paths.confirm(workspace, args, args.path);
  const shown = pathForModel(workspace, real);
  const before = await takeSnapshot(real, shown);
  if (!before) {
    const failure = await missingFile(workspace, args.path);
    throw new ToolFailure(`${failure.message} To create a file use write_file.`);
  }
  await requireWritable(before, real, shown);
  const edited = applyEdit(before, args, shown);
  const change = changeOf({ workspace, real, shown, before, after: edited.bytes });
  return { ...change, isWhole: false, report: report(change, edited) };
}

/** What is wrong with the request whatever the file holds. */
function requireSense(args: EditArgs): void {
  if (args.old_string === "") {
    throw new ToolFailure(
      "old_string is empty: give the text to replace. To write a whole file use write_file; " +
        "to add text, replace a neighbouring line by itself and the new text.",
    );
  }
  if (args.old_string === args.new_string) {
    throw new ToolFailure("No change: old_string and new_string are the same.");
  }
  for (const name of ["old_string", "new_string"] as const) {
    if (!args[name].isWellFormed()) {
      throw new ToolFailure(`${name} holds half a character (a lone surrogate): write it whole.`);
    }
  }
}

interface Edited {
  bytes: Buffer;
  count: number;
  ranges: EditedRange[];
}

function applyEdit(before: FileSnapshot, args: EditArgs, shown: string): Edited {
  const bom = requireEditable(before.bytes, args.new_string, shown);
  const bytes = before.bytes.subarray(bom);
  // The mark is invisible in what the model read; if it writes it all the same, it stays single.
  const withoutMark = (text: string): string => (bom > 0 ? text.replace(/^\ufeff/, "") : text);
  const oldText = withoutMark(args.old_string);
  const result = replaceText({
    bytes,
    oldText,
    newText: withoutMark(args.new_string),
    all: args.replace_all ?? false,
    bytesMax: FILE_BYTES_MAX,
  });
  switch (result.kind) {
    case "replaced": {
      const { count, ranges } = result;
      return { bytes: Buffer.concat([before.bytes.subarray(0, bom), result.bytes]), count, ranges };
    }
    case "missing": {
      const text = decodeText(bytes);
      const view = withLineFeeds(text, lineEndsOf(text));
      const why = explainMismatch(view, oldText.replaceAll("\r\n", "\n"));
      throw new ToolFailure(`old_string was not found in ${shown}. ${why}`);
    }
    case "ambiguous": {
      const count = result.count >= COUNT_MAX ? `at least ${COUNT_MAX}` : result.count;
      const lines = [...new Set(result.lines)].join(", ");
      const more = result.count > result.lines.length ? ", …" : "";
      throw new ToolFailure(
        `old_string was found ${count} times in ${shown}: lines ${lines}${more}. ` +
          "Add neighbouring lines to make it unique, or set replace_all to change every one.",
      );
    }
    case "unchanged":
      throw new ToolFailure(
        `No change: ${shown} would stay as it is. Line ends are kept; a command can change them.`,
      );
    case "too large":
      throw new ToolFailure(`The edit is too large for ${shown}: use a command, such as sed.`);
  }
}

/** Refuses files that are no text, and text that would mix encodings; gives the mark's length. */
function requireEditable(bytes: Buffer, newText: string, shown: string): number {
  const kind = kindOf(bytes, true);
  if (kind.kind === "utf16") {
    throw new ToolFailure(
      `${shown} is UTF-16 text, which cannot be edited here; convert it with iconv first.`,
    );
  }
  if (kind.kind === "binary") {
    throw new ToolFailure(`${shown} is binary (${kind.what}): it cannot be edited as text.`);
  }
  if (!kind.isUtf8 && /[^\0-\x7f]/.test(newText)) {
    const hasUtf8 = /[^\0-\x7f\ufffd]/.test(decodeText(bytes));
    if (newText.includes("\ufffd") || !hasUtf8) {
      throw new ToolFailure(
        `${shown} is not UTF-8, so new_string must be plain ASCII: leave the characters that ` +
          "read_file shows as \ufffd out of both strings.",
      );
    }
  }
  return kind.bom;
}

function report(change: FileChange, edited: Edited): string {
  const { count, ranges } = edited;
  const [first] = ranges;
  const spots = ranges.map((range) =>
    range.last > range.first ? `${range.first}-${range.last}` : `${range.first}`,
  );
  const unique = [...new Set(spots)];
  const more = count > ranges.length ? ", …" : "";
  const lines = first?.last === first?.first && unique.length === 1 ? "line" : "lines";
  const head = `Edited ${change.shown}: ${counted(count, "replacement")} at ${lines} ${unique.join(", ")}${more}.`;
  return first && count === 1 ? `${head}\n${excerpt(edited.bytes, first)}` : head;
}

/** The first lines of the new text as the file has them now. */
function excerpt(bytes: Buffer, range: EditedRange): string {
  const isCr = lineEndsOf(bytes.toString("latin1")) === "cr";
  const window = new LineWindow({
    first: range.first,
    linesMax: Math.min(LINES_SHOWN_MAX, range.last - range.first + 1),
    bytesMax: LINES_SHOWN_MAX * LINE_BYTES_MAX,
    lineBytesMax: LINE_BYTES_MAX,
    lineEnd: isCr ? 0x0d : 0x0a,
  });
  window.push(bytes);
  window.finish();
  const shown = window.lines.map((line) => {
    const whole = line.bytes.subarray(0, wholeCharacters(line.bytes, line.bytes.length));
    const text = decodeText(whole).replace(/^\ufeff|\r$/g, "");
    const more = line.cut > 0 ? "…" : "";
    return `${line.number}\t${showControls(text)}${more}`;
  });
  if (range.last >= range.first + LINES_SHOWN_MAX) shown.push("…");
  return shown.join("\n");
}
