import { expect, type Page, test } from "@playwright/test";
import { settled, visit } from "./page";

const TWO =
  'duration = "5 s"\n[topology]\nkind = "dumbbell"\nbottleneck = { rate = "10 Mbit/s", delay = "20 ms" }\naccess = { rate = "1 Gbit/s", delay = "0 s" }\n[[flow]]\nname = "a"\nvariant = "newreno"\n[[flow]]\nname = "b"\nvariant = "cubic"\n[[flow]]\nname = "c"\nvariant = "newreno"\n';

/** The dashes of each line in the legend of each chart. */
function legends(page: Page): Promise<string[][]> {
  return page
    .locator(".right .chart")
    .evaluateAll((charts) =>
      charts.map((chart) =>
        [...chart.querySelectorAll(".u-marker line")].map(
          (line) => line.getAttribute("stroke-dasharray") ?? "none",
        ),
      ),
    );
}

type Colour = [number, number, number];

/** sRGB to linear light (IEC 61966-2-1). */
function linear(part: number): number {
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

/** The relative luminance of a linear colour (WCAG 2.2). */
function luminance([r, g, b]: Colour): number {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Deuteranopia after Machado, Oliveira and Fernandes (2009), severity 1.0, over linear colours. */
function deuteranopia([r, g, b]: Colour): Colour {
  const mixed: Colour = [
    0.367322 * r + 0.860646 * g - 0.227968 * b,
    0.280085 * r + 0.672501 * g + 0.047413 * b,
    -0.01182 * r + 0.04294 * g + 0.968881 * b,
  ];
  return mixed.map((part) => Math.min(Math.max(part, 0), 1)) as Colour;
}

function grey(colour: Colour): Colour {
  const light = luminance(colour);
  return [light, light, light];
}

for (const colorScheme of ["light", "dark"] as const)
  test.describe(colorScheme, () => {
    test.use({ colorScheme });
    test("no two lines of a chart differ by colour alone", async ({ page }) => {
      await visit(page);
      await page.locator("#text").fill(TWO);
      await settled(page);
      await page.locator("#keep").click();
      await page.locator("#text").fill(TWO.replace("20 ms", "10 ms"));
      await settled(page);
      const found = await legends(page);
      // The window has two lines of each of three flows, and those of the run kept.
      expect(Math.max(...found.map((lines) => lines.length))).toBe(12);
      for (const lines of found) expect(new Set(lines).size).toBe(lines.length);
      const labels = await page.locator(".right .u-series .u-label").allTextContents();
      expect(labels).toContain("b: ssthresh (run kept)");
      // Each line stands out from the page by 3:1 (WCAG 2.2, 1.4.11), whoever sees it.
      const colours = await page.evaluate(() => {
        const style = getComputedStyle(document.documentElement);
        const names = ["--back", "--panel", ...[1, 2, 3, 4, 5, 6].map((n) => `--series-${n}`)];
        // A build writes `#fff` for `#ffffff`.
        return names.map((name) =>
          style
            .getPropertyValue(name)
            .trim()
            .replace(/^#(.)(.)(.)$/, "#$1$1$2$2$3$3"),
        );
      });
      const seen = colours.map(
        (text) =>
          [1, 3, 5].map((at) => linear(parseInt(text.slice(at, at + 2), 16) / 255)) as Colour,
      );
      for (const eye of [(colour: Colour) => colour, deuteranopia, grey]) {
        const [back = 0, panel = 0, ...lines] = seen.map(eye).map(luminance);
        for (const behind of [back, panel])
          for (const line of lines) {
            const [low, high] = [Math.min(line, behind), Math.max(line, behind)];
            expect((high + 0.05) / (low + 0.05)).toBeGreaterThan(3);
          }
      }
    });
  });

test("every figure is told in words", async ({ page }) => {
  await visit(page);
  const chart = page.locator(".right .chart").first();
  const words = chart.locator(".words");
  await expect(words).toHaveText(
    /^file: cwnd: [\d.]+ at first, at most [\d.]+ at [\d.]+ s, [\d.]+ at the end\./,
  );
  const told = await words.textContent();
  await chart.focus();
  await page.keyboard.press("+");
  await expect(words).not.toHaveText(told ?? "");
  for (const text of await page.locator(".right .words").allTextContents())
    expect(text).toMatch(/\d/);
  await page.locator("#tab-segments").click();
  await expect(page.locator(".sequence canvas")).toHaveAttribute(
    "aria-label",
    /^Segments of file: .* \d+ segments, \d+ of them retransmitted and \d+ lost\./,
  );
  // Nothing is drawn that has no name.
  const nameless = await page.locator("canvas, svg, img").evaluateAll((figures) =>
    figures
      .filter((figure) => !figure.closest("[aria-hidden=true]"))
      .filter((figure) => !figure.getAttribute("aria-label") && !figure.closest(".chart"))
      .map((figure) => figure.outerHTML.slice(0, 80)),
  );
  expect(nameless).toEqual([]);
});

test("the page has neither backticks nor words of its own making", async ({ page }) => {
  await visit(page);
  const expectPlain = async () => {
    const text = await page.locator("#app").evaluate((app) => app.textContent ?? "");
    for (const word of ["`", "dashed", "the page ", "sent again"]) expect(text).not.toContain(word);
  };
  await page.locator("#parts-0").click();
  await expectPlain();
  await page.locator("#tab-segments").click();
  await expect(page.locator("#why")).toContainText("SYN");
  await page.locator("#step-again").click();
  await expect(page.locator("#why")).toContainText("retransmitted");
  await expectPlain();
  await page.locator("#tab-tables").click();
  for (const kind of await page.locator("#queue option").allTextContents()) {
    await page.locator("#queue").selectOption(kind);
    await settled(page);
    await expectPlain();
  }
  await page.locator("#text").fill("duration = 3");
  await settled(page);
  await expect(page.locator("#fault")).not.toHaveText("");
  await expectPlain();
});
