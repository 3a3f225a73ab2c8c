/** Charts over time that are zoomed together. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { el, style } from "./dom";
import type { Entry, Picture } from "./download";
import { short } from "./quantity";
import { type Panel, type Series, thinned } from "./series";

const HEIGHT = 170;
/** Dashes of a run that another is laid over, and of a second line of a flow. */
const BEFORE = [6, 4];
const SECOND = [2, 3];

/** The dashes of a line; none of a flow's first line. */
export function dashes(series: Series, before: boolean): number[] {
  if (before) return BEFORE;
  return series.label.endsWith(": ssthresh") ? SECOND : [];
}

/** The name of a line in legends. */
export function labelOf(series: Series, before: boolean): string {
  return before ? `${series.label} (before)` : series.label;
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
  private charts: { plot: uPlot; lines: Line[]; panel: string }[] = [];
  private drawn = false;
  private readonly watcher = new ResizeObserver(() => this.resize());
  onZoom: (from: number, to: number) => void = () => {};

  constructor() {
    this.watcher.observe(this.element);
  }

  /** Shows the panels of a run, and dashed those of another over them. */
  show(now: Panel[], before: Panel[], names: string[], end: number): void {
    const same = end === this.end;
    this.end = end;
    if (!same || this.charts.length === 0) [this.from, this.to] = [0, end];
    for (const { plot } of this.charts) plot.destroy();
    this.element.replaceChildren();
    this.charts = now.map((panel) => this.chart(panel, before, names));
    const points = this.charts.flatMap(({ lines }) =>
      lines.map(({ series }) => series.times.length),
    );
    this.element.dataset.points = String(points.reduce((sum, count) => sum + count, 0));
    this.draw();
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
      const label = labelOf(series, before);
      lines.push({
        series,
        entry: { label, colour: colour(n), dash },
        shown: {
          label,
          stroke: colour(n),
          width: dash.length > 0 ? 1 : 1.5,
          dash,
          points: { show: false },
          spanGaps: true,
          value: (_, value) => (value === null ? "–" : short(value)),
          ...(uPlot.paths.stepped ? { paths: uPlot.paths.stepped({ align: 1 }) } : {}),
        },
      });
    };
    for (const series of other?.series ?? []) add(series, true);
    for (const series of panel.series) add(series, false);
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
      "aria-label": `${panel.title} in ${panel.unit} over time. Arrow keys move, plus and minus zoom, Home shows all.`,
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
        scales: { x: { time: false, range: () => [this.from, this.to] }, y: { range: fromZero } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((tick) => `${tidy(tick)} s`) },
          { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => tidy(tick)) },
        ],
        series: [
          { label: "time", value: (_, value) => (value === null ? "–" : `${tidy(value)} s`) },
          ...lines.map((line) => line.shown),
        ],
        cursor: { sync: { key: "time" }, drag: { x: true, y: false, setScale: false } },
        hooks: {
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
    return { plot, lines, panel: `${panel.title} (${panel.unit})` };
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

  private draw(): void {
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

/** Of several points of one time the last: a chart has one value at a time. */
function distinct(data: uPlot.AlignedData): uPlot.AlignedData {
  const [times, values] = data as unknown as [number[], (number | null)[]];
  const kept = times.map((_, n) => n).filter((n) => times[n] !== times[n + 1]);
  return [kept.map((n) => times[n]), kept.map((n) => values[n])] as unknown as uPlot.AlignedData;
}

function fromZero(_: uPlot, low: number | null, high: number | null): [number, number] {
  return [Math.min(0, low ?? 0), high === null || high <= 0 ? 1 : high * 1.05];
}

function tidy(value: number): string {
  return String(Number(value.toPrecision(6)));
}
