import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** RETORT_FAKE=1 replaces the engine by dev/fake-engine.ts, which loads and judges nothing real. */
const fake = process.env["RETORT_FAKE"] === "1";

/**
 * The policy that the server sends as a header. The page repeats it in a `<meta>` so that it also holds on a
 * host that sends no headers; a worker obeys only the header of its own response.
 */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
].join("; ");

/** Only in builds: the development server needs inline styles and a web socket. */
function policyMeta(): Plugin {
  return {
    name: "retort-policy-meta",
    apply: "build",
    transformIndexHtml: () => [
      { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: POLICY }, injectTo: "head-prepend" },
    ],
  };
}

export default defineConfig({
  base: "./",
  plugins: [policyMeta()],
  resolve: {
    alias: [
      {
        find: /^retort-engine\/wasm$/,
        replacement: fake ? here("./dev/fake-wasm.ts") : `${here("../pkg/retort_bg.wasm")}?url`,
      },
      {
        find: /^retort-engine\/wasm-relaxed$/,
        replacement: fake ? here("./dev/fake-wasm.ts") : `${here("../pkg/retort_relaxed_bg.wasm")}?url`,
      },
      { find: /^retort-engine\/variant$/, replacement: here("../pkg/variant.mjs") },
      { find: /^retort-engine$/, replacement: fake ? here("./dev/fake-engine.ts") : here("../pkg/retort.js") },
    ],
  },
  worker: { format: "es" },
  build: {
    target: "es2022",
    outDir: fake ? "dist-fake" : "dist",
    emptyOutDir: true,
    // Nothing is inlined as a data: URL, so that the policy stays short and every file can be seen in the network panel.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 300,
  },
  server: {
    fs: { allow: [here("."), here("../pkg"), here("../crates/retort-web/src")] },
  },
});
