// The way to a provider, as a session remembers it: opaque parts of messages belong to it.

/** The endpoint without its credentials and without its query. */
export function routeOf(apiBase: string): string {
  if (!URL.canParse(apiBase)) return apiBase;
  const { protocol, host, pathname } = new URL(apiBase);
  return `${protocol}//${host}${pathname.replace(/\/+$/, "").replace(/\/chat\/completions$/, "")}`;
}
