/** Files for the user. */

import type { Run, Table } from "./core";
import { style } from "./dom";
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

/** Canvases below one another, each under its title. */
export function png(parts: { title: string; canvas: HTMLCanvasElement }[]): Promise<Blob | null> {
  const ratio = window.devicePixelRatio || 1;
  const head = 22 * ratio;
  const width = Math.max(...parts.map((part) => part.canvas.width));
  const height = parts.reduce((sum, part) => sum + part.canvas.height + head, 0);
  const whole = document.createElement("canvas");
  [whole.width, whole.height] = [width, height];
  const context = whole.getContext("2d");
  if (!context) return Promise.resolve(null);
  context.fillStyle = style("--back");
  context.fillRect(0, 0, width, height);
  context.font = `bold ${13 * ratio}px system-ui`;
  let y = 0;
  for (const part of parts) {
    context.fillStyle = style("--text");
    context.fillText(part.title, 8 * ratio, y + 16 * ratio);
    context.drawImage(part.canvas, 0, y + head);
    y += part.canvas.height + head;
  }
  return new Promise((resolve) => whole.toBlob(resolve));
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}

const COLOURS = ["#1f5fa8", "#b4521b", "#2b7a3f", "#8a3f9c", "#9a6b00", "#3c6e71"];

/** The panels as a drawing of lines, for documents: on white, whatever the page's colours are. */
export function drawing(
  panels: {
    panel: Panel;
    lines: { label: string; points: [number[], (number | null)[]]; of: number; dashed: boolean }[];
  }[],
  span: [number, number],
  title: string,
): string {
  const [width, height, left] = [760, 170, 60];
  const [from, to] = span;
  const parts: string[] = [];
  panels.forEach(({ panel, lines }, n) => {
    const top = 40 + n * (height + 46);
    const values = lines.flatMap((line) => line.points[1]).filter((value) => value !== null);
    const most = values.reduce((a, b) => Math.max(a, b), 0) * 1.05 || 1;
    const x = (time: number) => left + ((time - from) / (to - from)) * (width - left - 10);
    const y = (value: number) => top + height - (value / most) * height;
    parts.push(
      `<text x="${left}" y="${top - 8}" font-weight="bold">${escaped(`${panel.title} (${panel.unit})`)}</text>`,
    );
    for (let tick = 0; tick <= 4; tick += 1) {
      const value = (most / 1.05) * (tick / 4);
      parts.push(`<path d="M${left} ${y(value).toFixed(1)}H${width - 10}" stroke="#ddd"/>`);
      parts.push(
        `<text x="${left - 6}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${Number(value.toPrecision(3))}</text>`,
      );
      const time = from + ((to - from) * tick) / 4;
      parts.push(
        `<text x="${x(time).toFixed(1)}" y="${top + height + 16}" text-anchor="middle">${Number(time.toPrecision(4))} s</text>`,
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
        const place = `${x(Math.max(time, from)).toFixed(1)} ${y(value).toFixed(1)}`;
        path += held === null ? `M${place}` : `H${place.split(" ")[0]}V${place.split(" ")[1]}`;
        held = value;
      });
      const dash = line.dashed ? ' stroke-dasharray="6 4"' : "";
      parts.push(
        `<path d="${path}" fill="none" stroke="${COLOURS[line.of % 6]}" stroke-width="1.3"${dash}><title>${escaped(line.label)}</title></path>`,
      );
    }
  });
  const whole = 40 + panels.length * (height + 46);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${whole}" viewBox="0 0 ${width} ${whole}" font-family="system-ui, sans-serif" font-size="12"><title>${escaped(title)}</title><rect width="100%" height="100%" fill="white"/>${parts.join("")}</svg>\n`;
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
