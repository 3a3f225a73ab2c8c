// Draws the pictures of docs/guides/browser.md from the built page: `make web`, then `node web/scripts/pictures.mjs`.
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "@playwright/test";

const root = resolve(import.meta.dirname, "../..");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-background-networking", "--disable-quic"],
});
const page = await browser.newPage({
  viewport: { width: 1180, height: 860 },
  colorScheme: "light",
});
await page.goto(pathToFileURL(resolve(root, "web/dist/index.html")).href);
await page.waitForFunction(() => document.body.dataset.runs !== undefined);
await page.locator("#keep").click();
await page.locator("#slot-0-growth").selectOption({ label: "bbr" });
await page.waitForFunction(() => Number(document.body.dataset.runs) > 1);
// The time that a run took would be another one each time.
await page.locator("#status").evaluate((element) => {
  element.textContent = "";
});
await page.screenshot({ path: resolve(root, "docs/images/browser.png") });
await page.locator("#lessons").selectOption("sack");
await page.locator("#question input").nth(1).check();
await page.locator("#judge").click();
await page.waitForFunction(() => Number(document.body.dataset.runs) > 2);
// The chart's words come when nothing moves any more.
await page.waitForFunction(() => document.querySelector("#figure .words")?.textContent !== "");
await page.locator("#lesson").screenshot({ path: resolve(root, "docs/images/browser-lesson.png") });
await page.locator("#tab-segments").click();
await page.waitForFunction(() => document.querySelector("#why")?.textContent?.includes("SYN"));
await page.locator("#step-again").click();
await page
  .locator(".sequence")
  .screenshot({ path: resolve(root, "docs/images/browser-segments.png") });
await browser.close();
