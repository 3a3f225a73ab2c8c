import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import type { Lesson, Texts } from "../src/lessons";
import { settled, visit } from "./page";

const folder = resolve(import.meta.dirname, "../lessons");

function read<T>(name: string): T {
  return JSON.parse(readFileSync(resolve(folder, name), "utf8")) as T;
}

const lessons = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .sort()
  .map((file) => read<Lesson>(file));
const texts = { en: read<Texts>("texts/en.json"), de: read<Texts>("texts/de.json") };

/** The two windows of the lessons: of a notebook, and of a phone. */
const SIZES = [
  { width: 1280, height: 720 },
  { width: 390, height: 844 },
];

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The fixed parts of a sentence, between its numbers. */
function parts(text: string): string[] {
  return text.split(/\{\w+\}/).filter((part) => part.trim().length > 8);
}

/** Nothing of the answer is in the page, be it hidden: no chart, no table, no number of a run, no word of it. */
async function expectOpen(page: Page, lesson: Lesson, words: Texts): Promise<void> {
  await expect(page.locator("canvas:visible, .uplot, table, .chart")).toHaveCount(0);
  for (const id of ["#verdict", "#answer", "#result", "#tables", "#status", "#table-name", "#why"])
    await expect(page.locator(id)).toHaveText("");
  await expect(page.locator("#figure")).toHaveText(words.words.waits ?? "");
  const shown = await page.locator("#app").evaluate((body) => body.textContent ?? "");
  for (const step of words.lessons[lesson.id]?.steps ?? [])
    for (const part of parts(step)) expect(shown).not.toContain(part);
}

for (const lesson of lessons)
  for (const size of SIZES) {
    const words = texts.en;
    const own = words.lessons[lesson.id];
    test(`lesson ${lesson.id} asks first, at ${size.width} pixels`, async ({ page }) => {
      await page.setViewportSize(size);
      await visit(page);
      await page.locator("#lessons").selectOption(lesson.id);
      await expect(page.locator(".setup svg")).toBeVisible();
      await settled(page);
      await expectOpen(page, lesson, words);
      await expect(page.locator("#judge")).toBeDisabled();
      // A choice alone is no answer yet.
      const option = upper(own?.options[lesson.right] ?? "");
      await page.getByLabel(option, { exact: true }).check();
      await settled(page);
      await expectOpen(page, lesson, words);
      await page.locator("#judge").click();
      await expect(page.locator("#verdict")).toHaveText(`${words.words.right} ${option}.`);
      await settled(page);
      // Every number of the explanation is known, and its moments lie in the time that the chart shows.
      await expect(page.locator("#answer")).not.toContainText("–");
      await expect(page.locator("#answer .steps li")).toHaveCount(lesson.steps.length);
      await expect(page.locator("#answer .moment")).toHaveCount(
        lesson.steps.filter((step) => step !== null).length,
      );
      await expect(page.locator("#figure .chart")).toHaveCount(lesson.figure.panels.length);
      for (const moment of await page.locator("#answer .moment").all()) {
        const at = Number(await moment.getAttribute("data-at"));
        expect(at).toBeGreaterThanOrEqual(lesson.figure.from);
        expect(at).toBeLessThanOrEqual(lesson.figure.to);
      }
      await expect(page.locator("#fault")).toHaveText("");
      await expect(page.locator("#keep")).toHaveText(
        lesson.beside ? "Remove the run kept" : "Keep this run to compare",
      );
      // The question, what was answered, and the chart are seen together.
      for (const part of ["#question", "#verdict", "#figure .chart >> nth=0"])
        await expect(page.locator(part)).toBeInViewport({ ratio: 0.99 });
    });
  }

test("both languages have all texts, and the same numbers in them", () => {
  const shape = (texts: Texts) =>
    lessons.map(({ id, options, steps, links, figure }) => {
      const own = texts.lessons[id];
      expect(own?.options.length).toBe(options.length);
      expect(own?.steps.length).toBe(steps.length);
      for (const link of links)
        if (!link.startsWith("https:")) expect(texts.links[link]).toBeTruthy();
      for (const panel of figure.panels) expect(texts.panels[panel]).toHaveLength(2);
      return own?.steps.map((step) =>
        [...step.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort(),
      );
    });
  expect(shape(texts.de)).toEqual(shape(texts.en));
  expect(Object.keys(texts.de.words)).toEqual(Object.keys(texts.en.words));
  // Moments come from runs: no sentence has one typed in but those that the scenario says.
  for (const { id, scenario } of lessons)
    for (const language of [texts.en, texts.de])
      for (const step of language.lessons[id]?.steps ?? [])
        for (const [typed] of step.matchAll(/\d[\d.,]* s\b/g))
          expect(scenario.join("\n"), step).toContain(`"${typed}"`);
  for (const { id, steps, values } of lessons)
    for (const name of steps)
      if (name !== null) expect(values[name], `${id}: ${name}`).toBeTruthy();
});

test("a lesson is read in German, before and after its answer", async ({ page }) => {
  await visit(page);
  await page.locator("#lessons").selectOption("sack");
  await page.locator("#language").selectOption("de");
  const own = texts.de.lessons.sack;
  await expect(page.locator("#lesson")).toHaveAttribute("lang", "de");
  await expect(page.locator("#question legend")).toHaveText(own?.question ?? "");
  await page.getByLabel(own?.options[0] ?? "").check();
  await page.locator("#judge").click();
  await expect(page.locator("#verdict")).toHaveText(
    `${texts.de.words.wrong} Bis zu doppelt so lang.`,
  );
  // 1.66 s after the start, written with a comma.
  await expect(page.locator("#answer")).toContainText("Bei 1,66 s kommt das dritte doppelte ACK");
  await expect(page.locator("#figure")).toContainText("ohne SACK");
  await page.locator("#language").selectOption("en");
  await expect(page.locator("#answer")).toContainText("At 1.66 s the third duplicate ACK comes");
  await page.reload();
  await expect(page.locator("#language")).toHaveValue("en");
});

test("a lesson is answered by the keyboard, and the focus goes to the verdict", async ({
  page,
}) => {
  await visit(page);
  await page.locator("#lessons").selectOption("rto");
  await page.locator("#question input").first().focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.locator("#question input").nth(1)).toBeChecked();
  await page.keyboard.press("Tab");
  await expect(page.locator("#judge")).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.locator("#verdict")).toBeFocused();
  await expect(page.locator("#verdict")).toContainText("Three times");
});

test("a link to a lesson asks, too, and leaving it brings the laboratory", async ({
  page,
  context,
}) => {
  await visit(page);
  await page.locator("#lessons").selectOption("rto");
  await page.getByLabel("Once", { exact: true }).check();
  await page.locator("#judge").click();
  await expect(page.locator("#verdict")).toContainText("Three times");
  await settled(page);
  await page.locator("#share").click();
  await expect(page.locator("#status")).toContainText("address of the page");
  const other = await context.newPage();
  await visit(other, page.url());
  const lesson = lessons.find(({ id }) => id === "rto");
  if (lesson) await expectOpen(other, lesson, texts.en);
  await other.locator("#lessons").selectOption("");
  await settled(other);
  await expect(other.locator("#flows")).toBeVisible();
  await expect(other.locator("#lesson")).toBeHidden();
});
