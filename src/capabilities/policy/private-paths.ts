// What no tool may read or write: Bosun's own home, and the places where programs keep credentials.
// And what may be read but not written: settings that make git or Bosun itself run something.

import { posix } from "node:path";

export interface PathOptions {
  /** Bosun's own home: store, vault, settings. */
  home: string;
  /** The user's home directory. */
  userHome: string;
  /** More absolute paths that nobody may read or write. */
  protectedPaths?: readonly string[];
}

export interface PrivatePath {
  /** Lower case: on some file systems case does not count, and a false alarm does no harm. */
  segments: readonly string[];
  isFolder: boolean;
  /** What it is called is no secret, only what is in it. */
  isCredential: boolean;
  /** Names inside the folder that are open to all. */
  except?: RegExp;
  what: string;
}

const CREDENTIALS = "credentials are kept there";

/** Below the user's home; a slash at the end marks a folder. */
const IN_USER_HOME = [
  ".aws/credentials",
  ".aws/sso/",
  ".aws/cli/cache/",
  ".azure/",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".config/gcloud/",
  ".config/gh/hosts.yml",
  ".config/git/credentials",
  ".config/hub",
  ".config/op/",
  ".docker/config.json",
  ".git-credentials",
  ".gnupg/",
  ".kube/config",
  ".local/share/keyrings/",
  ".netrc",
  ".npmrc",
  ".password-store/",
  ".pgpass",
  ".pypirc",
  ".terraform.d/credentials.tfrc.json",
  "Library/Keychains/",
];

/** `*` stands for one segment; a process's environment and memory hold what it was started with. */
const ANYWHERE = [
  "/etc/shadow",
  "/etc/gshadow",
  "/etc/shadow-",
  "/etc/gshadow-",
  "/proc/*/environ",
  "/proc/*/mem",
  "/proc/*/cwd/",
  "/proc/*/root/",
  "/proc/*/fd/",
  "/proc/*/map_files/",
  "/proc/*/task/*/environ",
  "/proc/*/task/*/mem",
  "/proc/*/task/*/cwd/",
  "/proc/*/task/*/root/",
  "/proc/*/task/*/fd/",
  "/proc/kcore",
];

/** What ssh itself shows to everybody. */
const OPEN_IN_SSH = /^(?:config|known_hosts.*|authorized_keys|.*\.pub)$/;

export function segmentsOf(path: string): string[] {
  return posix
    .normalize(path)
    .toLowerCase()
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".");
}

function entry(path: string, what: string, except?: RegExp): PrivatePath {
  const made = {
    segments: segmentsOf(path),
    isFolder: path.endsWith("/"),
    isCredential: what === CREDENTIALS,
    what,
  };
  return except ? { ...made, except } : made;
}

/** The list of the last options: a tool that walks a folder asks for each file. */
let known: { key: string; paths: readonly PrivatePath[] } | undefined;

export function privatePaths(options: PathOptions): readonly PrivatePath[] {
  const { home, userHome, protectedPaths = [] } = options;
  const key = [home, userHome, ...protectedPaths].join("\0");
  if (known?.key === key) return known.paths;
  const made = [
    entry(`${home}/`, "Bosun's own store, vault and settings are kept there"),
    entry(`${userHome}/.ssh/`, CREDENTIALS, OPEN_IN_SSH),
    ...IN_USER_HOME.map((path) => entry(`${userHome}/${path}`, CREDENTIALS)),
    ...ANYWHERE.map((path) =>
      entry(path, path.startsWith("/proc") ? "it shows the inside of a process" : CREDENTIALS),
    ),
    // Whether a path of the user's is a folder is not known here: it protects what is below, too.
    ...protectedPaths.map((path) => entry(`${path}/`, "it is protected")),
  ];
  known = { key, paths: made };
  return made;
}

/** The private path that `segments` names or lies in. `matches` compares one segment. */
export function findPrivate(
  segments: readonly string[],
  options: PathOptions,
  matches: (segment: string, wanted: string) => boolean = (segment, wanted) => segment === wanted,
): PrivatePath | undefined {
  return privatePaths(options).find((candidate) => {
    const { length } = candidate.segments;
    if (segments.length < length || (segments.length > length && !candidate.isFolder)) return false;
    const hit = candidate.segments.every(
      (wanted, index) => wanted === "*" || matches(segments[index] ?? "", wanted),
    );
    if (!hit) return false;
    const isOpen = segments.length === length + 1 && candidate.except?.test(segments[length] ?? "");
    return !isOpen;
  });
}

/** A private path lies somewhere below `path`, so that reading all of it would read that, too. */
export function holdsPrivate(
  path: string,
  options: PathOptions,
  { skipsHidden = false } = {},
): PrivatePath | undefined {
  const segments = segmentsOf(path);
  return privatePaths(options).find(
    (candidate) =>
      candidate.segments.length > segments.length &&
      !(skipsHidden && candidate.segments.slice(segments.length).some((each) => each[0] === ".")) &&
      segments.every((segment, index) => {
        const wanted = candidate.segments[index];
        return wanted === "*" || wanted === segment;
      }),
  );
}

/** Why `path` may not be written, besides being private. */
export function guardedFromWriting(path: string): string | undefined {
  const segments = segmentsOf(path);
  const git = segments.indexOf(".git");
  if (git >= 0) {
    const inside = segments.slice(git + 1);
    if (inside.includes("hooks")) return "git runs what lies there";
    const last = inside.at(-1);
    if (last === "config" || last === "config.worktree") return "it can make git run programs";
    if (inside[0] === "info" && last === "attributes") return "it can make git run programs";
  }
  if (segments.includes(".bosun")) return "Bosun's own files are kept there";
  return undefined;
}

/** Why `path` (absolute) may not be read, or undefined when it may. */
export function whyNotRead(path: string, options: PathOptions): string | undefined {
  const found = findPrivate(segmentsOf(path), options);
  return found && `${path} may not be read: ${found.what}`;
}

/** Why `path` (absolute) may not be written, or undefined when it may. */
export function whyNotWritten(path: string, options: PathOptions): string | undefined {
  const found = findPrivate(segmentsOf(path), options);
  const why = found?.what ?? guardedFromWriting(path);
  return why && `${path} may not be written: ${why}`;
}
