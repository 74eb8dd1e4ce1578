/** The addresses of the engine's wasm files; see the aliases in vite.config.ts. */
declare module "retort-engine/wasm" {
  const url: string;
  export default url;
}

declare module "retort-engine/wasm-relaxed" {
  const url: string;
  export default url;
}
