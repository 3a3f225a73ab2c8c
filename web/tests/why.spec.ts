import { expect, test } from "@playwright/test";
import type { ViteDevServer } from "vite";
import type * as Core from "../src/core";
import type * as Reasons from "../src/why";
import { compiling } from "./modules";

let vite: ViteDevServer;
let reasons: typeof Reasons;

test.beforeAll(async () => {
  vite = await compiling();
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

const REASONS: Core.Reason[] = [
  { says: "The first window.", rfc: [6928, "2"], page: "start" },
  { says: "Slow start.", rfc: [5681, "3.1"], page: "start" },
];

/** What a sender gave to its first link: time, first number, length, flags, the place of the reason, SND.UNA. */
type Given = [number, number, number, number, number, number];

function told(seen: Seen[], given: Given[]): Core.Segments {
  const values = given.flatMap(([time, seq, len, flags, reason, una]) => [
    ...[time, 0, 1, seq, len, flags, reason],
    ...[reason < 0 ? Number.NaN : 10, Number.NaN, una],
  ]);
  return {
    ...segments(seen),
    sends: { width: 10, values: Float64Array.from(values) },
    reasons: REASONS,
  };
}

test("the reasons are those of the core, at the times at which the host sent", () => {
  // The link is slow: what was given at one moment leaves it over a tenth of a second.
  const seen: Seen[] = [
    { time: 0, flags: SYN },
    { time: 0, link: 1, flags: SYN },
    { time: 0.1, back: true, ack: 1, flags: SYN | ACK },
    { time: 0.1, seq: 1, len: MSS },
    { time: 0.2, seq: 1 + MSS, len: MSS },
    { time: 0.25, back: true, ack: 1 + MSS },
    { time: 3, seq: 1 + 2 * MSS, len: MSS },
  ];
  const story = reasons.storyOf(
    told(seen, [
      [0, 0, 0, SYN, -1, Number.NaN],
      [0.1, 1, MSS, ACK, 0, 1],
      [0.1, 1 + MSS, MSS, ACK, 0, 1],
      [0.25, 1 + 2 * MSS, MSS, ACK, 1, 1 + MSS],
      [0.3, 1 + 3 * MSS, 0, FIN | ACK, -1, Number.NaN],
    ]),
    SCENARIO,
    "a",
  );
  expect(story.sends.map((send) => send.time)).toEqual([0, 0.1, 0.1, 0.25, 0.3]);
  const found = story.sends.map((_, n) => reasons.why(story, n).rfc);
  expect(found).toEqual([
    [9293, "3.5"],
    [6928, "2"],
    [6928, "2"],
    [5681, "3.1"],
    [9293, "3.6"],
  ]);
  const third = story.sends[3];
  if (third) expect(reasons.causeOf(story, third)).toMatchObject({ ack: 1 + MSS });
  // Nothing of them came to the second link.
  expect(story.sends.map((send) => send.lost)).toEqual([false, true, true, true, true]);
});

test("a SYN that is sent again waited for the timer", () => {
  const seen: Seen[] = [
    { time: 0, flags: SYN },
    { time: 1, flags: SYN },
  ];
  const again = told(seen, [
    [0, 0, 0, SYN, -1, Number.NaN],
    [1, 0, 0, SYN, -1, Number.NaN],
  ]);
  const story = reasons.storyOf(again, SCENARIO, "a");
  // RFC 6298 §5.5: the timer doubles.
  expect(reasons.why(story, 1)).toMatchObject({ rfc: [6298, "5"], page: "timer" });
});

test("what a queue before the first link dropped was sent and is lost", () => {
  const seen: Seen[] = [
    { time: 0.2, seq: 1 + MSS, len: MSS },
    { time: 3, seq: 1 + 2 * MSS, len: MSS },
  ];
  const dropped = told(seen, [
    [0.1, 1, MSS, ACK, 0, 1],
    [0.1, 1 + MSS, MSS, ACK, 0, 1],
    [3, 1 + 2 * MSS, MSS, ACK, 1, 1],
  ]);
  const { sends } = reasons.storyOf(dropped, SCENARIO, "a");
  expect(sends.map(({ lost }) => lost)).toEqual([true, false, false]);
});

test("a capture tells no reasons", () => {
  const story = reasons.storyOf(segments([{ time: 0, seq: 1, len: MSS }]), undefined, "a");
  expect(reasons.why(story, 0).rfc).toBeUndefined();
  expect(story.sends[0]?.lost).toBe(false);
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
