// Prompts, tool descriptions and other texts that are embedded in the executable.

declare module "*.md" {
  const text: string;
  export default text;
}

declare module "*.wasm" {
  const path: string;
  export default path;
}

declare module "*.sh" {
  const text: string;
  export default text;
}
