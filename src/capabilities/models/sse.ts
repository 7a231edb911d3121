// Server-sent events out of bytes that may be cut anywhere, even inside a character.
// Source: WHATWG HTML, "Server-sent events": lines end in LF, CR LF or CR; a byte order mark may
// come first; a line that begins with a colon is a comment; `data:` lines of one event are joined
// with LF; an empty line ends the event. One leniency: an event that lacks its empty line at the
// end of the stream counts, since some servers close without it.

export interface ServerEvent {
  /** The `event:` field, or an empty string. */
  name: string;
  data: string;
}

const BYTE_ORDER_MARK = "\uFEFF";

/** One decoder reads one stream; `feed` gives the events that the bytes completed, in order. */
export class EventDecoder {
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #rest = "";
  #isFirst = true;
  /** The last text ended in CR: an LF that comes next belongs to it. */
  #skipLineFeed = false;
  #name = "";
  #data: string[] = [];

  feed(bytes: Uint8Array): ServerEvent[] {
    const events: ServerEvent[] = [];
    this.#take(this.#decoder.decode(bytes, { stream: true }), events);
    return events;
  }

  end(): ServerEvent[] {
    const events: ServerEvent[] = [];
    this.#take(this.#decoder.decode(), events);
    if (this.#rest !== "") this.#line(this.#rest, events);
    this.#rest = "";
    this.#line("", events);
    return events;
  }

  #take(decoded: string, events: ServerEvent[]): void {
    let added = decoded;
    if (added === "") return;
    if (this.#isFirst) {
      this.#isFirst = false;
      if (added.startsWith(BYTE_ORDER_MARK)) added = added.slice(1);
    }
    if (this.#skipLineFeed && added !== "") {
      this.#skipLineFeed = false;
      if (added.startsWith("\n")) added = added.slice(1);
    }
    // A long line comes in many pieces: joined once, when its end is there.
    if (!added.includes("\n") && !added.includes("\r")) {
      this.#rest += added;
      return;
    }
    // What was left over holds no line end, so the search begins behind it.
    const searchFrom = this.#rest.length;
    const text = this.#rest + added;
    let start = 0;
    let lineFeed = text.indexOf("\n", searchFrom);
    let carriage = text.indexOf("\r", searchFrom);
    while (lineFeed >= 0 || carriage >= 0) {
      const end = lineFeed < 0 || (carriage >= 0 && carriage < lineFeed) ? carriage : lineFeed;
      this.#line(text.slice(start, end), events);
      start = end + 1;
      if (end === carriage) {
        if (start === text.length) this.#skipLineFeed = true;
        else if (text[start] === "\n") start++;
        carriage = text.indexOf("\r", start);
      }
      if (lineFeed >= 0 && lineFeed < start) lineFeed = text.indexOf("\n", start);
    }
    this.#rest = text.slice(start);
  }

  #line(line: string, events: ServerEvent[]): void {
    if (line === "") {
      if (this.#data.length > 0) events.push({ name: this.#name, data: this.#data.join("\n") });
      this.#data = [];
      this.#name = "";
      return;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    if (field !== "data" && field !== "event") return;
    const from = line[colon + 1] === " " ? colon + 2 : colon + 1;
    const value = colon < 0 ? "" : line.slice(from);
    if (field === "data") this.#data.push(value);
    else this.#name = value;
  }
}
