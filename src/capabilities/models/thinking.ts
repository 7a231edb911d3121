// Thinking that comes inside the answer, between <think> tags: models whose server has no parser
// for it write it at the start of the content. Only there does it count; a tag further down is
// text. Tags may be cut anywhere; white space around the thinking belongs to neither side.

const TAGS = ["think", "thinking"] as const;

export interface Split {
  reasoning: string;
  text: string;
}

export class ThinkingSplitter {
  #state: "start" | "thinking" | "answer" = "start";
  #held = "";
  #closeTag = "";
  /** A block of thinking was closed: the white space behind it is layout, not answer. */
  #hasThought = false;
  #hasReasoning = false;

  push(added: string): Split {
    if (this.#state === "answer") return { reasoning: "", text: added };
    this.#held += added;
    const split = { reasoning: "", text: "" };
    for (;;) {
      if (this.#state === "start") {
        if (!this.#decideStart(split)) return split;
      } else if (this.#state === "thinking") {
        if (!this.#decideThinking(split)) return split;
      } else {
        return split;
      }
    }
  }

  /** What was held back, once nothing more can come. */
  end(): Split {
    const held = this.#held;
    this.#held = "";
    if (this.#state === "thinking") return { reasoning: this.#reasoning(held.trimEnd()), text: "" };
    return { reasoning: "", text: this.#hasThought ? held.trimStart() : held };
  }

  /** Whether the state changed, so that the rest can be looked at again. */
  #decideStart(split: Split): boolean {
    const visible = this.#held.trimStart();
    const tag = TAGS.find((name) => visible.startsWith(`<${name}>`));
    if (tag) {
      this.#held = visible.slice(tag.length + 2);
      this.#closeTag = `</${tag}>`;
      this.#state = "thinking";
      return true;
    }
    if (TAGS.some((name) => `<${name}>`.startsWith(visible))) return false;
    split.text += this.#hasThought ? visible : this.#held;
    this.#held = "";
    this.#state = "answer";
    return true;
  }

  #decideThinking(split: Split): boolean {
    const end = this.#held.indexOf(this.#closeTag);
    if (end >= 0) {
      split.reasoning += this.#reasoning(this.#held.slice(0, end).trimEnd());
      this.#held = this.#held.slice(end + this.#closeTag.length);
      this.#hasThought = true;
      this.#state = "start";
      return true;
    }
    const safe = this.#held.slice(0, this.#held.length - this.#tagBegun()).trimEnd();
    split.reasoning += this.#reasoning(safe);
    this.#held = this.#held.slice(safe.length);
    return false;
  }

  /** How many characters at the end may be the beginning of the closing tag. */
  #tagBegun(): number {
    const from = this.#held.lastIndexOf("<");
    if (from < 0) return 0;
    return this.#closeTag.startsWith(this.#held.slice(from)) ? this.#held.length - from : 0;
  }

  #reasoning(text: string): string {
    if (this.#hasReasoning) return text;
    const visible = text.trimStart();
    if (visible !== "") this.#hasReasoning = true;
    return visible;
  }
}
