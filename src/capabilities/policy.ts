// What may happen without asking anyone. Judges commands and paths, reads the owner's rules, and
// decides on each call. No input or output: the grammar's bytes and all paths are handed in.

export { type ApproverOptions, createApprover } from "./policy/approver";
export { type Explanation, explainCommand } from "./policy/explain";
export type { GrammarBytes, LoadGrammar } from "./policy/grammar";
export { type CommandOptions, type CommandVerdict, judgeCommand } from "./policy/judge";
export { parseRules } from "./policy/parse-rules";
export { mayReadPath } from "./policy/paths";
export type { PathOptions } from "./policy/private-paths";
export { type PolicyRule, RuleError, type RuleSource } from "./policy/rules";
