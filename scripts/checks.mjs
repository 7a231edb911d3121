// The checks that need no running program; each is run by Bun.

export const CHECKS = [
  { name: "types", args: ["x", "--no-install", "tsc"] },
  { name: "lint and format", args: ["x", "--no-install", "biome", "check", "--error-on-warnings"] },
  { name: "unused code", args: ["x", "--no-install", "knip"] },
];
