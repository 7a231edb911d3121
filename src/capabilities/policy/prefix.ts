// The narrow rule behind "always": the leading words of one plain command, never wider than what a
// person would call the same thing. A program that runs what it is given never gets one.

import { lex } from "./lex";
import { cut } from "./script";

/** Programs whose first word says what they do: only together with it are they one thing. */
const WITH_SUBCOMMAND: Record<string, RegExp> = {
  npm: /^(?:test|t|run|run-script|start|stop|restart|build|lint|pack|audit|outdated)$/,
  pnpm: /^(?:test|run|start|build|lint|outdated|[a-z]+:[a-z:]+)$/,
  yarn: /^(?:test|run|start|build|lint|[a-z]+:[a-z:]+)$/,
  bun: /^(?:test|run|build)$/,
  deno: /^(?:test|lint|fmt|check|task|bench)$/,
  cargo: /^(?:test|build|check|clippy|fmt|doc|bench|tree|nextest|run)$/,
  go: /^(?:test|build|vet|fmt|mod|list|doc)$/,
  git: /^(?:add|commit|push|pull|fetch|checkout|switch|restore|merge|branch|tag|stash|reset|mv|rm|cherry-pick|revert)$/,
  docker: /^(?:build|ps|images|logs|inspect|pull|stop|start|compose)$/,
  podman: /^(?:build|ps|images|logs|inspect|pull|stop|start)$/,
  kubectl: /^(?:get|describe|logs|apply|rollout|top)$/,
  gh: /^(?:pr|issue|run|repo|release|search)$/,
  make: /^[A-Za-z][\w.-]*$/,
  just: /^[A-Za-z][\w.-]*$/,
  gradle: /^[A-Za-z][\w:-]*$/,
  mvn: /^[a-z][\w:-]*$/,
  dotnet: /^(?:test|build|format|restore)$/,
  mix: /^(?:test|compile|format)$/,
  composer: /^(?:test|validate|outdated|show)$/,
  bundle: /^(?:check|list|outdated)$/,
  poetry: /^(?:check|show|build|lock)$/,
  uv: /^(?:sync|lock|tree|build)$/,
  terraform: /^(?:plan|validate|fmt|show)$/,
  systemctl: /^(?:restart|start|stop|reload)$/,
};
/** After these one more word is needed. */
const NEEDS_THIRD =
  /^(?:(?:npm|pnpm|yarn|bun) (?:run|run-script)|deno task|go mod|docker compose|gh \w+|systemctl \w+)$/;
/** Checkers and builders that do one thing, whatever they are given. */
const ALONE = new Set(
  "pytest tsc eslint prettier biome jest vitest mocha ruff mypy black flake8 pylint rubocop rspec phpunit gofmt rustfmt mkdir touch shellcheck hadolint yamllint markdownlint golangci-lint stylelint ctest knip".split(
    " ",
  ),
);

const PLAIN_WORD = /^[A-Za-z0-9_@%+=:,./^~-]+$/;

/** The leading words of the rule, or null when only the exact command is narrow enough. */
export function safePrefix(command: string): string[] | null {
  const script = cut(lex(command));
  const [pipeline, ...others] = script.pipelines;
  const [only, ...stages] = pipeline ?? [];
  if (!only || others.length > 0 || stages.length > 0 || script.needsGrammar || script.problem) {
    return null;
  }
  if (only.assignments.length > 0 || only.redirects.length > 0) return null;
  const leading: string[] = [];
  for (const word of only.words) {
    if (word.literal === null || word.raw !== word.literal || !PLAIN_WORD.test(word.raw)) break;
    if (word.raw.startsWith("-") || word.raw.startsWith("~")) break;
    leading.push(word.literal);
  }
  const [name = "", action = ""] = leading;
  if (ALONE.has(name)) return [name];
  const actions = Object.hasOwn(WITH_SUBCOMMAND, name) ? WITH_SUBCOMMAND[name] : undefined;
  if (!actions?.test(action)) return null;
  return NEEDS_THIRD.test(`${name} ${action}`) && leading.length < 3 ? null : leading;
}
