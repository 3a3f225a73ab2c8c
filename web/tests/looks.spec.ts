import AxeBuilder from "@axe-core/playwright";
import { expect, type Page, test } from "@playwright/test";
import { settled, visit } from "./page";

async function expectClean(page: Page): Promise<void> {
  // Targets that a finger can hit are in WCAG 2.2, and are looked for only when asked.
  const { violations } = await new AxeBuilder({ page })
    .options({ rules: { "target-size": { enabled: true } } })
    .analyze();
  const told = violations.map(
    (each) =>
      `${each.id}: ${each.nodes.map((node) => `${node.target.join(" ")} ${node.failureSummary}`).join("; ")}`,
  );
  expect(told).toEqual([]);
}

for (const colorScheme of ["light", "dark"] as const)
  for (const width of [390, 1280]) {
    test.describe(`${colorScheme}, ${width} pixels`, () => {
      test.use({ colorScheme, viewport: { width, height: 900 } });
      test("nothing is cut off, and axe finds nothing", async ({ page }) => {
        const faults: string[] = [];
        page.on("pageerror", (error) => faults.push(error.message));
        page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
        await visit(page);
        await expect(page).toHaveTitle("Ackclock in a browser");
        const wide = () => page.evaluate(() => document.documentElement.scrollWidth);
        await page.locator("#parts-0").click();
        await expectClean(page);
        expect(await wide()).toBeLessThanOrEqual(width);
        await page.locator("#tab-segments").click();
        await expect(page.locator("#why")).toContainText("SYN");
        await expectClean(page);
        expect(await wide()).toBeLessThanOrEqual(width);
        await page.locator("#tab-tables").click();
        await expectClean(page);
        // A lesson, before its answer and after it, in both languages.
        for (const language of ["en", "de"]) {
          await page.locator("#language").selectOption(language);
          await page.locator("#lessons").selectOption("sack");
          await expect(page.locator(".setup svg")).toBeVisible();
          await expectClean(page);
          expect(await wide()).toBeLessThanOrEqual(width);
          await page.locator("#question input").first().check();
          await page.locator("#judge").click();
          await expect(page.locator("#figure .chart").first()).toBeVisible();
          await settled(page);
          await expectClean(page);
          expect(await wide()).toBeLessThanOrEqual(width);
        }
        await page.locator("#text").fill("duration = 3");
        await settled(page);
        await expectClean(page);
        expect(await wide()).toBeLessThanOrEqual(width);
        expect(faults).toEqual([]);
      });
    });
  }

test("a million points are panned without a frame over 50 ms", async ({ page }, info) => {
  test.setTimeout(180_000);
  await visit(page);
  // 8,333 packets a second: each is two samples of the link (it comes, and it goes), and each ACK one of the flow.
  await page
    .locator("#text")
    .fill(
      'duration = "30 s"\n[topology]\nkind = "dumbbell"\nbottleneck = { rate = "100 Mbit/s", delay = "10 ms" }\naccess = { rate = "1 Gbit/s", delay = "0 s" }\n[[flow]]\nvariant = "cubic+modern"\ntcp = { delayed_ack = "off" }\n',
    );
  await settled(page);
  const points = Number(await page.locator(".charts").getAttribute("data-points"));
  expect(points).toBeGreaterThan(1_000_000);
  await page.locator(".chart").first().focus();
  for (let n = 0; n < 3; n += 1) await page.keyboard.press("+");
  const tries: number[] = [];
  // Every frame of a try counts. The machine may have other work: of some tries one has to be without it.
  while (tries.length < 6 && !tries.some((longest) => longest < 50)) {
    await page.evaluate(() => {
      const told = window as unknown as { frames: number[]; watched: boolean };
      told.frames = [];
      told.watched = true;
      let last = 0;
      const next = (now: number) => {
        if (last > 0) told.frames.push(now - last);
        last = now;
        if (told.watched) requestAnimationFrame(next);
      };
      requestAnimationFrame(next);
    });
    for (let n = 0; n < 20; n += 1) {
      await page.keyboard.press(n % 2 === 0 ? "ArrowRight" : "ArrowLeft");
      await page.waitForTimeout(40);
    }
    const frames = await page.evaluate(() => {
      const told = window as unknown as { frames: number[]; watched: boolean };
      told.watched = false;
      return told.frames;
    });
    expect(frames.length).toBeGreaterThan(20);
    tries.push(Math.max(...frames));
  }
  info.annotations.push({ type: "longest frames (ms)", description: `${points}: ${tries}` });
  expect(Math.min(...tries)).toBeLessThan(50);
});
