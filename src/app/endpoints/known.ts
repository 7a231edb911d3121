// Where a model may be found when the user named no endpoint: clouds whose key lies in the
// environment, and servers on the usual loopback ports.

export interface CloudEndpoint {
  name: string;
  keyVariable: string;
  apiBase: string;
}

/** Each speaks Chat Completions at this base URL, by its own documentation. */
export const CLOUD_ENDPOINTS: readonly CloudEndpoint[] = [
  { name: "OpenAI", keyVariable: "OPENAI_API_KEY", apiBase: "https://api.openai.com/v1" },
  {
    name: "OpenRouter",
    keyVariable: "OPENROUTER_API_KEY",
    apiBase: "https://openrouter.ai/api/v1",
  },
  { name: "Anthropic", keyVariable: "ANTHROPIC_API_KEY", apiBase: "https://api.anthropic.com/v1" },
  {
    name: "Google",
    keyVariable: "GEMINI_API_KEY",
    apiBase: "https://generativelanguage.googleapis.com/v1beta/openai",
  },
  { name: "xAI", keyVariable: "XAI_API_KEY", apiBase: "https://api.x.ai/v1" },
  { name: "Groq", keyVariable: "GROQ_API_KEY", apiBase: "https://api.groq.com/openai/v1" },
  { name: "Mistral", keyVariable: "MISTRAL_API_KEY", apiBase: "https://api.mistral.ai/v1" },
  { name: "DeepSeek", keyVariable: "DEEPSEEK_API_KEY", apiBase: "https://api.deepseek.com/v1" },
];

export interface LocalServer {
  name: string;
  apiBase: string;
}

/** The default ports of the servers that people run at home. */
export const LOCAL_SERVERS: readonly LocalServer[] = [
  { name: "Ollama", apiBase: "http://127.0.0.1:11434/v1" },
  { name: "LM Studio", apiBase: "http://127.0.0.1:1234/v1" },
  { name: "llama.cpp", apiBase: "http://127.0.0.1:8080/v1" },
  { name: "vLLM", apiBase: "http://127.0.0.1:8000/v1" },
];
