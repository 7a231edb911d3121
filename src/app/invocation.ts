// What the program was started to do, as its commands hand it on.

import type { Configuration } from "./config";
import type { Arguments } from "./config/arguments";

export interface Invocation {
  args: Arguments;
  configuration: Configuration;
  /** The real path of the directory that Bosun was started in. */
  cwd: string;
}

export interface Endpoint {
  apiBase: string;
  apiKey: string | undefined;
  model: string;
}
