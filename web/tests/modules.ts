import { createServer, type ViteDevServer } from "vite";

/** A server that compiles modules of the page for tests that need no browser. */
export function compiling(): Promise<ViteDevServer> {
  return createServer({
    configFile: false,
    root: new URL("..", import.meta.url).pathname,
    server: { middlewareMode: true, hmr: false, watch: null, ws: false },
    optimizeDeps: { noDiscovery: true },
    logLevel: "error",
  });
}
