import { expect, test } from "@playwright/test";
import { createServer, type ViteDevServer } from "vite";
import type * as Core from "../src/core";
import type * as Reasons from "../src/why";

let vite: ViteDevServer;
let core: typeof Core;
let reasons: typeof Reasons;

test.beforeAll(async () => {
  vite = await createServer({
    configFile: false,
    root: new URL("..", import.meta.url).pathname,
    server: { middlewareMode: true, hmr: false, watch: null, ws: false },
    optimizeDeps: { noDiscovery: true },
    logLevel: "error",
  });
  core = (await vite.ssrLoadModule("/src/core.ts")) as typeof Core;
  reasons = (await vite.ssrLoadModule("/src/why.ts")) as typeof Reasons;
});

test.afterAll(() => vite.close());

const SYN = 1;
const ACK = 2;
const FIN = 4;
const MSS = 1000;

interface Seen {
  time: number;
  /** The link: 0 is the sender's, 1 the receiver's. */
  link?: number;
  back?: boolean;
  seq?: number;
  len?: number;
  ack?: number;
  flags?: number;
  mark?: boolean;
  sack?: [number, number];
}

function segments(seen: Seen[]): Core.Segments {
  const values = seen.flatMap((each) => [
    each.time,
    each.link ?? 0,
    each.back ? 1 : 0,
    0,
    each.back ? 0 : 1,
    each.seq ?? 0,
    each.len ?? 0,
    each.ack ?? 0,
    each.flags ?? ACK,
    each.mark ? 1 : 0,
    ...(each.sack ?? [0, 0]),
    ...[0, 0, 0, 0, 0, 0],
  ]);
  return {
    flows: ["a"],
    links: ["bottleneck", "access"],
    columns: Array.from({ length: 18 }, (_, n) => String(n)),
    rows: seen.length,
    values: Float64Array.from(values),
    whole: true,
  };
}

/** A scenario whose first link has no delay, so that ACKs come when they leave it. */
const SCENARIO: Core.Tree = {
  topology: { kind: "dumbbell", bottleneck: { delay: "0 s" }, access: { delay: "0 s" } },
};

function run(
  events: [number, string][],
  windows: [number, number, number][],
  recovery: string,
  law = "cubic",
): Core.Run {
  const number = (name: string, values: number[]): Core.Column => ({
    name,
    kind: "number",
    values: Float64Array.from(values),
  });
  const word = (name: string, values: string[]): Core.Column => {
    const words = [...new Set(values)];
    return {
      name,
      kind: "word",
      words,
      values: Int32Array.from(values, (value) => words.indexOf(value)),
    };
  };
  const flow = (rows: unknown[]) =>
    word(
      "flow",
      rows.map(() => "a"),
    );
  const tables = [
    new core.Table("flow_events", events.length, [
      number(
        "time_s",
        events.map(([time]) => time),
      ),
      flow(events),
      word(
        "event",
        events.map(([, event]) => event),
      ),
    ]),
    new core.Table("flow_samples", windows.length, [
      number(
        "time_s",
        windows.map(([time]) => time),
      ),
      flow(windows),
      number(
        "cwnd_segments",
        windows.map(([, cwnd]) => cwnd),
      ),
      number(
        "ssthresh_segments",
        windows.map(([, , ssthresh]) => ssthresh),
      ),
    ]),
  ];
  const sender = {
    kind: "flow",
    name: "a",
    names: ["a"],
    variant: law,
    recovery,
    first_window: "iw10",
  };
  return {
    scenario: SCENARIO,
    events: 0,
    flows: ["a"],
    links: ["bottleneck", "access"],
    senders: [sender],
    tables: new Map(tables.map((table) => [table.name, table])),
  };
}

/** The reason for the `n`th segment of the sender. */
function why(of: Core.Run, seen: Seen[], n: number): Reasons.Reason {
  const story = reasons.storyOf(segments(seen), SCENARIO, "a");
  return new reasons.Why(of, story).of(n);
}

const OPENED: Seen[] = [
  { time: 0, flags: SYN },
  { time: 0.1, back: true, ack: 1, flags: SYN | ACK },
  { time: 0.1, seq: 1, len: MSS },
];
/** A window of ten in slow start. */
const START: [number, number, number][] = [[0.1, 10, Number.NaN]];

test("a SYN opens, and one that is sent again waited for the timer", () => {
  const seen: Seen[] = [
    { time: 0, flags: SYN },
    { time: 1, flags: SYN },
    { time: 1, link: 1, flags: SYN },
  ];
  const quiet = run([], START, "sack");
  expect(why(quiet, seen, 0)).toMatchObject({ rfc: [9293, "3.5"], page: "start" });
  // RFC 6298, section 2.1: the first timer is of one second.
  expect(why(quiet, seen, 1)).toMatchObject({ rfc: [6298, "5"], page: "timer" });
});

test("the first data is the first window", () => {
  expect(why(run([], START, "sack"), OPENED, 1)).toMatchObject({ rfc: [6928, "2"] });
});

test("a FIN says that all was sent", () => {
  const seen: Seen[] = [...OPENED, { time: 0.2, seq: 1 + MSS, flags: FIN | ACK }];
  expect(why(run([], START, "sack"), seen, 2)).toMatchObject({ rfc: [9293, "3.6"] });
});

/** Five segments, of which the first is lost, and three duplicate ACKs for the others. */
const LOST: Seen[] = [
  ...OPENED,
  ...[1, 2, 3, 4].map((n) => ({ time: 0.1, seq: 1 + n * MSS, len: MSS })),
  ...[0, 1, 2].map((n) => ({
    time: 0.2 + n * 1e-3,
    back: true,
    ack: 1,
    sack: [1 + MSS, 1 + (n + 2) * MSS] as [number, number],
  })),
  { time: 0.203, seq: 1, len: MSS },
];

for (const [recovery, rfc] of [
  ["sack", [6675, "5"]],
  ["prr", [6675, "5"]],
  ["rack", [8985, "6.2"]],
  ["partialack", [5681, "3.2"]],
  ["gobackn", [5681, "3.2"]],
] as const)
  test(`the retransmission of ${recovery} has its rule`, () => {
    const lost = run([[0.203, "fast_retransmit"]], START, recovery);
    const story = reasons.storyOf(segments(LOST), SCENARIO, "a");
    expect(story.sends[6]).toMatchObject({ again: true, seq: 1 });
    expect(why(lost, LOST, 6).rfc).toEqual(rfc);
  });

test("a timeout is told before the repair that it begins", () => {
  const lost = run(
    [
      [0.203, "timeout"],
      [0.203, "recovery_begins"],
    ],
    START,
    "sack",
  );
  expect(why(lost, LOST, 6)).toMatchObject({ rfc: [6298, "5"], page: "timer" });
});

test("further holes have the rule of the recovery", () => {
  const seen: Seen[] = [...LOST, { time: 0.204, seq: 1 + MSS, len: MSS }];
  const events: [number, string][] = [
    [0.203, "fast_retransmit"],
    [0.203, "recovery_begins"],
  ];
  expect(why(run(events, START, "sack"), seen, 7).rfc).toEqual([6675, "4"]);
  expect(why(run(events, START, "partialack"), seen, 7).rfc).toEqual([6582, "3.2"]);
});

test("new data on a first duplicate ACK is limited transmit", () => {
  const seen: Seen[] = [
    ...OPENED,
    { time: 0.15, back: true, ack: 1 + MSS },
    { time: 0.2, back: true, ack: 1 + MSS },
    { time: 0.2, seq: 1 + MSS, len: MSS },
  ];
  expect(why(run([], START, "sack"), seen, 2).rfc).toEqual([3042, "2"]);
});

test("below the threshold it is slow start, above it the law's rule", () => {
  const seen: Seen[] = [
    ...OPENED,
    { time: 0.2, back: true, ack: 1 + MSS },
    { time: 0.2, seq: 1 + MSS, len: MSS },
  ];
  expect(why(run([], START, "sack"), seen, 2)).toMatchObject({ rfc: [5681, "3.1"], page: "start" });
  const above: [number, number, number][] = [[0.1, 10, 8]];
  const cubic = why(run([], above, "sack"), seen, 2);
  expect(cubic).toMatchObject({ rfc: [9438, "4"], page: "cubic" });
  expect(cubic.says).toContain("10.0 segments");
  const dctcp = why(run([], above, "sack", "dctcp"), seen, 2);
  expect(dctcp).toMatchObject({ rfc: [8257, "3.3"], page: "dctcp" });
});

test("without an ACK at that moment it was the application or pacing", () => {
  const seen: Seen[] = [
    ...OPENED,
    { time: 0.2, back: true, ack: 1 + MSS },
    { time: 0.5, seq: 1 + MSS, len: MSS },
  ];
  const reason = why(run([], START, "sack"), seen, 2);
  expect(reason).toMatchObject({ page: "pacing" });
  expect(reason.rfc).toBeUndefined();
});

test("the first data after silence has the rule for idle windows", () => {
  const seen: Seen[] = [
    ...OPENED,
    { time: 0.2, back: true, ack: 1 + MSS },
    { time: 5, seq: 1 + MSS, len: MSS },
  ];
  const idle = run([[5, "idle_restart"]], START, "sack");
  expect(why(idle, seen, 2)).toMatchObject({ rfc: [5681, "4.1"], page: "idle" });
});

test("a segment that does not come to the last link is lost, and marks are seen there", () => {
  const seen: Seen[] = [
    { time: 0, seq: 1, len: MSS },
    { time: 0, seq: 1 + MSS, len: MSS },
    { time: 0.01, link: 1, seq: 1, len: MSS, mark: true },
    // The run goes on: what is under way at its end is not called lost.
    { time: 3, seq: 1 + 2 * MSS, len: MSS },
  ];
  const { sends } = reasons.storyOf(segments(seen), SCENARIO, "a");
  expect(sends.map(({ lost, marked }) => [lost, marked])).toEqual([
    [false, true],
    [true, false],
    [false, false],
  ]);
});

test("of two sends of the same data the later one came, if it had time", () => {
  const seen: Seen[] = [
    { time: 0, seq: 1, len: MSS },
    { time: 0.1, seq: 1 + MSS, len: MSS },
    { time: 0.12, link: 1, seq: 1 + MSS, len: MSS },
    { time: 1, seq: 1, len: MSS },
    { time: 1.02, link: 1, seq: 1, len: MSS },
    { time: 4, seq: 1 + 2 * MSS, len: MSS },
  ];
  const { sends } = reasons.storyOf(segments(seen), SCENARIO, "a");
  expect(sends.map(({ lost, again }) => [lost, again])).toEqual([
    [true, false],
    [false, false],
    [false, true],
    [false, false],
  ]);
});
