// No model was named: an endpoint that serves just one leaves no doubt which is meant.

import { probeEndpoint } from "#capabilities/models";
import { UsageError } from "../config/arguments";

/** A busy server may take a while to list its models; longer is as good as no answer. */
const PROBE_MS = 10_000;

/** More names than this in one line are no help. */
const MODELS_SHOWN_MAX = 8;

export async function findOnlyModel(endpoint: {
  apiBase: string;
  apiKey: string | undefined;
}): Promise<string> {
  const probe = await probeEndpoint({ ...endpoint, timeoutMs: PROBE_MS });
  if (probe.kind === "failed") {
    throw new UsageError(
      `no model: give --model NAME or set BOSUN_MODEL. ` +
        `(${endpoint.apiBase} could not be asked: ${probe.reason})`,
    );
  }
  const [only, ...others] = probe.models;
  if (only !== undefined && others.length === 0) return only;
  const shown = probe.models.slice(0, MODELS_SHOWN_MAX).join(", ");
  const more = probe.models.length > MODELS_SHOWN_MAX ? ", ..." : "";
  throw new UsageError(
    `no model: give --model NAME or set BOSUN_MODEL. ` +
      (only === undefined ? "The endpoint lists none." : `The endpoint has: ${shown}${more}`),
  );
}
