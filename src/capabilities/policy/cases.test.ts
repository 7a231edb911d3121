// Verdicts by example, most of them attempts to get something past the judge. Each line of
// cases.txt is one command; see there for the notation.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadGrammar } from "#app/grammar";
import { type CommandOptions, judgeCommand } from "./judge";

const OPTIONS: CommandOptions = {
  cwd: "/home/user/project",
  home: "/home/user/.bosun",
  userHome: "/home/user",
  loadGrammar,
};
const LABELLED = join(import.meta.dir, "../../../test/fixtures/commands.tsv");
const OWN = join(import.meta.dir, "cases.txt");

function readEscapes(text: string): string {
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|(.))/g, (_, code, letter) => {
    if (code) return String.fromCharCode(Number.parseInt(code, 16));
    return { n: "\n", r: "\r", t: "\t" }[letter as string] ?? letter;
  });
}

interface Case {
  wanted: readonly string[];
  command: string;
}

function labelledCases(): Case[] {
  const rows = readFileSync(LABELLED, "utf8").split("\n");
  return rows
    .filter((row) => row !== "" && !row.startsWith("#"))
    .map((row) => {
      const [label, command = "", reason = ""] = row.split("\t");
      const isFree = label === "READ_ONLY";
      const free = reason.startsWith("soft:") ? ["read-only", "ask"] : ["read-only"];
      return { wanted: isFree ? free : ["ask", "deny"], command: readEscapes(command) };
    });
}

function ownCases(): Case[] {
  let wanted: string[] = [];
  const cases: Case[] = [];
  for (const line of readFileSync(OWN, "utf8").split("\n")) {
    if (line.startsWith("## ")) wanted = line === "## ask" ? ["ask", "deny"] : [line.slice(3)];
    else if (line !== "" && wanted.length > 0) cases.push({ wanted, command: readEscapes(line) });
  }
  return cases;
}

async function wrong(cases: readonly Case[]): Promise<string[]> {
  const found: string[] = [];
  for (const { wanted, command } of cases) {
    const { verdict, reason } = await judgeCommand(command, OPTIONS);
    if (!wanted.includes(verdict)) {
      found.push(`${JSON.stringify(command)} is ${verdict}, not ${wanted.join(" or ")}: ${reason}`);
    }
  }
  return found;
}

describe("commands by example", () => {
  test("the labelled commands", async () => {
    const cases = labelledCases();
    expect(cases.length).toBeGreaterThan(250);
    expect(await wrong(cases)).toEqual([]);
  });

  test("the judge's own cases, most of which must not be read-only", async () => {
    const cases = ownCases();
    const negatives = cases.filter(({ wanted }) => !wanted.includes("read-only"));
    expect(negatives.length).toBeGreaterThan(2 * (cases.length - negatives.length));
    expect(await wrong(cases)).toEqual([]);
  });

  test("every verdict names its reason in one line", async () => {
    for (const { command } of ownCases()) {
      const { reason } = await judgeCommand(command, OPTIONS);
      expect(reason).not.toBe("");
    }
  });
});
