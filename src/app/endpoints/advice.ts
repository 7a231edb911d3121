// What a newcomer without an endpoint gets to read: the three ways to one, filled in with what is
// there on this machine, and the demo.

import { probeEndpoint } from "#capabilities/models";
import { CLOUD_ENDPOINTS, LOCAL_SERVERS, type LocalServer } from "./known";

/** A server on this machine answers at once or is not there. */
const LOCAL_PROBE_MS = 400;

/** More names than this help nobody. */
const MODELS_SHOWN_MAX = 3;

interface FoundServer extends LocalServer {
  models: string[];
}

async function findLocalServers(): Promise<FoundServer[]> {
  const probes = LOCAL_SERVERS.map(async (server): Promise<FoundServer[]> => {
    const probe = await probeEndpoint({
      apiBase: server.apiBase,
      apiKey: undefined,
      timeoutMs: LOCAL_PROBE_MS,
    });
    return probe.kind === "ok" ? [{ ...server, models: probe.models }] : [];
  });
  return (await Promise.all(probes)).flat();
}

/** The whole advice as text. `env` is the environment that the program was started with. */
export async function endpointAdvice(
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const clouds = CLOUD_ENDPOINTS.filter((endpoint) => env[endpoint.keyVariable]);
  const servers = await findLocalServers();
  const lines = ["Bosun needs a model. Nothing is configured yet; there are three ways:", ""];
  lines.push("1. A cloud key from your environment.");
  for (const { name, keyVariable, apiBase } of clouds) {
    lines.push(`   Found ${keyVariable} (${name}):`);
    lines.push(`   BOSUN_API_KEY="$${keyVariable}" bosun --api-base ${apiBase} --model NAME`);
  }
  if (clouds.length === 0) {
    lines.push(
      `   None found. Looked for ${CLOUD_ENDPOINTS.map((e) => e.keyVariable).join(", ")}.`,
    );
  }
  lines.push("", "2. A server on this machine.");
  for (const { name, apiBase, models } of servers) {
    lines.push(`   Found one at ${apiBase} (the usual port of ${name}):`);
    const shown = models.slice(0, MODELS_SHOWN_MAX);
    for (const model of shown.length > 0 ? shown : ["NAME"]) {
      lines.push(`   bosun --api-base ${apiBase} --model ${model}`);
    }
  }
  if (servers.length === 0) {
    lines.push("   None answers on the usual ports of Ollama, LM Studio, llama.cpp and vLLM.");
  }
  lines.push("", "3. Any OpenAI-compatible endpoint.");
  lines.push("   BOSUN_API_KEY=... bosun --api-base URL --model NAME");
  lines.push("", "Or look at the demo first: bosun --demo (from a checkout: npm start -- --demo)");
  return lines.join("\n");
}
