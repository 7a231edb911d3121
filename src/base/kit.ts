// Small pure pieces that any ring may use. No input or output, no clock, no process.

export { nearestName } from "./kit/nearest";
