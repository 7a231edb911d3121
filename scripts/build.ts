// Bundles and compiles the program for this platform. Run by Bun, from the repository's root.

import { leanSdk } from "./lean-sdk";

const result = await Bun.build({
  entrypoints: ["src/main.ts"],
  compile: {
    outfile: "dist/bosun",
    // Otherwise the executable reads the bunfig.toml and .env of the directory it works in.
    autoloadBunfig: false,
    autoloadDotenv: false,
  },
  minify: true,
  // What is imported when it is needed lies in a chunk of its own and costs nothing until then.
  splitting: true,
  bytecode: true,
  format: "esm",
  target: "bun",
  plugins: [leanSdk()],
});

if (!result.success) {
  for (const message of result.logs) console.error(message);
  process.exit(1);
}
console.log("Built dist/bosun.");
