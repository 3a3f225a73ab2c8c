/** Files for the user. */

import type { Run, Table } from "./core";
import { style } from "./dom";
import { type Pen, SvgPen } from "./pen";
import type { Panel } from "./series";

export function save(name: string, data: BlobPart, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([data], { type }));
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function cell(table: Table, column: Table["columns"][number], row: number): string {
  if (column.kind === "number") {
    const value = column.values[row] ?? Number.NaN;
    return Number.isNaN(value) ? "" : String(value);
  }
  const word = table.word(column.name, row);
  return /[",\n]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word;
}

export function csv(table: Table): string {
  const lines = [table.columns.map((column) => column.name).join(",")];
  for (let row = 0; row < table.rows; row += 1)
    lines.push(table.columns.map((column) => cell(table, column, row)).join(","));
  return `${lines.join("\n")}\n`;
}

/** A line of a legend. */
export interface Entry {
  label: string;
  colour: string;
  dash: number[];
  /** What stands on the line, so that it differs by more than its colour. */
  mark?: "ring" | "cross" | "square";
}

/** Draws the mark of a line around a place. */
export function mark(pen: Pen, kind: Entry["mark"], x: number, y: number): void {
  if (!kind) return;
  if (kind === "square") pen.fillRect(x - 2.5, y - 2.5, 5, 5);
  pen.lineWidth = 1.5;
  pen.beginPath();
  if (kind === "ring") pen.arc(x, y, 4, 0, 2 * Math.PI);
  if (kind === "cross") {
    pen.moveTo(x - 4, y - 4);
    pen.lineTo(x + 4, y + 4);
    pen.moveTo(x - 4, y + 4);
    pen.lineTo(x + 4, y - 4);
  }
  pen.stroke();
}

/** A sample of a line for a legend, as elements of SVG. */
export function sampled(entry: Entry, left: number, middle: number, length: number): string {
  const pen = new SvgPen();
  [pen.strokeStyle, pen.fillStyle, pen.lineWidth] = [entry.colour, entry.colour, 1.5];
  pen.setLineDash(entry.dash);
  pen.beginPath();
  pen.moveTo(left, middle);
  pen.lineTo(left + length, middle);
  pen.stroke();
  pen.setLineDash([]);
  mark(pen, entry.mark, left + length / 2, middle);
  return pen.parts.join("");
}

/** A canvas, and what stands above it. */
export interface Picture {
  title: string;
  canvas: HTMLCanvasElement;
  legend: Entry[];
}

/** The length of a legend's sample of a line, and the space around it. */
const SAMPLE = 22;
const SPACE = 6;
const ROW = 17;

interface Placed extends Entry {
  x: number;
  row: number;
}

/** Places the entries of a legend in rows of a width; `measure` says how long a text is. */
function placed(entries: Entry[], width: number, measure: (text: string) => number): Placed[] {
  let [x, row] = [0, 0];
  return entries.map((entry) => {
    const length = SAMPLE + SPACE + measure(entry.label) + 3 * SPACE;
    if (x > 0 && x + length > width) [x, row] = [0, row + 1];
    const made = { ...entry, x, row };
    x += length;
    return made;
  });
}

function rowsOf(entries: Placed[]): number {
  return entries.length === 0 ? 0 : (entries.at(-1)?.row ?? 0) + 1;
}

/** Canvases below one another, each under its title and its legend. */
export function png(parts: Picture[]): Promise<Blob | null> {
  const ratio = window.devicePixelRatio || 1;
  const whole = document.createElement("canvas");
  const context = whole.getContext("2d");
  if (!context) return Promise.resolve(null);
  const [plain, bold] = [`${12 * ratio}px system-ui`, `bold ${13 * ratio}px system-ui`];
  const width = Math.max(...parts.map((part) => part.canvas.width));
  context.font = plain;
  const legends = parts.map((part) =>
    placed(part.legend, width / ratio - 16, (text) => context.measureText(text).width / ratio),
  );
  const head = (n: number) => (22 + ROW * rowsOf(legends[n] ?? [])) * ratio;
  const height = parts.reduce((sum, part, n) => sum + part.canvas.height + head(n), 0);
  [whole.width, whole.height] = [width, height];
  context.fillStyle = style("--back");
  context.fillRect(0, 0, width, height);
  let y = 0;
  parts.forEach((part, n) => {
    context.fillStyle = style("--text");
    context.font = bold;
    context.fillText(part.title, 8 * ratio, y + 16 * ratio);
    context.font = plain;
    for (const entry of legends[n] ?? []) {
      const left = (8 + entry.x) * ratio;
      const top = y + (22 + ROW * (entry.row + 0.5)) * ratio;
      context.strokeStyle = entry.colour;
      context.lineWidth = 1.5 * ratio;
      context.setLineDash(entry.dash.map((length) => length * ratio));
      context.beginPath();
      context.moveTo(left, top);
      context.lineTo(left + SAMPLE * ratio, top);
      context.stroke();
      context.setLineDash([]);
      context.save();
      context.translate(left + (SAMPLE / 2) * ratio, top);
      context.scale(ratio, ratio);
      context.fillStyle = entry.colour;
      mark(context, entry.mark, 0, 0);
      context.restore();
      context.fillText(entry.label, left + (SAMPLE + SPACE) * ratio, top + 4 * ratio);
    }
    context.drawImage(part.canvas, 0, y + head(n));
    y += part.canvas.height + head(n);
  });
  return new Promise((resolve) => whole.toBlob(resolve));
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

const COLOURS = ["#1f5fa8", "#b4521b", "#2b7a3f", "#8a3f9c", "#9a6b00", "#3c6e71"];

/** A line of a drawing. */
export interface Drawn {
  label: string;
  points: [number[], (number | null)[]];
  of: number;
  dash: number[];
}

function dashed(dash: number[]): string {
  return dash.length > 0 ? ` stroke-dasharray="${dash.join(" ")}"` : "";
}

/** A drawing on white, whatever the page's colours are. */
export function framed(width: number, height: number, title: string, parts: string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12"><title>${escaped(title)}</title><rect width="100%" height="100%" fill="white"/>${parts.join("")}</svg>\n`;
}

/** The elements of a legend between `top` and some height, which comes with them. */
export function legendOf(
  entries: Entry[],
  left: number,
  top: number,
  width: number,
): [string[], number] {
  // Nothing measures text here: most letters of 12 px are narrower than seven.
  const legend = placed(entries, width, (text) => 7 * text.length);
  const parts = legend.flatMap((entry) => {
    const [at, middle] = [left + entry.x, top + ROW * (entry.row + 0.5)];
    return [
      sampled(entry, at, middle, SAMPLE),
      `<text x="${at + SAMPLE + SPACE}" y="${middle + 4}">${escaped(entry.label)}</text>`,
    ];
  });
  return [parts, ROW * rowsOf(legend)];
}

/** The panels as a drawing of lines, for documents. */
export function drawing(
  panels: { panel: Panel; lines: Drawn[] }[],
  span: [number, number],
  title: string,
): string {
  const [width, height, left] = [760, 170, 60];
  const [from, to] = span;
  const parts: string[] = [];
  let base = 24;
  for (const { panel, lines } of panels) {
    const entries = lines.map(({ label, of, dash }): Entry => {
      return { label, colour: COLOURS[of % 6] ?? "black", dash };
    });
    // Nothing measures text here: most letters of 12 px are narrower than seven.
    const [legend, high] = legendOf(entries, left, base + 6, width - left - 10);
    const top = base + 8 + high;
    const values = lines.flatMap((line) => line.points[1]).filter((value) => value !== null);
    const most = values.reduce((a, b) => Math.max(a, b), 0) * 1.05 || 1;
    const x = (time: number) => left + ((time - from) / (to - from)) * (width - left - 10);
    const y = (value: number) => top + height - (value / most) * height;
    parts.push(
      `<text x="${left}" y="${base}" font-weight="bold">${escaped(`${panel.title} (${panel.unit})`)}</text>`,
    );
    parts.push(...legend);
    for (let tick = 0; tick <= 4; tick += 1) {
      const value = (most / 1.05) * (tick / 4);
      parts.push(`<path d="M${left} ${y(value).toFixed(1)}H${width - 10}" stroke="#ddd"/>`);
      parts.push(
        `<text x="${left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${Number(value.toPrecision(3))}</text>`,
      );
      const time = from + ((to - from) * tick) / 4;
      const anchor = tick === 0 ? "start" : tick === 4 ? "end" : "middle";
      parts.push(
        `<text x="${x(time).toFixed(1)}" y="${top + height + 16}" text-anchor="${anchor}">${Number(time.toPrecision(4))} s</text>`,
      );
    }
    for (const line of lines) {
      let path = "";
      let held: number | null = null;
      line.points[0].forEach((time, at) => {
        const value = line.points[1][at] ?? null;
        if (value === null) {
          held = null;
          return;
        }
        const place = `${Math.min(x(Math.max(time, from)), width - 10).toFixed(1)} ${y(value).toFixed(1)}`;
        path += held === null ? `M${place}` : `H${place.split(" ")[0]}V${place.split(" ")[1]}`;
        held = value;
      });
      // A value holds until the next one, or the end.
      if (held !== null) path += `H${width - 10}`;
      parts.push(
        `<path d="${path}" fill="none" stroke="${COLOURS[line.of % 6]}" stroke-width="1.3"${dashed(line.dash)}><title>${escaped(line.label)}</title></path>`,
      );
    }
    base = top + height + 46;
  }
  return framed(width, base - 20, title, parts);
}

/** A name for files of a run. */
export function stem(run: Run | undefined): string {
  const title = String(run?.scenario.title ?? "scenario");
  return (
    title
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "scenario"
  );
}
