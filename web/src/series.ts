/** Series of a run over time, and fewer points of them for a screen. */

import type { Run, Table } from "./core";
import { tableOf } from "./core";

export interface Series {
  label: string;
  /** The flow or the link that it is of. */
  of: string;
  /** Its place among the flows, or among the links. */
  n: number;
  times: Float64Array;
  values: Float64Array;
  /** True for values that hold until the next sample. */
  steps: boolean;
  /** True of a line that is beside the flow's own, as a threshold is. */
  second?: boolean;
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

const INTERVALS = 100;

/**
 * What was acknowledged by `time`, between two rows in proportion: a row comes when something changes, and at a steady
 * window data is acknowledged without one. NaN before the first row and after the last.
 */
function ackedBy(times: Float64Array, acked: Float64Array, time: number): number {
  const after = place(times, time);
  const [to, late] = [times[after], acked[after]];
  if (to === undefined || late === undefined) return Number.NaN;
  if (to === time) {
    // Of several rows of one moment the last.
    let last = after;
    while (times[last + 1] === time) last += 1;
    return acked[last] ?? late;
  }
  const [from, early] = [times[after - 1], acked[after - 1]];
  if (from === undefined || early === undefined) return Number.NaN;
  return early + ((late - early) * (time - from)) / (to - from);
}

/**
 * The goodput of intervals: what was acknowledged in each, over its length. A value holds from the begin of its interval
 * until the next.
 */
export function goodput(
  times: Float64Array,
  acked: Float64Array,
  end: number,
): [Float64Array, Float64Array] {
  const every = end / INTERVALS;
  const begins = Float64Array.from({ length: INTERVALS + 1 }, (_, n) => n * every);
  // The end is a float, and a row may be a billionth of it before.
  const last = times.at(-1) ?? 0;
  const at = begins.map((time) =>
    ackedBy(times, acked, time > last && time - last < 1e-6 * end ? last : time),
  );
  // A flow that begins later has acknowledged nothing before its first row.
  const first = place(begins, times[0] ?? end);
  if (acked[0] === 0) at.fill(0, 0, first);
  const rates = begins.map((_, n) => (8 * ((at[n + 1] ?? Number.NaN) - (at[n] ?? 0))) / every);
  rates[INTERVALS] = rates[INTERVALS - 1] ?? Number.NaN;
  return [begins, rates];
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
  for (const [n, flow] of run.flows.entries()) {
    const rows = flows.rowsOf("flow", flow);
    if (rows.length === 0) continue;
    const times = picked(flows, rows, "time_s");
    // A connection that is not open has no window.
    const windows = flows.numbers("cwnd_segments");
    const open = rows.filter((row) => windows[row] !== 0);
    const since = picked(flows, open, "time_s");
    const of = (label: string, column: string, factor = 1): Series => ({
      label,
      of: flow,
      n,
      times: since,
      values: picked(flows, open, column, factor),
      steps: true,
    });
    add("cwnd", of(`${flow}: cwnd`, "cwnd_segments"));
    add("cwnd", { ...of(`${flow}: ssthresh`, "ssthresh_segments"), second: true });
    add("in_flight", of(flow, "in_flight_segments"));
    add("rtt", of(flow, "srtt_s", 1e3));
    add("retransmitted", of(flow, "segments_retransmitted"));
    const [begins, rates] = goodput(times, picked(flows, rows, "acked_bytes"), end);
    const values = rates.map((rate) => rate / 1e6);
    add("goodput", { label: flow, of: flow, n, times: begins, values, steps: true });
  }
  const law = tableOf(run, "law_samples");
  if (law.rows > 0) {
    const paced = law.where((row) => law.word("variable", row).startsWith("pacing_rate"));
    for (const [n, flow] of run.flows.entries()) {
      const rows = paced.filter((row) => law.word("flow", row) === flow);
      const times = picked(law, rows, "time_s");
      add("pacing", {
        label: flow,
        of: flow,
        n,
        times,
        values: picked(law, rows, "value", 1e-6),
        steps: true,
      });
    }
  }
  const names = new Set<string>();
  for (let row = 0; row < links.rows; row += 1) names.add(links.word("link", row));
  for (const [n, link] of [...names].entries()) {
    const rows = links.where(
      (row) => links.word("link", row) === link && links.word("direction", row) === "forward",
    );
    if (rows.length === 0) continue;
    const times = picked(links, rows, "time_s");
    const of = (column: string): Series => ({
      label: link,
      of: link,
      n,
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
