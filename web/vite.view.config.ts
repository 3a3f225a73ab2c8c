import { defineConfig, type Plugin } from "vite";

/** The style of the page, for an element of another's page alone. */
function scoped(): Plugin {
  return {
    name: "scoped-style",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const part of Object.values(bundle)) {
        if (part.type !== "asset" || !part.fileName.endsWith(".css")) continue;
        const style = String(part.source)
          .replaceAll(":root", "&")
          .replaceAll(/(^|[};\s])body(?=[{.:])/g, "$1&");
        part.source = `.ackclock-view{overflow:auto;${style}}`;
      }
    },
  };
}

/** The view of a run inside a notebook: a module and a style, for anywidget. */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [scoped()],
  build: {
    target: "es2022",
    outDir: "dist/view",
    emptyOutDir: true,
    reportCompressedSize: false,
    lib: { entry: "src/view.ts", formats: ["es"], fileName: "view", cssFileName: "view" },
  },
});
