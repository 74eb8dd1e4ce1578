import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build, defineConfig, type Plugin } from "vite";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** RETORT_FAKE=1 replaces the engine by dev/fake-engine.ts, which loads and judges nothing real. */
const fake = process.env["RETORT_FAKE"] === "1";

/** What a page may do, apart from whom it may talk to. */
const policy = (connect: string) =>
  [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    `connect-src ${connect}`,
    "worker-src 'self' blob:",
    "form-action 'none'",
    "base-uri 'none'",
  ].join("; ");

/**
 * The policies that the server sends as headers. Each page repeats its own in a `<meta>`, so that it also holds on a host that
 * sends no headers; workers are started from blob: addresses and so inherit it (src/worker/start.ts).
 */
export const POLICY = policy("'self'");
/** The download page's: it holds no texts, and has to reach where models come from. */
export const DOWNLOAD_POLICY = policy("'self' https://huggingface.co https://*.huggingface.co https://*.hf.co");

/** Only in builds: the development server needs inline styles and a web socket. */
function policyMeta(): Plugin {
  return {
    name: "retort-policy-meta",
    apply: "build",
    transformIndexHtml: (_html, { filename }) => [
      {
        tag: "meta",
        attrs: { "http-equiv": "Content-Security-Policy", content: filename.endsWith("models.html") ? DOWNLOAD_POLICY : POLICY },
        injectTo: "head-prepend",
      },
    ],
  };
}

/**
 * Builds the service worker when everything else is written, with the list of what that is and a hash of it all. It is a
 * script of its own, not a module: Firefox long knew no module service workers, and its name must stay the same.
 */
function serviceWorker(): Plugin {
  return {
    name: "retort-service-worker",
    apply: "build",
    writeBundle: async ({ dir }) => {
      const files = readdirSync(dir!, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(dir!, join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
        // Models are kept elsewhere; what a host wants for itself is not the page's.
        .filter((file) => file !== "sw.js" && !file.startsWith("models/"))
        .sort();
      const hash = createHash("sha256");
      for (const file of files) hash.update(file).update(readFileSync(join(dir!, file)));
      hash.update(readFileSync(here("./src/sw.ts")));
      await build({
        configFile: false,
        root: here("."),
        publicDir: false,
        logLevel: "warn",
        resolve: { alias: [{ find: /^retort-engine\/variant$/, replacement: here("../pkg/variant.mjs") }] },
        define: { __FILES__: JSON.stringify(files), __BUILD__: JSON.stringify(hash.digest("hex").slice(0, 16)) },
        build: {
          target: "es2022",
          outDir: dir!,
          emptyOutDir: false,
          modulePreload: false,
          rollupOptions: { input: here("./src/sw.ts"), output: { format: "iife", entryFileNames: "sw.js" } },
        },
      });
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [policyMeta(), serviceWorker()],
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
    rollupOptions: { input: { index: here("./index.html"), models: here("./models.html") } },
  },
  server: {
    fs: { allow: [here("."), here("../pkg"), here("../crates/retort-web/src")] },
  },
});
