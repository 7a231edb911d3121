// Makes --help and docs/settings.md from the table of settings, so that neither can be wrong.

import { SUBCOMMANDS } from "./arguments";
import type { Group, Setting } from "./setting";
import { SETTING_LIST } from "./settings";

const GROUPS: readonly Group[] = ["Endpoint", "Approval and safety", "Limits", "How it runs"];

const HELP_WIDTH = 98;
const FLAG_COLUMN = 30;

function flagOf(setting: Setting<unknown>): string {
  const names = [setting.flag, ...(setting.aliases ?? [])].filter((name) => name !== undefined);
  return names.join(", ") + (setting.placeholder && setting.flag ? ` ${valueName(setting)}` : "");
}

function valueName({ placeholder, optionalValue }: Setting<unknown>): string {
  return optionalValue ? `[${placeholder}]` : String(placeholder);
}

function defaultOf(setting: Setting<unknown>): string {
  const { default: value } = setting;
  if (value === undefined || value === "" || value === false) return "";
  return typeof value === "boolean" ? "on" : String(value);
}

function available(group: Group): Setting<unknown>[] {
  return SETTING_LIST.map(([, setting]) => setting).filter(
    (setting) => setting.group === group && !setting.unavailable,
  );
}

/** Breaks text into lines of at most `width` characters, at blanks. */
function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

function row(left: string, text: string): string {
  const lines = wrap(text, HELP_WIDTH - FLAG_COLUMN - 2);
  const indent = " ".repeat(FLAG_COLUMN + 2);
  const body = lines.join(`\n${indent}`);
  if (left.length > FLAG_COLUMN - 1) return `  ${left}\n${indent}${body}`;
  return `  ${left.padEnd(FLAG_COLUMN)}${body}`;
}

export function helpText(): string {
  const parts = [
    "Bosun: a terminal AI agent.",
    "",
    "Usage: bosun [flags] [request]          works on the request until it is done",
    "       bosun                            asks for a request",
    "       echo request | bosun --json      headless, one JSON event a line",
  ];
  parts.push("", "Commands");
  for (const [name, help] of Object.entries(SUBCOMMANDS)) {
    if (help !== undefined) parts.push(row(name, help));
  }
  for (const group of GROUPS) {
    const rows = available(group).filter((setting) => setting.flag !== undefined);
    parts.push("", group);
    for (const setting of rows) {
      const value = defaultOf(setting);
      parts.push(row(flagOf(setting), setting.help + (value ? ` Default: ${value}.` : "")));
    }
  }
  parts.push(
    "",
    "  -h, --help     this text          -V, --version     the version",
    "",
    "Exit status, headless: 0 complete, 1 error, 2 step limit, 130 stopped, 64 bad usage.",
    "Environment variables and the config file: docs/settings.md.",
  );
  return parts.join("\n");
}

/** The text of docs/settings.md. */
export function settingsPage(): string {
  const parts = [
    "# Settings",
    "",
    "Flags beat environment variables, which beat the project's `.bosun/config.toml`, which beats",
    "`~/.bosun/config.toml`. Of several variables the first that is set counts. A project's own",
    "config may set only what is marked: a repository that you cloned can neither choose an endpoint",
    "nor loosen an approval. `bosun doctor` shows every value and where it came from.",
  ];
  for (const group of GROUPS) {
    parts.push("", `## ${group}`, "");
    parts.push("| flag | environment | config key | default | project may set | what it does |");
    parts.push("| --- | --- | --- | --- | --- | --- |");
    for (const setting of available(group)) {
      const cells = [
        code(flagOf(setting)),
        setting.env.map(code).join(" "),
        code(setting.key ?? ""),
        code(defaultOf(setting)),
        projectCell(setting),
        setting.help,
      ];
      parts.push(`| ${cells.join(" | ")} |`);
    }
  }
  return `${parts.join("\n")}\n`;
}

function projectCell({ projectMay, key }: Setting<unknown>): string {
  if (!key || projectMay === "never") return "";
  return projectMay === "set" ? "yes" : "only tighter";
}

function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}
