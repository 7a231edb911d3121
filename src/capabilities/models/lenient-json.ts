// A reader of JSON that mends what can be read in only one way, and says where anything else goes
// wrong. Mended: trailing commas, single quotes, keys without quotes, raw line ends and tabs in
// strings, Python's True, False and None. Never mended: an end that is missing, since what was
// cut off cannot be known; text without quotes as a value; anything behind the value.

/** Thrown inside this file only. */
class Unreadable extends Error {
  constructor(
    readonly at: number,
    readonly what: string,
    readonly isCut: boolean,
  ) {
    super(what);
  }
}

export type LenientResult =
  | { kind: "read"; value: unknown; mended: string[] }
  /** `isCut`: the text ends before the value does. */
  | { kind: "unreadable"; at: number; what: string; isCut: boolean };

/** No tool takes arguments this deep, and the reader calls itself. */
const DEPTH_MAX = 200;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z_$][\w$]*/y;
const SPACE = /[\s\uFEFF]*/y;
const LITERALS: Record<string, { value: unknown; isPython: boolean }> = {
  true: { value: true, isPython: false },
  false: { value: false, isPython: false },
  null: { value: null, isPython: false },
  True: { value: true, isPython: true },
  False: { value: false, isPython: true },
  None: { value: null, isPython: true },
};
const ESCAPES: Record<string, string> = {
  '"': '"',
  "'": "'",
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

class LenientReader {
  #text: string;
  #at = 0;
  #mended = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  read(): LenientResult {
    try {
      const value = this.#value(0);
      this.#space();
      if (this.#at < this.#text.length) {
        throw new Unreadable(this.#at, "there is more text behind the end of the value", false);
      }
      return { kind: "read", value, mended: [...this.#mended] };
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { kind: "unreadable", at: error.at, what: error.what, isCut: error.isCut };
    }
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #space(): void {
    this.#match(SPACE);
  }

  /** The next character that is no space; there must be one. */
  #next(inside: string, from: number): string {
    this.#space();
    const character = this.#text[this.#at];
    if (character !== undefined) return character;
    throw new Unreadable(from, `the ${inside} that begins here is never closed`, true);
  }

  #fail(what: string): never {
    throw new Unreadable(this.#at, what, false);
  }

  #value(depth: number): unknown {
    if (depth > DEPTH_MAX) this.#fail(`it is nested more than ${DEPTH_MAX} levels deep`);
    const first = this.#next("text", 0);
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#array(depth);
    if (first === '"' || first === "'") return this.#string(first);
    const at = this.#at;
    const number = this.#match(NUMBER);
    if (number !== undefined && !/[\w.]/.test(this.#text[this.#at] ?? "")) return Number(number);
    this.#at = at;
    const word = this.#match(WORD);
    const literal = word !== undefined && Object.hasOwn(LITERALS, word) ? LITERALS[word] : null;
    if (literal) {
      if (literal.isPython) this.#mended.add("Python's True, False or None");
      return literal.value;
    }
    this.#at = at;
    return this.#fail("a value was expected here; strings need double quotes");
  }

  #object(depth: number): Record<string, unknown> {
    const from = this.#at++;
    const entries: [string, unknown][] = [];
    while (this.#next("object", from) !== "}") {
      const key = this.#key();
      if (this.#next("object", from) !== ":") this.#fail("a colon was expected behind the key");
      this.#at++;
      // A missing value is a cut text as well, and the object says where it began.
      this.#next("object", from);
      entries.push([key, this.#value(depth + 1)]);
      this.#separator("object", from, "}");
    }
    this.#at++;
    return Object.fromEntries(entries);
  }

  #array(depth: number): unknown[] {
    const from = this.#at++;
    const items: unknown[] = [];
    while (this.#next("array", from) !== "]") {
      items.push(this.#value(depth + 1));
      this.#separator("array", from, "]");
    }
    this.#at++;
    return items;
  }

  #separator(inside: string, from: number, end: string): void {
    const character = this.#next(inside, from);
    if (character === end) return;
    if (character !== ",") this.#fail(`a comma or ${end} was expected here`);
    this.#at++;
    if (this.#next(inside, from) === end) this.#mended.add("a trailing comma");
  }

  #key(): string {
    const first = this.#text[this.#at] ?? "";
    if (first === '"' || first === "'") return this.#string(first);
    const word = this.#match(WORD);
    if (word === undefined) this.#fail("a key in double quotes was expected here");
    this.#mended.add("a key without quotes");
    return word;
  }

  #string(quote: string): string {
    const from = this.#at++;
    if (quote === "'") this.#mended.add("single quotes");
    let value = "";
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined) {
        throw new Unreadable(from, "the string that begins here is never closed", true);
      }
      if (character === quote) break;
      if (character === "\\") {
        value += this.#escape(from);
        continue;
      }
      if (character < " ") this.#mended.add("raw line ends or tabs in a string");
      value += character;
      this.#at++;
    }
    this.#at++;
    return value;
  }

  #escape(from: number): string {
    const letter = this.#text[this.#at + 1];
    if (letter === undefined) {
      throw new Unreadable(from, "the string that begins here is never closed", true);
    }
    if (letter === "u") {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) this.#fail("\\u needs four hexadecimal digits");
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const plain = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
    if (plain === undefined) this.#fail("this escape does not exist; a backslash is written \\\\");
    if (letter === "'") this.#mended.add("a needless backslash");
    this.#at += 2;
    return plain;
  }
}

export function readLenient(text: string): LenientResult {
  return new LenientReader(text).read();
}
