import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createScrubber } from "./scrub";

const SECRET = "sk-live+Zq8/7Hs2kd93";

describe("a scrubber", () => {
  test("replaces each occurrence, the longest secret first", () => {
    const scrubber = createScrubber([SECRET, `${SECRET}-and-more`]);
    expect(scrubber.text(`a ${SECRET} b ${SECRET}-and-more c`)).toBe(
      "a [credential] b [credential] c",
    );
  });

  test("knows base64 at every alignment, in both alphabets", () => {
    const scrubber = createScrubber([SECRET]);
    for (const before of ["", "a", "ab", "abc", "user:"]) {
      const standard = Buffer.from(`${before}${SECRET}tail`).toString("base64");
      const urlSafe = Buffer.from(`${before}${SECRET}tail`).toString("base64url");
      for (const encoded of [standard, urlSafe]) {
        expect(scrubber.text(encoded)).toContain("[credential]");
        // What is left must not say more than a few bits at the edges.
        const rest = scrubber.text(encoded).replace("[credential]", "");
        expect(rest.length).toBeLessThan(encoded.length - 20);
      }
    }
  });

  test("leaves alone what is too short to be a secret, and everything else", () => {
    const scrubber = createScrubber(["abc", "", "1234567"]);
    expect(scrubber.text("abc 1234567")).toBe("abc 1234567");
    expect(scrubber.stream().write("abc 1234567")).toBe("abc 1234567");
    expect(createScrubber([SECRET]).text(SECRET.slice(0, -1))).toBe(SECRET.slice(0, -1));
  });

  test("does not know other encodings, as its header says", () => {
    const hexadecimal = Buffer.from(SECRET).toString("hex");
    expect(createScrubber([SECRET]).text(hexadecimal)).toBe(hexadecimal);
  });
});

describe("a scrub stream", () => {
  test("finds a secret in pieces of any size, and gives on all else at once", () => {
    for (let size = 1; size <= SECRET.length + 3; size += 1) {
      const stream = createScrubber([SECRET]).stream();
      const text = `before ${SECRET} after s sk- ${SECRET}`;
      let clean = "";
      for (let at = 0; at < text.length; at += size)
        clean += stream.write(text.slice(at, at + size));
      expect(clean + stream.end()).toBe("before [credential] after s sk- [credential]");
    }
    expect(createScrubber([SECRET]).stream().write("no secret here\n")).toBe("no secret here\n");
  });

  test("gives the same as the whole text, whatever the pieces", () => {
    const piece = fc.constantFrom("ab", "aab", "abab", SECRET, SECRET.slice(0, 7), "x", "\n", "🙂");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(9)), (pieces, sizes) => {
        const scrubber = createScrubber([SECRET, "abababab"]);
        const text = pieces.join("");
        const stream = scrubber.stream();
        let clean = "";
        let at = 0;
        for (const size of sizes) {
          clean += stream.write(text.slice(at, at + size));
          at += size;
        }
        clean += stream.write(text.slice(at)) + stream.end();
        expect(clean).not.toContain(SECRET);
        expect(clean).toBe(scrubber.text(text));
      }),
    );
  });
});
