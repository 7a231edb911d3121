// Small pure pieces that any ring may use. No input or output, no clock, no process.

export { nearestName } from "./kit/nearest";
export type { Scrubber, ScrubStream } from "./kit/scrub";
export { createScrubber } from "./kit/scrub";
export { StoreFailure } from "./kit/store-failure";
