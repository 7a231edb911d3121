// `bosun doctor`: every setting with its source, and the state of what a run stands on. Credentials
// are masked; nothing is changed.

import { existsSync } from "node:fs";
import { arch, release } from "node:os";
import { probeEndpoint } from "#capabilities/models";
import { createSandbox, listWalls } from "#capabilities/sandbox";
import type { Configuration } from "./config";
import { SETTING_LIST } from "./config/settings";
import { readPolicyRules } from "./rules";
import { commandPolicy } from "./sandbox";
import { VERSION } from "./version";

/** The endpoint gets this long to list its models. */
const PROBE_MS = 5000;

/** Shown of a credential: enough to tell two keys apart, too little to use. */
const KEY_TAIL_CHARACTERS = 4;

const LABEL_WIDTH = 22;

export interface DoctorOptions {
  configuration: Configuration;
  cwd: string;
}

export async function runDoctor({ configuration, cwd }: DoctorOptions): Promise<number> {
  const lines = [`Bosun ${VERSION}`, "", "Settings"];
  for (const [name, setting] of SETTING_LIST) {
    if (setting.unavailable) continue;
    const label = setting.key ?? setting.flag?.replace(/^--/, "") ?? setting.env[0] ?? name;
    const value = configuration.settings[name];
    const shown = setting.secret ? mask(value) : showValue(value);
    lines.push(row(label, shown, configuration.sources.get(name)));
  }
  lines.push("", "Runtime");
  lines.push(row("bun", `${Bun.version} on ${process.platform} ${release()} ${arch()}`));
  lines.push(row("home", configuration.home, existsSync(configuration.home) ? "" : "not made yet"));
  lines.push(row("working directory", cwd));
  for (const tool of ["bash", "git", "rg"]) lines.push(row(tool, Bun.which(tool) ?? "not found"));
  const rules = await readPolicyRules(configuration);
  lines.push(row("approval rules", String(rules.length)));
  lines.push("", "Sandbox", ...(await sandboxRows({ configuration, cwd })));
  lines.push("", "Terminal", ...terminalRows());
  lines.push("", "Endpoint", ...(await endpointRows(configuration)));
  await Bun.write(Bun.stdout, `${lines.join("\n")}\n`);
  return 0;
}

function row(label: string, value: string, note = ""): string {
  return `  ${label.padEnd(LABEL_WIDTH)}${value}${note ? `  (${note})` : ""}`;
}

function showValue(value: unknown): string {
  if (value === undefined || value === "") return "-";
  if (typeof value === "boolean") return value ? "on" : "off";
  return String(value);
}

function mask(value: unknown): string {
  if (typeof value !== "string") return "-";
  const tail = value.length >= 4 * KEY_TAIL_CHARACTERS ? value.slice(-KEY_TAIL_CHARACTERS) : "";
  return `••••${tail}`;
}

async function sandboxRows(options: DoctorOptions): Promise<string[]> {
  if (options.configuration.settings.disableSandbox) {
    return [row("state", "off", "disabled: commands run unconfined")];
  }
  const policy = commandPolicy(options);
  const sandbox = await createSandbox({ policy, confineSignals: true });
  const walls = await sandbox.measure();
  sandbox.close();
  const state = walls.filesystem.stands ? "on" : "off";
  return [
    row("state", state, walls.abi > 0 ? `measured; Landlock ${walls.abi}` : "measured"),
    ...listWalls(walls).map(({ name, wall }) =>
      row(name, wall.stands ? "guarded" : "not guarded", wall.reason),
    ),
  ];
}

function terminalRows(): string[] {
  const { stdin, stdout } = process;
  const size = stdout.isTTY ? `${stdout.columns} x ${stdout.rows}` : "not a terminal";
  return [
    row("input", stdin.isTTY ? "terminal" : "not a terminal"),
    row("output", size),
    row("TERM", process.env.TERM ?? "-"),
    row("colours", process.env.NO_COLOR ? "off (NO_COLOR)" : (process.env.COLORTERM ?? "basic")),
  ];
}

async function endpointRows({ settings }: Configuration): Promise<string[]> {
  const { apiBase, apiKey, model } = settings;
  if (apiBase === undefined) return [row("state", "none", "give --api-base or BOSUN_API_BASE")];
  const probe = await probeEndpoint({ apiBase, apiKey, timeoutMs: PROBE_MS });
  if (probe.kind === "failed") return [row(apiBase, "does not answer", probe.reason)];
  const rows = [
    row(apiBase, `answers in ${Math.round(probe.ms)} ms`, `${probe.models.length} models`),
  ];
  if (model !== undefined && probe.models.length > 0 && !probe.models.includes(model)) {
    rows.push(row(model, "is not in the endpoint's list"));
  }
  return rows;
}
