/** The folder of a server: its scenarios, runs, sweeps, reports and captures. */

import { el, rich } from "./dom";
import { short } from "./quantity";
import type { RunState, Server } from "./server";

const EVERY_MS = 2000;

interface FolderContents {
  scenarios: string[];
  plans: string[];
  stores: string[];
  reports: { path: string; title: string; picture: string | null }[];
  captures: { path: string; bytes: number }[];
  whole: boolean;
  sweeps: { store: string; plan: string; running: boolean; error: string | null }[];
}

interface Store {
  title: string;
  cells: number;
  finished: number;
  status: Record<string, number>;
  axes: Record<string, number>;
  tables: string[];
}

interface Rows {
  columns: string[];
  rows: (string | number | boolean | null)[][];
  begin: number;
  of: number;
}

export interface Opens {
  scenario(name: string, text: string): void;
  run(id: string): void;
  capture(name: string, bytes: ArrayBuffer): void;
  says(text: string): void;
}

/** A number of bytes as people read it. */
function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${short(bytes / 1e3)} kB` : `${short(bytes / 1e6)} MB`;
}

function grid(heads: string[], rows: (Node | string)[][], label: string): HTMLElement {
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
      el(
        "tbody",
        {},
        ...rows.map((row) =>
          el(
            "tr",
            {},
            ...row.map((cell, n) =>
              n === 0 ? el("th", { scope: "row" }, cell) : el("td", {}, cell),
            ),
          ),
        ),
      ),
    ),
  );
}

export class FolderView {
  readonly element = el("div", { class: "folder", id: "folder" });
  private readonly scenarios = el("div", { id: "folder-scenarios" });
  private readonly runs = el("div", { id: "folder-runs" });
  private readonly sweeps = el("div", { id: "folder-stores" });
  private readonly rows = el("div", { id: "folder-rows" });
  private readonly reports = el("div", { id: "folder-reports" });
  private readonly captures = el("div", { id: "folder-captures" });
  private readonly plan = el("select", { id: "sweep-plan" });
  private readonly store = el("input", { id: "sweep-store", type: "text", value: "store" });
  private files = "";
  private seen = "";
  private timer = 0;

  constructor(
    private readonly server: Server,
    private readonly opens: Opens,
  ) {
    const section = (title: string, ...content: Node[]) =>
      el("section", {}, el("h3", {}, title), ...content);
    this.element.append(
      section("Scenarios", this.scenarios),
      section("Runs of this server", this.runs),
      section(
        "Sweeps",
        el(
          "div",
          { class: "row tools" },
          el("label", { for: "sweep-plan" }, "Plan"),
          this.plan,
          el("label", { for: "sweep-store" }, "Store"),
          this.store,
          this.button("Begin the sweep", () =>
            this.does(async () => {
              const [plan, store] = [this.plan.value, this.store.value];
              await this.server.send("POST", "api/sweeps", { plan, store });
              this.opens.says(`The sweep of ${plan} into ${store} has begun.`);
              await this.fill();
            }),
          ),
        ),
        this.sweeps,
        this.rows,
      ),
      section("Reports", this.reports),
      section("Captures", this.captures),
    );
  }

  /** Shows what there is, again and again as long as it is looked at. */
  async watch(looked: () => boolean): Promise<void> {
    clearTimeout(this.timer);
    if (!looked()) return;
    await this.does(() => this.fill());
    this.timer = window.setTimeout(() => this.watch(looked), EVERY_MS);
  }

  private button(text: string, by: () => void): HTMLButtonElement {
    return el("button", { type: "button", click: by }, text);
  }

  private async does(what: () => Promise<unknown>): Promise<void> {
    try {
      await what();
    } catch (error) {
      this.opens.says((error as Error).message);
    }
  }

  private async fill(): Promise<void> {
    const state = (await (await this.server.get("api/state")).json()) as {
      files: string;
      runs: RunState[];
    };
    this.files = state.files;
    const found = (await (await this.server.get("api/folder")).json()) as FolderContents;
    const stores = await Promise.all(
      found.stores.map(async (path): Promise<[string, Store | string]> => {
        try {
          const response = await this.server.get(`api/stores?path=${encodeURIComponent(path)}`);
          return [path, (await response.json()) as Store];
        } catch (error) {
          return [path, (error as Error).message];
        }
      }),
    );
    // Nothing is drawn anew under the hand of somebody who reads or types.
    const seen = JSON.stringify([state.runs, found, stores]);
    if (seen === this.seen) return;
    this.seen = seen;
    this.fillScenarios(found);
    this.fillRuns(state.runs);
    this.fillStores(stores, found);
    this.fillReports(found);
    this.fillCaptures(found);
  }

  private fillScenarios(found: FolderContents): void {
    const open = (name: string) =>
      this.button(name, () =>
        this.does(async () => {
          const response = await this.server.get(`api/text?path=${encodeURIComponent(name)}`);
          this.opens.scenario(name, await response.text());
        }),
      );
    this.scenarios.replaceChildren(
      el("div", { class: "row tools" }, ...found.scenarios.map(open)),
      found.scenarios.length === 0 ? "None (*.toml)." : "",
    );
    const chosen = this.plan.value;
    this.plan.replaceChildren(
      ...found.plans.map((name) => el("option", { value: name, selected: name === chosen }, name)),
    );
  }

  private fillRuns(runs: RunState[]): void {
    const rows = runs
      .slice(0, 50)
      .map((run) => [
        this.button(run.id.slice(0, 8), () => this.opens.run(run.id)),
        run.on === "live" ? "real packets" : "simulation",
        run.state,
        `${short(run.reached_s)} of ${short(run.duration_s)} s`,
        el("span", {}, ...rich(run.error ?? "")),
      ]);
    this.runs.replaceChildren(
      rows.length === 0 ? "None yet." : grid(["run", "on", "state", "time", "fault"], rows, "Runs"),
    );
  }

  private fillStores(stores: [string, Store | string][], found: FolderContents): void {
    const rows = stores.map(([path, store]) => {
      if (typeof store === "string")
        return [path, "", "", el("span", { class: "fault long" }, ...rich(store)), ""];
      const running = found.sweeps.find((sweep) => sweep.store === path && sweep.running);
      const bar = el("progress", {
        max: store.cells,
        value: store.finished,
        "aria-label": `Finished cells of ${path}`,
      });
      const acts = el(
        "span",
        {},
        ...["cells", ...store.tables].map((table) =>
          this.button(table, () => this.showRows(path, table)),
        ),
        running ? this.stopping(path) : "",
      );
      const status = Object.entries(store.status).map(([word, count]) => `${count} ${word}`);
      return [path, bar, `${store.finished} of ${store.cells}`, status.join(", "), acts];
    });
    const known = new Set(stores.map(([path]) => path));
    for (const sweep of found.sweeps)
      if (sweep.running && !known.has(sweep.store))
        rows.push([sweep.store, "", "", "it begins", this.stopping(sweep.store)]);
    const failed = found.sweeps.filter((sweep) => sweep.error !== null);
    this.sweeps.replaceChildren(
      rows.length === 0
        ? "None."
        : grid(["store", "progress", "cells", "status", "rows"], rows, "Stores"),
      ...failed.map((sweep) =>
        el("p", { class: "fault" }, ...rich(`${sweep.store}: ${sweep.error}`)),
      ),
    );
  }

  private stopping(path: string): HTMLButtonElement {
    return this.button("Stop", () =>
      this.does(() => this.server.send("DELETE", `api/sweeps?store=${encodeURIComponent(path)}`)),
    );
  }

  private showRows(path: string, table: string, where = "", begin = 0): Promise<void> {
    return this.does(async () => {
      const asked = new URLSearchParams({ path, table, where, begin: String(begin) });
      const found = (await (await this.server.get(`api/stores/rows?${asked}`)).json()) as Rows;
      const filter = el("input", {
        id: "where",
        type: "text",
        value: where,
        placeholder: "status = 'ok' AND seed < 3",
      });
      const text = (cell: string | number | boolean | null) =>
        cell === null
          ? "–"
          : typeof cell === "number"
            ? String(Number(cell.toPrecision(6)))
            : String(cell);
      const end = found.begin + found.rows.length;
      this.rows.replaceChildren(
        el(
          "form",
          {
            class: "row tools",
            submit: (event: Event) => {
              event.preventDefault();
              void this.showRows(path, table, filter.value);
            },
          },
          el("label", { for: "where" }, `Rows of ${table} in ${path} where`),
          filter,
          el("button", { type: "submit" }, "Filter"),
          el("span", { class: "help" }, `${found.begin} to ${end} of ${found.of}`),
          end < found.of ? this.button("More", () => this.showRows(path, table, where, end)) : "",
        ),
        grid(
          found.columns,
          found.rows.map((row) => row.map(text)),
          `Rows of ${table}`,
        ),
      );
    });
  }

  private fillReports(found: FolderContents): void {
    const links = found.reports.map(({ path, title, picture }) => {
      const address = path.split("/").map(encodeURIComponent).join("/");
      const figure = picture?.split("/").map(encodeURIComponent).join("/");
      return el(
        "a",
        {
          class: "card",
          href: `${this.files}${address}/index.html`,
          target: "_blank",
          rel: "noopener",
        },
        figure
          ? el("img", { src: `${this.files}${address}/${figure}`, alt: "", loading: "lazy" })
          : "",
        el("span", { class: "title" }, title || path),
        el("span", { class: "path" }, path),
      );
    });
    this.reports.replaceChildren(
      el("div", { class: "cards" }, ...links),
      links.length === 0 ? "None (folders with an index.html)." : "",
    );
  }

  private fillCaptures(found: FolderContents): void {
    const rows = found.captures.map(({ path, bytes }) => [
      path,
      size(bytes),
      this.button("Show its segments", () =>
        this.does(async () => {
          const response = await this.server.get(
            `api/captures/segments?path=${encodeURIComponent(path)}`,
          );
          this.opens.capture(path, await response.arrayBuffer());
        }),
      ),
    ]);
    this.captures.replaceChildren(
      rows.length === 0
        ? "None (*.pcapng)."
        : grid(["capture", "size", "diagram"], rows, "Captures"),
    );
  }
}
