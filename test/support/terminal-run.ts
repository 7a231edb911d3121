// Runs the executable in a real pseudo-terminal and types into it, as a person would.

import { EXECUTABLE, environmentOf, type Place } from "./bosun";

/** What is waited for comes within this time, or the story fails with the screen so far. */
const WAIT_MS_MAX = 15_000;

/** A person needs this long between reading a question and answering it. */
const READING_MS = 600;

export class TerminalRun {
  #output = "";
  #seen = 0;
  readonly #child: Bun.Subprocess;
  #changed = Promise.withResolvers<void>();

  /** `line` is a shell's, with the executable as `$BOSUN`: for pipes and redirections. */
  constructor({
    place,
    args = [],
    env,
    line,
  }: { place: Place; args?: readonly string[]; env?: Record<string, string>; line?: string }) {
    const decoder = new TextDecoder();
    const argv = line === undefined ? [EXECUTABLE, ...args] : ["/bin/sh", "-c", line];
    this.#child = Bun.spawn(argv, {
      cwd: place.cwd,
      env: { ...environmentOf(place, env), TERM: "xterm-256color", BOSUN: EXECUTABLE },
      terminal: {
        cols: 100,
        rows: 30,
        data: (_terminal, bytes) => {
          this.#output += decoder.decode(bytes, { stream: true });
          this.#changed.resolve();
          this.#changed = Promise.withResolvers<void>();
        },
      },
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  get exited(): Promise<number> {
    return this.#child.exited;
  }

  /** Everything that came, without colours. */
  get text(): string {
    return Bun.stripANSI(this.#output).replaceAll("\r\n", "\n");
  }

  get raw(): string {
    return this.#output;
  }

  /** Waits until text that has not been waited for yet matches; returns the match. */
  async see(pattern: string | RegExp): Promise<string> {
    const deadline = Date.now() + WAIT_MS_MAX;
    for (;;) {
      const fresh = this.text.slice(this.#seen);
      const at = typeof pattern === "string" ? fresh.indexOf(pattern) : fresh.search(pattern);
      if (at >= 0) {
        const match = typeof pattern === "string" ? pattern : (pattern.exec(fresh)?.[0] ?? "");
        this.#seen += at + match.length;
        return match;
      }
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`Waited for ${pattern} in:\n${this.text}`);
      await Promise.race([this.#changed.promise, Bun.sleep(left)]);
    }
  }

  /** Types at once, without the pause of a reader. */
  type(text: string): void {
    this.#child.terminal?.write(text);
  }

  /** Reads for a moment, then types a line. */
  async answer(line: string): Promise<void> {
    await Bun.sleep(READING_MS);
    this.type(`${line}\r`);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Closes the terminal, as closing its window does. */
  hangUp(): void {
    this.#child.terminal?.close();
  }

  close(): void {
    this.#child.kill("SIGKILL");
    this.#child.terminal?.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
