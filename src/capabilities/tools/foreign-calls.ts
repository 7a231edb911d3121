// Calls in the words of other agents, which models were trained on: their tool names and their
// parameter names, mapped onto ours where that can mean only one thing.

type Args = Record<string, unknown>;

export interface UnderstoodCall {
  /** Our name of the tool. */
  name: string;
  mapArguments(args: Args): Args;
}

/** Other agents' tool names, in lower case and without `_` or `-`. */
const TOOL_NAMES: Record<string, readonly string[]> = {
  shell: [
    "bash",
    "executebash",
    "executecommand",
    "runshellcommand",
    "runcommand",
    "runinterminal",
    "runterminalcmd",
    "runterminalcommand",
    "shellexec",
    "shellcommand",
    "shell",
    "localshell",
    "execcommand",
    "exec",
    "terminal",
    "sh",
  ],
  read_file: ["readfile", "read", "view", "viewfile", "cat", "openfile", "fileread", "fsread"],
  edit_file: [
    "editfile",
    "edit",
    "strreplace",
    "strreplaceeditor",
    "strreplacebasededittool",
    "replace",
    "replaceinfile",
    "searchreplace",
    "fileedit",
  ],
  write_file: [
    "writefile",
    "write",
    "createfile",
    "create",
    "writetofile",
    "filewrite",
    "savefile",
    "fswrite",
  ],
  list_files: [
    "listfiles",
    "ls",
    "list",
    "glob",
    "find",
    "findfiles",
    "filesearch",
    "listdirectory",
    "listdir",
    "readfolder",
  ],
  search: [
    "grep",
    "ripgrep",
    "rg",
    "greptool",
    "grepsearch",
    "searchfiles",
    "searchfilecontent",
    "searchtext",
    "searchcode",
    "codesearch",
  ],
  todo: ["todowrite", "writetodos", "updateplan", "todolist", "updatetodolist", "managetodolist"],
  task_complete: ["taskcomplete", "finish", "attemptcompletion", "submit", "complete", "done"],
};

const PATH_NAMES = {
  file_path: "path",
  filepath: "path",
  filePath: "path",
  filename: "path",
  file: "path",
  absolute_path: "path",
  target_file: "path",
} as const;

const FOLDER_NAMES = {
  dir_path: "path",
  directory: "path",
  dir: "path",
  folder: "path",
  target_directory: "path",
  relative_workspace_path: "path",
} as const;

/** Other names of our parameters, by tool; ours win where both are given. */
const ARGUMENT_NAMES: Record<string, Readonly<Record<string, string>>> = {
  shell: {
    cmd: "command",
    script: "command",
    run_in_background: "background",
    is_background: "background",
    isBackground: "background",
  },
  read_file: {
    ...PATH_NAMES,
    start_line: "offset",
    startLine: "offset",
    start_line_one_indexed: "offset",
    line_start: "offset",
  },
  edit_file: {
    ...PATH_NAMES,
    old_str: "old_string",
    oldString: "old_string",
    old_text: "old_string",
    oldText: "old_string",
    new_str: "new_string",
    newString: "new_string",
    new_text: "new_string",
    newText: "new_string",
    replaceAll: "replace_all",
  },
  write_file: {
    ...PATH_NAMES,
    contents: "content",
    file_text: "content",
    text: "content",
    file_content: "content",
  },
  list_files: { ...PATH_NAMES, ...FOLDER_NAMES, glob: "pattern", glob_pattern: "pattern" },
  search: {
    ...PATH_NAMES,
    ...FOLDER_NAMES,
    regex: "pattern",
    query: "pattern",
    include: "glob",
    include_pattern: "glob",
    file_pattern: "glob",
    max_results: "limit",
    head_limit: "limit",
    "-C": "context",
  },
  todo: { todos: "items", todoList: "items", plan: "items", tasks: "items", list: "items" },
  task_complete: { result: "summary", message: "summary", answer: "summary" },
};

/** The editor that several agents share under these names, with a `command` for each act. */
const EDITORS = ["strreplaceeditor", "strreplacebasededittool"];

const normalName = (name: string): string => name.toLowerCase().replace(/[_\-\s.]/g, "");

const OURS = new Map(
  Object.entries(TOOL_NAMES).flatMap(([ours, names]) =>
    names.map((name): [string, string] => [name, ours]),
  ),
);

/**
 * Our name for a tool that another agent knows, and how its arguments are called here; undefined
 * for a name that is not well known. Some agents have one tool with a `command` for several acts:
 * with `args` its meaning is found, too.
 */
export function understandCall(name: string, args: Args = {}): UnderstoodCall | undefined {
  const normal = normalName(name);
  const known = OURS.get(normal);
  if (known === undefined) return undefined;
  const ours = EDITORS.includes(normal) ? editorAct(args) : known;
  if (ours === undefined) return undefined;
  return {
    name: ours,
    mapArguments: (given) => mendArguments(ours, fromForeign(normal, given)),
  };
}

/** The acts of the "str_replace" editor that several agents share. */
function editorAct(args: Args): string | undefined {
  switch (args.command) {
    case "view":
      return "read_file";
    case "create":
      return "write_file";
    case "str_replace":
    case undefined:
      return "edit_file";
    default:
      return undefined;
  }
}

/** Differences that belong to one agent's tool and would be wrong for our own. */
function fromForeign(normal: string, args: Args): Args {
  // This agent counts the time limit in milliseconds.
  if (normal === "bash" && typeof args.timeout === "number" && args.timeout >= 1000) {
    return { ...args, timeout: Math.ceil(args.timeout / 1000) };
  }
  if (EDITORS.includes(normal)) {
    const { command: _, ...rest } = args;
    return rest;
  }
  return args;
}

/** The arguments of our tool, with other names of its parameters replaced by ours. */
export function mendArguments(tool: string, args: Args): Args {
  const names = Object.hasOwn(ARGUMENT_NAMES, tool) ? (ARGUMENT_NAMES[tool] ?? {}) : {};
  const mended: Args = {};
  for (const [name, value] of Object.entries(args)) {
    // A model may call a parameter anything, such as "constructor".
    if (name === "__proto__") continue;
    const ours = (Object.hasOwn(names, name) ? names[name] : undefined) ?? name;
    // An alias never overrides the parameter itself, nor an earlier alias.
    if (ours !== name && (Object.hasOwn(args, ours) || Object.hasOwn(mended, ours))) continue;
    mended[ours] = value;
  }
  if (tool === "read_file") return mendRange(mended);
  if (tool === "shell") return mendCommand(mended);
  if (tool === "search") return mendCase(mended);
  return mended;
}

/** A range given by its last line, or as a pair, becomes offset and limit. */
function mendRange(args: Args): Args {
  const { end_line, endLine, end_line_one_indexed_inclusive, line_end, view_range, ...rest } = args;
  const mended: Args = rest;
  let last = Number(
    end_line ?? endLine ?? end_line_one_indexed_inclusive ?? line_end ?? Number.NaN,
  );
  if (Array.isArray(view_range) && mended.offset === undefined) {
    mended.offset = view_range[0];
    last = Number(view_range[1]);
  }
  const first = Number(mended.offset ?? 1);
  if (mended.limit === undefined && last >= first) mended.limit = last - first + 1;
  return mended;
}

/** Ignoring case is said in the pattern here. */
function mendCase(args: Args): Args {
  const { "-i": short, ignore_case, case_insensitive, case_sensitive, ...rest } = args;
  const ignores = [short, ignore_case, case_insensitive].includes(true) || case_sensitive === false;
  return ignores && typeof rest.pattern === "string"
    ? { ...rest, pattern: `(?i)${rest.pattern}` }
    : rest;
}

/** A command given as a list of words, and a limit in milliseconds. */
function mendCommand(args: Args): Args {
  const { timeout_ms, ...rest } = args;
  const mended: Args = rest;
  if (typeof timeout_ms === "number" && mended.timeout === undefined) {
    mended.timeout = Math.ceil(timeout_ms / 1000);
  }
  const { command } = mended;
  if (Array.isArray(command) && command.every((word) => typeof word === "string")) {
    mended.command = joinWords(command);
  }
  return mended;
}

function joinWords(words: readonly string[]): string {
  const [shell, option, script] = words;
  const isScript = /^(\/bin\/|\/usr\/bin\/)?(ba|z|da)?sh$/.test(shell ?? "");
  if (words.length === 3 && isScript && /^-l?c$/.test(option ?? "")) return script ?? "";
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(" ");
}
