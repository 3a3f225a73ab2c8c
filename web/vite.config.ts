import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

const root = import.meta.dirname;
const core = resolve(
  root,
  process.env.ACKCLOCK_CORE ?? "../target/wasm32-unknown-unknown/web/ackclock_web.wasm",
);

/** One file that works from any web server and from file://, where neither a module nor a fetch does. */
function single(packaged: boolean): Plugin {
  return {
    name: "single-file",
    enforce: "post",
    generateBundle(_, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("no page was built");
      let html = String(page.source);
      for (const [name, part] of Object.entries(bundle)) {
        if (part.type === "chunk") {
          // `</script` would end the element.
          const code = part.code.replaceAll("</script", "<\\/script");
          const tag = new RegExp(`<script[^>]*src="[^"]*${part.fileName}"[^>]*></script>`);
          html = html.replace(tag, "");
          html = html.replace("<!-- program -->", () => `<script type="module">${code}</script>`);
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          const tag = new RegExp(`<link[^>]*href="[^"]*${part.fileName}"[^>]*>`);
          html = html.replace(tag, () => `<style>${String(part.source)}</style>`);
          delete bundle[name];
        }
      }
      // `ackclock serve` has the core itself.
      const known = '<meta name="ackclock" content="serve" />';
      const withoutCore = html.replace("<!-- core -->", "").replace("</title>", `</title>${known}`);
      this.emitFile({ type: "asset", fileName: "serve.html", source: withoutCore });
      if (packaged) {
        delete bundle["index.html"];
        return;
      }
      const wasm = gzipSync(readFileSync(core), { level: 9 }).toString("base64");
      const holder = `<script type="application/octet-stream" id="core">${wasm}</script>`;
      page.source = html.replace("<!-- core -->", () => holder);
    },
  };
}

// `--mode page` makes the page alone that goes into the package, for which no core is needed.
export default defineConfig(({ mode }) => ({
  root,
  base: "./",
  plugins: [single(mode === "page")],
  worker: { format: "iife" },
  build: {
    target: "es2022",
    outDir: mode === "page" ? "dist/page" : "dist",
    emptyOutDir: true,
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1e9,
    reportCompressedSize: false,
  },
}));
