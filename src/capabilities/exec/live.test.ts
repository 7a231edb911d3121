import { describe, expect, test } from "bun:test";
import { LIVE_CHARACTERS_MAX } from "./live";
import { createOutputPipe } from "./output";

function pipeWithLive(intervalMs = 20) {
  const shown: string[] = [];
  let final = "";
  const pipe = createOutputPipe({
    scrubber: undefined,
    onText: (text) => {
      final += text;
    },
    live: { emit: (text) => shown.push(text), intervalMs },
  });
  const write = (text: string) => pipe.write(Buffer.from(text));
  return { pipe, write, shown, final: () => final };
}

/** What a person sees who plays the live text out. */
function playOut(shown: readonly string[]): string {
  return shown
    .join("")
    .split("\n")
    .map((line) => line.split("\r").at(-1))
    .join("\n");
}

describe("live text", () => {
  test("is given out together after a moment, and the rest at the end", async () => {
    const { pipe, write, shown, final } = pipeWithLive();
    for (const word of ["one ", "two ", "three\r\n"]) write(word);
    expect(shown).toEqual([]);
    await Bun.sleep(60);
    expect(shown).toEqual(["one two three\n"]);
    write("four");
    pipe.finish();
    expect(shown).toEqual(["one two three\n", "four"]);
    expect(final()).toBe("one two three\nfour");
  });

  test("goes on in a line, and begins it anew when it is redrawn", async () => {
    const { pipe, write, shown } = pipeWithLive(5);
    for (const text of [
      "10%",
      "\r20%",
      " ok",
      "\r",
      "\r\x1b[Kdone\r\n",
      "\x1b[A\x1b[2Kreally\r\n",
    ]) {
      write(text);
      await Bun.sleep(20);
    }
    pipe.finish();
    expect(shown).toEqual(["10%", "\r20%", " ok", "\rdone\n", "really\n"]);
  });

  test("does not wait when there is much", () => {
    const { pipe, write, shown } = pipeWithLive(60_000);
    write("x\r\n".repeat(LIVE_CHARACTERS_MAX));
    expect(shown.join("").length).toBeGreaterThan(LIVE_CHARACTERS_MAX);
    pipe.finish();
    expect(playOut(shown)).toBe("x\n".repeat(LIVE_CHARACTERS_MAX));
  });

  test("shows a line without end by its beginning", () => {
    const { pipe, write, shown } = pipeWithLive(60_000);
    for (let count = 0; count < 100; count += 1) write("x".repeat(1000));
    pipe.finish();
    expect(shown.join("").length).toBeLessThanOrEqual(LIVE_CHARACTERS_MAX);
  });
});

test("nothing is shown twice when nothing was added", async () => {
  const { pipe, write, shown } = pipeWithLive(5);
  write("abc");
  await Bun.sleep(20);
  write("\x1b[31m");
  await Bun.sleep(20);
  pipe.finish();
  expect(shown).toEqual(["abc"]);
});
