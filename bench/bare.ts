// A program of the same runtime that does nothing but ask the endpoint once: what there is to beat.

export {};

await fetch(`${process.env.BOSUN_API_BASE}/chat/completions`, { method: "POST", body: "{}" });
