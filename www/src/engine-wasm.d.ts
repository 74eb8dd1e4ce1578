/** The address of the engine's wasm file; see the aliases in vite.config.ts. */
declare module "retort-engine/wasm" {
  const url: string;
  export default url;
}
