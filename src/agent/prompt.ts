// Puts the system prompt together. It stays byte-identical for a whole session, so that providers
// can reuse what they computed for it: nothing in it changes from step to step.

import fastPrompt from "./prompts/fast.md" with { type: "text" };
import fullPrompt from "./prompts/system.md" with { type: "text" };

/** Project instructions beyond this many characters are left out. */
export const INSTRUCTIONS_CHARACTERS_MAX = 16_000;

export interface PromptSurroundings {
  /** The short prompt for slow inference. */
  fast: boolean;
  cwd: string;
  platform: string;
  /** The day on which the session began, `2026-11-30`. */
  day: string;
  isGitRepository: boolean;
  /** The command that a completion has to pass, if any. */
  verifyCommand: string | undefined;
  /** `AGENTS.md` or `CLAUDE.md` of the project. */
  instructions: { name: string; text: string } | undefined;
}

export function composeSystemPrompt(surroundings: PromptSurroundings): string {
  const { fast, cwd, platform, day, isGitRepository, verifyCommand, instructions } = surroundings;
  const parts = [(fast ? fastPrompt : fullPrompt).trim()];
  const repository = isGitRepository ? "a git repository" : "not a git repository";
  parts.push(`Working directory: ${cwd} (${repository}). System: ${platform}. Today: ${day}.`);
  if (verifyCommand !== undefined) {
    parts.push(`Completion is accepted only when this command exits with 0: ${verifyCommand}`);
  }
  if (instructions && instructions.text.trim() !== "") {
    parts.push(
      `The project's instructions (${instructions.name}):\n\n${cutInstructions(instructions.text)}`,
    );
  }
  return parts.join("\n\n");
}

function cutInstructions(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length <= INSTRUCTIONS_CHARACTERS_MAX) return trimmed;
  // A cut inside a surrogate pair would leave half a character behind.
  const cut = trimmed.slice(0, INSTRUCTIONS_CHARACTERS_MAX).replace(/[\uD800-\uDBFF]$/, "");
  return `${cut}\n[cut: the file is longer than ${INSTRUCTIONS_CHARACTERS_MAX} characters]`;
}
