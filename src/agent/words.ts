// What the loop itself says to the model. Short, plain, and each says what to do next: many models
// that read this are small.

export const words = {
  completeAlone:
    "Not accepted: call task_complete alone, after you have seen the results of your other calls.",

  summaryMissing:
    "Not accepted: task_complete needs a summary for the user, as text. What changed, how was it checked?",

  callsMissing:
    "Your reply announced tool calls, but none arrived. Make the call now, " +
    "or call task_complete if the work is done.",

  emptyReply: "Your reply was empty. Go on with the task, or call task_complete if it is done.",

  cutOff: (tokensMax: number): string =>
    `Your reply was cut off at ${tokensMax} tokens; what was cut did not run. ` +
    "Split the work: write large files in several smaller edits, and think more briefly.",

  todoOpen: (items: readonly string[]): string =>
    "Your todo list still has open items:\n" +
    items.map((item) => `- ${item}`).join("\n") +
    "\nGo on with them, or call task_complete if they are done or no longer needed.",

  verifyFailed: (exitCode: number | null, output: string): string =>
    `[VERIFY FAILED] The check that decides whether the task is complete ended with ` +
    `${exitCode === null ? "no exit status" : `exit status ${exitCode}`}:\n${output}\n` +
    "Mend the cause, then complete again.",
};
