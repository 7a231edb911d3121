// Whether an endpoint is there and what it serves: asks for its list of models, once.

import { cleanApiBase, describeFault, type Endpoint } from "./connection";
import { classifyFailure } from "./failure";
import { tidyText } from "./failure-words";
import { isObject, textOf, tryParse } from "./json";

export type Probe =
  | { kind: "ok"; models: string[]; ms: number }
  | { kind: "failed"; reason: string };

export interface ProbeOptions extends Endpoint {
  timeoutMs: number;
  signal?: AbortSignal;
}

function modelNames(body: string): string[] | undefined {
  const value = tryParse(body);
  const list = isObject(value) ? (value.data ?? value.models) : value;
  if (!Array.isArray(list)) return undefined;
  return list
    .map((entry) => (isObject(entry) ? (textOf(entry.id) ?? textOf(entry.name)) : textOf(entry)))
    .filter((name) => name !== undefined)
    .map((name) => tidyText(name));
}

/** Never throws. */
export async function probeEndpoint(options: ProbeOptions): Promise<Probe> {
  const { apiKey, timeoutMs, signal } = options;
  const apiBase = cleanApiBase(options.apiBase);
  const [path = "", query] = apiBase.split("?", 2);
  const startMs = performance.now();
  const timeout = AbortSignal.timeout(timeoutMs);
  const clean = (text: string): string => (apiKey ? text.replaceAll(apiKey, "[key]") : text);
  try {
    const response = await fetch(`${path}/models${query === undefined ? "" : `?${query}`}`, {
      headers: { accept: "application/json", ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
    const body = await response.text();
    if (!response.ok) {
      const headers = Object.fromEntries(response.headers.entries());
      const failure = classifyFailure({ status: response.status, headers, body });
      return { kind: "failed", reason: clean(failure.message) };
    }
    const models = modelNames(body);
    if (!models) return { kind: "failed", reason: `${path}/models did not answer with a list.` };
    return { kind: "ok", models, ms: Math.round(performance.now() - startMs) };
  } catch (error) {
    // Everything that goes wrong on the way is an answer to the question that was asked.
    if (signal?.aborted) return { kind: "failed", reason: "stopped" };
    if (timeout.aborted) return { kind: "failed", reason: `no answer within ${timeoutMs} ms` };
    return { kind: "failed", reason: clean(describeFault(error, apiBase).message) };
  }
}
