// Shows a run as text: the answer and the outline of the work, in the order it happens. Colours
// only on a terminal. Nothing is redrawn: what was printed stays as it is.

import type { Event, EventOf, Preview } from "#base/protocol";
import { type Style, showExactly, showSafely } from "./style";

/** Lines of a tool's output that are shown when it has ended; the model gets more. */
const OUTPUT_LINES_MAX = 12;
/** Longer lines are cut for the eye. */
const LINE_WIDTH_MAX = 160;
/** A summary longer than this is shown again; it hardly ever is. */
const STREAMED_CHARACTERS_KEPT = 100_000;
/** Rows of a diff that are shown before the rest is counted. */
const DIFF_ROWS_MAX = 120;

export interface TextPrinterOptions {
  write(text: string): void;
  style: Style;
  showThinking: boolean;
}

export class TextPrinter {
  readonly #write: (text: string) => void;
  readonly #style: Style;
  readonly #showThinking: boolean;
  /** What the last piece printed belongs to: pieces of one kind run on, others start a new line. */
  #flow: "none" | "text" | "thinking" = "none";
  #atLineStart = true;
  /** The end of the text streamed last, to tell whether a summary was shown already. */
  #streamed = "";
  #liveOutput = new Map<string, number>();

  constructor({ write, style, showThinking }: TextPrinterOptions) {
    this.#write = write;
    this.#style = style;
    this.#showThinking = showThinking;
  }

  show(event: Event): void {
    const style = this.#style;
    switch (event.type) {
      case "run.started":
        this.#line(
          style.dim(`${showExactly(event.model)} · ${showExactly(event.cwd)}`) +
            this.#sandboxState(event),
        );
        break;
      case "reasoning.delta":
        if (this.#showThinking) this.#stream("thinking", event.text);
        break;
      case "text.delta":
        this.#streamed = (this.#streamed + event.text).slice(-STREAMED_CHARACTERS_KEPT);
        this.#stream("text", event.text);
        break;
      case "step.started":
        this.#streamed = "";
        break;
      case "tool.started":
        this.#showCall(event);
        break;
      case "approval.answered":
        this.#showAnswer(event);
        break;
      case "tool.output":
        this.#showOutput(event);
        break;
      case "tool.finished":
        this.#showResult(event);
        break;
      case "todo":
        this.#showTodo(event);
        break;
      case "retry":
        this.#line(
          style.warn(`↻ ${showSafely(event.reason)} Trying again in ${seconds(event.waitMs)}.`),
        );
        break;
      case "verify":
        this.#showVerify(event);
        break;
      case "job":
        this.#line(style.dim(`job ${event.id}: ${event.state}${exitWords(event.exitCode)}`));
        break;
      case "steer":
        this.#line(style.accent(`» ${showSafely(event.text)}`));
        break;
      case "notice":
        this.#line(this.#mark(event.level)(`! ${showSafely(event.text)}`));
        break;
      case "error":
        this.#line(style.bad(`✗ ${showSafely(event.message)}`));
        break;
      case "run.finished":
        this.#showEnd(event);
        break;
      default:
        // Steps, whole messages, usage and changes have their place in other faces.
        break;
    }
  }

  /** Starts a new line if the last one is open: before anything of another kind is printed. */
  breakLine(): void {
    if (!this.#atLineStart) this.#print("\n");
    this.#flow = "none";
  }

  #sandboxState(event: EventOf<"run.started">): string {
    if (event.sandbox === "on") return "";
    return this.#style.bad(" · sandbox: off");
  }

  #mark(level: "info" | "warning" | "error"): (text: string) => string {
    if (level === "info") return this.#style.dim;
    return level === "warning" ? this.#style.warn : this.#style.bad;
  }

  #stream(flow: "text" | "thinking", text: string): void {
    if (this.#flow !== flow) {
      this.breakLine();
      this.#flow = flow;
    }
    const safe = showSafely(text);
    this.#print(flow === "thinking" ? this.#style.dim(safe) : safe);
    this.#atLineStart = safe.endsWith("\n");
  }

  #showCall(event: EventOf<"tool.started">): void {
    const style = this.#style;
    if (event.name === "task_complete") return;
    const { args } = event;
    if (typeof args.command === "string") {
      this.#line(style.accent(`$ ${showExactly(args.command)}`));
      return;
    }
    const rest = typeof args.path === "string" ? args.path : briefArguments(args);
    this.#line(
      style.accent(`▸ ${showExactly(event.name)}`) + (rest ? ` ${showExactly(rest)}` : ""),
    );
    if (event.preview?.kind === "diff") this.#line(diffRows(event.preview, style).text);
  }

  #showAnswer(event: EventOf<"approval.answered">): void {
    if (event.decision === "deny") {
      this.#line(this.#style.warn(`denied${event.note ? `: ${showSafely(event.note)}` : ""}`));
    }
  }

  #showOutput(event: EventOf<"tool.output">): void {
    const shown = this.#liveOutput.get(event.call) ?? 0;
    if (shown >= OUTPUT_LINES_MAX) return;
    // A carriage return begins its line anew; printed lines stay, so the new one goes below.
    const lines = showSafely(event.text.replaceAll("\r", "\n")).split("\n");
    const room = lines.slice(0, OUTPUT_LINES_MAX - shown);
    this.#liveOutput.set(event.call, shown + lines.length - 1);
    const text = room.map((line) => clip(line)).join("\n");
    if (this.#flow !== "none") this.breakLine();
    this.#print(this.#style.dim(text));
    this.#atLineStart = text.endsWith("\n") || (text === "" && this.#atLineStart);
    if (shown + lines.length - 1 >= OUTPUT_LINES_MAX) {
      this.breakLine();
      this.#line(this.#style.dim("…"));
    }
  }

  #showResult(event: EventOf<"tool.finished">): void {
    const wasLive = this.#liveOutput.delete(event.call);
    if (event.name === "task_complete" && event.ok) return;
    this.breakLine();
    if (!event.ok && event.exitCode === null) {
      this.#line(this.#style.bad(`  ${clip(showSafely(event.result).split("\n")[0] ?? "")}`));
      return;
    }
    if (event.exitCode === null && !wasLive) return;
    const mark = event.ok && event.exitCode === 0 ? this.#style.good : this.#style.bad;
    const cut = event.truncated ? ", output cut for the model" : "";
    this.#line(
      mark(`  exit ${event.exitCode ?? "-"}`) + this.#style.dim(` · ${seconds(event.ms)}${cut}`),
    );
  }

  #showTodo(event: EventOf<"todo">): void {
    const done = event.items.filter((item) => item.state === "done").length;
    const marks = { done: "☑", current: "▸", pending: "☐" };
    this.#line(this.#style.dim(`todo ${done}/${event.items.length}`));
    for (const item of event.items) {
      const text = `  ${marks[item.state]} ${showSafely(item.text)}`;
      this.#line(item.state === "current" ? text : this.#style.dim(text));
    }
  }

  #showVerify(event: EventOf<"verify">): void {
    if (event.ok) {
      this.#line(this.#style.good("✓ verified"));
      return;
    }
    this.#line(this.#style.bad(`✗ verification failed${exitWords(event.exitCode)}`));
    const lines = showSafely(event.output).trimEnd().split("\n");
    const shown = lines.slice(-OUTPUT_LINES_MAX).map((line) => clip(line));
    this.#line(this.#style.dim(shown.join("\n")));
  }

  #showEnd(event: EventOf<"run.finished">): void {
    const style = this.#style;
    const mark = event.status === "complete" ? style.good("✓") : style.bad("■");
    const tokens = `${event.usage.input + event.usage.output} tokens`;
    const count = `${event.steps} ${event.steps === 1 ? "step" : "steps"} · ${tokens}`;
    // The answer that was streamed is not said twice; another summary is not lost behind it.
    const isShown = this.#streamed.trimEnd().endsWith(event.summary.trim());
    this.breakLine();
    if (event.summary && !isShown && event.status !== "error")
      this.#line(showSafely(event.summary));
    this.#line(`${mark} ${event.status}${style.dim(` · ${count}`)}`);
  }

  #line(text: string): void {
    if (text === "") return;
    this.breakLine();
    this.#print(`${text}\n`);
    this.#atLineStart = true;
  }

  #print(text: string): void {
    if (text === "") return;
    this.#write(text);
    this.#atLineStart = text.endsWith("\n");
  }
}

function clip(line: string): string {
  return line.length > LINE_WIDTH_MAX ? `${line.slice(0, LINE_WIDTH_MAX)}…` : line;
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

function exitWords(exitCode: number | null): string {
  return exitCode === null ? "" : ` (exit ${exitCode})`;
}

function briefArguments(args: Record<string, unknown>): string {
  const text = Object.values(args)
    .filter((value) => typeof value === "string" || typeof value === "number")
    .join(" ");
  return clip(text.replaceAll("\n", " "));
}

/**
 * The rows of a unified diff, coloured, without its file header. In the outline long lines and long
 * diffs are cut, which `isCut` says; `whole` shows all, for a question.
 */
export function diffRows(
  preview: Extract<Preview, { kind: "diff" }>,
  style: Style,
  { whole }: { whole: boolean } = { whole: false },
): { text: string; isCut: boolean } {
  const rows = preview.diff.replace(/\n$/, "").split("\n");
  // The header ends where the first hunk begins: any row after it is content, however it looks.
  const first = rows.findIndex((row) => row.startsWith("@@"));
  const content = rows.slice(Math.max(first, 0));
  const kept = whole ? content : content.slice(0, DIFF_ROWS_MAX);
  const shown = kept.map((row) => {
    const text = `  ${whole ? showExactly(row) : clip(showExactly(row))}`;
    if (row.startsWith("+")) return style.good(text);
    return row.startsWith("-") ? style.bad(text) : style.dim(text);
  });
  const hidden = content.length - kept.length;
  if (hidden > 0) shown.push(style.dim(`  … ${hidden} more rows`));
  const isCut =
    !whole && (hidden > 0 || kept.some((row) => showExactly(row).length > LINE_WIDTH_MAX));
  return { text: shown.join("\n"), isCut };
}
