// Small questions about values of unknown shape, asked of messages by their repair and their check.

export type OpenFields = Record<string, unknown>;

export function isObject(value: unknown): value is OpenFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** No text, or nothing in it but white space: strict providers take neither. */
export function isBlank(content: unknown): boolean {
  return typeof content !== "string" || content.trim() === "";
}

export function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    // No JSON at all.
    return false;
  }
}
