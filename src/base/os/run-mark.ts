// How the processes of one run are known, whatever else they did: a variable that all inherit.

/** Differs from command to command: by it what left its command's session is still found. */
export const RUN_MARK = "BOSUN_RUN";
