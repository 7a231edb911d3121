// Read-only commands that read, search, compare and print text. Options as in GNU coreutils 9.4,
// grep 3.11, diffutils 3.10, util-linux 2.39, jq 1.7, ripgrep 14 and fd 10; where the same letter
// writes on BSD or busybox it is left out. See options.ts for the notation.

import { awkProblem } from "./awk-program";
import { type Call, type Entry, plain, special } from "./entry";
import { hasOption, type ParsedOptions, parseOptions } from "./options";
import { sedProblem } from "./sed-script";
import { whyNotSearched } from "./word-paths";

const CHECKSUM = plain(
  "bctwza:l:/ binary check tag text ignore-missing quiet status strict warn zero algorithm= length= untagged raw base64 debug",
  { harmless: true },
);

const GREP = plain(
  "#EFGPe:f:iywxzsvVm:bnHhoqaId:D:rRLlcTZA:B:C:U/ extended-regexp fixed-strings basic-regexp perl-regexp regexp= file= ignore-case no-ignore-case word-regexp line-regexp null-data no-messages invert-match max-count= byte-offset line-number line-buffered with-filename no-filename label= only-matching quiet silent binary-files= text directories= devices= recursive dereference-recursive include= exclude= exclude-from= exclude-dir= files-without-match files-with-matches count initial-tab null before-context= after-context= context= group-separator= no-group-separator color? colour? binary",
  {
    harmless: true,
    recursive: ["-r", "-R", "--recursive", "--dereference-recursive", "-d", "--directories"],
    check: (parsed, call) =>
      grepRoots(parsed.operands.length, hasOption(parsed, "-e", "--regexp", "-f", "--file"), call),
  },
);

/** Without a pattern operand of its own, every operand of grep -r is a root: all were looked at. */
function grepRoots(operands: number, hasPattern: boolean, call: Call): string | null {
  const isRecursive = call.words.some((word) => /^-(?:[A-Za-z]*[rR]|-recursive)/.test(word.lead));
  const rootless = isRecursive && operands === (hasPattern ? 0 : 1);
  return rootless ? (whyNotSearched(undefined, call.place) ?? null) : null;
}

const RG_OPTIONS =
  "A:B:C:abcFg:HhIiLlM:m:NnoPpqr:SsT:t:Uuvwxe:f:d:j:E:0.V/ after-context= before-context= context= auto-hybrid-regex no-auto-hybrid-regex binary no-binary block-buffered byte-offset no-byte-offset case-sensitive color= colors= column no-column context-separator= no-context-separator count count-matches crlf no-crlf debug dfa-size-limit= encoding= no-encoding engine= field-context-separator= field-match-separator= file= files files-with-matches files-without-match fixed-strings no-fixed-strings follow no-follow glob= glob-case-insensitive heading no-heading hidden no-hidden iglob= ignore-case ignore-file= ignore-file-case-insensitive include-zero invert-match json no-json line-buffered line-number no-line-number line-regexp max-columns= max-columns-preview max-count= max-depth= max-filesize= mmap no-mmap multiline no-multiline multiline-dotall no-config no-filename no-ignore no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global no-ignore-messages no-ignore-parent no-ignore-vcs no-messages no-pcre2-unicode no-require-git no-unicode null null-data one-file-system only-matching passthru path-separator= pcre2 pcre2-version pretty quiet regexp= regex-size-limit= replace= smart-case sort= sortr= stats no-stats stop-on-nonmatch text no-text threads= trim no-trim type= type-add= type-clear= type-list type-not= unrestricted vimgrep with-filename word-regexp";

/** Searches all that lies below its operands, behind a pattern. */
function checkUnhidden(parsed: ParsedOptions, call: Call): string | null {
  if (hasOption(parsed, "--files", "--type-list")) return null;
  const skipsHidden = !hasOption(parsed, "-.", "--hidden", "-u", "--unrestricted");
  const hasPattern = hasOption(parsed, "-e", "--regexp", "-f", "--file");
  const roots = parsed.operands.slice(hasPattern ? 0 : 1);
  for (const root of roots.length > 0 ? roots : [undefined]) {
    const why = whyNotSearched(root, call.place, { skipsHidden });
    if (why) return why;
  }
  return null;
}

function judgeSed(call: Call): string | null {
  const parsed = parseOptions(
    call.program,
    call.words,
    "nrEsuzbe:/ quiet silent regexp-extended separate unbuffered null-data posix debug sandbox expression= line-length=",
  );
  if (parsed.problem !== null) return parsed.problem;
  if (hasOption(parsed, "--version", "--help")) return null;
  const given = parsed.options.filter(({ name }) => name === "-e" || name === "--expression");
  const scripts = given.map(({ value }) => value);
  if (given.length === 0) scripts.push(parsed.operands[0]?.literal ?? null);
  if (scripts.some((script) => script === null)) return "the script of sed is not known";
  const problem = sedProblem(scripts.join("\n"));
  return problem && `in the script of sed ${problem}`;
}

function judgeAwk(call: Call): string | null {
  const parsed = parseOptions(call.program, call.words, "F:v:/ field-separator= assign=", {
    stopAtOperand: true,
  });
  if (parsed.problem !== null) return parsed.problem;
  if (hasOption(parsed, "--version", "--help")) return null;
  const program = parsed.operands[0]?.literal;
  if (program === null || program === undefined) return "the program of awk is not known";
  const problem = awkProblem(program);
  return problem && `in the program of awk ${problem}`;
}

const JQ_PAIRS = new Set(["--arg", "--argjson", "--slurpfile", "--rawfile", "--argfile"]);
const JQ_LONG = new Set(
  "null-input raw-output raw-output0 join-output ascii-output compact-output color-output monochrome-output slurp raw-input sort-keys exit-status seq stream stream-errors unbuffered tab args jsonargs help version".split(
    " ",
  ),
);

function judgeJq(call: Call): string | null {
  let filter: string | null | undefined;
  for (let index = 0; index < call.words.length; index++) {
    const word = call.words[index];
    const text = word?.literal ?? word?.lead ?? "";
    if (JQ_PAIRS.has(text)) index += 2;
    else if (text === "--indent") index++;
    else if (text.startsWith("--") && text.length > 2) {
      if (!JQ_LONG.has(text.slice(2))) return `option \`${text}\` of jq is not known to only read`;
    } else if (/^-./.test(text) && text !== "--") {
      if (!/^-[nrjacCMsSRe]+$/.test(text))
        return `option \`${text}\` of jq is not known to only read`;
    } else if (filter === undefined && text !== "--") filter = word?.literal ?? null;
  }
  // Modules are files of the project, and $ENV shows the environment.
  if (filter === null) return "the filter of jq is not known";
  if (/(?<![.$\w"])(?:import|include|env)\b|\$ENV|\$__prog/.test(filter ?? "")) {
    return "the filter of jq reaches for more than its input";
  }
  return null;
}

const XXD_VALUES = new Set([
  "-c",
  "-cols",
  "-g",
  "-groupsize",
  "-l",
  "-len",
  "-n",
  "-name",
  "-o",
  "-s",
  "-seek",
]);
const XXD_FLAGS =
  /^-(?:[abCdeEipuv]|ps|plain|postscript|bits|include|uppercase|[cglos]\+?-?\d\w*)$/;

function judgeXxd(call: Call): string | null {
  for (let index = 0; index < call.words.length; index++) {
    const { literal, raw } = call.words[index] ?? { literal: null, raw: "" };
    if (literal === null) return `\`${raw}\` may become an option or the output of xxd`;
    if (XXD_VALUES.has(literal)) index++;
    else if (literal.startsWith("-") && literal.length > 1) {
      if (!XXD_FLAGS.test(literal)) return `option \`${literal}\` of xxd is not known to only read`;
    } else {
      // The first operand ends the options: the next word, a dash or not, is written to.
      const output = call.words[index + 1];
      return output ? `xxd writes to \`${output.raw}\`` : null;
    }
  }
  return null;
}

const YQ_PATH = /^[A-Za-z0-9_.[\]"' |,:*-]*$/;

function judgeYq(call: Call): string | null {
  const parsed = parseOptions(
    "yq",
    call.words,
    "rPeMCNo:p:/ unwrapScalar prettyPrint exit-status no-colors no-doc output-format= input-format=",
  );
  if (parsed.problem !== null) return parsed.problem;
  const [filter] = parsed.operands;
  if (!filter) return null;
  const isPath = filter.literal !== null && YQ_PATH.test(filter.literal);
  if (!isPath || /env|load|system|eval/.test(filter.literal ?? "")) {
    return "the expression of yq is more than a path";
  }
  return null;
}

/** Assigns a variable with `-v`, and with the conversion `%n`: both may change what runs next. */
function judgePrintf(call: Call): string | null {
  const words = call.words[0]?.literal === "--" ? call.words.slice(1) : call.words;
  const [format] = words;
  if (!format) return null;
  if (format.literal === null) return "the format of printf is not known";
  if (format.literal.startsWith("-"))
    return `option \`${format.literal}\` of printf sets a variable`;
  const rest = format.literal.replace(
    /%%|%[-+ #0']*[\d*]*(?:\.[\d*]*)?(?:[diouxXeEfFgGaAcsbqQ]|\([^)]*\)T)/g,
    "",
  );
  return rest.includes("%") ? "the format of printf has a conversion that is not known" : null;
}

/** diff also compares what lies in two folders. */
function checkFolders(parsed: ParsedOptions, call: Call): string | null {
  for (const operand of parsed.operands) {
    const why = whyNotSearched(operand, call.place);
    if (why) return why;
  }
  return null;
}

/** binutils read more options, and among them plug-ins, from `@FILE`. */
function checkOptionFiles(parsed: ParsedOptions): string | null {
  const file = parsed.operands.find((word) => word.lead.startsWith("@"));
  return file ? `\`${file.raw}\` may hold more options` : null;
}

const DIFF_OPTIONS =
  "#qsc?C:u?U:enypF:tTrNx:X:S:iEZbwBI:aD:dHW:/ normal brief report-identical-files context? unified? ed rcs side-by-side width= left-column suppress-common-lines show-c-function show-function-line= label= expand-tabs initial-tab tabsize= suppress-blank-empty recursive no-dereference new-file unidirectional-new-file ignore-file-name-case no-ignore-file-name-case exclude= exclude-from= starting-file= ignore-case ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= text strip-trailing-cr minimal horizon-lines= speed-large-files color? palette= line-format= old-line-format= new-line-format= unchanged-line-format= L=";

const HARMLESS = { harmless: true };
const TEXT = { harmless: true, reads: "text" } as const;

export const TEXT_COMMANDS: Record<string, Entry> = {
  cat: plain(
    "AbeEnstTuv/ show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
    HARMLESS,
  ),
  head: plain("#c:n:qvz/ bytes= lines= quiet silent verbose zero-terminated", HARMLESS),
  tail: plain(
    "#c:n:fFqvrs:z/ bytes= follow? lines= pid= quiet silent retry sleep-interval= verbose zero-terminated max-unchanged-stats=",
    HARMLESS,
  ),
  wc: plain("cmlLw/ bytes chars lines max-line-length words total=", HARMLESS),
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: plain(RG_OPTIONS, { check: checkUnhidden }),
  sed: special(judgeSed),
  gsed: special(judgeSed),
  awk: special(judgeAwk),
  gawk: special(judgeAwk),
  mawk: special(judgeAwk),
  nawk: special(judgeAwk),
  jq: { ...special(judgeJq), harmless: true },
  yq: special(judgeYq),
  xxd: special(judgeXxd),
  echo: { judge: () => null, reads: "text", harmless: true },
  printf: special(judgePrintf, "text"),
  diff: plain(DIFF_OPTIONS, { check: checkFolders }),
  diff3: plain(
    "AeEmTxX3aiL:/ show-all ed merge text initial-tab easy-only overlap-only show-overlap label= strip-trailing-cr",
  ),
  sdiff: plain(
    "iEZbBaw:lst/ ignore-case ignore-space-change ignore-all-space ignore-blank-lines text width= left-column suppress-common-lines expand-tabs minimal speed-large-files",
    { check: checkFolders },
  ),
  ag: plain(
    "A?B?C?acDFfG:g:HhiLlm:nQqrRsStuUvw0/ after? before? context? all-types case-sensitive color nocolor column count depth= file-search-regex= files-with-matches files-without-matches fixed-strings follow group nogroup heading noheading hidden ignore= ignore-case ignore-dir= literal max-count= no-recurse null numbers nonumbers only-matching one-device recurse silent smart-case stats unrestricted vimgrep width= word-regexp",
    { check: checkUnhidden },
  ),
  cmp: plain("bi:ln:s/ print-bytes ignore-initial= verbose bytes= quiet silent", HARMLESS),
  comm: plain("123z/ check-order nocheck-order output-delimiter= total zero-terminated", HARMLESS),
  sort: plain(
    "bdfgiMhnRrVcCmsuzk:t:S:/ ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort human-numeric-sort numeric-sort random-sort random-source= reverse sort= version-sort batch-size= check? debug key= merge stable buffer-size= field-separator= parallel= unique zero-terminated",
  ),
  uniq: plain(
    "#cdDuif:s:w:z/ count repeated all-repeated? skip-fields= group? ignore-case skip-chars= unique zero-terminated check-chars=",
    { operandsMax: 1 },
  ),
  cut: plain(
    "b:c:d:f:nsz/ bytes= characters= delimiter= fields= complement only-delimited output-delimiter= zero-terminated",
    HARMLESS,
  ),
  paste: plain("d:sz/ delimiters= serial zero-terminated", HARMLESS),
  join: plain(
    "a:e:i1:2:j:o:t:v:z/ ignore-case check-order nocheck-order header zero-terminated",
    HARMLESS,
  ),
  tr: plain("cCdst/ complement delete squeeze-repeats truncate-set1", TEXT),
  column: plain(
    "c:ts:xJn:N:R:H:O:E:T:deLo:r:i:p:/ table separator= output-separator= output-width= table-columns= table-right= table-hide= table-order= table-noextreme= table-truncate= json fillrows keep-empty-lines",
    HARMLESS,
  ),
  nl: plain(
    "b:d:f:h:i:l:n:ps:v:w:/ body-numbering= section-delimiter= footer-numbering= header-numbering= line-increment= join-blank-lines= number-format= no-renumber number-separator= starting-line-number= number-width=",
    HARMLESS,
  ),
  tac: plain("brs:/ before regex separator=", HARMLESS),
  rev: plain("0/ zero", HARMLESS),
  fold: plain("bsw:/ bytes spaces width=", HARMLESS),
  expand: plain("#it:/ initial tabs=", HARMLESS),
  unexpand: plain("at:/ all first-only tabs=", HARMLESS),
  fmt: plain(
    "#cp:stuw:g:/ crown-margin prefix= split-only tagged-paragraph uniform-spacing width= goal=",
    HARMLESS,
  ),
  shuf: plain("ei:n:rz/ echo input-range= head-count= random-source= repeat zero-terminated"),
  pr: plain(
    "adD:ftTmnh:l:o:s?w:W:e?i?/ header= length= width= omit-header omit-pagination",
    HARMLESS,
  ),
  tsort: plain("/", HARMLESS),
  od: plain(
    "A:j:N:t:vw?abcdfilosxS:/ address-radix= skip-bytes= read-bytes= format= output-duplicates width? strings? endian=",
    HARMLESS,
  ),
  hexdump: plain(
    "bcCdovxn:s:e:L?/ canonical length= skip= no-squeezing color? one-byte-octal one-byte-hex one-byte-char",
    HARMLESS,
  ),
  hd: plain("bcCdovxn:s:e:/ ", HARMLESS),
  strings: plain(
    "#afn:t:oe:s:wd/ all bytes= radix= encoding= print-file-name data include-all-whitespace output-separator=",
    HARMLESS,
  ),
  iconv: plain("f:t:cls/ from-code= to-code= list silent"),
  base64: plain("dDw:i/ decode wrap= ignore-garbage", { operandsMax: 1 }),
  base32: plain("dw:i/ decode wrap= ignore-garbage", { operandsMax: 1 }),
  numfmt: plain(
    "d:z/ from= to= from-unit= to-unit= delimiter= field= format= grouping header? invalid= padding= round= suffix= zero-terminated",
    TEXT,
  ),
  factor: plain("h/ exponents", TEXT),
  expr: special(() => null, "text"),
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha224sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha384sum: CHECKSUM,
  sha512sum: CHECKSUM,
  b2sum: CHECKSUM,
  cksum: CHECKSUM,
  sum: plain("rs/ sysv", HARMLESS),
  shasum: plain("a:bctps01/ algorithm= binary check text portable status", HARMLESS),
  md5: plain("qrs:/ ", HARMLESS),
  readelf: plain(
    "ahlgtSsedrnuVADWI/ all file-header program-headers section-headers symbols syms headers relocs dynamic notes version-info wide",
    { check: checkOptionFiles },
  ),
  size: plain("ABdox t/ totals", { check: checkOptionFiles }),
  objdump: plain(
    "dDtThxpfrRsCwj:M:/ disassemble disassemble-all syms dynamic-syms section-headers headers all-headers private-headers file-headers reloc full-contents demangle wide section= no-show-raw-insn",
    { check: checkOptionFiles },
  ),
  nm: plain(
    "aACDgnopPrSuvt:/ debug-syms extern-only undefined-only demangle dynamic numeric-sort size-sort print-size",
    { check: checkOptionFiles },
  ),
};
