// Inline thinking: taken out at the start, in pieces of any size; nothing else is touched.

import { expect, test } from "bun:test";
import { type Split, ThinkingSplitter } from "./thinking";

function split(content: string, pieces: number): Split {
  const splitter = new ThinkingSplitter();
  const whole = { reasoning: "", text: "" };
  const add = (part: Split): void => {
    whole.reasoning += part.reasoning;
    whole.text += part.text;
  };
  for (let at = 0; at < content.length; at += pieces)
    add(splitter.push(content.slice(at, at + pieces)));
  add(splitter.end());
  return whole;
}

const CASES: [content: string, reasoning: string, text: string][] = [
  ["<think>why</think>so", "why", "so"],
  ["\n <think>\n why? \n</think>\n\n so \n", "why?", "so \n"],
  ["<thinking>a < b </think> c</thinking>d", "a < b </think> c", "d"],
  ["<think>\n\n</think>\n\nanswer", "", "answer"],
  ["<think>a</think>\n<think>b</think>c", "ab", "c"],
  ["<think>never closed", "never closed", ""],
  ["<think>closed</think>", "closed", ""],
  ["<think>half</thi", "half</thi", ""],
  // Not thinking.
  ["", "", ""],
  ["   ", "", "   "],
  ["<thi", "", "<thi"],
  ["<thinker>x</thinker>", "", "<thinker>x</thinker>"],
  ["Use <think>x</think> tags", "", "Use <think>x</think> tags"],
  ["\n plain <think>", "", "\n plain <think>"],
  ["</think>x", "", "</think>x"],
  ["<b>bold</b>", "", "<b>bold</b>"],
  ["<think>a</think>say <think>b</think>", "a", "say <think>b</think>"],
];

for (const [content, reasoning, text] of CASES) {
  test(JSON.stringify(content), () => {
    for (const pieces of [1, 2, 3, 7, 100]) {
      expect(split(content, pieces)).toEqual({ reasoning, text });
    }
  });
}
