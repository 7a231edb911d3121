// Settings of parts that are not in this version, a table like the one in settings.ts: named so that
// they are refused by name and never misread as a request.

import { oneOf, onOff, type Setting, text } from "./setting";

export const NOT_YET = "is not in this version";

export const SETTINGS_ELSEWHERE = {
  loop: text({
    group: "Elsewhere",
    flag: "--loop",
    placeholder: "FILE",
    help: "Run a prompt file again and again.",
    default: undefined,
    unavailable: NOT_YET,
  }),
  profile: text({
    group: "Elsewhere",
    flag: "--profile",
    placeholder: "NAME",
    help: "Profile.",
    default: undefined,
    unavailable: NOT_YET,
  }),
  environment: oneOf({
    group: "Elsewhere",
    flag: "--env",
    placeholder: "WHERE",
    help: "Where commands run: host or container.",
    default: "host",
    words: ["host", "container"],
    unavailable: NOT_YET,
  }),
  toolset: text({
    group: "Elsewhere",
    flag: "--toolset",
    placeholder: "NAME",
    help: "Another set of tools.",
    default: undefined,
    unavailable: NOT_YET,
  }),
  keys: text({
    group: "Elsewhere",
    flag: "--keys",
    placeholder: "NAME",
    help: "Key bindings.",
    default: undefined,
    unavailable: NOT_YET,
  }),
  noMouse: onOff({
    group: "Elsewhere",
    flag: "--no-mouse",
    help: "Leave the mouse to the terminal.",
  }),
  scheduler: onOff({
    group: "Elsewhere",
    flag: "--scheduler",
    help: "Run the scheduler.",
    unavailable: NOT_YET,
  }),
  install: onOff({
    group: "Elsewhere",
    flag: "--install",
    help: "Install.",
    unavailable: NOT_YET,
  }),
  installTelegram: onOff({
    group: "Elsewhere",
    flag: "--install-telegram",
    help: "Install the Telegram service.",
    unavailable: NOT_YET,
  }),
  uninstallTelegram: onOff({
    group: "Elsewhere",
    flag: "--uninstall-telegram",
    help: "Remove the Telegram service.",
    unavailable: NOT_YET,
  }),
} satisfies Record<string, Setting<unknown>>;
