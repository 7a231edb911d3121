// Takes credentials out of text that goes to a model, a log or a screen, also when one arrives in
// pieces. Knows a secret as it stands and in base64 (at each of the three alignments, both
// alphabets). Any other encoding (hexadecimal, reversed, wrapped base64, split by hand) defeats
// it: it guards against accidents, the environment of commands guards against intent.

/** Shorter secrets would turn ordinary words into `[credential]`. */
const SECRET_LENGTH_MIN = 8;

export const SCRUBBED = "[credential]";

export interface Scrubber {
  /** The text without credentials. */
  text(text: string): string;
  /** For text in pieces: what may be the beginning of a credential is held back. */
  stream(): ScrubStream;
}

export interface ScrubStream {
  write(text: string): string;
  /** The rest; the stream can be used again after it. */
  end(): string;
}

export function createScrubber(secrets: readonly string[]): Scrubber {
  const usable = secrets.filter((secret) => secret.length >= SECRET_LENGTH_MIN);
  const forms = [...new Set(usable.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(forms.map((form) => RegExp.escape(form)).join("|"), "g");
  if (forms.length === 0) return { text: (text) => text, stream: () => PASSING };
  return {
    text: (text) => text.replace(pattern, SCRUBBED),
    stream: () => createStream(forms, pattern),
  };
}

const PASSING: ScrubStream = { write: (text) => text, end: () => "" };

function createStream(forms: readonly string[], pattern: RegExp): ScrubStream {
  const longest = forms[0]?.length ?? 0;
  let held = "";
  return {
    write(text) {
      const whole = held + text;
      const holdFrom = possibleStart(whole, forms, longest);
      let clean = "";
      let at = 0;
      for (const match of whole.matchAll(pattern)) {
        if (match.index >= holdFrom) break;
        clean += whole.slice(at, match.index) + SCRUBBED;
        at = match.index + match[0].length;
      }
      const cut = Math.max(at, holdFrom);
      held = whole.slice(cut);
      return clean + whole.slice(at, cut);
    },
    end() {
      const rest = held.replace(pattern, SCRUBBED);
      held = "";
      return rest;
    },
  };
}

/** Where the earliest ending lies that more text could turn into a credential. */
function possibleStart(text: string, forms: readonly string[], longest: number): number {
  for (let at = Math.max(0, text.length - longest + 1); at < text.length; at += 1) {
    const ending = text.slice(at);
    if (forms.some((form) => form.length > ending.length && form.startsWith(ending))) return at;
  }
  return text.length;
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  const forms = [secret];
  for (let offset = 0; offset < 3; offset += 1) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    // Characters at either end that also depend on the neighbours say nothing of the secret.
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const core = encoded.slice(first, last);
    forms.push(core, core.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return forms;
}
