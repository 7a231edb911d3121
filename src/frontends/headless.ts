// The headless front end: text for people or JSON lines for programs, one request or several.
// It sends commands and watches events; it knows nothing else of the agent.

export { type HeadlessOptions, type HeardSignal, runHeadless } from "./headless/headless";
export { openTerminal } from "./headless/terminal";
