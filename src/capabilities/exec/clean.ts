// Turns what a program wrote to its terminal into the text that would be left on the screen:
// escape sequences go, carriage returns, backspaces and cursor movement are played out on a
// window of lines, so that a progress bar ends as its last state. Incremental, and linear in the
// input. Source of the bytes: ECMA-48 and xterm's "Control Sequences":
//   ESC [ ... @-~  CSI     ESC ] ... BEL or ESC \  OSC     ESC P X ^ _ ... ESC \  strings
//   ESC <blank-/> ... <0-~>  charsets and the like     U+0080-U+009F  the same as ESC @ to ESC _

/** As many lines as the terminal has: a program cannot move the cursor further up. */
export const ROWS = 40;
/** Cursor movement to the right pads a line at most this far, as on the terminal. */
export const COLUMNS = 120;
/** How much of a rewritten line the live view gets. */
const SHOWN_CELLS_MAX = 300;
/** A line that long is given out in pieces, so that one without an end does not fill memory. */
const LINE_LENGTH_MAX = 256 * 1024;
/** A sequence that long is binary data that looks like one. */
const SEQUENCE_LENGTH_MAX = 4096;

const PLAIN = /[^\x00-\x1f\x7f-\x9f]+/y;
/** The end of what is only lines of plain text, as most programs write them. */
const NOT_PLAIN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)/g;
/** Fewer characters than that are not worth a look for whole lines. */
const PLAIN_LINES_LENGTH_MIN = 512;
const ESCAPE = 0x1b;

export interface TerminalCleaner {
  /** Takes the next piece; returns the text of the lines that nothing can change any more. */
  write(text: string): string;
  /** The rest. Nothing may be written after it. */
  end(): string;
  /** What is not returned yet, as it would be if the output ended here. */
  pending(): string;
  /** The length of `pending()`, cheaply. */
  pendingLength(): number;
  /** The line that the cursor is on. */
  currentLine(): string;
}

interface Line {
  /** The characters, one each, once something moved inside the line; else `text` is the line. */
  cells: string[] | null;
  text: string;
  /** The text when the cursor last left the line downwards. */
  reported: string | undefined;
}

type State = "text" | "escape" | "intermediate" | "csi" | "string" | "string end";

/** `onLine` gets each line when the cursor leaves it, again when it was changed later; where many
 * come at once, all of them as one text. */
export function createTerminalCleaner(onLine?: (text: string) => void): TerminalCleaner {
  const screen = new Screen(onLine);
  const parser = new Parser(screen);
  return {
    write(text) {
      parser.write(text);
      return screen.takeDone();
    },
    end: () => screen.takeRest(),
    pending: () => screen.lines.map(textOf).join("\n"),
    pendingLength: () => screen.lines.reduce((sum, line) => sum + lengthOf(line) + 1, 0),
    currentLine: () => screen.currentText(),
  };
}

/** The whole of a text at once. */
export function cleanTerminalText(text: string): string {
  const cleaner = createTerminalCleaner();
  return cleaner.write(text) + cleaner.end();
}

class Parser {
  #state: State = "text";
  #sequence = "";

  constructor(readonly screen: Screen) {}

  write(text: string): void {
    let at = 0;
    while (at < text.length) {
      if (this.#state === "text") {
        const lines = this.#plainLines(text, at);
        if (lines !== "") {
          this.screen.appendLines(lines.replaceAll("\r\n", "\n"));
          at += lines.length;
          continue;
        }
        PLAIN.lastIndex = at;
        const run = PLAIN.exec(text)?.[0];
        if (run !== undefined) {
          this.screen.put(run);
          at += run.length;
          continue;
        }
      }
      this.#step(text.charCodeAt(at), text.charAt(at));
      at += 1;
    }
  }

  /** What follows as whole lines of plain text, if that is much and the cursor is at the end. */
  #plainLines(text: string, at: number): string {
    if (text.length - at < PLAIN_LINES_LENGTH_MIN || !this.screen.isAppending) return "";
    NOT_PLAIN.lastIndex = at;
    const end = NOT_PLAIN.exec(text)?.index ?? text.length;
    if (end - at < PLAIN_LINES_LENGTH_MIN) return "";
    const plain = text.slice(at, end);
    return plain.slice(0, plain.lastIndexOf("\n") + 1);
  }

  #step(code: number, character: string): void {
    // CAN and SUB end any sequence, ESC begins another one (inside a string it may end it).
    if (code === 0x18 || code === 0x1a) this.#state = "text";
    else if (code === ESCAPE) this.#enter(this.#state === "string" ? "string end" : "escape");
    else if (this.#state === "text") this.#control(code, character);
    else if (this.#state === "string") this.#insideString(code, character);
    else if (this.#state === "string end") {
      this.#enter("escape");
      if (code === 0x5c) this.#state = "text";
      else this.#afterEscape(code, character);
    } else if (code < 0x20) this.#control(code, character);
    else if (this.#state === "escape") this.#afterEscape(code, character);
    else if (this.#state === "intermediate") {
      if (code > 0x2f) this.#state = "text";
    } else this.#insideCsi(code, character);
  }

  #enter(state: State): void {
    this.#state = state;
    this.#sequence = "";
  }

  #afterEscape(code: number, character: string): void {
    this.#state = "text";
    if (code >= 0x20 && code <= 0x2f) this.#state = "intermediate";
    else if (code >= 0x40 && code <= 0x5f) this.#control(code + 0x40, character);
  }

  #insideCsi(code: number, character: string): void {
    if (code >= 0x40 && code <= 0x7e) {
      this.#state = "text";
      this.screen.move(character, this.#sequence);
    } else if (code < 0x20 || code > 0x7e || this.#sequence.length >= SEQUENCE_LENGTH_MAX) {
      this.#state = "text";
      if (code > 0x9f) this.screen.put(character);
    } else this.#sequence += character;
  }

  #insideString(code: number, character: string): void {
    this.#sequence += character;
    const isOver = code === 0x07 || code === 0x9c;
    if (isOver || this.#sequence.length >= SEQUENCE_LENGTH_MAX) this.#state = "text";
  }

  /** A control character, or one of the C1 set. */
  #control(code: number, character: string): void {
    if (code === 0x0a || code === 0x0b || code === 0x0c || code === 0x84 || code === 0x85) {
      this.screen.lineFeed();
    } else if (code === 0x0d) this.screen.column = 0;
    else if (code === 0x08) this.screen.move("D", "1");
    else if (code === 0x09) this.screen.put(character);
    else if (code === 0x8d) this.screen.move("A", "1");
    else if (code === 0x9b) this.#enter("csi");
    else if (code === 0x90 || code === 0x98 || (code >= 0x9d && code <= 0x9f))
      this.#enter("string");
    else if (code < 0x20 && !IGNORED.has(code)) this.screen.put(String.fromCharCode(0x2400 + code));
  }
}

/** NUL, BEL, SO and SI do nothing visible; other control characters are shown as pictures. */
const IGNORED = new Set([0x00, 0x07, 0x0e, 0x0f]);

class Screen {
  lines: Line[] = [newLine()];
  row = 0;
  /** In cells, or in code units while the line has none. */
  column = 0;
  #done = "";

  constructor(readonly onLine: ((text: string) => void) | undefined) {}

  takeDone(): string {
    const done = this.#done;
    this.#done = "";
    return done;
  }

  takeRest(): string {
    this.#giveOut();
    return this.takeDone();
  }

  #giveOut(): void {
    this.#done += this.lines.map(textOf).join("\n");
    this.lines = [newLine()];
    this.row = 0;
    this.column = 0;
  }

  currentText(): string {
    return shortTextOf(this.#line());
  }

  /** The cursor is where the next text just continues the last. */
  get isAppending(): boolean {
    const line = this.#line();
    const isAtEnd = !line.cells && this.column === line.text.length;
    return isAtEnd && this.row === this.lines.length - 1;
  }

  /** The same as `put` and `lineFeed` for each line, but those that stay no longer cost nothing. */
  appendLines(text: string): void {
    const first = this.#line().text;
    this.onLine?.(first + text.slice(0, -1));
    const before = this.lines.slice(0, -1).map(textOf);
    const added = `${first}${text}`.split("\n");
    const all = [...before, ...added];
    const done = all.splice(0, Math.max(0, all.length - ROWS));
    if (done.length > 0) this.#done += `${done.join("\n")}\n`;
    this.lines = all.map((line) => ({ cells: null, text: line, reported: line }));
    this.row = this.lines.length - 1;
    this.column = 0;
    const last = this.lines[this.row];
    if (last) last.reported = undefined;
  }

  put(run: string): void {
    const line = this.#line();
    if (!line.cells) {
      // The two everyday cases stay plain strings: appending, and a redraw at least as long.
      if (this.column === line.text.length) {
        line.text += run;
        this.column = line.text.length;
        if (this.column > LINE_LENGTH_MAX) this.#giveOut();
        return;
      }
      if (this.column === 0 && run.length >= line.text.length) {
        line.text = run;
        this.column = run.length;
        return;
      }
    }
    const cells = this.#cells();
    while (cells.length < this.column) cells.push(" ");
    for (const character of run) {
      cells[this.column] = character;
      this.column += 1;
    }
    if (cells.length > LINE_LENGTH_MAX) this.#giveOut();
  }

  lineFeed(): void {
    const line = this.#line();
    if (this.onLine) {
      const text = shortTextOf(line);
      if (line.reported !== text) this.onLine(text);
      line.reported = text;
    }
    this.row += 1;
    this.column = 0;
    if (this.row < this.lines.length) return;
    this.lines.push(newLine());
    if (this.lines.length <= ROWS) return;
    const first = this.lines.shift();
    if (first) this.#done += `${textOf(first)}\n`;
    this.row -= 1;
  }

  /** Plays out a CSI sequence; those that do not move or erase say nothing about the text. */
  move(final: string, parameters: string): void {
    const count = Math.max(1, Number.parseInt(parameters, 10) || 1);
    const last = this.lines.length - 1;
    if (final === "K") this.#eraseLine(parameters);
    else if (final === "J" && /^0?$/.test(parameters)) this.#eraseBelow();
    else if (final === "A" || final === "F") this.#goTo(Math.max(0, this.row - count), final);
    else if (final === "B" || final === "E") this.#goTo(Math.min(last, this.row + count), final);
    else if (final === "C") this.#goRight("cursor", count);
    else if (final === "D") this.#goLeft(count);
    else if (final === "G" || final === "`") this.#goRight("start", count - 1);
    else if (final === "H" || final === "f") this.#beginPicture(last);
  }

  #line(): Line {
    const line = this.lines[this.row];
    if (!line) throw new Error("the cursor left the window");
    return line;
  }

  /** The current line's cells; the column is counted in cells from then on. */
  #cells(): string[] {
    const line = this.#line();
    if (line.cells) return line.cells;
    const isAtEnd = this.column === line.text.length;
    line.cells = Array.from(line.text);
    line.text = "";
    if (isAtEnd) this.column = line.cells.length;
    return line.cells;
  }

  #goTo(row: number, final: string): void {
    const { length } = this.#cells();
    this.column = final === "E" || final === "F" ? 0 : Math.min(this.column, length);
    this.row = row;
    const line = this.#line();
    // At this point the column says nothing about the end of the new line: no conversion of it.
    line.cells ??= Array.from(line.text);
    line.text = "";
  }

  #goRight(from: "cursor" | "start", count: number): void {
    const { length } = this.#cells();
    const wanted = (from === "cursor" ? this.column : 0) + count;
    this.column = Math.min(wanted, Math.max(length, COLUMNS));
  }

  #goLeft(count: number): void {
    this.#cells();
    this.column = Math.max(0, this.column - count);
  }

  /** A jump to an absolute place: what was drawn is kept, the new picture goes below it. */
  #beginPicture(last: number): void {
    this.row = last;
    this.column = lengthOf(this.#line());
    if (this.column > 0) this.lineFeed();
  }

  #eraseLine(parameters: string): void {
    const line = this.#line();
    if (/^0?$/.test(parameters)) {
      if (!line.cells && this.column === 0) line.text = "";
      else if (this.column < lengthOf(line)) this.#cells().length = this.column;
    } else if (parameters === "2") {
      this.#cells().length = 0;
    } else if (parameters === "1") {
      const cells = this.#cells();
      cells.fill(" ", 0, Math.min(this.column + 1, cells.length));
    }
  }

  #eraseBelow(): void {
    this.#eraseLine("");
    this.lines.length = this.row + 1;
  }
}

function newLine(): Line {
  return { cells: null, text: "", reported: undefined };
}

function textOf(line: Line): string {
  return line.cells ? line.cells.join("") : line.text;
}

function lengthOf(line: Line): number {
  return line.cells ? line.cells.length : line.text.length;
}

/** For the live view only: a line that is rewritten over and over must not be joined whole. */
function shortTextOf(line: Line): string {
  return line.cells ? line.cells.slice(0, SHOWN_CELLS_MAX).join("") : line.text;
}
