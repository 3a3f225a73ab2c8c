/** The view of a run inside a notebook, as a module of anywidget. */

import { Charts } from "./charts";
import { open, type Run, readRun, readSegments } from "./core";
import { el, rich, themeOf } from "./dom";
import { Sequence } from "./sequence";
import { duration, panels } from "./series";
import { rowsOf, summary } from "./summary";
import "./style.css";

const ROWS = 200;

/** The part of anywidget's model that is used. */
interface Model {
  get(name: "data"): DataView | Uint8Array;
  get(name: "height"): number;
  send(content: unknown): void;
  on(event: string, by: (...given: unknown[]) => void): void;
  off(event: string, by: (...given: unknown[]) => void): void;
}

interface Answered {
  error?: string;
  segments?: boolean;
}

/** Bytes in a buffer of their own, whose typed arrays begin at multiples of eight. */
function buffer(bytes: DataView | Uint8Array): ArrayBuffer {
  const { byteOffset, byteLength } = bytes;
  return bytes.buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}

function tabs(views: [string, HTMLElement, () => void][]): HTMLElement {
  const bar = el("div", { role: "tablist", class: "tabs", "aria-label": "Views" });
  const look = (chosen: number) =>
    views.forEach(([, panel, opened], n) => {
      panel.hidden = n !== chosen;
      bar.children[n]?.setAttribute("aria-selected", String(n === chosen));
      if (n === chosen) opened();
    });
  views.forEach(([name], n) => {
    bar.append(el("button", { type: "button", role: "tab", click: () => look(n) }, name));
  });
  look(0);
  return el("div", {}, bar, ...views.map(([, panel]) => panel));
}

function tableView(run: Run): HTMLElement {
  const shown = el("div", {});
  const names = [...run.tables.values()].filter((table) => table.rows > 0);
  const select = el(
    "select",
    {
      "aria-label": "Table",
      change: () => shown.replaceChildren(rowsOf(run, select.value, ROWS)),
    },
    ...names.map(({ name }) => el("option", { value: name }, name)),
  );
  if (names[0]) shown.replaceChildren(rowsOf(run, names[0].name, ROWS));
  return el("div", {}, el("div", { class: "row tools" }, select), shown);
}

function render({ model, el: root }: { model: Model; el: HTMLElement }): () => void {
  root.classList.add("ackclock-view");
  root.style.height = `${model.get("height")}px`;
  themeOf(root);
  const run = readRun(buffer(model.get("data")));
  const charts = new Charts();
  const sequence = new Sequence();
  const says = el("p", { role: "status" });
  let asked = false;
  const heard = (...given: unknown[]) => {
    const [answer, buffers] = given as [Answered, DataView[]];
    if (answer.error) says.replaceChildren(...rich(answer.error));
    const bytes = buffers[0];
    if (!answer.segments || !bytes) return;
    says.textContent = "";
    try {
      open(buffer(bytes));
      sequence.show(run, readSegments(buffer(bytes)));
    } catch (error) {
      says.replaceChildren(...rich((error as Error).message));
    }
  };
  model.on("msg:custom", heard);
  const draw = () => {
    themeOf(root);
    charts.show(panels(run), [], [...run.flows, ...run.links], duration(run));
  };
  root.replaceChildren(
    summary(run),
    says,
    tabs([
      ["Over time", charts.element, () => requestAnimationFrame(draw)],
      [
        "Segments",
        sequence.element,
        () => {
          themeOf(root);
          if (!asked) model.send({ do: "segments" });
          asked = true;
        },
      ],
      ["Tables", tableView(run), () => {}],
    ]),
  );
  return () => model.off("msg:custom", heard);
}

export default { render };
