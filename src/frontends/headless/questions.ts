// Asks the owner on the terminal and understands the answer. Only a plain "yes" or "always" that
// was typed after the question approves: a blank line, the end of input, Ctrl+C, text that was
// typed for something else, and a paste never do.

import type { CallId, Command, EventOf } from "#base/protocol";
import { type Style, showExactly, showSafely } from "./style";
import type { Terminal, TypedText } from "./terminal";
import { diffRows, type TextPrinter } from "./text";

/** Nobody reads a question and answers it in less: such a line was meant for something else. */
const READING_MS_MIN = 400;

const GUIDANCE = "What should it do instead? (Enter: only skip this) ";

type Asked = EventOf<"approval.asked">;

type State =
  | { kind: "nothing asked" }
  | { kind: "asked"; event: Asked; atMs: number }
  | { kind: "guidance"; call: CallId };

export interface QuestionsOptions {
  terminal: Terminal;
  printer: TextPrinter;
  style: Style;
  /** The outline of the run goes to a terminal: what it showed need not be shown again. */
  isOutlineSeen: boolean;
  send(command: Command): void;
}

export class Questions {
  readonly #options: QuestionsOptions;
  #state: State = { kind: "nothing asked" };
  /** Diffs that the outline has shown, whole. */
  #shownDiffs = new Map<CallId, string>();
  #hasEnded = false;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  get isAsking(): boolean {
    return this.#state.kind !== "nothing asked";
  }

  /** The question has stood long enough to have been read. */
  get isReadable(): boolean {
    return this.#state.kind !== "asked" || performance.now() - this.#state.atMs >= READING_MS_MIN;
  }

  noteShown({ call, preview }: EventOf<"tool.started">): void {
    const { style, isOutlineSeen } = this.#options;
    if (preview?.kind !== "diff" || !isOutlineSeen || diffRows(preview, style).isCut) return;
    this.#shownDiffs.set(call, preview.diff);
  }

  ask(event: Asked): void {
    const { printer, send } = this.#options;
    printer.breakLine();
    if (this.#hasEnded) {
      send({ kind: "reject", call: event.call, note: "Input has ended: nobody can approve it." });
      return;
    }
    this.#showPreview(event);
    this.#prompt(event);
  }

  /** The approval was answered, by whatever way: nothing is asked any more. */
  close(call: CallId): void {
    this.#shownDiffs.delete(call);
    const state = this.#state;
    const asked =
      state.kind === "asked" ? state.event.call : state.kind === "guidance" && state.call;
    if (asked === call) this.#state = { kind: "nothing asked" };
  }

  /** Takes what was typed, or undefined at the end of input. */
  take(typed: TypedText | undefined): void {
    if (typed === undefined) {
      this.#end();
      return;
    }
    const state = this.#state;
    if (state.kind === "guidance") {
      this.#state = { kind: "nothing asked" };
      const text = typed.text.trim();
      const { call } = state;
      this.#options.send(
        text === "" ? { kind: "reject", call, note: "" } : { kind: "suggest", call, text },
      );
      return;
    }
    if (state.kind !== "asked") return;
    if (typed.isPasted) this.#askAgain(state.event, "(A paste answers nothing.)");
    else if (!this.isReadable) {
      this.#askAgain(state.event, "(That came before you could read it, and does not count.)");
    } else this.#answer(state.event.call, typed.text.trim());
  }

  /** What came cannot be an answer: says why, and asks again. */
  refuse(words: string): void {
    if (this.#state.kind === "asked") this.#askAgain(this.#state.event, words);
  }

  /** Asks the same once more, with what is asked about. */
  repeat(): void {
    const { terminal, style } = this.#options;
    const state = this.#state;
    if (state.kind === "guidance") terminal.write(GUIDANCE);
    if (state.kind !== "asked") return;
    const { preview } = state.event;
    if (preview.kind === "command") {
      terminal.write(`${style.accent(`$ ${showExactly(preview.command)}`)}\n`);
    }
    this.#prompt(state.event);
  }

  #askAgain(event: Asked, words: string): void {
    this.#options.terminal.write(this.#options.style.warn(`${words}\n`));
    this.#prompt(event);
  }

  #end(): void {
    this.#hasEnded = true;
    const state = this.#state;
    this.#state = { kind: "nothing asked" };
    if (state.kind === "nothing asked") return;
    const call = state.kind === "asked" ? state.event.call : state.call;
    this.#options.send({ kind: "reject", call, note: "Input ended before an answer came." });
  }

  #answer(call: CallId, word: string): void {
    const { send, terminal } = this.#options;
    switch (word.toLowerCase()) {
      case "y":
      case "yes":
        send({ kind: "approve", call, always: false });
        break;
      case "a":
      case "always":
        send({ kind: "approve", call, always: true });
        break;
      case "auto":
        send({ kind: "autoApprove", on: true });
        break;
      case "n":
      case "no":
        terminal.write(GUIDANCE);
        this.#state = { kind: "guidance", call };
        break;
      case "":
        send({ kind: "reject", call, note: "" });
        break;
      default:
        send({ kind: "suggest", call, text: word });
    }
  }

  #showPreview({ call, preview }: Asked): void {
    const { terminal, style, isOutlineSeen } = this.#options;
    switch (preview.kind) {
      case "command":
        if (!isOutlineSeen)
          terminal.write(`${style.accent(`$ ${showExactly(preview.command)}`)}\n`);
        break;
      case "diff":
        if (this.#shownDiffs.get(call) !== preview.diff) {
          const again = this.#shownDiffs.has(call) ? ", which changed meanwhile" : "";
          terminal.write(`  ${showExactly(preview.path)}${again}, the whole change:\n`);
          terminal.write(`${diffRows(preview, style, { whole: true }).text}\n`);
        }
        break;
      case "text":
        terminal.write(`  ${showExactly(preview.text)}\n`);
        break;
    }
    if (preview.reason) terminal.write(style.dim(`  ${showSafely(preview.reason)}\n`));
  }

  #prompt(event: Asked): void {
    const { terminal, style } = this.#options;
    const { rule } = event.preview;
    const always = rule ? ` · a always (${showExactly(rule)})` : "";
    terminal.discardTyped();
    terminal.write(
      `${style.warn("Approve?")} y once${always} · auto everything · n no · or say what to do instead: `,
    );
    this.#state = { kind: "asked", event, atMs: performance.now() };
  }
}
