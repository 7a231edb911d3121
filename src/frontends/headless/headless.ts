// Runs an agent without a screen: one request, or a conversation on a terminal. SIGINT once stops
// the run, twice leaves; whatever happens, the exit status says how the last run ended.

import {
  type AgentHandle,
  type Event,
  readSlash,
  SLASH_COMMANDS,
  type Watcher,
} from "#base/protocol";
import { createJsonPrinter } from "./json";
import { Questions } from "./questions";
import { COLOURED, PLAIN, showSafely } from "./style";
import type { Conversationalist, TypedText } from "./terminal";
import { TextPrinter } from "./text";

export interface HeadlessOptions {
  agent: AgentHandle;
  mode: "text" | "json";
  /** Undefined: ask for requests on the terminal until the owner leaves. */
  request: string | undefined;
  terminal: Conversationalist;
  write(text: string): void;
  colours: boolean;
  /** `write` goes to a terminal: the owner sees the outline of the run. */
  isOutlineSeen: boolean;
  showThinking: boolean;
  /** Calls back for each of these signals; returns how to stop listening. */
  onSignal(handler: (signal: HeardSignal) => void): () => void;
}

export type HeardSignal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGCONT";

/** Left by signal or by word while a run was on. */
const EXIT_STOPPED = 130;

/** After a second Ctrl+C the run has this long to say its last words. */
const LAST_EVENTS_MS = 1500;

export function runHeadless(options: HeadlessOptions): Promise<number> {
  return new Headless(options).run();
}

class Headless {
  readonly #options: HeadlessOptions;
  readonly #printer: TextPrinter;
  readonly #questions: Questions | undefined;
  readonly #style;
  readonly #ended = Promise.withResolvers<number>();
  #isRunning = false;
  #isLeaving = false;
  #hasSignalled = false;
  #lastExit = 0;

  constructor(options: HeadlessOptions) {
    this.#options = options;
    this.#style = options.colours ? COLOURED : PLAIN;
    const { write, showThinking, terminal, agent } = options;
    this.#printer = new TextPrinter({ write, style: this.#style, showThinking });
    if (terminal) {
      this.#questions = new Questions({
        terminal,
        printer: this.#printer,
        style: this.#style,
        isOutlineSeen: options.isOutlineSeen,
        send: (command) => agent.send(command),
      });
    }
  }

  async run(): Promise<number> {
    const { agent, mode, write, request, terminal, onSignal } = this.#options;
    const print: Watcher =
      mode === "json" ? createJsonPrinter(write) : (event) => this.#printer.show(event);
    const unwatch = agent.watch((event) => {
      print(event);
      this.#follow(event);
    });
    const forget = onSignal((signal) => this.#signal(signal));
    terminal?.onText((typed) => this.#take(typed));
    if (request === undefined) this.#invite();
    else this.#start(request);
    const exit = await this.#ended.promise;
    forget();
    unwatch();
    terminal?.close();
    return exit;
  }

  #start(request: string): void {
    this.#isRunning = true;
    this.#hasSignalled = false;
    this.#options.agent.send({ kind: "prompt", text: request });
  }

  #follow(event: Event): void {
    switch (event.type) {
      case "tool.started":
        this.#questions?.noteShown(event);
        break;
      case "approval.asked":
        this.#questions?.ask(event);
        break;
      case "approval.answered":
        this.#questions?.close(event.call);
        break;
      case "run.finished":
        this.#isRunning = false;
        this.#lastExit = event.exit;
        if (this.#options.request !== undefined || this.#isLeaving) this.#leave(event.exit);
        else this.#invite();
        break;
    }
  }

  #leave(exit: number): void {
    this.#ended.resolve(exit);
  }

  #invite(): void {
    this.#options.terminal?.write(this.#style.bold("› "));
  }

  #signal(signal: HeardSignal): void {
    const { agent, terminal } = this.#options;
    if (signal === "SIGCONT") {
      this.#continue();
      return;
    }
    if (!this.#isRunning) {
      this.#leave(EXIT_STOPPED);
      return;
    }
    if (this.#hasSignalled) {
      // A moment for the run to end properly: its last events belong to its story.
      this.#isLeaving = true;
      setTimeout(() => this.#leave(EXIT_STOPPED), LAST_EVENTS_MS).unref();
      return;
    }
    this.#hasSignalled = true;
    // Only Ctrl+C leaves the conversation open; the others mean that the terminal or the user goes.
    if (signal !== "SIGINT") this.#isLeaving = true;
    this.#printer.breakLine();
    terminal?.write(this.#style.warn("Stopping. Ctrl+C again leaves at once.\n"));
    agent.send({ kind: "stop" });
  }

  /** Back from Ctrl+Z: what waits for words stands above the words of another program. */
  #continue(): void {
    if (this.#questions?.isAsking) this.#questions.repeat();
    else if (!this.#isRunning) this.#invite();
  }

  /** What was typed: an answer, a slash command, a word to the running agent, or a request. */
  #take(typed: TypedText | undefined): void {
    if (typed === undefined) {
      this.#endInput();
      return;
    }
    const { agent, terminal } = this.#options;
    const { text, isPasted } = typed;
    const isSlash = text.startsWith("/") && !isPasted;
    const slash = isSlash ? readSlash(text, agent.ask({ kind: "state" })) : undefined;
    if (slash) {
      if (this.#questions?.isReadable === false) this.#questions.refuse("(Too early.)");
      else this.#obey(slash);
      return;
    }
    if (this.#questions?.isAsking) {
      this.#questions.take(typed);
      return;
    }
    if (text.trim() === "") {
      if (!this.#isRunning) this.#invite();
      return;
    }
    if (this.#isRunning) {
      terminal?.write(this.#style.dim("(The agent gets this at its next step.)\n"));
      agent.send({ kind: "prompt", text });
      return;
    }
    this.#start(text);
  }

  /** Nobody can type any more: what waits for words cannot go on. */
  #endInput(): void {
    const { agent, request } = this.#options;
    this.#questions?.take(undefined);
    this.#isLeaving = true;
    if (agent.ask({ kind: "state" }).pausing) agent.send({ kind: "stop" });
    if (request === undefined && !this.#isRunning) this.#leave(this.#lastExit);
  }

  #obey(slash: NonNullable<ReturnType<typeof readSlash>>): void {
    const { agent, terminal } = this.#options;
    switch (slash.kind) {
      case "command":
        agent.send(slash.command);
        if (this.#isRunning || slash.command.kind === "autoApprove") this.#tell(slash.command.kind);
        break;
      case "wrong":
        terminal?.write(`${slash.text}\n`);
        break;
      case "local":
        if (slash.name === "quit") {
          this.#isLeaving = true;
          if (this.#isRunning) agent.send({ kind: "stop" });
          else this.#leave(this.#lastExit);
          return;
        }
        terminal?.write(slash.name === "help" ? slashHelp() : this.#todoText());
        break;
    }
    if (!this.#isRunning) this.#invite();
  }

  #tell(kind: string): void {
    const { agent, terminal } = this.#options;
    if (kind === "pause") terminal?.write(this.#style.dim("Pausing after this step.\n"));
    if (kind === "autoApprove") {
      const isOn = agent.ask({ kind: "state" }).autoApprove;
      terminal?.write(this.#style.warn(`Auto-approve is ${isOn ? "on" : "off"}.\n`));
    }
  }

  #todoText(): string {
    const { todo } = this.#options.agent.ask({ kind: "state" });
    if (todo.length === 0) return "The task list is empty.\n";
    const marks = { done: "☑", current: "▸", pending: "☐" };
    return todo.map((item) => `  ${marks[item.state]} ${showSafely(item.text)}\n`).join("");
  }
}

function slashHelp(): string {
  return SLASH_COMMANDS.map(({ name, aliases, argument, help }) => {
    const names = [name, ...aliases].map((word) => `/${word}`).join(", ");
    return `  ${`${names}${argument ? ` ${argument}` : ""}`.padEnd(24)}${help}\n`;
  }).join("");
}
