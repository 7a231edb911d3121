// When a reply in words means "done": the marker that models write who do not call task_complete.

const MARKER = "TASKCOMPLETE";

/** The marker alone on its line, at most dressed in markup or closed by a full stop. */
const ON_ITS_OWN_LINE = /^[\s>*_`#-]*TASKCOMPLETE[\s*_`]*[.!:]?[\s*_`]*$/;

/** The marker as the last word of the reply. */
const AT_THE_END = /(?:^|[^\p{L}\p{N}_])TASKCOMPLETE[\s*_`]*[.!]?[\s*_`]*$/u;

/**
 * The reply without the marker when it says that the task is complete, else undefined. Prose that
 * only mentions the marker does not count.
 */
export function completionSummary(text: string): string | undefined {
  if (!text.includes(MARKER)) return undefined;
  const lines = text.split("\n");
  const isMarker = (line: string): boolean => ON_ITS_OWN_LINE.test(line);
  if (!lines.some(isMarker) && !AT_THE_END.test(text)) return undefined;
  return lines
    .filter((line) => !isMarker(line))
    .join("\n")
    .replace(AT_THE_END, "")
    .trim();
}
