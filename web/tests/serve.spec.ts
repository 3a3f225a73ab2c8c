import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "@playwright/test";
import { settled, visit } from "./page";

const root = resolve(import.meta.dirname, "../..");
const command = join(root, ".venv/bin/ackclock");
const wasm = join(root, "target/wasm32-unknown-unknown/web/ackclock_web.wasm");

test.describe.configure({ mode: "serial" });
test.skip(!existsSync(command), "the package is not installed in .venv (make build)");

let server: ChildProcess;
/** All servers that were begun; none outlives a test that failed. */
const all: ChildProcess[] = [];
let link = "";
let folder = "";

/** Begins a server of a folder, and returns it with its link. */
async function serving(of: string): Promise<[ChildProcess, string]> {
  const begun = spawn(command, ["serve", of], { stdio: ["ignore", "pipe", "inherit"] });
  all.push(begun);
  const found = await new Promise<string>((found, failed) => {
    let said = "";
    begun.stdout?.on("data", (text) => {
      said += String(text);
      const line = /http:\S+/.exec(said)?.[0];
      if (line) found(line);
    });
    begun.on("exit", () => failed(new Error(`the server ended: ${said}`)));
  });
  return [begun, found];
}

async function end(begun: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = new Promise((done) => begun.on("exit", done));
  begun.kill(signal);
  await ended;
}

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "ackclock-serve-"));
  writeFileSync(
    join(folder, "small.toml"),
    'duration = "3 s"\n[topology]\nkind = "path"\nrate = "5 Mbit/s"\nrtt = "40 ms"\n[[flow]]\nname = "a"\nvariant = "cubic"\n',
  );
  spawnSync(command, ["run", join(folder, "small.toml"), "--pcap", join(folder, "captures")]);
  [server, link] = await serving(folder);
});

test.afterAll(async () => {
  await end(server, "SIGINT");
  for (const each of all) each.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

/** The answer of the core in WebAssembly. */
async function asked(request: unknown): Promise<Buffer> {
  const { instance } = await WebAssembly.instantiate(readFileSync(wasm), {});
  const core = instance.exports as unknown as {
    memory: WebAssembly.Memory;
    reserve(length: number): number;
    ask(): number;
    answered(): number;
  };
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = core.reserve(bytes.length);
  new Uint8Array(core.memory.buffer, at, bytes.length).set(bytes);
  const length = core.ask();
  return Buffer.from(new Uint8Array(core.memory.buffer, core.answered(), length));
}

test("the native core's result is that of WebAssembly, to the last bit", async ({ page }) => {
  await visit(page, link);
  await expect(page.locator("#status")).toContainText("events in");
  expect(page.url()).toContain("#run=");
  expect(page.url()).not.toContain("token");
  const text = await page.locator("#text").inputValue();
  const native = await page.evaluate(async () => {
    const id = location.hash.replace("#run=", "");
    const bytes = new Uint8Array(await (await fetch(`api/runs/${id}/result`)).arrayBuffer());
    return Array.from(bytes);
  });
  const found = await asked({ do: "run", text: { file: "scenario.toml", text }, watch: true });
  expect(Buffer.from(native).equals(found)).toBe(true);
});

test("a reload and another tab find the run again", async ({ page, context }) => {
  await visit(page, link);
  await page.locator("#slider-rate").fill("50");
  await settled(page);
  const [numbers, address] = [await page.locator("#result").textContent(), page.url()];
  await page.reload();
  await page.waitForFunction(() => document.body.dataset.runs !== undefined);
  await settled(page);
  expect(await page.locator("#result").textContent()).toBe(numbers);
  expect(page.url()).toBe(address);
  const other = await context.newPage();
  await visit(other, address);
  expect(await other.locator("#result").textContent()).toBe(numbers);
  await expect(other.locator("#text")).toHaveValue(/rate = "1 Mbit\/s"/);
});

test("a long run is stopped", async ({ page }) => {
  await visit(page, link);
  const text = await page.locator("#text").inputValue();
  await page.locator("#text").fill(text.replace(/duration = ".*"/, 'duration = "4000 s"'));
  await expect(page.locator("#progress")).toBeVisible();
  await page.locator("#stop").click();
  await expect(page.locator("#status")).toHaveText("The run was stopped.");
});

test("a scenario of the folder is opened, and its runs are listed", async ({ page }) => {
  await visit(page, link);
  await page.locator("#tab-folder").click();
  await page.getByRole("button", { name: "small.toml" }).click();
  await settled(page);
  await expect(page.locator("#text")).toHaveValue(/rtt = "40 ms"/);
  await expect(page.locator("#flows tbody th").first()).toHaveText("a");
  await page.locator("#tab-folder").click();
  await expect(page.locator("#folder-runs tbody tr").first()).toContainText("done");
});

for (const width of [390, 1280])
  test(`nothing of the folder is cut off at ${width} pixels, and axe finds nothing`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height: 900 });
    await visit(page, link);
    await page.locator("#tab-folder").click();
    await expect(page.locator("#folder-runs tbody tr").first()).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map((each) => `${each.id}: ${each.nodes[0]?.html}`)).toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(width);
  });

test("a capture is shown in the place of the run's segments", async ({ page }) => {
  await visit(page, link);
  await page.locator("#tab-folder").click();
  await page.getByRole("button", { name: "Show its segments" }).click();
  const flows = page.locator("#sequence-flow option");
  await expect(flows.first()).toHaveText(/^10\.\d+\.\d+\.\d+\.\d+ > /);
  // The run's own segments come later than those of the capture.
  await page.waitForTimeout(1500);
  await expect(flows.first()).toHaveText(/^10\.\d+\.\d+\.\d+\.\d+ > /);
  await expect(page.locator("#status")).toContainText("captures/");
  await page.locator("#run").click();
  await settled(page);
  await expect(flows.first()).not.toHaveText(/ > /);
});

test("a server that goes is told, and the page works with the next", async ({ page }) => {
  const [own, address] = await serving(folder);
  await visit(page, address);
  const text = await page.locator("#text").inputValue();
  await page.locator("#text").fill(text.replace(/duration = ".*"/, 'duration = "4000 s"'));
  await expect(page.locator("#progress")).toBeVisible();
  await end(own, "SIGKILL");
  await expect(page.locator("#status")).toContainText("does not answer");
  await page.locator("#text").fill(text);
  await settled(page);
  await expect(page.locator("#status")).toContainText("does not answer");
  await expect(page.locator("#fault")).toHaveText("");
  await visit(page, link);
  await expect(page.locator("#status")).toContainText("events in");
});

test("a lesson asks first on a server, too, and its answer comes", async ({ page }) => {
  await visit(page, link);
  await expect(page.locator("#status")).toContainText("events in");
  await page.locator("#lessons").selectOption("rto");
  await settled(page);
  await expect(page.locator("#flows, .chart")).toHaveCount(0);
  await expect(page.locator("#status")).toHaveText("");
  expect(new URL(page.url()).hash).toBe("");
  await page.getByLabel("Three times", { exact: true }).check();
  await page.locator("#judge").click();
  await expect(page.locator("#verdict")).toHaveText("Right: Three times.");
  await settled(page);
  await expect(page.locator("#figure .chart").first()).toBeVisible();
  await expect(page.locator("#flows")).toBeVisible();
});

test("without the token there is no page", async ({ page }) => {
  const response = await page.goto(new URL("/", link).href);
  expect(response?.status()).toBe(401);
  await expect(page.locator("body")).toContainText("open the link");
});

test("a run on real packets grows while it lasts", async ({ page }) => {
  await visit(page, link);
  await page
    .locator("#text")
    .fill(
      'duration = "3 s"\n[topology]\nkind = "path"\nrate = "5 Mbit/s"\nrtt = "40 ms"\n[[flow]]\nname = "a"\nvariant = "cubic"\nprofile = "linux"\n',
    );
  await page.locator("#on").selectOption("live");
  await settled(page);
  await page.locator("#run").click();
  await expect(page.locator("#status")).toContainText(/of 3 s|namespace|On real packets/);
  await settled(page);
  const said = (await page.locator("#fault").textContent()) ?? "";
  test.skip(said !== "", `no live runs here: ${said}`);
  await expect(page.locator("#status")).toContainText("On real packets");
  // A simulation's segments are not the live run's.
  await page.locator("#tab-segments").click();
  await expect(page.locator("#why")).toContainText("run --on live --pcap");
  await expect(page.locator("#sequence-flow option")).toHaveCount(0);
});
