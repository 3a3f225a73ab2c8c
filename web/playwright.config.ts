import { defineConfig } from "@playwright/test";

// Two working copies may be tested at a time.
const PORT = process.env.PORT ?? "4173";

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  timeout: 90_000,
  // The machine may have other work.
  expect: { timeout: 20_000 },
  // A frame or an answer may be late beside other work once.
  retries: 1,
  workers: 2,
  fullyParallel: true,
  forbidOnly: Boolean(process.env.CI),
  reporter: [["line"]],
  use: {
    baseURL: `http://127.0.0.1:${PORT}`,
    browserName: "chromium",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
  webServer: {
    command: `npx vite preview --host 127.0.0.1 --port ${PORT} --strictPort`,
    url: `http://127.0.0.1:${PORT}`,
    reuseExistingServer: false,
  },
});
