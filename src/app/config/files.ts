// Reads config.toml: the user's own, then the project's, which may only set what can neither harm
// nor loosen. A file that cannot be understood is one clear line and the end of the program.

import { readFileSync, statSync } from "node:fs";
import { nearestName } from "#base/kit";
import { UsageError } from "./arguments";
import { isProblem } from "./setting";
import { SETTING_LIST, type SettingName } from "./settings";

/** A config file larger than this is not one. */
const CONFIG_BYTES_MAX = 1024 * 1024;

export interface ConfigFile {
  path: string;
  values: Map<SettingName, unknown>;
  /** The `[[rules]]` tables as they stand, for policy to read. */
  rules: unknown;
  warnings: string[];
}

/** The file's text, or undefined when there is none. */
function readConfigText(path: string, { required }: { required: boolean }): string | undefined {
  try {
    const stat = statSync(path);
    if (!stat.isFile()) throw new UsageError(`${path} is not a file.`);
    if (stat.size > CONFIG_BYTES_MAX)
      throw new UsageError(`${path} is too large for a config file.`);
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    if (!required && (code === "ENOENT" || code === "ENOTDIR")) return undefined;
    const why = code === "ENOENT" ? "it does not exist" : code;
    throw new UsageError(`The config file ${path} cannot be read: ${why}.`);
  }
}

async function parseToml(path: string, source: string): Promise<Record<string, unknown>> {
  const { parse, TomlError } = await import("smol-toml");
  try {
    return parse(source);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [what = ""] = error.message.replace(/^Invalid TOML document: /, "").split("\n");
    throw new UsageError(`${path}, line ${error.line}: ${what}.`);
  }
}

export async function readConfigFile(
  path: string,
  { required, project }: { required: boolean; project: boolean },
): Promise<ConfigFile | undefined> {
  const source = readConfigText(path, { required });
  if (source === undefined) return undefined;
  const file: ConfigFile = { path, values: new Map(), rules: undefined, warnings: [] };
  for (const [key, raw] of Object.entries(await parseToml(path, source))) {
    if (key === "rules") {
      file.rules = raw;
      continue;
    }
    for (const [name, value] of flatten(key, raw)) readKey(file, name, value, { project });
  }
  return file;
}

/** A table's settings by their dotted names; anything else is itself. */
function flatten(key: string, raw: unknown): [string, unknown][] {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return [[key, raw]];
  return Object.entries(raw).map(([inner, value]) => [`${key}.${inner}`, value]);
}

function readKey(
  file: ConfigFile,
  key: string,
  raw: unknown,
  { project }: { project: boolean },
): void {
  const entry = SETTING_LIST.find(([, setting]) => setting.key === key);
  if (!entry) {
    const keys = SETTING_LIST.flatMap(([, setting]) => (setting.key ? [setting.key] : []));
    const nearest = nearestName(key, [...keys, "rules"]);
    const message = `${file.path}: there is no setting ${key}.${nearest ? ` Did you mean ${nearest}?` : ""}`;
    if (!project) throw new UsageError(message);
    // A repository must not be able to lock its users out.
    file.warnings.push(message);
    return;
  }
  const [name, setting] = entry;
  if (project && setting.projectMay === "never") {
    file.warnings.push(`${file.path}: a project may not set ${key}; it is ignored.`);
    return;
  }
  if (setting.unavailable) throw new UsageError(`${file.path}: ${key} ${setting.unavailable}.`);
  const words = Array.isArray(raw) && setting.isList ? raw.join(",") : raw;
  if (!["string", "number", "boolean"].includes(typeof words)) {
    throw new UsageError(`${file.path}: ${key} must be a plain value.`);
  }
  const value = setting.parse(String(words));
  if (isProblem(value)) throw new UsageError(`${file.path}: ${key} ${value.problem}.`);
  file.values.set(name, value);
}
