// The table of every setting. It makes --help, docs/settings.md, the reader of flags, environment
// and config files, and what `bosun doctor` shows. A new setting is one entry here.

import { CLOUD_ENDPOINTS } from "../endpoints/known";
import { amount, count, oneOf, onOff, type Setting, text } from "./setting";
import { NOT_YET, SETTINGS_ELSEWHERE } from "./settings-elsewhere";

const checkUrl = (value: string): string | undefined => {
  const isHttp = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  return isHttp ? undefined : `must be a URL that starts with http:// or https://, not "${value}"`;
};

const checkNotEmpty = (value: string): string | undefined =>
  value.trim() === "" ? "must not be empty" : undefined;

/** No command of an agent runs longer: a day is more than anyone means. */
export const TIMEOUT_SECONDS_MAX = 86_400;

/** As the command line tells a session's id from the first word of a request. */
const SESSION_ID = /^\d{8}_\d{6}_[0-9a-f]+$/;

export const SETTINGS = {
  // --- Endpoint ----------------------------------------------------------------------------------
  apiBase: text({
    group: "Endpoint",
    flag: "--api-base",
    placeholder: "URL",
    env: ["BOSUN_API_BASE", "AIC_API_BASE", "OPENAI_BASE_URL"],
    key: "api_base",
    help: "Base URL of an OpenAI-compatible endpoint, such as http://127.0.0.1:11434/v1.",
    default: undefined,
    check: checkUrl,
  }),
  model: text({
    group: "Endpoint",
    flag: "--model",
    placeholder: "NAME",
    env: ["BOSUN_MODEL", "AIC_MODEL", "TAI_MODEL"],
    key: "model",
    help: "Model name. Left out, the endpoint's only model is taken.",
    default: undefined,
    check: checkNotEmpty,
  }),
  apiKey: text({
    group: "Endpoint",
    flag: "--api-key",
    placeholder: "KEY",
    env: ["BOSUN_API_KEY", "AIC_API_KEY", "OPENAI_API_KEY"],
    key: "api_key",
    help:
      "API key. Prefer the environment or the config file: a key on the command line can be " +
      "seen by every process on the machine.",
    default: undefined,
    secret: true,
    check: checkNotEmpty,
  }),
  provider: text({
    group: "Endpoint",
    flag: "--provider",
    placeholder: "NAME",
    key: "provider",
    help: "Provider from the catalogue.",
    default: undefined,
    unavailable: NOT_YET,
  }),
  maxTokens: count({
    group: "Endpoint",
    flag: "--max-tokens",
    placeholder: "N",
    env: ["BOSUN_MAX_TOKENS"],
    key: "max_tokens",
    help: "Tokens per reply, thinking included. Raise it when large edits are cut off.",
    default: 16_000,
    min: 1,
    projectMay: "tighten",
  }),
  reasoningEffort: text({
    group: "Endpoint",
    flag: "--reasoning-effort",
    placeholder: "LEVEL",
    env: ["BOSUN_REASONING_EFFORT"],
    key: "reasoning_effort",
    help: "Reasoning effort, for models that take one: low, medium, high.",
    default: undefined,
    projectMay: "set",
    check: checkNotEmpty,
  }),
  temperatureTool: amount({
    group: "Endpoint",
    env: ["BOSUN_TEMPERATURE_TOOL", "AIC_TEMPERATURE_TOOL"],
    key: "temperature_tool",
    help: "Sampling temperature of the agent's replies.",
    default: 0.7,
    min: 0,
    max: 2,
    projectMay: "set",
  }),
  temperatureText: amount({
    group: "Endpoint",
    env: ["BOSUN_TEMPERATURE_TEXT", "AIC_TEMPERATURE_TEXT"],
    key: "temperature_text",
    help: "Sampling temperature of internal text such as summaries.",
    default: 1,
    min: 0,
    max: 2,
    projectMay: "set",
  }),
  streamOptions: onOff({
    group: "Endpoint",
    env: ["BOSUN_STREAM_OPTIONS", "AIC_STREAM_OPTIONS"],
    key: "stream_options",
    help:
      "Ask for usage with stream_options. An endpoint that refuses it is asked again without; " +
      "0 skips the first try.",
    default: true,
  }),
  extraBody: onOff({
    group: "Endpoint",
    env: ["BOSUN_EXTRA_BODY", "AIC_EXTRA_BODY"],
    key: "extra_body",
    help: "Send chat_template_kwargs.enable_thinking. Refusals are handled; 0 skips the first try.",
    default: true,
  }),
  fast: onOff({
    group: "Endpoint",
    flag: "--fast",
    env: ["BOSUN_FAST"],
    key: "fast",
    help: "For slow inference: a small system prompt, short tool descriptions, no summaries.",
    projectMay: "set",
  }),

  // --- Approval and safety -----------------------------------------------------------------------
  autoApprove: onOff({
    group: "Approval and safety",
    flag: "--auto-approve",
    aliases: ["--yes", "--yolo"],
    env: ["BOSUN_AUTO_APPROVE"],
    key: "auto_approve",
    help: "Run everything without asking, but for what a rule denies or asks.",
  }),
  auto: onOff({
    group: "Approval and safety",
    flag: "--auto",
    help: "Auto-approve, and find out instead of asking.",
  }),
  confirmReads: onOff({
    group: "Approval and safety",
    flag: "--confirm-reads",
    env: ["BOSUN_CONFIRM_READS"],
    key: "confirm_reads",
    help: "Ask before commands and tools that only read, too.",
    projectMay: "tighten",
  }),
  readOnlyCommands: text({
    group: "Approval and safety",
    env: ["BOSUN_READ_ONLY_COMMANDS", "AIC_READ_ONLY_COMMANDS"],
    key: "read_only_commands",
    isList: true,
    help: "Further commands that only read, separated by commas.",
    default: "",
  }),
  verify: text({
    group: "Approval and safety",
    flag: "--verify",
    placeholder: "CMD",
    env: ["BOSUN_VERIFY"],
    key: "verify",
    help: 'A command that must exit with 0 before a completion counts, such as "npm test".',
    default: undefined,
    check: checkNotEmpty,
  }),
  disableSandbox: onOff({
    group: "Approval and safety",
    flag: "--disable-sandbox",
    help: "Run commands without the operating-system sandbox.",
  }),
  sandboxNetwork: oneOf({
    group: "Approval and safety",
    key: "sandbox.network",
    help: "The network of commands inside the sandbox: all, or none.",
    default: "all",
    words: ["all", "none"],
  }),

  // --- Limits ------------------------------------------------------------------------------------
  timeout: count({
    group: "Limits",
    flag: "--timeout",
    placeholder: "SECONDS",
    env: ["BOSUN_TIMEOUT"],
    key: "timeout",
    help: "Seconds that a command may run.",
    default: 120,
    min: 1,
    max: TIMEOUT_SECONDS_MAX,
    projectMay: "tighten",
  }),
  maxSteps: count({
    group: "Limits",
    flag: "--max-steps",
    placeholder: "N",
    env: ["BOSUN_MAX_STEPS"],
    key: "max_steps",
    help: "Steps of a run before it stops with exit status 2.",
    default: 500,
    min: 1,
    projectMay: "tighten",
  }),
  maxOutputBytes: count({
    group: "Limits",
    flag: "--max-output-bytes",
    placeholder: "N",
    env: ["BOSUN_MAX_OUTPUT_BYTES"],
    key: "max_output_bytes",
    help: "Bytes of a command's output that the model gets; the whole is kept as an artifact.",
    default: 10_240,
    min: 256,
    projectMay: "tighten",
  }),
  maxPromptLen: count({
    group: "Limits",
    flag: "--max-prompt-len",
    placeholder: "TOKENS",
    env: ["BOSUN_MAX_PROMPT_LEN"],
    key: "max_prompt_len",
    help: "Tokens that a prompt may have. Kept for compression, which is not in this version.",
    default: 80_000,
    min: 1000,
    projectMay: "tighten",
  }),
  maxIterations: count({
    group: "Limits",
    flag: "--max-iterations",
    placeholder: "N",
    key: "max_iterations",
    help: "Iterations of --loop, which is not in this version; 0 is without end.",
    default: 10,
    min: 0,
    projectMay: "tighten",
  }),
  compressAlg: oneOf({
    group: "Limits",
    flag: "--compress-alg",
    placeholder: "NAME",
    key: "compress_alg",
    help:
      "How a long history is to be compressed, context-compressor-llm or truncate. Compression is " +
      "not in this version.",
    default: "context-compressor-llm",
    words: ["context-compressor-llm", "truncate"],
    projectMay: "set",
  }),
  compressTarget: amount({
    group: "Limits",
    flag: "--compress-target",
    placeholder: "FRACTION",
    key: "compress_target",
    help: "Part of the prompt budget that compression is to keep. Not in this version.",
    default: 0.4,
    min: 0.05,
    max: 0.95,
    projectMay: "set",
  }),

  // --- How it runs -------------------------------------------------------------------------------
  nogui: onOff({
    group: "How it runs",
    flag: "--nogui",
    help: "Headless: text on stdout, questions on the terminal.",
  }),
  json: onOff({
    group: "How it runs",
    flag: "--json",
    help: "Headless: one JSON event a line on stdout; nobody is asked.",
  }),
  demo: onOff({
    group: "How it runs",
    flag: "--demo",
    help: "A scripted model does a small real job here, to show how it looks. No endpoint needed.",
  }),
  noThinking: onOff({
    group: "How it runs",
    flag: "--no-thinking",
    env: ["BOSUN_NO_THINKING"],
    key: "no_thinking",
    help: "Do not show the model's thinking.",
    projectMay: "set",
  }),
  noColor: {
    ...onOff({
      group: "How it runs",
      env: ["NO_COLOR"],
      help: "Any value: no colours. They are also off in a pipe.",
    }),
    // The convention of no-color.org: what the value says does not matter.
    parse: () => true,
  },
  debug: onOff({
    group: "How it runs",
    flag: "--debug",
    env: ["BOSUN_DEBUG"],
    help: "Write the whole history to a file before each request.",
  }),
  debugDumpDirectory: text({
    group: "How it runs",
    env: ["BOSUN_DEBUG_DUMP_DIR", "AIC_DEBUG_DUMP_DIR"],
    key: "debug_dump_dir",
    help: "Where --debug writes. By default Bosun's home.",
    default: undefined,
  }),
  config: text({
    group: "How it runs",
    flag: "--config",
    placeholder: "FILE",
    env: ["BOSUN_CONFIG"],
    help: "The user's config file instead of config.toml in Bosun's home.",
    default: undefined,
  }),
  home: text({
    group: "How it runs",
    env: ["BOSUN_HOME", "TAI_HOME"],
    help: "Bosun's home. By default ~/.bosun.",
    default: undefined,
  }),
  noSession: onOff({
    group: "How it runs",
    flag: "--no-session",
    help: "Keep no session: nothing of the conversation is left behind.",
  }),
  session: text({
    group: "How it runs",
    flag: "--session",
    placeholder: "FILE",
    help: "Go on with the session in FILE, and keep it there as well, to be read and edited.",
    default: undefined,
  }),
  resume: text({
    group: "How it runs",
    flag: "--resume",
    placeholder: "ID",
    optionalValue: SESSION_ID,
    help: "Go on with that session, or with the latest of this directory.",
    default: undefined,
  }),

  ...SETTINGS_ELSEWHERE,
} satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof SETTINGS;

type ValueOf<Entry> = Entry extends Setting<infer Value> ? Value : never;

/** Every setting's value. */
export type Settings = { [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> };

/** The table without the types of its values, in order. */
export const SETTING_LIST: readonly [SettingName, Setting<unknown>][] = Object.entries(
  SETTINGS,
) as [SettingName, Setting<unknown>][];

/** Variables that hold a credential and are taken out of the environment before anything runs. */
export const SECRET_VARIABLES: readonly string[] = [
  ...SETTING_LIST.flatMap(([, setting]) => (setting.secret ? setting.env : [])),
  "BOSUN_PASSPHRASE",
  "TAI_PASSPHRASE",
  "TELEGRAM_BOT_TOKEN",
  "DEVPLACE_API_KEY",
  ...CLOUD_ENDPOINTS.map((endpoint) => endpoint.keyVariable),
];
