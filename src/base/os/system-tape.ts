// A list of system calls that a child makes before it becomes the program it was started for: what
// a fork would do in C. The list is data; a few instructions of machine code play it. Each call
// must succeed unless it is said to be optional; otherwise a line is written and the child ends.
// Source of the numbers: the kernel's syscall tables for x86-64 and for arm64.

import { ADDRESSES, CALL_WORDS, CELLS, elfImage } from "./tape-machine";

/** Numbers on x64 and on arm64. */
const NUMBERS = {
  write: [1, 64],
  close: [3, 57],
  ioctl: [16, 29],
  socket: [41, 198],
  execve: [59, 221],
  getcwd: [79, 17],
  chdir: [80, 49],
  prctl: [157, 167],
  mount: [165, 40],
  openat: [257, 56],
  unshare: [272, 97],
  mount_setattr: [442, 442],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
} as const;

const WORD_BYTES = 8;
/** Where machine code writes the three digits of errno, before the end of the line. */
const ERRNO_PLACE = "000\n";

/** A place in the tape's data that a call reads from or writes to. */
export interface Place {
  readonly offset: number;
}

/** A number as it is; a text or bytes by their address; the contents of a place. */
export type Operand = number | bigint | string | Uint8Array | Place;

export interface CallOptions {
  /** What is said when it fails, before the end of the child; none: it may fail. */
  failure?: string;
  /** Where the 32 bits of the result go; by default to a place of their own, which is returned. */
  into?: Place;
}

interface Call {
  number: number;
  operands: Place[];
  result: Place;
  message: Place | undefined;
  messageBytes: number;
}

export class SystemTape {
  readonly #architecture: string;
  readonly #calls: Call[] = [];
  readonly #chunks: Uint8Array[] = [];
  /** Words that hold an address: its place, and the place that it points to. */
  readonly #addresses: { at: number; to: number }[] = [];
  #length = 0;

  constructor(architecture: string = process.arch) {
    this.#architecture = architecture;
  }

  /** Adds a call; returns the place that will hold its result. */
  call(
    name: Exclude<keyof typeof NUMBERS, "execve">,
    operands: readonly Operand[],
    options: CallOptions = {},
  ): Place {
    const places = operands.map((operand) => this.#operand(operand));
    return this.#add(name, places, options);
  }

  /** Bytes that several calls share; they may be written to. */
  bytes(bytes: Uint8Array): Place {
    const offset = this.#length;
    const padding = -bytes.length & (WORD_BYTES - 1);
    this.#chunks.push(bytes, new Uint8Array(padding));
    this.#length += bytes.length + padding;
    return { offset };
  }

  /** A word with the address of this place. */
  addressOf(place: Place): Place {
    const at = this.bytes(new Uint8Array(WORD_BYTES));
    this.#addresses.push({ at: at.offset, to: place.offset });
    return at;
  }

  /** The executable file: plays the tape, then becomes the program that its arguments name. */
  image(): Uint8Array | undefined {
    const cells = [CELLS.program, CELLS.arguments, CELLS.environment];
    // Places count from behind the calls; the cells lie in front of them.
    const calls = this.#calls.length + 1;
    const poolOffset = ADDRESSES.calls - ADDRESSES.data + calls * CALL_WORDS * WORD_BYTES;
    const operands = cells.map((cell) => ({ offset: cell - poolOffset }));
    this.#add("execve", operands, { failure: "cannot start the program" });
    const data = Buffer.alloc(poolOffset + this.#length);
    const address = (place: Place) => BigInt(ADDRESSES.data + poolOffset + place.offset);
    this.#calls.forEach((call, index) => {
      const { number, result, message, messageBytes } = call;
      const scratch = { offset: CELLS.scratch - poolOffset };
      const six = Array.from({ length: 6 }, (_, n) => address(call.operands[n] ?? scratch));
      const text = message ? address(message) : 0n;
      const words = [BigInt(number), ...six, address(result), text, BigInt(messageBytes)];
      const at = ADDRESSES.calls - ADDRESSES.data + index * CALL_WORDS * WORD_BYTES;
      words.forEach((word, n) => {
        data.writeBigUInt64LE(word, at + n * WORD_BYTES);
      });
    });
    data.set(Buffer.concat(this.#chunks), poolOffset);
    for (const { at, to } of this.#addresses) {
      data.writeBigUInt64LE(address({ offset: to }), poolOffset + at);
    }
    return elfImage(data, this.#architecture);
  }

  #add(name: keyof typeof NUMBERS, operands: Place[], options: CallOptions): Place {
    const result = options.into ?? this.bytes(new Uint8Array(WORD_BYTES));
    const line = `bosun: sandbox: ${options.failure}: error ${ERRNO_PLACE}`;
    const text = options.failure === undefined ? undefined : Buffer.from(line);
    this.#calls.push({
      number: NUMBERS[name][this.#architecture === "arm64" ? 1 : 0],
      operands,
      result,
      message: text && this.bytes(text),
      messageBytes: text?.length ?? 0,
    });
    return result;
  }

  #operand(operand: Operand): Place {
    if (typeof operand === "string") return this.#operand(Buffer.from(`${operand}\0`));
    if (operand instanceof Uint8Array) return this.addressOf(this.bytes(operand));
    if (typeof operand === "object") return operand;
    const word = Buffer.alloc(WORD_BYTES);
    word.writeBigInt64LE(BigInt(operand));
    return this.bytes(word);
  }
}
