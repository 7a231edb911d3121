// Commands that run another command, which is judged in turn; and the many programs of which only
// the question for their version is read-only.

import { type Call, type Entry, special } from "./entry";
import { parseOptions } from "./options";
import { makeWord, type Word } from "./word";

/** Assignments that change how text looks, and nothing else. */
const HARMLESS_VARIABLES =
  /^(?:(?:LC_[A-Z]+|LANG|LANGUAGE|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|GIT_OPTIONAL_LOCKS)=[\w@:-]*(?:\.[\w@:-]+)?|TZ=(?:[A-Za-z][\w+-]*(?:\/[A-Za-z][\w+-]*)*)?)$/;
/** A pager that only copies. */
const HARMLESS_PAGER = /^(?:PAGER|GIT_PAGER|MANPAGER|SYSTEMD_PAGER)=(?:cat)?$/;

export function isHarmlessAssignment(word: Word): boolean {
  const text = word.literal;
  if (text === null || word.raw.includes("+=")) return false;
  return HARMLESS_VARIABLES.test(text) || HARMLESS_PAGER.test(text);
}

/** A wrapper whose own options are known, and whose operands are the command. */
function wrapper(notation: string, own?: (operands: readonly Word[]) => number | string): Entry {
  return special((call: Call) => {
    const parsed = parseOptions(call.program, call.words, notation, { stopAtOperand: true });
    if (parsed.problem !== null) return parsed.problem;
    const taken = own?.(parsed.operands) ?? 0;
    if (typeof taken === "string") return taken;
    const inner = parsed.operands.slice(taken);
    if (inner.length > 0) return call.judgeInner(inner);
    return parsed.options.some(({ name }) => name === "--version" || name === "--help")
      ? null
      : `${call.program} without a command is not known to only read`;
  }, "text");
}

function takeDuration(operands: readonly Word[]): number | string {
  return /^\d+(?:\.\d+)?[smhd]?$/.test(operands[0]?.literal ?? "")
    ? 1
    : "the time limit is not known";
}

function takeAssignments(operands: readonly Word[]): number | string {
  let taken = 0;
  for (const word of operands) {
    if (!/^[A-Za-z_]\w*=/.test(word.lead)) break;
    if (!isHarmlessAssignment(word)) return `the variable in \`${word.raw}\` may change what runs`;
    taken++;
  }
  return taken === operands.length ? "it shows the whole environment, where secrets may be" : taken;
}

/** A name that a lister found: any text, but no private path. */
export function listedName(lead: string): Word {
  return makeWord({ start: -1, end: -1, raw: "(each name)", tilde: false }, [
    { kind: "text", value: lead },
    { kind: "variable", name: LISTED, quoted: false },
  ]);
}

/** No variable of the shell can have this name. */
export const LISTED = "#listed";

function judgeXargs(call: Call): string | null {
  const parsed = parseOptions(
    "xargs",
    call.words,
    "0rtxn:P:I:L:d:s:/ null no-run-if-empty max-args= max-procs= delimiter= verbose exit max-chars=",
    { stopAtOperand: true },
  );
  if (parsed.problem !== null) return parsed.problem;
  if (call.input !== "names")
    return "xargs takes words from what it reads, and those are not known";
  if (parsed.operands.length === 0) return null;
  const mark = parsed.options.find(({ name }) => name === "-I")?.value;
  if (mark === undefined) return call.judgeInner([...parsed.operands, listedName("")]);
  if (!mark) return "xargs replaces words that are not known";
  return call.judgeInner(
    parsed.operands.map((word) => {
      const at = word.raw.indexOf(mark);
      return at < 0 ? word : listedName((word.literal ?? "").split(mark)[0] ?? "");
    }),
  );
}

export const WRAPPERS: Record<string, Entry> = {
  timeout: wrapper("k:s:v/ kill-after= signal= foreground preserve-status verbose", takeDuration),
  nice: wrapper("#n:/ adjustment="),
  time: wrapper("p/"),
  stdbuf: wrapper("i:o:e:/ input= output= error="),
  env: wrapper("/", takeAssignments),
  xargs: special(judgeXargs, "text"),
};

/** Programs that answer with their version, and the words that ask for it. */
const VERSIONS: Record<string, string> = {
  "--version":
    "node nodejs python python2 python3 pip pip3 npm cargo rustc rustup rustfmt go gcc g++ cc c++ clang clang++ make gmake cmake ninja meson java javac ruby gem perl php deno bun docker podman curl wget openssl bash zsh fish tsc swift kotlin scala ghc stack zig uv poetry black ruff mypy flake8 vim nvim emacs nano less sqlite3 psql mysql redis-server redis-cli nginx ffmpeg gh aws az gcloud systemctl apt apt-get dpkg brew rsync ssh tmux screen gdb valgrind strace lldb ld as ag ack bat eza exa perldoc R julia lua luajit node-gyp conda pandoc gpg nvcc terraform helm ansible vagrant composer dotnet objdump size",
  "-V": "python python2 python3 pip pip3 cargo rustc rustup make ssh tmux uv ruff deno psql mysql nginx",
  "-v": "node nodejs npm ruby php perl tsc gcc lua make nginx bun docker",
  "-version": "java javac ant ffmpeg",
  version: "go zig openssl",
};

const versionWords = new Map<string, Set<string>>();
for (const [word, programs] of Object.entries(VERSIONS)) {
  for (const program of programs.split(" ")) {
    versionWords.set(program, (versionWords.get(program) ?? new Set()).add(word));
  }
}

/** Exactly the program and the one word that asks for its version. */
export function asksVersion(program: string, words: readonly Word[]): boolean {
  const [only, more] = words;
  return more === undefined && only?.literal != null
    ? (versionWords.get(program)?.has(only.literal) ?? false)
    : false;
}
