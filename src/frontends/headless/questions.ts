// Asks the owner on the terminal and understands the answer. Only a plain "yes" or "always" that
// was typed after the question approves: a blank line, the end of input, Ctrl+C, text that was
// typed for something else, and a paste never do.

import type { CallId, Command, EventOf } from "#base/protocol";
import type { Style } from "./style";
import { showSafely } from "./style";
import type { Terminal } from "./terminal";
import { diffRows, type TextPrinter } from "./text";

/** Nobody reads a question and answers it in less: such a line was meant for something else. */
const READING_MS_MIN = 150;

type Asked = EventOf<"approval.asked">;

type State =
  | { kind: "nothing asked" }
  | { kind: "asked"; event: Asked; atMs: number; isFirst: boolean }
  | { kind: "guidance"; call: CallId };

export interface QuestionsOptions {
  terminal: Terminal;
  printer: TextPrinter;
  style: Style;
  send(command: Command): void;
}

export class Questions {
  readonly #options: QuestionsOptions;
  #state: State = { kind: "nothing asked" };
  #shownDiffs = new Map<CallId, string>();
  #hasEnded = false;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  get isAsking(): boolean {
    return this.#state.kind !== "nothing asked";
  }

  /** A diff that the outline has shown already need not be shown again with the question. */
  noteShown(event: EventOf<"tool.started">): void {
    if (event.preview?.kind === "diff") this.#shownDiffs.set(event.call, event.preview.diff);
  }

  ask(event: Asked): void {
    const { printer, terminal, send } = this.#options;
    printer.breakLine();
    if (this.#hasEnded) {
      send({ kind: "reject", call: event.call, note: "Input has ended: nobody can approve it." });
      return;
    }
    this.#showPreview(event);
    terminal.discardTyped();
    this.#prompt(event);
    this.#state = { kind: "asked", event, atMs: performance.now(), isFirst: true };
  }

  /** The approval was answered, by whatever way: nothing is asked any more. */
  close(call: CallId): void {
    this.#shownDiffs.delete(call);
    if (this.#state.kind === "asked" && this.#state.event.call === call) {
      this.#state = { kind: "nothing asked" };
    }
  }

  /** Takes one typed line, or undefined at the end of input. */
  take(line: string | undefined): void {
    if (line === undefined) {
      this.#end();
      return;
    }
    if (this.#state.kind === "guidance") {
      const { call } = this.#state;
      this.#state = { kind: "nothing asked" };
      const text = line.trim();
      this.#options.send(
        text === "" ? { kind: "reject", call, note: "" } : { kind: "suggest", call, text },
      );
      return;
    }
    if (this.#state.kind === "asked") this.#answer(this.#state, line);
  }

  #end(): void {
    this.#hasEnded = true;
    const state = this.#state;
    this.#state = { kind: "nothing asked" };
    if (state.kind === "nothing asked") return;
    const call = state.kind === "asked" ? state.event.call : state.call;
    this.#options.send({ kind: "reject", call, note: "Input ended before an answer came." });
  }

  #answer(state: Extract<State, { kind: "asked" }>, line: string): void {
    const { send, terminal, style } = this.#options;
    const { call } = state.event;
    if (state.isFirst && performance.now() - state.atMs < READING_MS_MIN) {
      terminal.write(style.warn("(That came before you could read it, and does not count.)\n"));
      terminal.discardTyped();
      this.#prompt(state.event);
      this.#state = { ...state, isFirst: false };
      return;
    }
    const word = line.trim();
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
        terminal.write("What should it do instead? (Enter: only skip this) ");
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
    const { terminal, style } = this.#options;
    switch (preview.kind) {
      case "command":
        if (preview.reason) terminal.write(style.dim(`  ${showSafely(preview.reason)}\n`));
        break;
      case "diff":
        if (this.#shownDiffs.get(call) !== preview.diff) {
          const again = this.#shownDiffs.has(call) ? ", which changed meanwhile" : "";
          terminal.write(`  ${showSafely(preview.path)}${again}:\n`);
          terminal.write(`${diffRows(preview, style)}\n`);
        }
        break;
      case "text":
        terminal.write(`  ${showSafely(preview.text)}\n`);
        break;
    }
  }

  #prompt({ preview }: Asked): void {
    const { terminal, style } = this.#options;
    const rule =
      preview.kind === "command" ? preview.rule : "changes to this file, in this session";
    const always = rule ? ` · a always (${showSafely(rule)})` : "";
    terminal.write(
      `${style.warn("Approve?")} y once${always} · auto everything · n no · or say what to do instead: `,
    );
  }
}
