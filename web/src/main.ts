/** The page. */

import { Charts, dashes, labelOf } from "./charts";
import { Classroom, type Made } from "./classroom";
import { Client } from "./client";
import { Controls, queueKinds } from "./controls";
import {
  type Ask,
  type Choices,
  Gone,
  open,
  Refused,
  type Run,
  readCapture,
  readRun,
  readSegments,
  type Text,
  type Tree,
  tableOf,
} from "./core";
import { el, rich } from "./dom";
import { csv, type Drawn, drawing, png, save, stem } from "./download";
import { Editor } from "./editor";
import { FolderView } from "./folder";
import { Growing } from "./growing";
import { LESSONS, scenarioOf } from "./lessons";
import { draw } from "./path";
import { Sequence } from "./sequence";
import { duration, type Panel, panels, thinned } from "./series";
import { type RunState, Server, served } from "./server";
import { pack, shares, unpack } from "./share";
import START from "./start.toml?raw";
import { rowsOf, summary } from "./summary";
import "./style.css";

const FILE = "scenario.toml";
/** Milliseconds without a key before a text is read. */
const PAUSE = 250;
/** Milliseconds after which a run gives way to a newer one. */
const PATIENCE = 1500;
const ROWS = 200;
const KEEP = "Keep this run to compare";
const DROP = "Remove the run kept";
const LIVE_SEGMENTS =
  "Segments of a run on real packets are written by `ackclock run --on live --pcap DIR`; the folder shows them.";
/** Milliseconds between two drawings of a run under way. */
const REDRAW = 400;

class Page {
  /** The server of this page; undefined where the core is in the page. */
  private readonly server = served() ? new Server() : undefined;
  private readonly client: Ask = this.server ?? new Client();
  private readonly charts = new Charts();
  private readonly sequence = new Sequence();
  private readonly editor = new Editor((text) => this.typed(text));
  private controls: Controls | undefined;
  private readonly path = el("div", { id: "path" });
  private readonly result = el("div", { id: "result" });
  private readonly status = el("p", { role: "status", id: "status" });
  /** A word that stays until the address is another one. */
  private readonly notice = el("p", { role: "alert", id: "notice", class: "fault", hidden: true });
  private readonly tables = el("div", { id: "tables" });
  private readonly tableName = el("select", { id: "table-name", change: () => this.showTable() });
  private readonly classroom = new Classroom({
    run: (text) => this.runOf(text),
    path: async (text) => {
      const asked = { do: "read", text: { file: FILE, text } } as const;
      return draw(open(await this.client.ask(asked)).header.tree as Tree);
    },
    chosen: (lesson) => {
      this.empty();
      this.laboratory(!lesson);
      if (!lesson) this.load(START);
    },
    answered: (lesson, _, second) => {
      this.laboratory(true);
      this.lay(second);
      this.load(this.given ?? scenarioOf(lesson));
      this.given = undefined;
    },
  });
  /** The scenario of a link, for when its lesson's question is answered. */
  private given: string | undefined;
  private readonly left = el("div", { class: "left" });
  private readonly right = el("div", { class: "right" });
  private readonly tools = el("span", { class: "lab" });
  private readonly keepButton = el(
    "button",
    { type: "button", id: "keep", click: () => this.keep() },
    KEEP,
  );
  private readonly views = new Map<string, { tab: HTMLButtonElement; panel: HTMLElement }>();
  private view = "time";
  /** The name of the scenario, as faults tell it. */
  private file = FILE;
  private shown: Made | undefined;
  private kept: Made | undefined;
  private wanted: { text: string; id?: string } | undefined;
  private running = false;
  private began = 0;
  private timer = 0;
  private segmentsOf = "";
  /** The capture whose segments are shown in the place of the run's. */
  private capture = "";
  private told: RunState | undefined;
  private readonly on = el(
    "select",
    { id: "on", change: () => this.run() },
    el("option", { value: "sim" }, "Simulation"),
    el("option", { value: "live" }, "Real packets"),
  );
  private readonly progress = el("progress", {
    id: "progress",
    max: 1,
    hidden: true,
    "aria-label": "Progress of the run",
  });
  private readonly folder =
    this.server &&
    new FolderView(this.server, {
      scenario: (name, text) => {
        this.says(`The scenario ${name}`);
        this.classroom.open(undefined);
        this.load(text, name);
      },
      run: (id) => this.resume(id),
      capture: (name, bytes) => {
        this.capture = name;
        this.segmentsOf = "";
        this.look("segments");
        this.sequence.show(undefined, readSegments(bytes));
        this.says(`The segments of ${name}`);
      },
      says: (text) => this.says(text),
    });

  async start(root: HTMLElement): Promise<void> {
    const about = open(await this.client.ask({ do: "about" })).header;
    this.controls = new Controls(queueKinds(about.schema as Tree), {
      changed: (tree, held) => this.changed(tree, held),
      choices: async (variant, profile) =>
        open(await this.client.ask({ do: "choices", variant, profile }))
          .header as unknown as Choices,
    });
    root.replaceChildren(...this.layout(this.controls, String(about.version)));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.redraw();
      this.classroom.redraw();
    });
    addEventListener("hashchange", () => this.follow());
    if (!(await this.follow())) this.load(START);
  }

  private layout(controls: Controls, version: string): Node[] {
    const button = (text: string, id: string, by: () => void) =>
      el("button", { type: "button", id, click: by }, text);
    const downloads = el(
      "details",
      { class: "menu" },
      el("summary", {}, "Download"),
      el(
        "div",
        { class: "items" },
        button("Scenario (TOML)", "save-toml", () =>
          save(`${stem(this.shown?.run)}.toml`, this.editor.text, "application/toml"),
        ),
        button("Picture (PNG)", "save-png", () => this.savePng()),
        button("Drawing (SVG)", "save-svg", () => this.saveSvg()),
        button("Table (CSV)", "save-csv", () => this.saveCsv()),
        button("Capture (pcapng)", "save-pcapng", () => this.saveCapture()),
      ),
    );
    downloads.querySelector(".items")?.addEventListener("click", () => {
      downloads.open = false;
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !downloads.open) return;
      downloads.open = false;
      downloads.querySelector("summary")?.focus();
    });
    document.addEventListener("click", (event) => {
      if (!downloads.contains(event.target as Node)) downloads.open = false;
    });
    const header = el(
      "header",
      {},
      el("h1", {}, "Ackclock ", el("span", { class: "version" }, version)),
      this.classroom.chooser,
      el("span", { class: "space" }),
      this.tools,
    );
    this.tools.append(
      ...(this.server
        ? [
            el("span", { class: "pair" }, el("label", { for: "on" }, "Run on"), this.on),
            button("Run", "run", () => this.run(false, true)),
            button("Stop", "stop", () => this.client.stop()),
            this.progress,
          ]
        : []),
      this.keepButton,
      button("Copy a link", "share", () => this.share()),
      downloads,
    );
    const names: [string, string, HTMLElement][] = [
      ["time", "Over time", this.timeView()],
      ["segments", "Segments", this.sequence.element],
      [
        "tables",
        "Tables",
        el(
          "div",
          {},
          el(
            "div",
            { class: "row tools" },
            el("label", { for: "table-name" }, "Table"),
            this.tableName,
          ),
          this.tables,
        ),
      ],
    ];
    if (this.folder) names.push(["folder", "Folder", this.folder.element]);
    const tabs = el("div", { role: "tablist", "aria-label": "Views", class: "tabs" });
    const panels = names.map(([name, title, content]) => {
      const tab = el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${name}`,
          "aria-controls": `view-${name}`,
          click: () => this.look(name),
        },
        title,
      );
      const panel = el(
        "div",
        { role: "tabpanel", id: `view-${name}`, "aria-labelledby": `tab-${name}` },
        content,
      );
      this.views.set(name, { tab, panel });
      tabs.append(tab);
      return panel;
    });
    tabs.addEventListener("keydown", (event) => this.turn(event));
    this.left.append(
      el("h2", { class: "hidden" }, "Path and senders"),
      controls.element,
      this.editor.element,
    );
    this.right.append(
      el("h2", { class: "hidden" }, "Results"),
      this.path,
      this.notice,
      this.status,
      this.result,
      tabs,
      ...panels,
    );
    const main = el("main", {}, this.classroom.element, this.left, this.right);
    this.look("time");
    return [header, main];
  }

  private timeView(): HTMLElement {
    return el(
      "div",
      {},
      el(
        "div",
        { class: "row tools" },
        el("button", { type: "button", id: "whole", click: () => this.charts.whole() }, "Show all"),
        el(
          "span",
          { class: "help" },
          "Drag to zoom, or use the arrow keys, + and − on a chart; all charts follow.",
        ),
      ),
      this.charts.element,
    );
  }

  private look(name: string): void {
    this.view = name;
    for (const [key, { tab, panel }] of this.views) {
      tab.setAttribute("aria-selected", String(key === name));
      tab.tabIndex = key === name ? 0 : -1;
      panel.hidden = key !== name;
    }
    if (this.shown) this.fillView();
    if (name === "folder") void this.folder?.watch(() => this.view === "folder");
  }

  private turn(event: KeyboardEvent): void {
    const names = [...this.views.keys()];
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    const name = names[(names.indexOf(this.view) + by + names.length) % names.length];
    if (!name) return;
    this.look(name);
    this.views.get(name)?.tab.focus();
  }

  /** True if what is shown was carried by real packets. */
  private get isLive(): boolean {
    return this.server !== undefined && this.told?.on === "live";
  }

  private get text(): Text {
    return { file: this.file, text: this.editor.text };
  }

  /** Takes over a text as a whole. */
  private load(text: string, file = FILE): void {
    this.file = file;
    this.editor.text = text;
    this.run();
  }

  private typed(_: string): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.run(), PAUSE);
  }

  /** The controls have changed the tree: the text follows. */
  private async changed(tree: Tree, held: boolean): Promise<void> {
    try {
      const { header } = open(await this.client.ask({ do: "write", tree }));
      this.editor.text = String(header.toml);
      if (!held) this.controls?.show(tree);
      this.path.replaceChildren(draw(tree));
      this.run(held);
    } catch (error) {
      this.editor.blame(String((error as Error).message));
    }
  }

  /** Runs what the text says now; of several wishes the last. */
  private async run(held = false, asked = false, id?: string): Promise<void> {
    if (this.classroom.asks) return;
    this.wanted = { text: this.editor.text, ...(id ? { id } : {}) };
    if (this.running) {
      if (performance.now() - this.began > PATIENCE) this.client.stop();
      return;
    }
    this.running = true;
    try {
      await this.runWanted(held, asked);
    } finally {
      this.running = false;
      this.progress.hidden = true;
      document.body.classList.remove("busy");
      document.body.dataset.runs = String(Number(document.body.dataset.runs ?? 0) + 1);
    }
  }

  private async runWanted(held: boolean, asked: boolean): Promise<void> {
    while (this.wanted) {
      const wanted = this.wanted;
      const { text } = wanted;
      this.wanted = undefined;
      this.began = performance.now();
      document.body.classList.add("busy");
      try {
        const written: Text = { file: this.file, text };
        const read = open(await this.client.ask({ do: "read", text: written })).header;
        this.editor.blame(undefined);
        if (!held) this.controls?.show(read.tree as Tree);
        this.path.replaceChildren(draw(read.tree as Tree));
        if (this.server && this.on.value === "live" && !asked && !wanted.id) {
          document.body.classList.add("stale");
          this.says(
            'A run on real packets takes its time: press Run. Flows of the kernel have profile = "linux".',
          );
          continue;
        }
        const run = readRun(await this.answer(written, wanted.id));
        // A lesson may have been begun meanwhile, which asks before anything is shown.
        if (this.classroom.asks) return;
        const took = performance.now() - this.began;
        this.shown = { text, run, panels: panels(run) };
        if (shares(location.hash)) await this.keepAddress();
        this.says(this.said(run, took));
        document.body.classList.remove("stale");
        this.fill();
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        if (this.classroom.asks) return;
        if (error instanceof Gone) {
          document.body.classList.add("stale");
          this.says(error.message);
        } else if (error.message !== "interrupted") {
          this.editor.blame(error.message);
          document.body.classList.add("stale");
          this.says("These results are those of the last text that could be run.");
        } else if (this.server) {
          document.body.classList.add("stale");
          this.says("The run was stopped.");
        }
      }
    }
  }

  /** The answer to a run: of a new one, or of one that the server knows. */
  private async answer(text: Text, id: string | undefined): Promise<ArrayBuffer> {
    const { server } = this;
    if (!server) return this.client.ask({ do: "run", text, watch: true });
    let growing: Growing | undefined;
    let drawn = 0;
    server.reader = {
      state: (told) => this.reached(told),
      rows: (bytes) => {
        if (this.classroom.asks) return;
        if (!growing) {
          growing = new Growing();
          this.begin();
        }
        growing.add(bytes);
        growing.reached_s = this.told?.reached_s ?? 0;
        if (performance.now() - drawn < REDRAW) return;
        drawn = performance.now();
        this.charts.show(growing.panels(), [], growing.names, this.told?.duration_s ?? 1);
      },
    };
    server.on = this.on.value === "live" ? "live" : "sim";
    try {
      return await (id ? server.follow(id) : server.ask({ do: "run", text, watch: true }));
    } finally {
      server.on = "sim";
      server.reader = { state: () => {}, rows: () => {} };
    }
  }

  /** The rows of a new run come: nothing of the one before is shown any more. */
  private begin(): void {
    this.shown = undefined;
    this.result.replaceChildren();
    this.tables.replaceChildren();
    this.tableName.replaceChildren();
    this.segmentsOf = "";
    this.sequence.clear(LIVE_SEGMENTS);
  }

  /** Nothing of any run is on the page any more, nor comes. */
  private empty(): void {
    this.wanted = undefined;
    this.given = undefined;
    if (this.running) this.client.stop();
    this.begin();
    this.lay(undefined);
    this.charts.clear();
    this.sequence.clear("");
    this.path.replaceChildren();
    this.says("");
    this.notice.hidden = true;
    this.capture = "";
    // Its run, or its scenario, is no longer that of the page.
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  }

  /** Shows the laboratory, or hides it while a question is open. */
  private laboratory(shown: boolean): void {
    for (const part of [this.left, this.right, this.tools]) part.hidden = !shown;
    document.body.dataset.runs ??= "0";
  }

  /** Lays another run under the one shown, or takes that away. */
  private lay(kept: Made | undefined): void {
    this.kept = kept;
    this.keepButton.textContent = kept ? DROP : KEEP;
  }

  /** The server has told how far a run is. */
  private reached(told: RunState): void {
    if (this.classroom.asks) return;
    this.told = told;
    this.progress.hidden = told.state !== "running";
    this.progress.value = told.duration_s > 0 ? told.reached_s / told.duration_s : 0;
    if (told.state === "running") this.says(`${told.reached_s.toFixed(1)} of ${told.duration_s} s`);
    // The run is found again after a reload, and by other tabs.
    history.replaceState(null, "", `#run=${told.id}`);
  }

  private says(text: string): void {
    this.status.replaceChildren(...rich(text));
  }

  private said(run: Run, took: number): string {
    const { told } = this;
    if (this.server && told?.on === "live") {
      const doubts = told.report?.doubts ?? [];
      const valid = told.report?.valid ? "a measurement" : `no measurement: ${doubts.join("; ")}`;
      return `On real packets, ${valid}`;
    }
    const took_ms = this.server && told?.took_s != null ? told.took_s * 1000 : took;
    return `${run.events.toLocaleString("en")} events in ${took_ms.toFixed(0)} ms`;
  }

  /** Takes over a run that the server knows. */
  private async resume(id: string): Promise<boolean> {
    if (!this.server) return false;
    try {
      const known = (await (await this.server.get(`api/runs/${id}`)).json()) as RunState & {
        text: string;
      };
      this.on.value = known.on;
      this.file = known.file;
      this.editor.text = known.text;
      void this.run(false, true, id);
      return true;
    } catch {
      return false;
    }
  }

  private fill(): void {
    if (!this.shown) return;
    this.capture = "";
    this.result.replaceChildren(summary(this.shown.run));
    const names = [...this.shown.run.tables.values()]
      .filter((table) => table.rows > 0)
      .map((table) => table.name);
    const had = this.tableName.value;
    this.tableName.replaceChildren(
      ...names.map((name) => el("option", { value: name, selected: name === had }, name)),
    );
    this.fillView();
  }

  private fillView(): void {
    if (!this.shown) return;
    if (this.view === "time") this.redraw();
    if (this.view === "tables") this.showTable();
    if (this.view === "segments") this.showSegments();
  }

  private redraw(): void {
    if (!this.shown) return;
    const { run } = this.shown;
    const names = [...run.flows, ...run.links];
    this.charts.show(this.shown.panels, this.kept?.panels ?? [], names, duration(run));
  }

  private showTable(): void {
    if (this.shown && this.tableName.value !== "")
      this.tables.replaceChildren(rowsOf(this.shown.run, this.tableName.value, ROWS));
  }

  private async showSegments(): Promise<void> {
    const shown = this.shown;
    if (!shown || this.capture || this.segmentsOf === shown.text) return;
    if (this.isLive) {
      this.sequence.clear(LIVE_SEGMENTS);
      return;
    }
    this.segmentsOf = shown.text;
    try {
      const text: Text = { file: FILE, text: shown.text };
      const until_s = duration(shown.run);
      const segments = readSegments(
        await this.client.ask({ do: "segments", text, from_s: 0, until_s }),
      );
      // Another run, or a capture, may be shown meanwhile.
      if (this.capture || this.segmentsOf !== shown.text) return;
      this.sequence.show(shown.run, segments);
    } catch (error) {
      this.segmentsOf = "";
      this.says((error as Error).message);
    }
  }

  private keep(): void {
    this.lay(this.kept ? undefined : this.shown);
    this.redraw();
  }

  private async runOf(text: string): Promise<Made> {
    const run = readRun(
      await this.client.ask({ do: "run", text: { file: FILE, text }, watch: true }),
    );
    return { text, run, panels: panels(run) };
  }

  /** The address gets the scenario as it is now, so that a reload finds it. */
  private async keepAddress(): Promise<void> {
    const shared = {
      text: this.editor.text,
      ...(this.kept ? { beside: this.kept.text } : {}),
      ...(this.classroom.id ? { lesson: this.classroom.id } : {}),
    };
    history.replaceState(null, "", await pack(shared));
    this.notice.hidden = true;
  }

  private async share(): Promise<void> {
    await this.keepAddress();
    try {
      await navigator.clipboard.writeText(location.href);
      this.says("The link is in the clipboard, and in the address of the page.");
    } catch {
      this.says("The link is in the address of the page.");
    }
  }

  /** Takes over the scenario of the address; false if it has none. */
  private async follow(): Promise<boolean> {
    const known = /^#run=(\w+)$/.exec(location.hash)?.[1];
    if (known && (await this.resume(known))) return true;
    const shared = await unpack(location.hash);
    this.notice.hidden = shared !== undefined || !shares(location.hash);
    if (!this.notice.hidden) {
      this.notice.replaceChildren(
        ...rich(
          "The link is damaged, so that its scenario cannot be read: perhaps a part of it is missing. This is another scenario.",
        ),
      );
      // The address is not that of what is shown.
      history.replaceState(null, "", location.pathname + location.search);
    }
    if (!shared) return false;
    const lesson = LESSONS.find((each) => each.id === shared.lesson);
    if (lesson) {
      this.classroom.choose(lesson);
      this.given = shared.text;
      return true;
    }
    if (shared.beside) this.lay(await this.runOf(shared.beside).catch(() => undefined));
    this.load(shared.text);
    return true;
  }

  private async savePng(): Promise<void> {
    const parts =
      this.view === "segments"
        ? [{ ...this.sequence.caption, canvas: this.sequence.picture }]
        : this.charts.canvases();
    const blob = await png(parts);
    if (blob) save(`${stem(this.shown?.run)}.png`, blob, "image/png");
  }

  private saveSvg(): void {
    if (!this.shown) return;
    const { run } = this.shown;
    if (this.view === "segments") {
      save(`${stem(run)}.svg`, this.sequence.drawing(), "image/svg+xml");
      return;
    }
    const names = [...run.flows, ...run.links];
    const [from, to] = this.charts.span;
    const lines = (panel: Panel, before: boolean): Drawn[] =>
      panel.series.map((series) => ({
        label: labelOf(series, before),
        points: thinned(series.times, series.values, from, to, 700),
        of: Math.max(0, names.indexOf(series.of)),
        dash: dashes(series, before),
      }));
    const drawn = this.shown.panels.map((panel) => {
      const before = this.kept?.panels.find((each) => each.key === panel.key);
      return { panel, lines: [...(before ? lines(before, true) : []), ...lines(panel, false)] };
    });
    save(
      `${stem(run)}.svg`,
      drawing(drawn, [from, to], String(run.scenario.title ?? "Ackclock")),
      "image/svg+xml",
    );
  }

  private saveCsv(): void {
    if (!this.shown) return;
    const name = this.view === "tables" && this.tableName.value ? this.tableName.value : "flows";
    save(`${stem(this.shown.run)}-${name}.csv`, csv(tableOf(this.shown.run, name)), "text/csv");
  }

  private async saveCapture(): Promise<void> {
    if (this.isLive) {
      this.says(LIVE_SEGMENTS);
      return;
    }
    try {
      const { link, data } = readCapture(
        await this.client.ask({ do: "capture", text: this.text, link: null }),
      );
      save(`${link}.pcapng`, data, "application/x-pcapng");
    } catch (error) {
      this.says((error as Error).message);
    }
  }
}

const root = document.getElementById("app");
if (root)
  new Page().start(root).catch((error: Error) => {
    root.replaceChildren(
      el(
        "p",
        { class: "fault", role: "alert" },
        ...rich(`The page cannot work here: ${error.message}`),
      ),
    );
  });
