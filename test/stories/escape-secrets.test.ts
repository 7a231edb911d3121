// Escapes with what is private: Bosun's store, by commands and by its own tools; the key, in
// environments, arguments and output.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { API_KEY, type Attempt, SECRET, said, succeeded } from "../support/escape";
import { describeEscapes } from "../support/escape-table";

const EITHER_WAY = "it holds with and without walls";
const READABLE = "reading is allowed everywhere but in Bosun's home";
const HARM = "without walls it would take the store from under the run";

const store: Attempt[] = [
  { name: "cat", script: "cat ~/.bosun/config.toml", wentThrough: said(SECRET) },
  { name: "find", script: "find ~/.bosun -type f", wentThrough: said("config.toml") },
  { name: "grep", script: "grep -r nobody ~/.bosun", wentThrough: said(SECRET) },
  {
    name: "the head of the database",
    script: "find ~ -name '*.db' -exec head -c 15 {} +",
    wentThrough: said("SQLite format"),
  },
  {
    name: "by a link in the project",
    script: "ln -s ~/.bosun link && cat link/config.toml",
    wentThrough: said(SECRET),
  },
  {
    name: "by a path around",
    script: "cat /proc/self/root/proc/self/cwd/../../home/.bosun/config.toml",
    wentThrough: said(SECRET),
  },
  {
    name: "a hard link into the project",
    script: "ln ~/.bosun/config.toml mine && cat mine",
    wentThrough: said(SECRET),
  },
  {
    name: "write into it",
    script: "echo x >~/.bosun/new",
    wentThrough: ({ home }) => existsSync(join(home, ".bosun/new")),
  },
  {
    name: "change its settings",
    script: "echo 'auto_approve = true' >>~/.bosun/config.toml",
    wentThrough: ({ home }) =>
      readFileSync(join(home, ".bosun/config.toml"), "utf8").includes("auto_approve"),
  },
  {
    name: "move it away",
    script: "mv ~/.bosun ~/gone; cat ~/gone/config.toml",
    wentThrough: said(SECRET),
    noControl: HARM,
  },
  {
    name: "move the home away",
    script: "cd /; mv $HOME $HOME-gone; cat $HOME-gone/.bosun/config.toml",
    wentThrough: said(SECRET),
    noControl: HARM,
  },
];

const read = (
  path: (place: { home: string; cwd: string }) => string,
): NonNullable<Attempt["call"]> => {
  return (place) => ({ name: "read_file", args: { path: path(place) } });
};
const isPlanted =
  (path: string): Attempt["wentThrough"] =>
  ({ cwd, home }) =>
    existsSync(join(cwd, path)) || existsSync(join(home, path));

/** The policy holds these, with and without walls: there is no control. */
const tools: Attempt[] = (
  [
    {
      name: "read_file",
      call: read(({ home }) => join(home, ".bosun/config.toml")),
      wentThrough: said(SECRET),
    },
    { name: "read_file by ~", call: read(() => "~/.bosun/config.toml"), wentThrough: said(SECRET) },
    {
      name: "read_file by ..",
      call: read(() => "x/../../home/.bosun/config.toml"),
      wentThrough: said(SECRET),
    },
    {
      name: "read_file by /proc/self/root",
      call: read(({ home }) => `/proc/self/root${home}/.bosun/config.toml`),
      wentThrough: said(SECRET),
    },
    {
      name: "a link, for the tools that follow",
      script: "ln -s ~/.bosun $PROJECT/store; ln -s $PROJECT/.git/hooks $PROJECT/hooks",
      wentThrough: () => false,
    },
    {
      name: "read_file by /proc/self/cwd",
      call: read(() => "/proc/self/cwd/store/config.toml"),
      wentThrough: said(SECRET),
    },
    {
      name: "read_file by the link",
      call: read(() => "store/config.toml"),
      wentThrough: said(SECRET),
    },
    {
      name: "search",
      call: ({ home }) => ({
        name: "search",
        args: { pattern: "nobody", path: join(home, ".bosun") },
      }),
      wentThrough: said(SECRET),
    },
    {
      name: "search from above",
      call: ({ home }) => ({ name: "search", args: { pattern: "nobody", path: home } }),
      wentThrough: said(SECRET),
    },
    {
      name: "search by the link",
      call: () => ({ name: "search", args: { pattern: "nobody", path: "store" } }),
      wentThrough: said(SECRET),
    },
    {
      name: "list_files",
      call: ({ home }) => ({ name: "list_files", args: { path: join(home, ".bosun") } }),
      wentThrough: said("config.toml"),
    },
    {
      name: "list_files by the link",
      call: () => ({ name: "list_files", args: { path: "store" } }),
      wentThrough: said("config.toml"),
    },
    {
      name: "write_file",
      call: () => ({ name: "write_file", args: { path: "~/.bosun/planted", content: "x" } }),
      wentThrough: isPlanted(".bosun/planted"),
    },
    {
      name: "write_file by the link",
      call: () => ({ name: "write_file", args: { path: "store/planted", content: "x" } }),
      wentThrough: isPlanted(".bosun/planted"),
    },
    {
      name: "edit_file",
      call: () => ({
        name: "edit_file",
        args: { path: "store/config.toml", old_string: SECRET, new_string: "x" },
      }),
      wentThrough: ({ home }) =>
        !readFileSync(join(home, ".bosun/config.toml"), "utf8").includes(SECRET),
    },
    {
      name: "write_file to a hook",
      call: () => ({ name: "write_file", args: { path: ".git/hooks/planted", content: "x" } }),
      wentThrough: isPlanted(".git/hooks/planted"),
    },
    {
      name: "write_file to a hook by a link",
      call: () => ({ name: "write_file", args: { path: "hooks/planted2", content: "x" } }),
      wentThrough: isPlanted(".git/hooks/planted2"),
    },
    {
      name: "write_file to the project's settings",
      call: () => ({ name: "write_file", args: { path: ".bosun/config.toml", content: "x" } }),
      wentThrough: ({ cwd }) => existsSync(join(cwd, ".bosun/config.toml")),
    },
    {
      name: "read_file of Bosun's environment",
      call: read(() => "/proc/self/environ"),
      wentThrough: said(API_KEY.slice(3)),
    },
    {
      name: "write_file outside",
      call: ({ out }) => ({ name: "write_file", args: { path: join(out, "new"), content: "x" } }),
      wentThrough: ({ out }) => existsSync(join(out, "new")),
      limit: "the file tools are under approval, which was given for all",
    },
    // These show that the paths of the attempts above lead to where they should.
    {
      name: "read_file by .. outside of the store",
      call: read(() => "x/../../home/.profile"),
      wentThrough: said("plain words"),
      limit: READABLE,
    },
    {
      name: "read_file by /proc/self/root outside of the store",
      call: read(({ home }) => `/proc/self/root${home}/.profile`),
      wentThrough: said("plain words"),
      limit: READABLE,
    },
    {
      name: "search outside of the store",
      call: ({ home }) => ({ name: "search", args: { pattern: "plain", path: home } }),
      wentThrough: said("plain words"),
      limit: READABLE,
    },
  ] satisfies Attempt[]
).map((attempt) => ({ ...attempt, noControl: EITHER_WAY }));

/** Judged by exit codes: in the output the key would be masked. */
const HEAD = API_KEY.slice(0, 12);
const key: Attempt[] = (
  [
    { name: "env", script: `env | grep -q '=${HEAD}'`, wentThrough: succeeded },
    {
      name: "/proc/self/environ",
      script: `grep -q '=${HEAD}' /proc/self/environ`,
      wentThrough: succeeded,
    },
    {
      name: "every environment that can be read",
      script: `grep -l '_API_KEY=${HEAD}' /proc/[0-9]*/environ | grep proc`,
      wentThrough: succeeded,
    },
    {
      name: "Bosun's arguments",
      script: `tr '\\0' ' ' </proc/$BOSUN_PID/cmdline | grep -q '${HEAD}'`,
      wentThrough: succeeded,
    },
    {
      name: "printed at once",
      script: `echo '${API_KEY}'`,
      wentThrough: said(API_KEY),
    },
    {
      name: "printed in two pieces",
      script: `printf '${HEAD}'; sleep 0.3; printf '%s\\n' '${API_KEY.slice(12)}'`,
      wentThrough: said(API_KEY),
    },
    {
      name: "in base64",
      script: `printf 'x%s' '${API_KEY}' | base64`,
      wentThrough: said(Buffer.from(`x${API_KEY}`).toString("base64").slice(4, -4)),
    },
    {
      name: "backwards",
      script: `printf '%s\\n' '${API_KEY}' | rev`,
      wentThrough: said([...API_KEY].reverse().join("")),
      needs: ["rev"],
      limit: "there is no end of encodings",
    },
  ] satisfies Attempt[]
).map((attempt) => ({ ...attempt, noControl: EITHER_WAY }));

describeEscapes("Bosun's store, by commands", store, { walls: ["Bosun's home"] });
describeEscapes("Bosun's store and what is protected, by tools", tools, {
  walls: ["Bosun's home"],
});
describeEscapes("the key", key, { args: ["--api-key", API_KEY] });
