/** Charts over time that are zoomed together. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { el, style, svg } from "./dom";
import type { Entry, Picture } from "./download";
import { short } from "./quantity";
import { type Panel, type Series, thinned } from "./series";

const HEIGHT = 170;
/** Milliseconds of rest after which the charts are told in words. */
const PAUSE = 200;
/** A dash and the gap behind it, in pixels: of a flow's first line and its second one, now and of the run kept. */
const DASHES = { now: [12, 4], kept: [6, 4], second: [2, 8], keptSecond: [1, 6] } as const;

/**
 * The dashes of a flow's or a link's line; none of the first one's. The dash tells what the line is of and the
 * dots behind it tell which flow, so that no two lines of a chart differ by colour alone.
 */
export function dashes(series: Series, kept: boolean): number[] {
  const n = series.n % 6;
  const dots = Array.from({ length: n }, () => [2, 4]).flat();
  if (series.second) return [...dots, ...(kept ? DASHES.keptSecond : DASHES.second)];
  if (kept) return [...DASHES.kept, ...dots];
  return n === 0 ? [] : [...DASHES.now, ...dots];
}

/** The name of a line in legends; `runs` are what the run and the one kept are called. */
export function labelOf(series: Series, kept: boolean, runs = ["", "run kept"]): string {
  const run = runs[kept ? 1 : 0];
  return run ? `${series.label} (${run})` : series.label;
}

/** A moment that a text beside the chart speaks of. */
interface Mark {
  at: number;
  text: string;
}

/** What a chart tells beyond its lines. */
export interface Telling {
  /** The part of the time that is shown. */
  span?: [number, number];
  marks?: Mark[];
  /** What the run and the one kept are called. */
  runs?: [string, string];
  /** How a chart is called, and the time. */
  chart?: string;
  time?: string;
  /** How a line is told to those who do not see it, and how a number is written in that. */
  series?: string;
  write?: (value: number) => string;
}

const CHART = "{title} in {unit} over time. Arrow keys move, plus and minus zoom, Home shows all.";
const SERIES = "{label}: {first} at first, at most {most} at {at} s, {last} at the end";

/** A line in words, from its values between two moments; "" if it has none there. */
function told(series: Series, label: string, from: number, to: number, how: Telling): string {
  const { times, values } = series;
  let [first, most, at, last] = [Number.NaN, Number.NaN, from, Number.NaN];
  for (let n = 0; n < times.length; n += 1) {
    const [time, value] = [times[n] ?? 0, values[n] ?? Number.NaN];
    if (time > to || Number.isNaN(value)) continue;
    // A value holds until the next one: that of the begin may be of a sample before it.
    if (time <= from || Number.isNaN(first)) first = value;
    last = value;
    if (time < from) continue;
    if (!(value <= most)) [most, at] = [value, time];
  }
  if (!(most >= first)) [most, at] = [first, from];
  if (Number.isNaN(first)) return "";
  const write = how.write ?? short;
  const words: Record<string, string> = {
    label,
    first: write(first),
    most: write(most),
    at: write(at),
    last: write(last),
  };
  return `${filled(how.series ?? SERIES, words)}.`;
}

function filled(text: string, words: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => words[name] ?? "");
}

/** A flow's or a link's colour, the same in every chart. */
export function colour(n: number): string {
  return style(`--series-${(n % 6) + 1}`);
}

interface Line {
  series: Series;
  shown: uPlot.Series;
  entry: Entry;
}

export class Charts {
  readonly element = el("div", { class: "charts" });
  private from = 0;
  private to = 1;
  private end = 1;
  private charts: { plot: uPlot; lines: Line[]; panel: string; words: HTMLElement }[] = [];
  private telling: Telling = {};
  private drawn = false;
  private timer = 0;
  private readonly watcher = new ResizeObserver(() => this.resize());
  onZoom: (from: number, to: number) => void = () => {};

  constructor() {
    this.watcher.observe(this.element);
  }

  /** Shows the panels of a run, and those of another under them. */
  show(now: Panel[], before: Panel[], names: string[], end: number, telling: Telling = {}): void {
    const same = end === this.end;
    this.end = end;
    if (!same || this.charts.length === 0) [this.from, this.to] = telling.span ?? [0, end];
    this.telling = telling;
    this.clear();
    this.charts = now.map((panel) => this.chart(panel, before, names));
    const points = this.charts.flatMap(({ lines }) =>
      lines.map(({ series }) => series.times.length),
    );
    this.element.dataset.points = String(points.reduce((sum, count) => sum + count, 0));
    this.draw();
  }

  /** Shows nothing. */
  clear(): void {
    for (const { plot } of this.charts) plot.destroy();
    this.charts = [];
    this.element.replaceChildren();
    delete this.element.dataset.points;
  }

  zoom(from: number, to: number): void {
    const length = Math.min(Math.max(to - from, 1e-6), this.end);
    this.from = Math.min(Math.max(from, 0), this.end - length);
    this.to = this.from + length;
    this.onZoom(this.from, this.to);
    if (this.drawn) return;
    this.drawn = true;
    requestAnimationFrame(() => {
      this.drawn = false;
      this.draw();
    });
  }

  whole(): void {
    this.zoom(0, this.end);
  }

  get span(): [number, number] {
    return [this.from, this.to];
  }

  /** The canvases of the charts, for a picture. */
  canvases(): Picture[] {
    return this.charts.map(({ plot, panel, lines }) => ({
      title: panel,
      canvas: plot.ctx.canvas,
      legend: lines.map(({ entry }) => entry),
    }));
  }

  private chart(panel: Panel, before: Panel[], names: string[]) {
    const other = before.find((each) => each.key === panel.key);
    const lines: Line[] = [];
    const add = (series: Series, before: boolean) => {
      const n = Math.max(0, names.indexOf(series.of));
      const dash = dashes(series, before);
      const label = labelOf(series, before, this.telling.runs);
      lines.push({
        series,
        entry: { label, colour: colour(n), dash },
        shown: {
          label,
          stroke: colour(n),
          width: before || series.second ? 1.2 : 1.8,
          dash,
          points: { show: false },
          spanGaps: true,
          value: (_, value) => (value === null ? "–" : short(value)),
          ...(uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
        },
      });
    };
    for (const series of panel.series) add(series, false);
    for (const series of other?.series ?? []) add(series, true);
    const axis: uPlot.Axis = {
      stroke: style("--text"),
      grid: { stroke: style("--grid"), width: 1 },
      ticks: { stroke: style("--grid"), width: 1 },
      font: "12px system-ui",
    };
    const figure = el("div", {
      class: "chart",
      tabindex: 0,
      role: "group",
      "aria-label": filled(this.telling.chart ?? CHART, { title: panel.title, unit: panel.unit }),
    });
    const caption = el(
      "p",
      { class: "title" },
      panel.title,
      el("span", { class: "unit" }, ` ${panel.unit}`),
    );
    figure.append(caption);
    this.element.append(figure);
    const plot = new uPlot(
      {
        width: this.width(),
        height: HEIGHT,
        scales: {
          x: { time: false, range: () => [this.from, this.to] },
          y: { range: (this.telling.marks ?? []).length > 0 ? withRoom : fromZero },
        },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((tick) => `${tidy(tick)} s`) },
          { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => tidy(tick)) },
        ],
        series: [
          {
            label: this.telling.time ?? "time",
            value: (_, value) => (value === null ? "–" : `${tidy(value)} s`),
          },
          ...lines.map((line) => line.shown),
        ],
        cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: false } },
        hooks: {
          draw: [(chart) => marked(chart, this.telling.marks ?? [])],
          setSelect: [
            (chart) => {
              const { left, width } = chart.select;
              if (width < 3) return;
              const [from, to] = [chart.posToVal(left, "x"), chart.posToVal(left + width, "x")];
              chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              this.zoom(from, to);
            },
          ],
        },
        legend: { live: true },
      },
      [[0], ...lines.map(() => [null])] as uPlot.AlignedData,
      figure,
    );
    this.listen(figure, plot);
    // The legend shows the dashes, where the library's own marks show colours alone.
    figure.querySelectorAll(".u-series .u-marker").forEach((marker, n) => {
      const entry = lines[n - (lines.length < figure.querySelectorAll(".u-series").length ? 1 : 0)];
      if (!entry) return;
      marker.removeAttribute("style");
      marker.replaceChildren(sample(entry.entry));
    });
    const words = el("p", { class: "hidden words" });
    figure.append(words);
    return { plot, lines, panel: `${panel.title} (${panel.unit})`, words };
  }

  private listen(figure: HTMLElement, plot: uPlot): void {
    figure.addEventListener("keydown", (event) => {
      const width = this.to - this.from;
      const moves: Record<string, [number, number]> = {
        ArrowLeft: [-0.2, -0.2],
        ArrowRight: [0.2, 0.2],
        "+": [0.25, -0.25],
        "=": [0.25, -0.25],
        "-": [-0.5, 0.5],
      };
      const move = moves[event.key];
      if (event.key === "Home") this.whole();
      else if (move) this.zoom(this.from + move[0] * width, this.to + move[1] * width);
      else return;
      event.preventDefault();
    });
    plot.over.addEventListener("dblclick", () => this.whole());
    plot.over.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.shiftKey && !event.deltaX) return;
        event.preventDefault();
        const width = this.to - this.from;
        if (event.ctrlKey) {
          const at = plot.posToVal(event.offsetX, "x");
          const factor = Math.exp(event.deltaY / 300);
          this.zoom(at - (at - this.from) * factor, at + (this.to - at) * factor);
        } else {
          const by = ((event.deltaX || event.deltaY) / plot.over.clientWidth) * width;
          this.zoom(this.from + by, this.to + by);
        }
      },
      { passive: false },
    );
  }

  /** Tells in words what the charts show. */
  private tell(): void {
    for (const { lines, words } of this.charts)
      words.textContent = lines
        .map(({ series, entry }) => told(series, entry.label, this.from, this.to, this.telling))
        .filter((text) => text !== "")
        .join(" ");
  }

  private draw(): void {
    // Not in each frame of a move: the words go by all points.
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.tell(), PAUSE);
    const bins = Math.max(200, this.width());
    for (const { plot, lines } of this.charts) {
      const parts = lines.map(
        ({ series }) =>
          thinned(
            series.times,
            series.values,
            this.from,
            this.to,
            bins,
          ) as unknown as uPlot.AlignedData,
      );
      const joined = parts.length > 0 ? uPlot.join(parts.map(distinct)) : [[0]];
      plot.setData(joined as uPlot.AlignedData, true);
    }
  }

  private width(): number {
    return Math.max(240, this.element.clientWidth);
  }

  private resize(): void {
    const width = this.width();
    for (const { plot } of this.charts)
      if (plot.width !== width) plot.setSize({ width, height: HEIGHT });
  }
}

/** A line of a legend's dashes and colour. */
function sample(entry: Entry): SVGElement {
  const line = { x1: 1, x2: 39, y1: 5, y2: 5, stroke: entry.colour, "stroke-width": 2 };
  return svg(
    "svg",
    { width: 40, height: 10, "aria-hidden": "true" },
    svg("line", { ...line, "stroke-dasharray": entry.dash.join(" ") || null }),
  );
}

/** Draws moments as lines with their numbers in circles above, those that are close below one another. */
function marked(chart: uPlot, marks: Mark[]): void {
  const { ctx, bbox } = chart;
  const ratio = uPlot.pxRatio;
  const radius = 9 * ratio;
  let last = Number.NEGATIVE_INFINITY;
  let row = 0;
  ctx.save();
  for (const { at, text } of [...marks].sort((a, b) => a.at - b.at)) {
    const x = chart.valToPos(at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    row = x - last < 2 * radius ? row + 1 : 0;
    last = x;
    const y = bbox.top + radius * (1 + 2.2 * row);
    ctx.strokeStyle = style("--text");
    ctx.lineWidth = ratio;
    ctx.setLineDash([ratio, 3 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, y);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.fillStyle = style("--text");
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
    ctx.fill();
    ctx.fillStyle = style("--back");
    ctx.font = `bold ${11 * ratio}px system-ui`;
    ctx.textAlign = "center";
    ctx.textBaseline = "middle";
    ctx.fillText(text, x, y);
  }
  ctx.restore();
}

/** Of several points of one time the last: a chart has one value at a time. */
function distinct(data: uPlot.AlignedData): uPlot.AlignedData {
  const [times, values] = data as unknown as [number[], (number | null)[]];
  const kept = times.map((_, n) => n).filter((n) => times[n] !== times[n + 1]);
  return [kept.map((n) => times[n]), kept.map((n) => values[n])] as unknown as uPlot.AlignedData;
}

/** The same, with room for the numbers of marks above the lines. */
function withRoom(chart: uPlot, low: number | null, high: number | null): [number, number] {
  const [from, to] = fromZero(chart, low, high);
  return [from, to * 1.2];
}

function fromZero(_: uPlot, low: number | null, high: number | null): [number, number] {
  return [Math.min(0, low ?? 0), high === null || high <= 0 ? 1 : high * 1.05];
}

function tidy(value: number): string {
  return String(Number(value.toPrecision(6)));
}
