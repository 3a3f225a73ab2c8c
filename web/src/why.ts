/** The story of a flow: what its sender sent and heard, and the rule that let each segment out, as the core tells it. */

import type { Reason, Segments, Tree } from "./core";
import { parse } from "./quantity";

export interface Send {
  /** When the host gave it to its first link; of a capture, when that sent it. */
  time: number;
  seq: number;
  end: number;
  len: number;
  syn: boolean;
  fin: boolean;
  /** True if all of it had been sent before. */
  again: boolean;
  /** True if it did not leave the last link of the path. */
  lost: boolean;
  marked: boolean;
  /** The place of its reason in the list of the core's; -1 if it has none. */
  reason: number;
  /** The window then, in segments, and the number before which all was acknowledged. */
  cwnd: number;
  ssthresh: number;
  una: number;
}

export interface Ack {
  time: number;
  ack: number;
  sacks: [number, number][];
  echo: boolean;
  syn: boolean;
  /** True if it acknowledges nothing new. */
  duplicate: boolean;
}

/** The segments of a flow as its sender sees them. */
export interface Story {
  flow: string;
  sends: Send[];
  acks: Ack[];
  /** The reasons that the core tells; undefined of a capture. */
  reasons: Reason[] | undefined;
}

const SYN = 1;
const FIN = 4;
const ECE = 16;

interface Row {
  time: number;
  link: number;
  reverse: boolean;
  client: boolean;
  seq: number;
  len: number;
  ack: number;
  flags: number;
  mark: boolean;
  at: number;
}

function rowsOf(segments: Segments, flow: string): Row[] {
  const n = segments.flows.indexOf(flow);
  const width = segments.columns.length;
  const rows: Row[] = [];
  const { values } = segments;
  const value = (at: number) => values[at] ?? 0;
  for (let at = 0; at < values.length; at += width) {
    if (value(at + 3) !== n) continue;
    rows.push({
      time: value(at),
      link: value(at + 1),
      reverse: value(at + 2) === 1,
      client: value(at + 4) === 1,
      seq: value(at + 5),
      len: value(at + 6),
      ack: value(at + 7),
      flags: value(at + 8),
      mark: value(at + 9) === 1,
      at,
    });
  }
  return rows.sort((a, b) => a.time - b.time);
}

/** A segment that the sender gave to its first link. */
interface Given {
  time: number;
  seq: number;
  len: number;
  flags: number;
  reason: number;
  cwnd: number;
  ssthresh: number;
  una: number;
}

/** What an end of a flow gave to its first link; of a capture, what that sent. */
function givenBy(segments: Segments, flow: string, client: boolean, sent: Row[]): Given[] {
  const { sends } = segments;
  if (!sends)
    return sent.map(({ time, seq, len, flags }) => ({
      time,
      seq,
      len,
      flags,
      reason: -1,
      cwnd: Number.NaN,
      ssthresh: Number.NaN,
      una: Number.NaN,
    }));
  const n = segments.flows.indexOf(flow);
  const made: Given[] = [];
  for (let at = 0; at < sends.values.length; at += sends.width) {
    const value = (column: number) => sends.values[at + column] ?? Number.NaN;
    if (value(1) !== n || (value(2) === 1) !== client) continue;
    made.push({
      time: value(0),
      seq: value(3),
      len: value(4),
      flags: value(5),
      reason: value(6),
      cwnd: value(7),
      ssthresh: value(8),
      una: value(9),
    });
  }
  return made;
}

/** The propagation delay of a link of a scenario with all defaults filled in. */
function delayOf(scenario: Tree, link: string): number {
  const topology = scenario.topology as Tree;
  if (topology.kind === "graph") {
    const found = (topology.link as Tree[]).find((each) => each.name === link);
    return parse(found?.delay) || 0;
  }
  if (topology.kind === "path") return (parse(topology.rtt) || 0) / 2;
  const side = link.startsWith("access-right")
    ? (topology.access_right ?? topology.access)
    : topology.access;
  return parse((link === "bottleneck" ? (topology.bottleneck as Tree) : (side as Tree)).delay) || 0;
}

/**
 * The arrival of each segment that was sent. An arrival belongs to the latest of several sends of the same data that had
 * time to get there.
 */
function matched(sends: Given[], arrivals: Map<string, Row[]>): (Row | undefined)[] {
  const keyOf = (row: Given) => `${row.seq} ${row.len}`;
  let quickest = Number.POSITIVE_INFINITY;
  for (const send of sends) {
    const came = arrivals.get(keyOf(send));
    if (came?.length === 1)
      quickest = Math.min(quickest, Math.abs((came[0]?.time ?? 0) - send.time));
  }
  const found: (Row | undefined)[] = sends.map(() => undefined);
  for (let n = sends.length - 1; n >= 0; n -= 1) {
    const send = sends[n];
    const came = send && arrivals.get(keyOf(send));
    const row = came?.at(-1);
    if (send && came && row && row.time >= send.time + 0.9 * quickest) found[n] = came.pop();
  }
  return found;
}

/** The story of a flow, told at the end that sends its data. */
export function storyOf(segments: Segments, scenario: Tree | undefined, flow: string): Story {
  const rows = rowsOf(segments, flow);
  const { reasons } = segments;
  const sum = (client: boolean) =>
    rows.reduce((total, row) => total + (row.client === client ? row.len : 0), 0);
  const client = sum(true) >= sum(false);
  const ours = rows.filter((row) => row.client === client);
  const theirs = rows.filter((row) => row.client !== client);
  const first = ours[0];
  if (!first) return { flow, sends: [], acks: [], reasons };
  const near = (row: Row) => row.link === first.link;
  const links = [...new Set(ours.map((row) => row.link))];
  const last = links.at(-1) ?? first.link;
  // Of a capture of one link nothing is known of what came before it and after it.
  const tells = segments.sends !== undefined || last !== first.link;
  const arrivals = new Map<string, Row[]>();
  for (const row of ours.filter((row) => row.link === last)) {
    const key = `${row.seq} ${row.len}`;
    arrivals.set(key, [...(arrivals.get(key) ?? []), row]);
  }
  const until = rows.at(-1)?.time ?? 0;
  const given = givenBy(segments, flow, client, ours.filter(near)).filter(
    (each) => each.time <= until,
  );
  const found = matched(given, arrivals);
  let highest = 0;
  const sends = given.map(({ flags, ...row }, n): Send => {
    const syn = (flags & SYN) !== 0;
    const fin = (flags & FIN) !== 0;
    const end = row.seq + row.len + (syn ? 1 : 0) + (fin ? 1 : 0);
    const again = end > row.seq && end <= highest;
    highest = Math.max(highest, end);
    return {
      ...row,
      end,
      syn,
      fin,
      again,
      lost: tells && !found[n] && row.time < until - 1,
      marked: found[n]?.mark ?? false,
    };
  });
  const delay = scenario ? delayOf(scenario, segments.links[first.link] ?? "") : 0;
  let acked = -1;
  const acks = theirs.filter(near).map((row): Ack => {
    const sacks: [number, number][] = [];
    for (let n = 0; n < 4; n += 1) {
      const from = segments.values[row.at + 10 + 2 * n] ?? 0;
      const to = segments.values[row.at + 11 + 2 * n] ?? 0;
      if (to > from) sacks.push([from, to]);
    }
    const duplicate = row.ack <= acked;
    acked = Math.max(acked, row.ack);
    return {
      time: row.time + delay,
      ack: row.ack,
      sacks,
      echo: (row.flags & ECE) !== 0,
      syn: (row.flags & SYN) !== 0,
      duplicate,
    };
  });
  return { flow, sends: sends.filter((send) => send.end > send.seq), acks, reasons };
}

const DOCUMENTS = "https://github.com/ackclock/ackclock/blob/main/docs/algorithms";

export function pageLink(page: string): string {
  return `${DOCUMENTS}/${page}.md`;
}

export function rfcLink([number, section]: [number, string]): string {
  return `https://www.rfc-editor.org/rfc/rfc${number}#section-${section}`;
}

/** The last ACK that had come when a segment was sent. */
export function causeOf(story: Story, send: Send): Ack | undefined {
  let found: Ack | undefined;
  for (const ack of story.acks) {
    if (ack.time > send.time + 1e-9) break;
    // One that was still being received then acknowledges more than the sender knew.
    if (!(ack.ack > send.una)) found = ack;
  }
  return found;
}

/** Why the `n`th segment was sent. */
export function why(story: Story, n: number): Reason {
  const send = story.sends[n];
  if (!send) return { says: "" };
  if (!story.reasons) return { says: "A capture does not tell the sender's reason." };
  if (send.syn)
    return story.sends.some((each) => each.syn && each.time < send.time)
      ? {
          says: "No answer to the SYN came before its timer expired, which doubles each time.",
          rfc: [6298, "5"],
          page: "timer",
        }
      : { says: "The SYN opens the connection.", rfc: [9293, "3.5"], page: "start" };
  const told = story.reasons[send.reason];
  if (told) return told;
  return send.again
    ? { says: "The FIN is retransmitted, as it was not acknowledged.", page: "closing" }
    : { says: "All data was sent: a FIN says so.", rfc: [9293, "3.6"], page: "closing" };
}
