import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "@playwright/test";
import type { Lesson } from "../src/lessons";
import { settled, visit } from "./page";

const folder = resolve(import.meta.dirname, "../lessons");

for (const file of readdirSync(folder).sort()) {
  const lesson = JSON.parse(readFileSync(resolve(folder, file), "utf8")) as Lesson;
  test(`lesson ${file}`, async ({ page }) => {
    await visit(page);
    await page.locator("#lessons").selectOption(lesson.id);
    await settled(page);
    const option = lesson.options[lesson.right];
    await page.getByLabel(option?.text ?? "", { exact: true }).check();
    await page.locator("#judge").click();
    // A sentence begins with a capital.
    await expect(page.locator("#answer strong")).toHaveText(`Yes. ${option?.text}.`, {
      ignoreCase: true,
    });
    // Every number of the answer is known.
    await expect(page.locator("#answer")).not.toContainText("–");
    await settled(page);
    await expect(page.locator("#fault")).toHaveText("");
    if (lesson.beside) await expect(page.locator("#keep")).toHaveText("Remove the dashed run");
  });
}
