// The verdict on a whole command: scan, cut, judge each simple command where it would stand, and
// load the grammar only when structure is all that is left to understand. Deny beats ask, ask
// beats read-only, and what is not understood asks.

import { misleadingCharacter } from "./characters";
import { bashParser, type LoadGrammar } from "./grammar";
import { type Lexed, lex } from "./lex";
import { listsNames, passesNames } from "./listing";
import { safePrefix } from "./prefix";
import type { PathOptions } from "./private-paths";
import { cut, type Pipeline, type SimpleCommand } from "./script";
import { extrasFinding, type Finding, judgeSimple, type Surroundings } from "./simple";
import { readTree, type Understood } from "./tree";
import { knownWord } from "./word";
import { exactPath, type Place } from "./word-paths";
import { innerScripts, unwrap } from "./wrapped";

export interface CommandOptions extends PathOptions {
  /** The directory in which the command starts, absolute. */
  cwd: string;
  /** The project's directory: git outside of it asks. Default: `cwd`. */
  root?: string;
  /** The user's own read-only commands, such as `htop` or `make -n`. */
  extraReadOnly?: readonly string[];
  loadGrammar: LoadGrammar;
}

export interface CommandVerdict {
  verdict: "read-only" | "ask" | "deny";
  /** One line for a person: which word, and why. */
  reason: string;
  /** The leading words of a narrow rule for "always"; null when only the exact command is safe. */
  prefix: string[] | null;
}

export interface JudgedCommand {
  command: SimpleCommand;
  finding: Finding;
  /** Redirections and assignments that no rule about its words covers. */
  extras: Finding | null;
}

export interface Analysis {
  verdict: CommandVerdict["verdict"];
  reason: string;
  /** What runs, as far as it was found. */
  commands: readonly JudgedCommand[];
  /** `commands` is all that runs. */
  isWhole: boolean;
}

/** Longer commands are shown to a person, not parsed: nothing everyday comes near it. */
const LENGTH_MAX = 100_000;
const GRAMMAR_LENGTH_MAX = 20_000;
const BASES_MAX = 8;
const INNER_DEPTH_MAX = 3;

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** Where the commands behind a `cd` may stand. */
function placeAfter(command: SimpleCommand, place: Place): Place {
  const name = command.words[0]?.literal;
  if (name !== "cd") {
    const hidesCd =
      command.words.some((word) => word.literal === "cd") && unwrap(command.words).length > 1;
    return hidesCd ? { ...place, isLost: true } : place;
  }
  const operand = command.words.slice(1).find((word) => !/^-[LPe]+$|^--$/.test(word.literal ?? ""));
  if (operand?.literal === "-") return { ...place, isLost: true };
  const targets = place.bases.map((base) =>
    exactPath(operand ?? knownWord(place.paths.userHome), { ...place, bases: [base] }),
  );
  const known = targets.filter((target) => target !== undefined);
  const bases = [
    ...new Set([...place.bases, ...known.map((path) => path.replace(/(.)\/$/, "$1"))]),
  ];
  const isLost = place.isLost || known.length < targets.length || bases.length > BASES_MAX;
  return { ...place, bases: bases.slice(0, BASES_MAX), isLost };
}

function judgePipelines(pipelines: readonly Pipeline[], options: CommandOptions): JudgedCommand[] {
  const judged: JudgedCommand[] = [];
  const { cwd, root = cwd } = options;
  const startsOutside = !isWithin(cwd, root);
  const extra = (options.extraReadOnly ?? []).map((each) => each.split(/\s+/).filter(Boolean));
  let place: Place = { paths: options, cwd, bases: [cwd], isLost: false };
  for (const pipeline of pipelines) {
    let input: Surroundings["input"] = "anything";
    for (const command of pipeline) {
      const moved = startsOutside || place.isLost || place.bases.length > 1;
      const around: Surroundings = { place, input, moved, extra };
      const finding = judgeSimple(command, around);
      judged.push({ command, finding, extras: extrasFinding(command, place) });
      if (finding.verdict !== "read-only") input = "anything";
      else if (listsNames(command, place)) input = "names";
      else if (input === "names" && !passesNames(command)) input = "anything";
      place = placeAfter(command, place);
    }
  }
  return judged;
}

function firstOf(
  judged: readonly JudgedCommand[],
  verdict: Finding["verdict"],
): Finding | undefined {
  return judged.find(({ finding }) => finding.verdict === verdict)?.finding;
}

/** What must be refused inside substitutions, and in scripts handed to a shell. */
function innerDenial(
  scripts: readonly string[],
  options: CommandOptions,
  depth: number,
): Finding | undefined {
  if (depth >= INNER_DEPTH_MAX) return undefined;
  for (const text of scripts) {
    const lexed = lex(text);
    const judged = judgePipelines(cut(lexed).pipelines, options);
    const denied = firstOf(judged, "deny");
    if (denied) return denied;
    const deeper = [
      ...lexed.inner,
      ...judged.flatMap(({ command }) => innerScripts(command.words)),
    ];
    const inner = innerDenial(deeper, options, depth + 1);
    if (inner) return inner;
  }
  return undefined;
}

function readOnlyReason(judged: readonly JudgedCommand[]): string {
  const written = judged
    .map(({ command }) => command.words[0])
    .filter((word) => word && word.start >= 0);
  const names = [...new Set(written.map((word) => word?.raw))];
  if (names.length === 0) return "it runs nothing";
  if (names.length === 1) return `\`${names[0]}\` only reads here`;
  return `all of its commands only read: ${names.join(", ")}`;
}

function conclude(judged: readonly JudgedCommand[], isWhole: boolean): Analysis {
  const worst = firstOf(judged, "deny") ?? firstOf(judged, "ask");
  if (worst) return { ...worst, commands: judged, isWhole };
  return { verdict: "read-only", reason: readOnlyReason(judged), commands: judged, isWhole };
}

/** In a script with structure: what asks for certain, whatever the structure is. */
function certainAsk(judged: readonly JudgedCommand[]): Finding | undefined {
  return judged.find(({ finding, extras }) => finding.isCertain || extras?.isCertain)?.finding;
}

async function understand(
  command: string,
  lexed: Lexed,
  options: CommandOptions,
): Promise<Understood> {
  try {
    return readTree(command, lexed, await bashParser(options.loadGrammar));
  } catch (error) {
    // Without the grammar nothing is lost but comfort: a person is asked.
    const why = error instanceof Error ? error.message : String(error);
    return { pipelines: [], problem: `the shell grammar could not be used: ${why}` };
  }
}

export async function analyse(command: string, options: CommandOptions): Promise<Analysis> {
  const hidden = misleadingCharacter(command);
  if (command.length > LENGTH_MAX) {
    return {
      verdict: "ask",
      reason: "the command is too long to look into",
      commands: [],
      isWhole: false,
    };
  }
  const lexed = lex(command);
  const script = cut(lexed);
  const judged = judgePipelines(script.pipelines, options);
  const inner = [...lexed.inner, ...judged.flatMap((each) => innerScripts(each.command.words))];
  const denied = firstOf(judged, "deny") ?? innerDenial(inner, options, 0);
  const problem = hidden ?? script.problem;
  if (denied) return { ...denied, commands: judged, isWhole: false };
  if (problem !== undefined)
    return { verdict: "ask", reason: problem, commands: judged, isWhole: false };
  if (!script.needsGrammar) return conclude(judged, true);
  const certain = certainAsk(judged);
  if (certain) return { verdict: "ask", reason: certain.reason, commands: judged, isWhole: false };
  if (command.length > GRAMMAR_LENGTH_MAX) {
    return {
      verdict: "ask",
      reason: "the script is too long to look into",
      commands: judged,
      isWhole: false,
    };
  }
  const understood = await understand(command, lexed, options);
  const exact = judgePipelines(understood.pipelines, options);
  const found = conclude(exact, understood.problem === undefined);
  if (understood.problem !== undefined && found.verdict !== "deny") {
    return { ...found, verdict: "ask", reason: understood.problem };
  }
  const moves = exact.find((each) => each.command.words.some((word) => word.literal === "cd"));
  if (moves && found.verdict === "read-only") {
    return { ...found, verdict: "ask", reason: "`cd` stands inside a script with structure" };
  }
  return found;
}

/** What may happen to a command without asking anyone, and why. Never throws. */
export async function judgeCommand(
  command: string,
  options: CommandOptions,
): Promise<CommandVerdict> {
  const { verdict, reason } = await analyse(command, options);
  return { verdict, reason, prefix: verdict === "ask" ? safePrefix(command) : null };
}
