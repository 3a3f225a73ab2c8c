import type { Page } from "@playwright/test";

/** Waits until the runs that were asked for are done. */
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => !document.body.classList.contains("busy"));
  // A text is read after a pause.
  await page.waitForTimeout(400);
  await page.waitForFunction(() => !document.body.classList.contains("busy"));
}

/** Opens the page, and waits for its first run. */
export async function visit(page: Page, at = "/"): Promise<void> {
  await page.goto(at);
  await page.waitForFunction(() => document.body.dataset.runs !== undefined);
  await settled(page);
}

/** The number of a cell of the table of flows. */
export async function flow(page: Page, column: number): Promise<number> {
  const cell = page.locator("#flows tbody tr").first().locator("th, td").nth(column);
  return Number(await cell.textContent());
}

export const GOODPUT = 2;
