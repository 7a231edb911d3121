// The tool `write_file`: a whole file. It never overwrites what the session has not seen, and a
// file that exists keeps its byte order mark and its line ends, which the model cannot see.

import { type Tool, type ToolContext, ToolFailure, type ToolResult } from "#agent/ports";
import type { Workspace } from "#capabilities/exec";
import { changeOf, type PlannedChange, ShownChanges } from "./change";
import { text } from "./fields";
import { FILE_BYTES_MAX, type FileSnapshot, requireWritable, takeSnapshot } from "./file-snapshot";
import type { Ledger } from "./ledger";
import { type ArgumentsOf, lenientParameters } from "./parameters";
import { JudgedPaths, pathForModel, requireFileName } from "./paths";
import { alignLineEnds, lineEndsOf } from "./replacement";
import { counted, kindOf, sizeInWords } from "./text";
import description from "./write-file.md" with { type: "text" };

const parameters = lenientParameters("write_file", { path: text(), content: text() });

type WriteArgs = ArgumentsOf<typeof parameters>;

export interface WriteOptions {
  workspace: Workspace;
  ledger: Ledger;
}

export function createWriteFileTool(options: WriteOptions): Tool<WriteArgs> {
  const { workspace, ledger } = options;
  const paths = new JudgedPaths();
  const plan = (args: WriteArgs): Promise<PlannedChange> => planWrite(options, paths, args);
  const changes = new ShownChanges<WriteArgs>({ workspace, ledger, plan });
  return {
    name: "write_file",
    summary: "Create or overwrite a file.",
    description,
    tags: ["write"],
    parameters,
    effect: (args) => ({ kind: "write", paths: [paths.judge(workspace, args, args.path)] }),
    preview: (args: WriteArgs, _context: ToolContext) => changes.preview(args),
    run: (args: WriteArgs, context: ToolContext): Promise<ToolResult> => changes.run(args, context),
  };
}

async function planWrite(
  options: WriteOptions,
  paths: JudgedPaths,
  args: WriteArgs,
): Promise<PlannedChange> {
  const { workspace, ledger } = options;
  requireFileName(args.path);
  if (!args.content.isWellFormed()) {
    throw new ToolFailure("content holds half a character (a lone surrogate): write it whole.");
  }
  const real = paths.confirm(workspace, args, args.path);
  const shown = pathForModel(workspace, real);
  const before = await takeSnapshot(real, shown);
  const content = Buffer.from(args.content);
  if (content.length > FILE_BYTES_MAX) {
    throw new ToolFailure(`content is larger than ${sizeInWords(FILE_BYTES_MAX)}.`);
  }
  if (!before) {
    const change = changeOf({ workspace, real, shown, before, after: content });
    return { ...change, isWhole: true, report: `Created ${shown} (${sizeOf(content)}).` };
  }
  await requireWritable(before, real, shown);
  requireSeen(ledger, before, real, shown);
  const kept = keepInvisible(before, args.content, shown);
  if (kept.bytes.equals(before.bytes)) {
    throw new ToolFailure(`No change: ${shown} already has this content.`);
  }
  const change = changeOf({ workspace, real, shown, before, after: kept.bytes });
  const report = `Wrote ${shown} (${sizeOf(kept.bytes)}${kept.note}).`;
  return { ...change, isWhole: true, report };
}

function sizeOf(bytes: Buffer): string {
  const feeds = bytes.toString("latin1").split("\n").length - 1;
  const lines = feeds + (bytes.length > 0 && bytes.at(-1) !== 0x0a ? 1 : 0);
  return `${counted(lines, "line")}, ${sizeInWords(bytes.length)}`;
}

function requireSeen(ledger: Ledger, before: FileSnapshot, real: string, shown: string): void {
  // Nothing can be lost with a file that holds nothing.
  if (before.bytes.length === 0) return;
  switch (ledger.knows(real, before.fingerprint)) {
    case "current":
      return;
    case "unseen":
      throw new ToolFailure(
        `${shown} exists and was not read in this session. Read it first, then write it; or use ` +
          "edit_file to change a part of it.",
      );
    case "changed":
      throw new ToolFailure(
        `${shown} has changed since it was read or written here. Read it again first.`,
      );
  }
}

/** The content with the byte order mark and the line ends of the file that it replaces. */
function keepInvisible(
  before: FileSnapshot,
  content: string,
  shown: string,
): { bytes: Buffer; note: string } {
  const kind = kindOf(before.bytes, true);
  if (kind.kind === "utf16") {
    throw new ToolFailure(
      `${shown} is UTF-16 text; writing it would change its encoding. Convert it with iconv first.`,
    );
  }
  if (kind.kind === "text" && !kind.isUtf8 && content.includes("\ufffd")) {
    throw new ToolFailure(
      `${shown} is not UTF-8: the characters shown as \ufffd would be lost. Use edit_file, which ` +
        "keeps every byte that it does not replace.",
    );
  }
  const notes: string[] = [];
  let text = content;
  if (kind.kind === "text" && kind.bom > 0 && !content.startsWith("\ufeff")) {
    text = `\ufeff${content}`;
    notes.push("byte order mark kept");
  }
  const old = before.bytes.toString("utf8");
  const ends = lineEndsOf(old);
  if (text.includes("\n") && !text.includes("\r")) {
    if (ends === "crlf") text = text.replaceAll("\n", "\r\n");
    else if (ends === "cr") text = text.replaceAll("\n", "\r");
    else if (ends === "mixed") text = alignLineEnds(old, text, "\n");
    if (ends === "crlf" || ends === "cr") notes.push(`${ends.toUpperCase()} line ends kept`);
    else if (ends === "mixed") notes.push("mixed line ends kept");
  }
  return { bytes: Buffer.from(text), note: notes.map((note) => `, ${note}`).join("") };
}
