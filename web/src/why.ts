/** Why a segment was sent: the rule that allowed it, from what the sender had seen by then. */

import type { Run, Segments, Table, Tree } from "./core";
import { tableOf } from "./core";
import { parse } from "./quantity";
import { place } from "./series";

export interface Send {
  time: number;
  seq: number;
  end: number;
  len: number;
  syn: boolean;
  fin: boolean;
  /** True if all of it had been sent before. */
  again: boolean;
  /** True if it did not reach the last link of the path. */
  lost: boolean;
  marked: boolean;
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
}

const SYN = 1;
const FIN = 4;
const ECE = 16;

/** Seconds by which a time of the link may be later than the time of the event that it came of. */
const SLACK = 20e-6;

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
function matched(sends: Row[], arrivals: Map<string, Row[]>): (Row | undefined)[] {
  const keyOf = (row: Row) => `${row.seq} ${row.len}`;
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
  const sum = (client: boolean) =>
    rows.reduce((total, row) => total + (row.client === client ? row.len : 0), 0);
  const client = sum(true) >= sum(false);
  const ours = rows.filter((row) => row.client === client);
  const theirs = rows.filter((row) => row.client !== client);
  const first = ours[0];
  if (!first) return { flow, sends: [], acks: [] };
  const near = (row: Row) => row.link === first.link;
  const links = [...new Set(ours.map((row) => row.link))];
  const last = links.at(-1) ?? first.link;
  const arrivals = new Map<string, Row[]>();
  for (const row of ours.filter((row) => row.link === last && last !== first.link)) {
    const key = `${row.seq} ${row.len}`;
    arrivals.set(key, [...(arrivals.get(key) ?? []), row]);
  }
  const until = rows.at(-1)?.time ?? 0;
  const sentHere = ours.filter(near);
  const found = matched(sentHere, arrivals);
  let highest = 0;
  const sends = sentHere.map((row, n): Send => {
    const syn = (row.flags & SYN) !== 0;
    const fin = (row.flags & FIN) !== 0;
    const end = row.seq + row.len + (syn ? 1 : 0) + (fin ? 1 : 0);
    const again = end > row.seq && end <= highest;
    highest = Math.max(highest, end);
    return {
      time: row.time,
      seq: row.seq,
      end,
      len: row.len,
      syn,
      fin,
      again,
      lost: last !== first.link && !found[n] && row.time < until - 1,
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
  return { flow, sends: sends.filter((send) => send.end > send.seq), acks };
}

export interface Reason {
  says: string;
  /** The number of an RFC, and its section. */
  rfc?: [number, string];
  /** A page of the algorithms. */
  page?: string;
}

const PAGES = new Set(
  Object.keys(import.meta.glob("../../docs/algorithms/*.md")).map((path) =>
    (path.split("/").at(-1) ?? "").replace(".md", ""),
  ),
);

const DOCUMENTS = "https://github.com/ackclock/ackclock/blob/main/docs/algorithms";

export function pageLink(page: string): string {
  return `${DOCUMENTS}/${page}.md`;
}

export function rfcLink([number, section]: [number, string]): string {
  return `https://www.rfc-editor.org/rfc/rfc${number}#section-${section}`;
}

/** The page of a law by the word of a variant. */
function pageOf(word: string): string {
  const [name = "", argument] = word.replace(")", "").split("(");
  const special: Record<string, string> = { newreno: "reno", ccpd: "ccp" };
  const longer = argument ? `${name}-${argument}` : name;
  if (PAGES.has(longer)) return longer;
  return PAGES.has(name) ? name : (special[name] ?? "README");
}

interface SenderWords {
  law: string;
  recovery: string;
  firstWindow: string;
}

function words(run: Run, flow: string): SenderWords {
  const sender = run.senders.find((each) => each.names.includes(flow));
  return {
    law: sender?.variant.split("+")[0] ?? "",
    recovery: sender?.recovery ?? "",
    firstWindow: sender?.first_window ?? "",
  };
}

type State = "open" | "recovery" | "timeout";

interface Before {
  state: State;
  /** The last event before, and when. */
  event: string;
  time: number;
}

function stateAt(events: Table, rows: number[], time: number): Before {
  let found: Before = { state: "open", event: "", time: Number.NEGATIVE_INFINITY };
  const times = events.numbers("time_s");
  for (const row of rows) {
    const at = times[row] ?? 0;
    if (at > time) break;
    const event = events.word("event", row);
    const states: Record<string, State> = {
      recovery_begins: "recovery",
      recovery_ends: "open",
      timeout: "timeout",
      undo: "open",
    };
    const state = states[event] ?? found.state;
    // Several events of one moment: the one that tells most comes first.
    const keeps = at === found.time && ["timeout", "fast_retransmit"].includes(found.event);
    found = keeps ? { ...found, state } : { state, event, time: at };
  }
  return found;
}

/** Says why the segments of a flow were sent. */
export class Why {
  private readonly words: SenderWords;
  private readonly events: Table;
  private readonly rows: number[];
  private readonly times: Float64Array;
  private readonly cwnd: Float64Array;
  private readonly ssthresh: Float64Array;

  constructor(
    run: Run,
    private readonly story: Story,
  ) {
    this.words = words(run, story.flow);
    this.events = tableOf(run, "flow_events");
    this.rows = this.events.rowsOf("flow", story.flow);
    const samples = tableOf(run, "flow_samples");
    const rows = samples.rowsOf("flow", story.flow);
    const column = (name: string) => {
      const values = samples.numbers(name);
      return Float64Array.from(rows, (row) => values[row] ?? Number.NaN);
    };
    this.times = column("time_s");
    this.cwnd = column("cwnd_segments");
    this.ssthresh = column("ssthresh_segments");
  }

  /** The window when a segment was sent, in segments: cwnd and ssthresh. */
  window(time: number): { cwnd: number; ssthresh: number } {
    const at = place(this.times, time + 1e-9) - 1;
    return { cwnd: this.cwnd[at] ?? Number.NaN, ssthresh: this.ssthresh[at] ?? Number.NaN };
  }

  /** The last ACK that had come when a segment was sent. */
  cause(send: Send): Ack | undefined {
    let found: Ack | undefined;
    for (const ack of this.story.acks) {
      if (ack.time > send.time + 1e-9) break;
      found = ack;
    }
    return found;
  }

  of(n: number): Reason {
    const send = this.story.sends[n];
    if (!send) return { says: "" };
    if (send.syn) return this.syn(send);
    if (send.len === 0)
      return { says: "All data was sent: a FIN says so.", rfc: [9293, "3.6"], page: "closing" };
    const before = stateAt(this.events, this.rows, send.time + 1e-9);
    const earlier = this.story.sends[n - 1];
    const first = before.time > (earlier?.time ?? Number.NEGATIVE_INFINITY);
    return send.again ? this.again(before, first) : this.fresh(send, n, before);
  }

  private syn(send: Send): Reason {
    const earlier = this.story.sends.some((each) => each.syn && each.time < send.time);
    return earlier
      ? {
          says: "No answer to the SYN came before the timer of one second expired, which doubles each time.",
          rfc: [6298, "5"],
          page: "timer",
        }
      : { says: "The SYN opens the connection.", rfc: [9293, "3.5"], page: "start" };
  }

  private again(before: Before, first: boolean): Reason {
    const { recovery } = this.words;
    if (before.event === "timeout" && first)
      return {
        says: "The retransmission timer expired: the earliest segment that is not acknowledged is sent again, and the window begins with one segment.",
        rfc: [6298, "5"],
        page: "timer",
      };
    if (before.event === "fast_retransmit" && first) {
      if (recovery === "rack")
        return {
          says: "A segment that was sent later has been delivered, and the reordering window is over: RACK takes this one for lost.",
          rfc: [8985, "6.2"],
          page: "rack",
        };
      if (recovery === "sack" || recovery === "prr")
        return {
          says: "Three duplicate ACKs, or as many segments SACKed above it, show that this segment was lost.",
          rfc: [6675, "5"],
          page: "sack",
        };
      return {
        says: "The third duplicate ACK came: fast retransmit, without waiting for the timer.",
        rfc: [5681, "3.2"],
        page: recovery === "gobackn" ? "gobackn" : "fastrecovery",
      };
    }
    if (before.state === "timeout")
      return {
        says: "After the timeout everything outstanding counts as lost, and is sent again as slow start lets it.",
        rfc: [5681, "3.1"],
        page: "timer",
      };
    if (before.state === "recovery") {
      if (recovery === "partialack")
        return {
          says: "A partial ACK: it acknowledges new data but not all that was sent before the loss, so the next hole is sent again.",
          rfc: [6582, "3.2"],
          page: "partialack",
        };
      if (recovery === "rack")
        return { says: "RACK takes this segment for lost, too.", rfc: [8985, "6.2"], page: "rack" };
      return {
        says: "The scoreboard of SACKs says that this segment is the next one lost, and the pipe has room.",
        rfc: [6675, "4"],
        page: "sack",
      };
    }
    if (recovery === "rack")
      return {
        says: "No ACK came for two round trips: a tail loss probe asks for one.",
        rfc: [8985, "7.3"],
        page: "rack",
      };
    return { says: "It is sent again, as it counts as lost.", page: pageOf(recovery) };
  }

  private fresh(send: Send, n: number, before: Before): Reason {
    const ack = this.cause(send);
    const { cwnd, ssthresh } = this.window(send.time);
    const { recovery, firstWindow, law } = this.words;
    if (!ack || ack.syn || ack.ack <= 1) {
      const rfc: [number, string] = firstWindow === "rfc3390" ? [3390, "1"] : [6928, "2"];
      return {
        says: `The handshake is done: the first window (${firstWindow}) may be sent at once.`,
        rfc,
        page: "start",
      };
    }
    if (before.state === "recovery") {
      if (recovery === "prr" || recovery === "rack")
        return {
          says: "During the repair each ACK lets as much out as proportional rate reduction allows; new data, as nothing lost waits.",
          rfc: [9937, "6"],
          page: "sack",
        };
      if (recovery === "sack")
        return {
          says: "During the repair the pipe has room, and no lost segment waits: new data.",
          rfc: [6675, "5"],
          page: "sack",
        };
      return {
        says: "Each duplicate ACK says that a segment has left the network; it makes the window one segment larger until the repair is over.",
        rfc: [5681, "3.2"],
        page: "fastrecovery",
      };
    }
    if (before.event === "idle_restart" && send.time - before.time < SLACK)
      return {
        says: "After silence the window began anew, smaller, and this is the first data in it.",
        rfc: [5681, "4.1"],
        page: "idle",
      };
    if (ack.duplicate && send.time - ack.time < SLACK + 1e-3 && before.state === "open")
      return {
        says: "A first or second duplicate ACK: limited transmit lets one new segment out, so that more duplicates come.",
        rfc: [3042, "2"],
        page: "fastrecovery",
      };
    let burst = 0;
    for (let at = n; at >= 0; at -= 1) {
      const each = this.story.sends[at];
      if (!each || each.time < ack.time) break;
      burst += 1;
    }
    // A burst leaves the first link one segment after the other.
    const prompt = send.time - ack.time < SLACK + burst * 2e-3;
    if (!prompt)
      return {
        says: "No ACK let it out at this moment: the application gave data, or pacing held it back until now.",
        page: "pacing",
      };
    if (!(cwnd >= ssthresh))
      return {
        says: `Slow start: an ACK came, which takes what it acknowledges off the network and makes the window (${cwnd.toFixed(1)} segments) larger by as much.`,
        rfc: [5681, "3.1"],
        page: "start",
      };
    const page = pageOf(law);
    const rfcs: Record<string, [number, string]> = {
      newreno: [5681, "3.1"],
      reno: [5681, "3.1"],
      cubic: [9438, "4"],
      dctcp: [8257, "3.3"],
      highspeed: [3649, "5"],
      ledbat: [6817, "2.4"],
    };
    const rfc = rfcs[law.split("(")[0] ?? ""];
    return {
      says: `Congestion avoidance: an ACK came, and the window of ${law} (${cwnd.toFixed(1)} segments) has room for this segment.`,
      ...(rfc ? { rfc } : {}),
      page,
    };
  }
}
