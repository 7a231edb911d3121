// The options of git's reading commands that are known to do no harm (git 2.39 to 2.47 manuals),
// in the notation of options.ts. Not on it: --output, --ext-diff, --textconv, --show-signature,
// and everything that writes, runs a program or goes to another repository or machine.

const DIFF =
  "psuU?zB?M?C?Dl:S:G:RabwI:WX?mctr/ patch no-patch unified? raw patch-with-raw indent-heuristic no-indent-heuristic minimal patience histogram anchored= diff-algorithm= stat? compact-summary numstat shortstat dirstat? cumulative dirstat-by-file? summary patch-with-stat name-only name-status color? no-color color-moved? no-color-moved color-moved-ws= no-color-moved-ws word-diff? word-diff-regex= color-words? no-renames rename-empty no-rename-empty check ws-error-highlight= full-index binary abbrev? no-abbrev break-rewrites? find-renames? find-copies? find-copies-harder irreversible-delete diff-filter= find-object= pickaxe-all pickaxe-regex skip-to= rotate-to= relative? no-relative text ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= inter-hunk-context= function-context exit-code quiet no-ext-diff no-textconv ignore-submodules src-prefix= dst-prefix= no-prefix default-prefix line-prefix= ita-invisible-in-index cc combined-all-paths diff-merges= no-diff-merges remerge-diff dd root";

const LOG_NAMES =
  "oneline graph decorate? no-decorate all branches? tags? remotes? glob= exclude= reflog not since= after= until= before= author= committer= grep= grep-reflog= all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp basic-regexp merges no-merges min-parents= max-parents= first-parent follow max-count= skip= reverse topo-order date-order author-date-order date= pretty? format= abbrev-commit no-abbrev-commit source use-mailmap no-use-mailmap mailmap no-mailmap log-size left-right left-only right-only cherry-mark cherry-pick cherry boundary simplify-by-decoration full-history dense sparse simplify-merges show-pulls ancestry-path? walk-reflogs parents children encoding= notes? no-notes clear-decorations decorate-refs= decorate-refs-exclude= expand-tabs? no-expand-tabs ignore-missing relative-date count full-diff no-walk? do-walk objects no-object-names timestamp left-only exclude-hidden= since-as-filter= show-linear-break? no-commit-header commit-header disk-usage? header quiet";

const LOG_LETTERS = "#n:iEFPgL:";

function join(letters: string, names: string, base = ""): string {
  const [baseLetters = "", baseNames = ""] = base.split("/");
  return `${letters}${baseLetters}/ ${names} ${baseNames}`;
}

const LOG = join(LOG_LETTERS, LOG_NAMES, DIFF);
const FILTER =
  "count= sort= format= points-at? merged? no-merged? contains? no-contains? ignore-case color? no-color column? no-column omit-empty exclude= include-root-refs";

export const GIT_OPTIONS: Record<string, string> = {
  status:
    "sbvzu?/ short branch show-stash porcelain? long verbose untracked-files? ignore-submodules ignored? column? no-column ahead-behind no-ahead-behind renames no-renames find-renames? null",
  diff: join("03", "cached staged merge-base no-index base ours theirs", DIFF),
  "diff-tree": join("0v", "stdin no-commit-id merge-base always pretty? format= oneline", DIFF),
  "diff-index": join("0", "cached merge-base", DIFF),
  "diff-files": join("0q", "base ours theirs", DIFF),
  log: LOG,
  whatchanged: LOG,
  show: LOG,
  "rev-list": LOG,
  reflog: LOG,
  shortlog: join("nsecw?", "numbered summary email group= committer", LOG),
  "range-diff": join("", "creation-factor= no-dual-color left-only right-only", DIFF),
  cherry: "v/ abbrev?",
  "show-branch":
    "arga/ all remotes current topo-order date-order sparse more? list merge-base independent no-name sha1-name topics color? no-color reflog?",
  grep: "#aiIvwGEFPnclLhHopWqe:f:rm:A:B:C:z/ cached untracked no-exclude-standard exclude-standard text ignore-case word-regexp invert-match full-name extended-regexp basic-regexp perl-regexp fixed-strings line-number column files-with-matches name-only files-without-match null only-matching count max-count= color? no-color break heading show-function context= after-context= before-context= function-context threads= and or not all-match quiet max-depth= recursive no-recursive no-textconv",
  blame:
    "bcltsefnwpM?C?L:/ porcelain line-porcelain incremental root show-stats date= score-debug show-name show-number show-email no-progress progress reverse? ignore-rev= first-parent abbrev? color-lines color-by-age minimal",
  "ls-files":
    "cdmoisuktvzx:X:f/ cached deleted modified others ignored stage unmerged killed directory no-empty-directory eol full-name error-unmatch exclude= exclude-from= exclude-standard exclude-per-directory= abbrev? deduplicate format= debug sparse resolve-undo with-tree=",
  "ls-tree": "drtlz/ name-only name-status object-only full-name full-tree abbrev? format= long",
  "rev-parse":
    "q/ show-toplevel abbrev-ref? short? verify quiet git-dir absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository is-shallow-repository show-prefix show-cdup show-superproject-working-tree symbolic symbolic-full-name all branches? tags? remotes? glob= exclude= path-format= git-path= show-object-format? show-ref-format revs-only no-revs flags no-flags default= sq not disambiguate= shared-index-path local-env-vars end-of-options prefix=",
  branch: join("arvli", "all remotes verbose list show-current", `/ ${FILTER} abbrev? no-abbrev`),
  tag: join("ln?i", "list", `/ ${FILTER}`),
  remote: "v/ verbose",
  stash: LOG,
  "cat-file":
    "tsepZz/ batch? batch-check? batch-all-objects unordered buffer follow-symlinks allow-unknown-type path= use-mailmap mailmap",
  describe:
    "/ all tags contains abbrev? exact-match always dirty? broken? long match= exclude= candidates= first-parent debug",
  "merge-base": "a/ all octopus independent is-ancestor fork-point",
  "for-each-ref": `/ ${FILTER}`,
  "show-ref":
    "dsqv/ head heads tags branches dereference hash? verify quiet abbrev? exclude-existing? exists",
  "name-rev": "/ tags refs= exclude= all name-only undefined no-undefined always annotate-stdin",
  "symbolic-ref": "q/ short quiet recurse no-recurse",
  "check-ignore": "qvzn/ quiet verbose stdin non-matching no-index",
  "check-attr": "az/ all stdin cached source=",
  worktree: "vz/ verbose porcelain expire=",
  apply:
    "p:RvC:/ check stat numstat summary index cached 3way reverse verbose quiet directory= include= exclude= whitespace= recount unidiff-zero ignore-space-change ignore-whitespace inaccurate-eof",
  "hash-object": "t:/ stdin stdin-paths no-filters path= literally",
  fsck: "v/ full no-full strict unreachable dangling no-dangling connectivity-only no-reflogs progress no-progress verbose name-objects root tags cache",
  notes: "/ ref=",
  bisect: "/",
  "count-objects": "vH/ verbose human-readable",
  var: "l/",
  version: "/ build-options",
  config:
    "zl/ get get-all get-regexp get-urlmatch get-color get-colorbool list global local system worktree show-origin show-scope name-only null type= bool int bool-or-int path expiry-date includes no-includes default= all regexp value= fixed-value show-names no-show-names",
};
