/** The numbers of a run, in two tables. */

import type { Run } from "./core";
import { tableOf } from "./core";
import { el } from "./dom";
import { short } from "./quantity";

/** The most rows of a table of the summary. */
const SHOWN = 20;

function table(caption: string, heads: string[], rows: string[][], id: string): HTMLElement {
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      { id },
      el("caption", {}, caption),
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
      el(
        "tbody",
        {},
        ...rows.map((row) =>
          el(
            "tr",
            {},
            ...row.map((text, n) =>
              n === 0 ? el("th", { scope: "row" }, text) : el("td", {}, text),
            ),
          ),
        ),
      ),
    ),
  );
}

export function summary(run: Run): HTMLElement {
  const flows = tableOf(run, "flows");
  const links = tableOf(run, "links");
  const number = (of: typeof flows, column: string, row: number, factor = 1) =>
    short((of.numbers(column)[row] ?? Number.NaN) * factor);
  const first = (rows: unknown[]) =>
    rows.length > SHOWN ? `: the first ${SHOWN} of ${rows.length}, all of them under Tables` : "";
  const ofRun = flows.rowsOf("measure", "run");
  const flowRows = ofRun
    .slice(0, SHOWN)
    .map((row) => [
      flows.word("flow", row),
      flows.word("variant", row),
      number(flows, "goodput_bps", row, 1e-6),
      number(flows, "segments_sent", row),
      number(flows, "segments_retransmitted", row),
      number(flows, "timeouts", row),
      number(flows, "srtt_mean_s", row, 1e3),
      number(flows, "completed_s", row),
    ]);
  const shared = links
    .rowsOf("measure", "run")
    .filter(
      (row) =>
        links.word("direction", row) === "forward" &&
        !links.word("link", row).startsWith("access-"),
    );
  const linkRows = shared
    .slice(0, SHOWN)
    .map((row) => [
      links.word("link", row),
      number(links, "utilisation", row, 100),
      number(links, "dropped_packets", row),
      number(links, "marked_packets", row),
      number(links, "lost_packets", row),
      number(links, "queue_delay_mean_s", row, 1e3),
      number(links, "queue_delay_p99_s", row, 1e3),
    ]);
  return el(
    "div",
    { class: "summary" },
    table(
      `Flows over the whole run${first(ofRun)}`,
      [
        "flow",
        "sender",
        "goodput (Mbit/s)",
        "sent",
        "retransmitted",
        "timeouts",
        "mean RTT (ms)",
        "complete (s)",
      ],
      flowRows,
      "flows",
    ),
    table(
      `Links, forward${first(shared)}`,
      ["link", "used (%)", "dropped", "marked", "lost", "mean wait (ms)", "p99 wait (ms)"],
      linkRows,
      "links",
    ),
  );
}

/** A table of the run with its first rows. */
export function rowsOf(run: Run, name: string, most: number): HTMLElement {
  const of = tableOf(run, name);
  const rows = Array.from({ length: Math.min(of.rows, most) }, (_, row) =>
    of.columns.map((column) => {
      if (column.kind === "word") return of.word(column.name, row);
      const value = column.values[row] ?? Number.NaN;
      return Number.isNaN(value) ? "" : String(Number(value.toPrecision(7)));
    }),
  );
  const caption =
    of.rows > most ? `${name}: the first ${most} of ${of.rows} rows` : `${name}: ${of.rows} rows`;
  return table(
    caption,
    of.columns.map((column) => column.name),
    rows,
    "rows",
  );
}
