/** The path as a drawing: hosts, links, the bottleneck's queue. */

import type { Tree } from "./core";
import { el, svg } from "./dom";

function label(x: number, y: number, text: string, anchor = "middle"): SVGElement {
  return svg("text", { x, y, "text-anchor": anchor }, text);
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
  const flows = ((tree.flow as Tree[] | undefined) ?? []).slice(0, 4);
  const height = Math.max(96, 34 + 30 * flows.length);
  const middle = height / 2;
  const at = (n: number) => middle + (n - (flows.length - 1) / 2) * 28;
  const shape: SVGElement[] = [];
  flows.forEach((flow, n) => {
    const y = at(n);
    shape.push(
      svg("path", { d: `M52 ${y}L112 ${middle}M328 ${middle}L388 ${y}`, class: "wire" }),
      host(43, y, n),
      host(397, y, n),
      label(43, y - 11, String(flow.name ?? `flow-${n + 1}`)),
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
  const words = `${flows.length} flows from left to right across a bottleneck of ${said(bottleneck).join(", ")} with a queue ${String(queue.kind)}`;
  return svg(
    "svg",
    { viewBox: `0 0 440 ${height}`, class: "path", role: "img", "aria-label": words },
    ...shape,
  );
}
