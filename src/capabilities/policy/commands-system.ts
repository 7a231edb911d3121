// Read-only commands that ask about the machine, its users and its programs. A list of processes
// never shows their environment, and names of variables that look like secrets are refused.

import { type Call, type Entry, plain, special } from "./entry";
import { hasOption, parseOptions } from "./options";
import { SECRET_NAME } from "./secret-names";

const TEXT = { harmless: true, reads: "text" } as const;

/** `+FORMAT` prints; any other operand sets the clock. */
function judgeDate(call: Call): string | null {
  const parsed = parseOptions(
    "date",
    call.words,
    "d:r:uRI?v:/ date= reference= utc universal iso-8601? rfc-3339= rfc-email resolution debug",
  );
  if (parsed.problem !== null) return parsed.problem;
  const setting = parsed.operands.find((word) => !word.lead.startsWith("+") || word.splits);
  return setting ? `\`${setting.raw}\` may set the clock` : null;
}

const PS_LETTERS = /^-?(?:[AadfFjlLHyMPTtxwrmu]|aux)+$/;
const PS_VALUES = new Set([
  "-o",
  "-O",
  "o",
  "-p",
  "p",
  "-C",
  "-q",
  "--sort",
  "--ppid",
  "--pid",
  "-k",
  "-u",
  "-U",
  "--user",
]);
const PS_USER = /^(?:root|\d+)$/;

/** In BSD's notation an `e` shows the environment of processes; `-e` alone means all of them. */
function judgePs(call: Call): string | null {
  for (let index = 0; index < call.words.length; index++) {
    const { literal, raw } = call.words[index] ?? { literal: null, raw: "" };
    if (literal === null) return `\`${raw}\` may be an option of ps`;
    const joined = /^(?:-o|-O|-p|--sort=|--ppid=|--pid=)([\w,.%:=+-]+)$/.exec(literal);
    if (PS_VALUES.has(literal) || joined) {
      const value = joined ? joined[1] : call.words[++index]?.literal;
      if (!value || /env/i.test(value))
        return `the value of \`${literal}\` of ps is not known to be harmless`;
      if (/^-?[pq]$|pid/.test(literal) && !/^[\d,]+$/.test(value)) return "a process has a number";
      if (/user|^-[uU]$/.test(literal) && !PS_USER.test(value)) {
        return "ps may take the name of a user for options, and show the environment of processes";
      }
    } else if (/^(?:-[aAdefFlLjHywMx]*|[aAxfjlwu]*)o$/.test(literal)) {
      if (/env/i.test(call.words[++index]?.literal ?? "env")) return "ps may show environments";
    } else if (/^-e[fFlLjHywM]*$/.test(literal)) {
    } else if (
      !PS_LETTERS.test(literal) &&
      !/^(?:--(?:forest|no-headers?|headers?|cols?=\d+|width=\d+|help|version)|\d+)$/.test(literal)
    ) {
      return `option \`${literal}\` of ps may show the environment of processes`;
    }
  }
  return null;
}

function judgePrintenv(call: Call): string | null {
  const names = call.words.filter((word) => word.literal !== "-0");
  if (names.length === 0) return "it shows the whole environment, where secrets may be";
  const bad = names.find((word) => word.literal === null || !/^\w+$/.test(word.literal));
  if (bad) return `\`${bad.raw}\` is no name of a variable`;
  const secret = names.find((word) => SECRET_NAME.test(word.literal ?? ""));
  return secret ? `\`${secret.raw}\` may hold a secret` : null;
}

const IP_OBJECTS =
  /^(?:a|addr|address|l|link|r|route|n|neigh|neighbor|neighbour|ru|rule|maddr|maddress)$/;

function judgeIp(call: Call): string | null {
  const words = call.words.map((word) => word.literal);
  if (words.includes(null)) return "it is not known what `ip` is told to do";
  let at = 0;
  while (
    /^-(?:4|6|c|color|br|brief|j|json|p|pretty|s|stats|statistics|d|details|o|oneline|h|human)$/.test(
      words[at] ?? "",
    )
  ) {
    at++;
  }
  const object = words[at] ?? "";
  if (!IP_OBJECTS.test(object)) return `\`ip ${object}\` is not known to only read`;
  const action = words[at + 1] ?? undefined;
  const reads = action === undefined || /^(?:show|list|ls|get)$/.test(action);
  return reads ? null : `\`ip ${object} ${action}\` is not known to only read`;
}

const SYSTEMCTL = new Set(
  "status is-active is-enabled is-failed is-system-running list-units list-unit-files list-timers list-sockets list-dependencies list-jobs show cat".split(
    " ",
  ),
);

function judgeSystemctl(call: Call): string | null {
  const parsed = parseOptions(
    "systemctl",
    call.words,
    "n:lat:p:qo:r/ no-pager lines= user system failed full all type= state= property= plain quiet no-legend output= recursive value",
  );
  if (parsed.problem !== null) return parsed.problem;
  const action = parsed.operands[0]?.literal ?? "";
  if (parsed.operands.length === 0 && hasOption(parsed, "--failed", "--all", "-a")) return null;
  if (SYSTEMCTL.has(action) || hasOption(parsed, "--version", "--help")) return null;
  return `\`systemctl ${action}\` is not known to only read`;
}

/** An operand with `=` sets a value. */
function judgeSysctl(call: Call): string | null {
  const parsed = parseOptions("sysctl", call.words, "aAnebNr:/ all names values pattern=");
  if (parsed.problem !== null) return parsed.problem;
  const bad = parsed.operands.find((word) => word.literal === null || word.literal.includes("="));
  return bad ? `\`${bad.raw}\` may set a value` : null;
}

function judgeLsof(call: Call): string | null {
  const bad = call.words.find(
    ({ literal }) =>
      literal === null ||
      !/^(?:-[nPtlabw]+|-[nP]*i(?:[46]?(?:TCP|UDP|tcp|udp)?(?:@[\w.]+)?(?::[\w,-]+)?)?|-[puc]\S*|-sTCP:\w+|[^-+]\S*)$/.test(
        literal,
      ),
  );
  return bad ? `\`${bad.raw}\` of lsof is not known to only read` : null;
}

/** `command -v` and `-V` describe; otherwise it runs what follows. */
function judgeCommandBuiltin(call: Call): string | null {
  const [first] = call.words;
  if (first?.literal === "-v" || first?.literal === "-V") return null;
  return call.judgeInner(call.words);
}

/** The other databases are secret, or ask other machines. */
function judgeGetent(call: Call): string | null {
  const database = call.words[0]?.literal ?? "";
  return /^(?:passwd|group|services|protocols)$/.test(database)
    ? null
    : `\`getent ${database}\` is not known to only read here`;
}

/** What the shell itself does, and only in the forms that change nothing outside of it. */
function onlyWords(pattern: RegExp): Entry {
  return special((call) => {
    const bad = call.words.find((word) => word.literal === null || !pattern.test(word.literal));
    return bad ? `\`${call.program} ${bad.raw}\` is not known to only read` : null;
  }, "text");
}

const SHELL_OPTION = /^(?:[-+][euf]*o?|errexit|nounset|pipefail|noglob)$/;

/** Alone it shows every variable. */
function judgeSet(call: Call): string | null {
  if (call.words.length === 0) return "it shows the whole environment, where secrets may be";
  const bad = call.words.find((word) => !SHELL_OPTION.test(word.literal ?? "?"));
  return bad ? `\`set ${bad.raw}\` is not known to only read` : null;
}

/** Lists only; alone it reads a new table from its input. */
function judgeCrontab(call: Call): string | null {
  const [only, more] = call.words;
  return only?.literal === "-l" && !more ? null : "crontab only reads when it lists (`-l`)";
}

function judgeKill(call: Call): string | null {
  const [first] = call.words;
  return /^-[lL]$/.test(first?.literal ?? "") ? null : "kill sends a signal";
}

const NO_OPERAND = { operandsMax: 0, reads: "text" } as const;

export const SYSTEM_COMMANDS: Record<string, Entry> = {
  date: special(judgeDate),
  id: plain("aGgnruzZ/ context group groups name real user zero", TEXT),
  groups: plain("/", TEXT),
  whoami: plain("/", NO_OPERAND),
  logname: plain("/", NO_OPERAND),
  tty: plain("s/ silent quiet", NO_OPERAND),
  hostname: plain(
    "fsdiIAy/ fqdn long short domain ip-address all-fqdns all-ip-addresses",
    NO_OPERAND,
  ),
  uname: plain(
    "asnrvmpio/ all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system",
    NO_OPERAND,
  ),
  arch: plain("/", NO_OPERAND),
  uptime: plain("psV/ pretty since", NO_OPERAND),
  free: plain(
    "bkmghlwtvs:c:V/ bytes kilo mega giga tebi human lohi line total wide count= seconds= si",
    NO_OPERAND,
  ),
  nproc: plain("/ all ignore=", NO_OPERAND),
  lscpu: plain(
    "abcexyBp?J/ all online offline json parse? extended? bytes hex physical",
    NO_OPERAND,
  ),
  lsblk: plain(
    "abdfmnlpPrstSJo:e:I:x:OiTV/ all bytes nodeps fs json list noheadings output= paths pairs raw output-all tree",
    { reads: "names" },
  ),
  lsmod: plain("/", NO_OPERAND),
  vmstat: plain("asdDwtnS:m/ ", TEXT),
  locale: plain("amckv/ all-locales charmaps category-name keyword-name verbose", TEXT),
  getconf: plain("a/", TEXT),
  who: plain("abdlmpqrstTuwH/ all boot count heading", { operandsMax: 0 }),
  w: plain("fhsiouV/ ", TEXT),
  users: plain("/", NO_OPERAND),
  ps: special(judgePs, "text"),
  pgrep: plain(
    "aflnovxcd:g:G:P:s:t:u:U:i/ full list-name list-full newest oldest exact count delimiter= parent= euid= uid= inverse ignore-case",
    TEXT,
  ),
  pidof: plain("scxqo:/ single-shot", TEXT),
  printenv: special(judgePrintenv, "text"),
  seq: plain("f:s:w#/ format= separator= equal-width", TEXT),
  sleep: plain("/", TEXT),
  cal: plain("13jmsywY#/ ", TEXT),
  type: plain("atpPf/", TEXT),
  which: plain("as/ all", TEXT),
  whereis: plain("bmsul/", TEXT),
  command: special(judgeCommandBuiltin, "text"),
  ip: special(judgeIp, "text"),
  ifconfig: plain("as/", {
    operandsMax: 1,
    reads: "text",
    check: ({ operands }) =>
      operands.length === 1 && !/^[a-z0-9]+$/.test(operands[0]?.literal ?? "")
        ? "the interface is not known"
        : null,
  }),
  ss: plain(
    "tulnpaxsemio460rHOZ/ tcp udp listening numeric processes all unix summary extended memory info options ipv4 ipv6 no-header",
    { reads: "text" },
  ),
  netstat: plain(
    "tulnparisegoWwx46/ tcp udp listening numeric programs all route interfaces statistics extend",
    NO_OPERAND,
  ),
  arp: plain("ane/", NO_OPERAND),
  lsof: special(judgeLsof, "names"),
  dmesg: plain(
    "THxLl:f:ktrSuwd/ ctime human kernel color? level= facility= decode notime reltime since= until= time-format= nopager",
    NO_OPERAND,
  ),
  journalctl: plain(
    "#u:n?fbkxqrep:o:t:S:U:g:a/ unit= user-unit= lines? follow boot? dmesg catalog quiet reverse pager-end priority= output= identifier= since= until= grep= no-pager no-tail all utc no-hostname case-sensitive? system user list-boots disk-usage fields output-fields=",
    {
      reads: "text",
      check: (parsed) =>
        parsed.operands.some((word) => word.literal === null) ? "an operand is not known" : null,
    },
  ),
  systemctl: special(judgeSystemctl, "text"),
  sysctl: special(judgeSysctl, "text"),
  lsb_release: plain("aidrcsv/ all id description release codename short", NO_OPERAND),
  sw_vers: plain("/ productName productVersion buildVersion", NO_OPERAND),
  whatis: plain("/", TEXT),
  exit: onlyWords(/^\d+$/),
  break: onlyWords(/^\d+$/),
  continue: onlyWords(/^\d+$/),
  set: special(judgeSet, "text"),
  history: onlyWords(/^\d+$/),
  times: onlyWords(/^$/),
  crontab: special(judgeCrontab, "text"),
  kill: special(judgeKill, "text"),
  lspci: plain("vnkmtDb/", NO_OPERAND),
  lsusb: plain("vt/ verbose tree", NO_OPERAND),
  getent: special(judgeGetent, "text"),
  findmnt: plain(
    "lnro:t:T:DJPbeU/ list noheadings raw output= types= target= json df pairs bytes",
    {
      reads: "names",
    },
  ),
  mount: plain("l/", NO_OPERAND),
  ulimit: plain("aSH/", NO_OPERAND),
  umask: plain("Sp/", NO_OPERAND),
  pstree: plain("acAGhlnpstTuU/ arguments show-pids", TEXT),
  last: plain("#n:FxadiwR/ limit= fulltimes system fullnames", { operandsMax: 1, reads: "text" }),
};
