// The tool `read_artifact`: pages through an output that was too long to be shown whole.

import { type Tool, ToolFailure } from "#agent/ports";
import type { ArtifactStore } from "#stores/artifacts";
import { optional, text, whole } from "./fields";
import { type ArgumentsOf, lenientParameters } from "./parameters";
import description from "./read-artifact.md" with { type: "text" };

const parameters = lenientParameters("read_artifact", {
  id: text(),
  offset: optional(whole({ min: 0 })),
});

type ReadArtifactArgs = ArgumentsOf<typeof parameters>;

export function createReadArtifactTool(options: {
  artifacts: Pick<ArtifactStore, "read">;
}): Tool<ReadArtifactArgs> {
  return {
    name: "read_artifact",
    summary: "Read a kept output, page by page.",
    description: description.trim(),
    tags: ["read"],
    parameters,
    // Artifacts are the agent's own results: reading one touches nothing of the world.
    effect: () => ({ kind: "none" }),
    async run(args) {
      const page = await options.artifacts.read(args.id.trim(), args.offset ?? 0);
      if (!page) {
        throw new ToolFailure(
          `There is no artifact ${args.id}. Results that were cut name theirs.`,
        );
      }
      const range = `bytes ${page.offset} to ${page.offset + Buffer.byteLength(page.text)}`;
      const next = page.nextOffset === null ? "the end" : `next page: offset ${page.nextOffset}`;
      const separator = page.text === "" || page.text.endsWith("\n") ? "" : "\n";
      return { content: `${page.text}${separator}[${range} of ${page.size}; ${next}]`, ok: true };
    },
  };
}
