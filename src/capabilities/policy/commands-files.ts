// Read-only commands that look at files, folders and archives, and the shell's own small ones.
// Options as in GNU coreutils 9.4, findutils 4.9, tar 1.35, Info-ZIP 6 and fd 10; see options.ts.

import { type Call, type Entry, plain, special } from "./entry";
import { judgeFind } from "./find-expression";
import { hasOption, parseOptions } from "./options";
import { judgeTest } from "./test-expression";
import { knownWord } from "./word";

const HARMLESS_NAMES = { harmless: true, reads: "names" } as const;
const HARMLESS_TEXT = { harmless: true, reads: "text" } as const;

const FD = plain(
  "HIusgFiaLp0d:t:e:S:o:E:c:j:1q/ hidden no-hidden no-ignore ignore no-ignore-vcs no-ignore-parent no-global-ignore-file unrestricted case-sensitive ignore-case glob regex fixed-strings and= absolute-path relative-path follow full-path print0 max-depth= min-depth= exact-depth= prune type= extension= size= changed-within= changed-before= newer= older= owner= format= max-results= color= hyperlink? ignore-contain= exclude= ignore-file= threads= base-directory= path-separator= search-path= strip-cwd-prefix? one-file-system quiet show-errors max-one-result",
  { reads: "names" },
);

const TAR_LONG =
  "list file= gzip gunzip bzip2 xz lzma zstd verbose full-time numeric-owner utc exclude= wildcards no-wildcards anchored no-anchored ignore-case quoting-style= block-number show-transformed-names force-local auto-compress";

/** Only `t`: the letters name no program, and the archive no other machine. */
function judgeTar(call: Call): string | null {
  const [first, ...rest] = call.words;
  const words = [...rest];
  if (first?.literal && !first.literal.startsWith("-")) {
    // The old style: values follow in the order of their letters, so there may be but one.
    const letters = first.literal.replace("f", "");
    if (!/^[tvzjJaR]+$/.test(letters)) return `\`tar ${first.literal}\` is not known to only read`;
    if (letters !== first.literal) words.unshift(knownWord("-f"));
    words.unshift(knownWord(`-${letters}`));
  } else if (first) words.unshift(first);
  const parsed = parseOptions("tar", words, `tvzjJaRf:/ ${TAR_LONG}`);
  if (parsed.problem !== null) return parsed.problem;
  if (hasOption(parsed, "--version", "--help")) return null;
  if (!hasOption(parsed, "-t", "--list")) return "tar only reads when it lists (`t`)";
  const archives = parsed.options.filter(({ name }) => name === "-f" || name === "--file");
  const isLocal = archives.every(({ value }) => value !== null && !value.includes(":"));
  return isLocal ? null : "the archive may lie on another machine";
}

function judgeUnzip(call: Call): string | null {
  const isZipinfo = call.words[0]?.literal?.startsWith("-Z") ?? false;
  const parsed = parseOptions("unzip", call.words, isZipinfo ? "Z12smlvhtTzC/" : "lvtpqzcCx:/");
  if (parsed.problem !== null) return parsed.problem;
  const lists = hasOption(parsed, "-l", "-v", "-t", "-p", "-z", "-c", "-Z");
  return lists ? null : "unzip writes the files";
}

/** gzip and its kin: to standard output, a list or a test; everything else replaces files. */
function judgeCompressor(call: Call): string | null {
  const parsed = parseOptions(
    call.program,
    call.words,
    "#clktdvqnr/ stdout to-stdout list test keep decompress uncompress verbose quiet no-name",
  );
  if (parsed.problem !== null) return parsed.problem;
  if (hasOption(parsed, "-c", "--stdout", "--to-stdout", "--version", "--help")) return null;
  // To xz and zstd the last of `-l`, `-t` and `-d` counts: only alone do they not replace.
  const looks = hasOption(parsed, "-l", "-t", "--list", "--test");
  const others = hasOption(parsed, "-d", "-k", "--decompress", "--uncompress", "--keep", "-#");
  return looks && !others ? null : `${call.program} replaces files`;
}

function judgeSevenZip(call: Call): string | null {
  const [action, ...rest] = call.words;
  if (action?.literal !== "l" && action?.literal !== "t") return "7z may write files";
  const bad = rest.find((word) => word.literal === null || /^[-@]/.test(word.literal));
  return bad ? `\`${bad.raw}\` of 7z is not known to only read` : null;
}

/** `ar` and `jar`: one cluster of letters, and listing among them. */
function judgeLister(call: Call): string | null {
  const letters = call.words[0]?.literal ?? "";
  const isKnown = call.words.every((word) => word.literal !== null && !/^@/.test(word.literal));
  return /^-?(?:t|tv|tf|tvf|vt)$/.test(letters) && isKnown
    ? null
    : `${call.program} only reads when it lists`;
}

function judgeCd(call: Call): string | null {
  const operands = call.words.filter((word) => !/^-[LPe]+$/.test(word.literal ?? ""));
  if (operands.length > 1 || operands.some((word) => word.splits || word.multiplies)) {
    return "it is not known where `cd` leads";
  }
  return operands[0]?.literal?.startsWith("-") && operands[0].literal !== "-"
    ? `option \`${operands[0].literal}\` of cd is not known`
    : null;
}

const NEVER_WRITES: Entry = { judge: () => null, reads: "text", harmless: true };
const TEST = special(judgeTest, "names");
const COMPRESSOR = special(judgeCompressor);
const UNPACKER = plain("qv/ quiet verbose");

export const FILE_COMMANDS: Record<string, Entry> = {
  ls: plain(
    "AaBbCcDdFfGgHhI:iklLmnNopqQrRsStT:uUvw:xXZ1/ all almost-all author escape block-size= ignore-backups color? directory dired classify? file-type format= full-time group-directories-first no-group human-readable si dereference-command-line dereference-command-line-symlink-to-dir hide= hyperlink? indicator-style= inode ignore= kibibytes dereference numeric-uid-gid literal hide-control-chars show-control-chars quote-name quoting-style= reverse recursive size sort= time= time-style= tabsize= width= context zero",
    HARMLESS_NAMES,
  ),
  dir: plain("aAlhrRtS1/ all", HARMLESS_NAMES),
  pwd: plain("LP/ logical physical", HARMLESS_TEXT),
  cd: special(judgeCd, "names"),
  stat: plain("Lfc:tnxsrF/ dereference file-system format= printf= terse cached=", HARMLESS_NAMES),
  file: plain(
    "bihLkrvNn0sF:e:E/ brief mime mime-type mime-encoding dereference no-dereference keep-going raw separator= no-pad no-buffer print0 extension exclude= special-files",
  ),
  du: plain(
    "0aAbcDgHhklLmPsSxX:t:d:B:/ null all apparent-size block-size= bytes total dereference-args max-depth= human-readable inodes si dereference no-dereference separate-dirs summarize threshold= time? time-style= exclude-from= exclude= one-file-system",
    HARMLESS_NAMES,
  ),
  df: plain(
    "aB:hHiIklmPTt:x:v/ all block-size= human-readable si inodes no-sync output? portability print-type type= exclude-type= total local",
    HARMLESS_NAMES,
  ),
  find: special(judgeFind, "names"),
  fd: FD,
  fdfind: FD,
  tree: plain(
    "adfiL:I:P:hspugDFCnNqQtcUrvxJXASl/ dirsfirst filesfirst noreport prune gitignore du si inodes device metafirst matchdirs ignore-case charset= filelimit= timefmt= sort= nolinks fromfile",
    { reads: "names" },
  ),
  basename: plain("as:z/ multiple suffix= zero", HARMLESS_TEXT),
  dirname: plain("z/ zero", HARMLESS_TEXT),
  realpath: plain(
    "eEmLPqsz/ canonicalize-existing canonicalize-missing logical physical quiet relative-to= relative-base= strip no-symlinks zero",
    HARMLESS_NAMES,
  ),
  readlink: plain(
    "femnqsvz/ canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero",
    HARMLESS_NAMES,
  ),
  tar: special(judgeTar),
  bsdtar: special(judgeTar),
  unzip: special(judgeUnzip),
  zipinfo: plain("12smlvhtTzZMC/"),
  gzip: COMPRESSOR,
  gunzip: COMPRESSOR,
  bzip2: COMPRESSOR,
  xz: COMPRESSOR,
  zstd: COMPRESSOR,
  zcat: UNPACKER,
  bzcat: UNPACKER,
  xzcat: UNPACKER,
  zstdcat: UNPACKER,
  "7z": special(judgeSevenZip),
  ar: special(judgeLister),
  jar: special(judgeLister),
  test: TEST,
  "[": TEST,
  true: NEVER_WRITES,
  false: NEVER_WRITES,
  ":": NEVER_WRITES,
};
