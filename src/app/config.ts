// Puts the settings together. Flags beat the environment, which beats the project's config, which
// beats the user's. Each value remembers where it came from.

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Arguments, UsageError } from "./config/arguments";
import { type ConfigFile, readConfigFile } from "./config/files";
import { isProblem } from "./config/setting";
import { SETTING_LIST, SETTINGS, type SettingName, type Settings } from "./config/settings";

export interface Configuration {
  settings: Settings;
  /** Where each value came from, in words. */
  sources: ReadonlyMap<SettingName, string>;
  /** Bosun's home, absolute. */
  home: string;
  userRules: { path: string; rules: unknown } | undefined;
  projectRules: { path: string; rules: unknown } | undefined;
  /** Lines for the owner: what was found odd and passed over. */
  warnings: string[];
}

export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

function readEnvironment(
  env: Surroundings["env"],
): Map<SettingName, { value: unknown; from: string }> {
  const found = new Map<SettingName, { value: unknown; from: string }>();
  for (const [name, setting] of SETTING_LIST) {
    const variable = setting.env.find((candidate) => env[candidate]);
    if (variable === undefined) continue;
    const value = setting.parse(env[variable] ?? "");
    if (isProblem(value)) throw new UsageError(`The variable ${variable} ${value.problem}.`);
    found.set(name, { value, from: `environment ${variable}` });
  }
  return found;
}

export async function resolveConfiguration(
  args: Arguments,
  { env, cwd }: Surroundings,
): Promise<Configuration> {
  const environment = readEnvironment(env);
  const chosen = (name: SettingName): string | undefined => {
    const value = args.values.get(name) ?? environment.get(name)?.value;
    return typeof value === "string" ? value : undefined;
  };
  const userHome = env.HOME || homedir();
  const absolute = (path: string): string => resolve(cwd, path.replace(/^~(?=\/|$)/, userHome));
  const home = absolute(chosen("home") ?? join(userHome, ".bosun"));
  const named = chosen("config");
  const user = await readConfigFile(
    named === undefined ? join(home, "config.toml") : absolute(named),
    {
      required: named !== undefined,
      project: false,
    },
  );
  const projectFolder = join(cwd, ".bosun");
  // In the owner's own home directory that folder is Bosun's home, and no project's.
  const project =
    projectFolder === home
      ? undefined
      : await readConfigFile(join(projectFolder, "config.toml"), {
          required: false,
          project: true,
        });
  const values: Record<string, unknown> = {};
  const sources = new Map<SettingName, string>();
  for (const [name, setting] of SETTING_LIST) {
    const { value, from } = pick(name, setting.default, { args, environment, project, user });
    values[name] = value;
    sources.set(name, from);
  }
  return {
    // Every entry of the table was given a value of its own kind just above.
    settings: values as Settings,
    sources,
    home,
    userRules: rulesOf(user),
    projectRules: rulesOf(project),
    warnings: [...(user?.warnings ?? []), ...(project?.warnings ?? [])],
  };
}

interface Layers {
  args: Arguments;
  environment: Map<SettingName, { value: unknown; from: string }>;
  project: ConfigFile | undefined;
  user: ConfigFile | undefined;
}

function pick(
  name: SettingName,
  fallback: unknown,
  layers: Layers,
): { value: unknown; from: string } {
  const { args, environment, project, user } = layers;
  const flag = args.flags.get(name);
  if (flag !== undefined) return { value: args.values.get(name), from: `flag ${flag}` };
  const variable = environment.get(name);
  if (variable) return variable;
  const own = user?.values.has(name)
    ? { value: user.values.get(name), from: user.path }
    : { value: fallback, from: "default" };
  if (!project?.values.has(name)) return own;
  const theirs = { value: project.values.get(name), from: project.path };
  return mayProjectSet(name, own.value, theirs.value) ? theirs : own;
}

/** A value that would loosen what the owner has is passed over. */
function mayProjectSet(name: SettingName, own: unknown, theirs: unknown): boolean {
  const { projectMay } = SETTINGS[name];
  if (projectMay !== "tighten") return projectMay === "set";
  if (typeof theirs === "boolean") return theirs;
  return typeof theirs === "number" && typeof own === "number" && theirs < own;
}

function rulesOf(file: ConfigFile | undefined): Configuration["userRules"] {
  return file?.rules === undefined ? undefined : { path: file.path, rules: file.rules };
}
