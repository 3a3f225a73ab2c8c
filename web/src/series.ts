/** Series of a run over time, and fewer points of them for a screen. */

import type { Run, Table } from "./core";
import { tableOf } from "./core";

export interface Series {
  label: string;
  /** The flow or the link that it is of. */
  of: string;
  times: Float64Array;
  values: Float64Array;
  /** True for values that hold until the next sample. */
  steps: boolean;
}

export interface Panel {
  key: string;
  title: string;
  unit: string;
  series: Series[];
}

function picked(table: Table, rows: number[], column: string, factor = 1): Float64Array {
  const values = table.numbers(column);
  return Float64Array.from(rows, (row) => (values[row] ?? Number.NaN) * factor);
}

function known(values: Float64Array): boolean {
  return values.some((value) => !Number.isNaN(value));
}

/** The goodput of intervals: what was acknowledged in each, over its length. */
function goodput(
  times: Float64Array,
  acked: Float64Array,
  end: number,
): [Float64Array, Float64Array] {
  const intervals = 100;
  const every = end / intervals;
  const at = new Float64Array(intervals + 1);
  let row = 0;
  let last = 0;
  for (let n = 0; n <= intervals; n += 1) {
    while (row < times.length && (times[row] ?? 0) <= n * every) last = acked[row++] ?? last;
    at[n] = last;
  }
  const middles = Float64Array.from({ length: intervals }, (_, n) => (n + 0.5) * every);
  const rates = Float64Array.from(
    middles,
    (_, n) => (8 * ((at[n + 1] ?? 0) - (at[n] ?? 0))) / every,
  );
  return [middles, rates];
}

export function duration(run: Run): number {
  if (run.duration_s !== undefined) return run.duration_s;
  const rows = tableOf(run, "links").rowsOf("measure", "run");
  return tableOf(run, "links").numbers("duration_s")[rows[0] ?? 0] ?? 0;
}

/** The panels of a run; only those of which something was recorded. */
export function panels(run: Run): Panel[] {
  const flows = tableOf(run, "flow_samples");
  const links = tableOf(run, "link_samples");
  const end = duration(run);
  const made: Panel[] = [
    { key: "cwnd", title: "Window", unit: "segments", series: [] },
    { key: "in_flight", title: "In flight", unit: "segments", series: [] },
    { key: "goodput", title: "Goodput", unit: "Mbit/s", series: [] },
    { key: "rtt", title: "Smoothed RTT", unit: "ms", series: [] },
    { key: "queue", title: "Queue", unit: "packets", series: [] },
    { key: "drops", title: "Drops", unit: "packets so far", series: [] },
    { key: "marks", title: "Marks (ECN)", unit: "packets so far", series: [] },
    { key: "retransmitted", title: "Retransmitted", unit: "segments so far", series: [] },
    { key: "pacing", title: "Pacing rate", unit: "Mbit/s", series: [] },
  ];
  const add = (key: string, series: Series) => {
    if (known(series.values)) made.find((panel) => panel.key === key)?.series.push(series);
  };
  for (const flow of run.flows) {
    const rows = flows.rowsOf("flow", flow);
    if (rows.length === 0) continue;
    const times = picked(flows, rows, "time_s");
    const of = (label: string, column: string, factor = 1): Series => ({
      label,
      of: flow,
      times,
      values: picked(flows, rows, column, factor),
      steps: true,
    });
    add("cwnd", of(`${flow}: cwnd`, "cwnd_segments"));
    add("cwnd", of(`${flow}: ssthresh`, "ssthresh_segments"));
    add("in_flight", of(flow, "in_flight_segments"));
    add("rtt", of(flow, "srtt_s", 1e3));
    add("retransmitted", of(flow, "segments_retransmitted"));
    const [middles, rates] = goodput(times, picked(flows, rows, "acked_bytes"), end);
    const values = rates.map((rate) => rate / 1e6);
    add("goodput", { label: flow, of: flow, times: middles, values, steps: true });
  }
  const law = tableOf(run, "law_samples");
  if (law.rows > 0) {
    const paced = law.where((row) => law.word("variable", row).startsWith("pacing_rate"));
    for (const flow of run.flows) {
      const rows = paced.filter((row) => law.word("flow", row) === flow);
      const times = picked(law, rows, "time_s");
      add("pacing", {
        label: flow,
        of: flow,
        times,
        values: picked(law, rows, "value", 1e-6),
        steps: true,
      });
    }
  }
  const names = new Set<string>();
  for (let row = 0; row < links.rows; row += 1) names.add(links.word("link", row));
  for (const link of names) {
    const rows = links.where(
      (row) => links.word("link", row) === link && links.word("direction", row) === "forward",
    );
    if (rows.length === 0) continue;
    const times = picked(links, rows, "time_s");
    const of = (column: string): Series => ({
      label: link,
      of: link,
      times,
      values: picked(links, rows, column),
      steps: true,
    });
    add("queue", of("queue_packets"));
    add("drops", of("dropped_packets"));
    const marks = of("marked_packets");
    if (marks.values.some((value) => value > 0)) add("marks", marks);
  }
  return made.filter((panel) => panel.series.length > 0);
}

/** The first place of `times` at or after `from`. */
export function place(times: Float64Array, from: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The smallest and the largest value of each of `bins` parts of the time from `from` to `to`, in order, so that a line
 * through them looks like the line through all points.
 */
export function thinned(
  times: Float64Array,
  values: Float64Array,
  from: number,
  to: number,
  bins: number,
): [number[], (number | null)[]] {
  const first = Math.max(0, place(times, from) - 1);
  const last = Math.min(times.length, place(times, to) + 1);
  const shown: number[] = [];
  const found: (number | null)[] = [];
  if (last - first <= 4 * bins) {
    for (let n = first; n < last; n += 1) {
      const value = values[n] ?? Number.NaN;
      shown.push(times[n] ?? 0);
      found.push(Number.isNaN(value) ? null : value);
    }
    return [shown, found];
  }
  const width = (to - from) / bins;
  let n = first;
  while (n < last) {
    const end = Math.floor(((times[n] ?? 0) - from) / width + 1) * width + from;
    let low = n;
    let high = n;
    let next = n;
    for (; next < last && (next === n || (times[next] ?? 0) < end); next += 1) {
      const value = values[next] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      if (!(value >= (values[low] ?? Number.NaN))) low = next;
      if (!(value <= (values[high] ?? Number.NaN))) high = next;
    }
    for (const at of low === high ? [low] : low < high ? [low, high] : [high, low]) {
      const value = values[at] ?? Number.NaN;
      shown.push(times[at] ?? 0);
      found.push(Number.isNaN(value) ? null : value);
    }
    n = next;
  }
  return [shown, found];
}
