import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@playwright/test";

/** The program `jupyter-lab` of an environment with the package; `make test-notebook` makes one. */
const jupyter = process.env.JUPYTER_LAB ?? "";
const PORT = 4174;

test.skip(jupyter === "", "JUPYTER_LAB is not set: make test-notebook sets it");
test.setTimeout(180_000);

let server: ChildProcess;
let folder = "";

const CODE = `import ackclock as ac
scenario = ac.Scenario(
    topology=ac.dumbbell(
        bottleneck=ac.Link("10 Mbit/s", "20 ms", queue=ac.Queue("1 BDP")),
        access=ac.Link("100 Mbit/s", "1 ms"),
    ),
    flows=[ac.Flow("cubic", name="a")],
    duration="5 s",
    probes=[ac.Probe(flow="a"), ac.Probe(link="bottleneck")],
)
run = ac.simulate(scenario)
run`;

function cell(source: string) {
  return { cell_type: "code", execution_count: null, metadata: {}, outputs: [], source };
}

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "ackclock-lab-"));
  const book = {
    cells: [cell(CODE), cell("ac.show(run)")],
    metadata: { kernelspec: { name: "python3", display_name: "Python 3", language: "python" } },
    nbformat: 4,
    nbformat_minor: 5,
  };
  writeFileSync(join(folder, "run.ipynb"), JSON.stringify(book));
  const words = [
    "--no-browser",
    "--allow-root",
    `--ServerApp.port=${PORT}`,
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    `--ServerApp.root_dir=${folder}`,
    "--LabApp.news_url=",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
  ];
  server = spawn(jupyter, words, {
    stdio: "ignore",
    env: {
      ...process.env,
      JUPYTER_CONFIG_DIR: join(folder, ".config"),
      JUPYTER_DATA_DIR: join(folder, ".data"),
      JUPYTER_RUNTIME_DIR: join(folder, ".runtime"),
      IPYTHONDIR: join(folder, ".ipython"),
    },
  });
  for (let tries = 0; tries < 300; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${PORT}/api`).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((again) => setTimeout(again, 200));
  }
  throw new Error("JupyterLab does not answer");
});

test.afterAll(async () => {
  if (!server) return;
  const ended = new Promise((end) => server.on("exit", end));
  server.kill("SIGTERM");
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

test("a run is a figure, and its view opens, without a network", async ({ page }) => {
  const outside: string[] = [];
  await page.route("**", (route) => {
    const { hostname } = new URL(route.request().url());
    if (hostname === "127.0.0.1") return route.continue();
    outside.push(route.request().url());
    return route.abort();
  });
  await page.goto(`http://127.0.0.1:${PORT}/lab/tree/run.ipynb`);
  await expect(page.locator(".jp-Notebook .jp-CodeCell").first()).toBeVisible({ timeout: 60_000 });
  await page.locator(".jp-Notebook .jp-CodeCell").first().click();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Shift+Enter");
  const figure = page.locator(".jp-RenderedHTML svg[aria-label='Congestion windows']");
  await expect(figure).toBeVisible({ timeout: 90_000 });
  await expect(page.locator(".jp-RenderedHTML").first()).toContainText("goodput (Mbit/s)");
  await page.keyboard.press("Shift+Enter");
  const view = page.locator(".ackclock-view");
  await expect(view.locator("#flows tbody th").first()).toHaveText("a", { timeout: 60_000 });
  await expect(view.locator(".chart canvas").first()).toBeVisible();
  expect(await view.locator(".chart").count()).toBeGreaterThan(4);
  await view.getByRole("tab", { name: "Segments" }).click();
  await expect(view.locator("#why")).toContainText("The SYN opens the connection.");
  await view.getByRole("tab", { name: "Tables" }).click();
  await expect(view.locator("#rows caption")).toContainText("flows");
  // JupyterLab itself may ask for its news; the view asks for nothing.
  expect(outside.filter((url) => !url.includes("jupyter"))).toEqual([]);
  if (process.env.PICTURE) await view.screenshot({ path: process.env.PICTURE });
});
