import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test } from "@playwright/test";
import type { ViteDevServer } from "vite";
import type * as Core from "../src/core";
import type * as Series from "../src/series";
import { compiling } from "./modules";

let vite: ViteDevServer;
let core: typeof Core;
let series: typeof Series;

test.beforeAll(async () => {
  vite = await compiling();
  core = (await vite.ssrLoadModule("/src/core.ts")) as typeof Core;
  series = (await vite.ssrLoadModule("/src/series.ts")) as typeof Series;
});

test.afterAll(() => vite.close());

/** The goodput of rows (time, acknowledged bytes) in a run of 10 s: begins of intervals of 0.1 s, and bit/s. */
function goodput(rows: [number, number][]): [number[], number[]] {
  const [times, acked] = [0, 1].map((n) => Float64Array.from(rows, (row) => row[n as 0 | 1]));
  const [begins, rates] = series.goodput(times as Float64Array, acked as Float64Array, 10);
  return [[...begins], [...rates]];
}

test("data that is acknowledged without a row belongs to all of the time between two rows", () => {
  // A megabyte a second: 8 Mbit/s, of which nothing is told between 3 and 6 s.
  const rows: [number, number][] = [0, 1, 2, 3, 6, 7, 10].map((at) => [at, at * 1e6]);
  const [, rates] = goodput(rows);
  for (const rate of rates) expect(rate).toBeCloseTo(8e6, 0);
});

test("an interval's value holds from its begin to its end", () => {
  // 125 kB in the second from 4 to 5 s: 1 Mbit/s there, and nothing else.
  const [begins, rates] = goodput([
    [0, 0],
    [4, 0],
    [5, 125_000],
    [10, 125_000],
  ]);
  begins.forEach((begin, n) => {
    const within = begin > 3.95 && begin < 4.95;
    expect(rates[n], String(begin)).toBeCloseTo(within ? 1e6 : 0, 0);
  });
  expect(begins[0]).toBe(0);
  expect(begins.at(-1)).toBe(10);
});

test("a flow that begins later has no goodput before, and what nobody looked at is not known", () => {
  const [, late] = goodput([
    [5, 0],
    [10, 5e6],
  ]);
  expect(late[10]).toBe(0);
  expect(late[60]).toBeCloseTo(8e6, 0);
  const [, unknown] = goodput([
    [5, 3e6],
    [8, 6e6],
  ]);
  expect(unknown[10]).toBeNaN();
  expect(unknown[60]).toBeCloseTo(8e6, 0);
  expect(unknown[90]).toBeNaN();
});

interface Exports {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  ask(): number;
  answered(): number;
}

/** An answer of the core that the built page carries. */
async function ask(request: Core.Request): Promise<ArrayBuffer> {
  const page = readFileSync(new URL("../dist/index.html", import.meta.url), "utf8");
  const packed = /id="core"[^>]*>([^<]+)</.exec(page)?.[1] ?? "";
  const { instance } = await WebAssembly.instantiate(gunzipSync(Buffer.from(packed, "base64")), {});
  const exports = instance.exports as unknown as Exports;
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  const at = exports.reserve(bytes.length);
  new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
  const length = exports.ask();
  const from = exports.answered();
  return exports.memory.buffer.slice(from, from + length) as ArrayBuffer;
}

test("no interval of a run has more goodput than its path carries", async () => {
  const example = new URL("../../examples/two_senders.toml", import.meta.url);
  const text = { file: "scenario.toml", text: readFileSync(example, "utf8") };
  const run = core.readRun(await ask({ do: "run", text, watch: true }));
  const panel = series.panels(run).find((each) => each.key === "goodput");
  expect(panel?.series.map((each) => each.label)).toEqual(["cubic", "bbr"]);
  for (const { label, times, values } of panel?.series ?? [])
    values.forEach((value, n) => {
      const at = `${label} at ${times[n]} s`;
      // 20 Mbit/s, and what waited for a retransmission and is acknowledged at once: nothing from 12 to 16 s.
      if (times[n] !== undefined && times[n] >= 14 && times[n] < 15.2) {
        expect(value, at).toBeLessThan(20);
        expect(value, at).toBeGreaterThan(2);
      }
    });
  // What all intervals carry is what was acknowledged.
  const cubic = panel?.series[0];
  const mean = [...(cubic?.values ?? [])].slice(0, 100).reduce((a, b) => a + b, 0) / 100;
  const flows = core.tableOf(run, "flows");
  const row = flows.rowsOf("measure", "run")[0] ?? 0;
  const whole = (flows.numbers("goodput_bps")[row] ?? 0) / 1e6;
  expect(Math.abs(mean - whole) / whole).toBeLessThan(0.02);
});
