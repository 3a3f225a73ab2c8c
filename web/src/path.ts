/** The path as a drawing: hosts, links, the bottleneck's queue. */

import type { Tree } from "./core";
import { el, svg } from "./dom";

function label(x: number, y: number, text: string, anchor = "middle"): SVGElement {
  return svg("text", { x, y, "text-anchor": anchor }, text);
}

/** The most flows that are drawn. */
const DRAWN = 4;
/** Letters of a name that fit beside the edge. */
const FITS = 13;

function named(x: number, y: number, name: string): SVGElement {
  const letters = [...name];
  if (letters.length <= FITS) return label(x, y, name);
  const made = label(x, y, `${letters.slice(0, FITS - 1).join("")}…`);
  made.append(svg("title", {}, name));
  return made;
}

/** Flows of a scenario, `count` spelled out. */
function flowsOf(tree: Tree): string[] {
  return ((tree.flow as Tree[] | undefined) ?? []).flatMap((flow, n) => {
    const name = String(flow.name ?? `flow-${n + 1}`);
    const count = typeof flow.count === "number" ? Math.min(flow.count, 100_000) : 1;
    return count > 1 ? Array.from({ length: count }, (_, at) => `${name}-${at + 1}`) : [name];
  });
}

function host(x: number, y: number, n: number): SVGElement {
  return svg("rect", {
    x: x - 9,
    y: y - 7,
    width: 18,
    height: 14,
    rx: 2,
    class: `host host-${(n % 6) + 1}`,
  });
}

function said(link: Tree): string[] {
  const says = [String(link.rate ?? ""), `${String(link.delay ?? link.rtt ?? "")}`];
  if (link.loss !== undefined)
    says.push(`loss ${typeof link.loss === "object" ? "in a pattern" : String(link.loss)}`);
  return says.filter((text) => text !== "");
}

function graph(links: Tree[]): Node {
  const rows = links.map((link) =>
    el(
      "li",
      {},
      `${String(link.from)} – ${String(link.to)}: ${String(link.name ?? "")} ${said(link).join(", ")}`,
    ),
  );
  return el("ul", { class: "graph" }, ...rows);
}

/** A drawing of the scenario's topology, with a text for those who do not see it. */
export function draw(tree: Tree): Node {
  const topology = tree.topology as Tree | undefined;
  if (!topology) return el("p", {}, "");
  if (topology.kind === "graph") return graph((topology.link as Tree[] | undefined) ?? []);
  const bottleneck = (topology.kind === "path" ? topology : topology.bottleneck) as Tree;
  const queue = (bottleneck.queue as Tree | undefined) ?? { kind: "droptail", limit: "1 BDP" };
  const all = flowsOf(tree);
  const flows = all.slice(0, DRAWN);
  const more = all.length - flows.length;
  const height = Math.max(96, 34 + 30 * flows.length) + (more > 0 ? 16 : 0);
  const middle = (height - (more > 0 ? 16 : 0)) / 2;
  const at = (n: number) => middle + (n - (flows.length - 1) / 2) * 28;
  const shape: SVGElement[] = [];
  flows.forEach((flow, n) => {
    const y = at(n);
    shape.push(
      svg("path", { d: `M52 ${y}L112 ${middle}M328 ${middle}L388 ${y}`, class: "wire" }),
      host(43, y, n),
      host(397, y, n),
      named(43, y - 11, flow),
    );
  });
  const slots = [0, 1, 2, 3, 4].map((n) =>
    svg("rect", {
      x: 128 + n * 9,
      y: middle - 8,
      width: 7,
      height: 16,
      class: n > 1 ? "slot full" : "slot",
    }),
  );
  shape.push(
    svg("circle", { cx: 118, cy: middle, r: 7, class: "router" }),
    svg("rect", { x: 125, y: middle - 11, width: 50, height: 22, rx: 3, class: "queue" }),
    ...slots,
    svg("path", { d: `M175 ${middle}L316 ${middle}`, class: "wire thick" }),
    svg("circle", { cx: 322, cy: middle, r: 7, class: "router" }),
    label(150, middle + 26, String(queue.kind)),
    label(248, middle - 8, said(bottleneck).slice(0, 2).join(", ")),
  );
  const loss = said(bottleneck)[2];
  if (loss) shape.push(label(248, middle + 18, loss));
  if (more > 0) shape.push(label(220, height - 4, `and ${more} more flows`));
  const words = `${all.length} ${all.length === 1 ? "flow" : "flows"} from left to right across a bottleneck of ${said(bottleneck).join(", ")} with a queue ${String(queue.kind)}`;
  return svg(
    "svg",
    { viewBox: `0 0 440 ${height}`, class: "path", role: "img", "aria-label": words },
    ...shape,
  );
}
