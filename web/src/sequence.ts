/** The time-sequence diagram of a flow, step by step. */

import type { Reason, Run, Segments } from "./core";
import { el, plain, rich, style, svg } from "./dom";
import { type Entry, escaped, framed, legendOf, mark, sampled } from "./download";
import { type Pen, SvgPen } from "./pen";
import { short, volume } from "./quantity";
import { causeOf, pageLink, rfcLink, type Send, type Story, storyOf, why } from "./why";

const HEIGHT = 380;
const LEFT = 78;
const BOTTOM = 26;
const TOP = 10;

/** What is drawn: its colour, what it is, and by what it differs for those who see no colours. */
const KEY: { name: string; says: string; dash?: number[]; mark?: Entry["mark"] }[] = [
  { name: "data", says: "segment" },
  { name: "again", says: "retransmitted", mark: "ring" },
  { name: "lost", says: "lost", mark: "cross" },
  { name: "ack", says: "acknowledged up to here", mark: "square" },
  { name: "sack", says: "SACK block", dash: [2, 2] },
];

function entries(of: (name: string) => string): Entry[] {
  return KEY.map(({ name, says, dash, mark }) => {
    const entry = { label: says, colour: of(`--${name}`), dash: dash ?? [] };
    return mark ? { ...entry, mark } : entry;
  });
}

/** The colours of a drawing on white. */
const PRINTED: Record<string, string> = {
  "--data": "#1f5fa8",
  "--again": "#c05800",
  "--lost": "#b3172a",
  "--ack": "#2b7a3f",
  "--sack": "#8a3f9c",
  "--grid": "#dddddd",
};

function link(reason: Reason): Node[] {
  const made: Node[] = [];
  if (reason.rfc)
    made.push(
      el(
        "a",
        { href: rfcLink(reason.rfc), target: "_blank", rel: "noopener" },
        `RFC ${reason.rfc[0]} §${reason.rfc[1]}`,
      ),
    );
  if (reason.page)
    made.push(
      el("a", { href: pageLink(reason.page), target: "_blank", rel: "noopener" }, "the manual"),
    );
  return made.flatMap((each, n) => (n === 0 ? [each] : [document.createTextNode(", "), each]));
}

/** Round numbers between two ends, some `count` of them. */
function ticks(low: number, high: number, count: number): number[] {
  const raw = (high - low) / count;
  if (!(raw > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((n) => n * power).find((each) => each >= raw) ?? raw;
  const made: number[] = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) made.push(at);
  return made;
}

/** The digits after the point in which ticks differ from one another. */
function digits(ticks: number[]): number {
  const step = (ticks[1] ?? 1) - (ticks[0] ?? 0);
  return Math.max(0, Math.min(9, Math.ceil(-Math.log10(step) - 1e-6)));
}

export class Sequence {
  readonly element = el("section", { class: "sequence", "aria-label": "Time-sequence diagram" });
  private readonly canvas = el("canvas", {
    tabindex: 0,
    role: "img",
    "aria-label":
      "Segments, ACKs and SACK blocks over time. The arrow keys step from segment to segment.",
  });
  private readonly says = el("div", {
    class: "why",
    role: "status",
    "aria-live": "polite",
    id: "why",
  });
  private readonly flows = el("select", { id: "sequence-flow" });
  private readonly key = el("p", { class: "key" });
  private readonly counter = el("span", { class: "counter" });
  private story: Story | undefined;
  private at = 0;
  private from = 0;
  private to = 1;
  private run: Run | undefined;
  private segments: Segments | undefined;

  constructor() {
    const button = (text: string, id: string, by: () => void) =>
      el("button", { type: "button", id, click: by }, text);
    this.element.append(
      el(
        "div",
        { class: "row tools" },
        el("label", { for: "sequence-flow" }, "Flow"),
        this.flows,
        button("◀ Previous", "step-back", () => this.step(-1)),
        button("Next ▶", "step", () => this.step(1)),
        button("Next retransmission", "step-again", () => this.seek((send) => send.again)),
        button("Next loss", "step-lost", () => this.seek((send) => send.lost)),
        button("Closer", "closer", () => this.scale(0.5)),
        button("Wider", "wider", () => this.scale(2)),
        this.counter,
      ),
      this.canvas,
      this.key,
      this.says,
    );
    this.flows.addEventListener("change", () => this.choose(this.flows.value));
    this.canvas.addEventListener("keydown", (event) => {
      const by: Record<string, () => void> = {
        ArrowRight: () => this.step(1),
        ArrowLeft: () => this.step(-1),
        PageDown: () => this.step(20),
        PageUp: () => this.step(-20),
        "+": () => this.scale(0.5),
        "-": () => this.scale(2),
        Home: () => this.go(0),
      };
      const act = by[event.key];
      if (!act) return;
      act();
      event.preventDefault();
    });
    this.canvas.addEventListener("click", (event) => this.pick(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /** Shows the segments of a run, or of a capture, of which no run is known. */
  show(run: Run | undefined, segments: Segments): void {
    this.run = run;
    this.segments = segments;
    const had = this.flows.value;
    this.flows.replaceChildren(
      ...segments.flows.map((flow) => el("option", { value: flow }, flow)),
    );
    const flow = segments.flows.includes(had) ? had : segments.flows[0];
    if (flow) {
      this.flows.value = flow;
      this.choose(flow);
    } else this.says.textContent = "The scenario has no static flow.";
  }

  /** Shows that there are no segments, and why. */
  clear(text: string): void {
    this.run = undefined;
    this.segments = undefined;
    this.story = undefined;
    this.flows.replaceChildren();
    this.counter.textContent = "";
    this.says.replaceChildren(...rich(text));
    this.draw();
  }

  private choose(flow: string): void {
    if (!this.segments) return;
    this.story = storyOf(this.segments, this.run?.scenario, flow);
    const first = this.story.sends[0]?.time ?? 0;
    const last = this.story.sends.at(-1)?.time ?? 1;
    this.from = first;
    this.to = first + Math.max(Math.min(last - first, 0.6), 1e-3);
    this.go(0);
  }

  private step(by: number): void {
    this.go(this.at + by);
  }

  private seek(test: (send: Send) => boolean): void {
    const found = this.story?.sends.findIndex((send, n) => n > this.at && test(send)) ?? -1;
    if (found >= 0) this.go(found);
    else this.says.append(el("p", {}, "There is no further one."));
  }

  private scale(by: number): void {
    const middle = this.story?.sends[this.at]?.time ?? (this.from + this.to) / 2;
    const half = ((this.to - this.from) * by) / 2;
    this.from = middle - half;
    this.to = middle + half;
    this.draw();
  }

  private go(n: number): void {
    const sends = this.story?.sends ?? [];
    this.at = Math.min(Math.max(n, 0), Math.max(sends.length - 1, 0));
    const send = sends[this.at];
    if (send && (send.time < this.from || send.time > this.to)) {
      const width = this.to - this.from;
      this.from = send.time - width / 3;
      this.to = this.from + width;
    }
    this.tell(send);
    this.draw();
  }

  private tell(send: Send | undefined): void {
    const count = this.story?.sends.length ?? 0;
    this.counter.textContent =
      count === 0
        ? ""
        : `${this.at + 1} of ${count}${this.segments?.whole === false ? " (the first ones)" : ""}`;
    if (!send) {
      this.says.replaceChildren(el("p", {}, "Nothing was sent."));
      return;
    }
    const story = this.story as Story;
    const reason = why(story, this.at);
    const { cwnd, ssthresh } = send;
    const ack = causeOf(story, send);
    const what = send.syn ? "SYN" : send.len === 0 ? "FIN" : `${volume(send.len)} from ${send.seq}`;
    const state = Number.isNaN(cwnd)
      ? []
      : [
          `cwnd ${short(cwnd)} segments`,
          Number.isNaN(ssthresh) ? "no ssthresh" : `ssthresh ${short(ssthresh)}`,
        ];
    if (ack)
      state.push(
        `last ACK: ${ack.ack}${ack.duplicate ? " (duplicate)" : ""}${ack.sacks.length > 0 ? ` with ${ack.sacks.length} SACK blocks` : ""}`,
      );
    const fate = [
      send.again ? "retransmitted" : "",
      send.lost ? "lost on the way" : "",
      send.marked ? "marked (CE)" : "",
    ].filter((text) => text !== "");
    this.says.replaceChildren(
      el(
        "p",
        { class: "what" },
        el("strong", {}, `${Number(send.time.toFixed(6))} s: ${what}`),
        fate.length > 0 ? ` – ${fate.join(", ")}` : "",
      ),
      el("p", { class: "reason" }, ...rich(reason.says), " ", ...link(reason)),
      el("p", { class: "help" }, state.join("; ")),
    );
  }

  private pick(event: MouseEvent): void {
    const sends = this.story?.sends ?? [];
    const scaleX = (this.canvas.clientWidth - LEFT) / (this.to - this.from);
    const time = this.from + (event.offsetX - LEFT) / scaleX;
    let best = 0;
    sends.forEach((send, n) => {
      if (Math.abs(send.time - time) < Math.abs((sends[best]?.time ?? 0) - time)) best = n;
    });
    this.go(best);
  }

  get picture(): HTMLCanvasElement {
    return this.canvas;
  }

  /** What stands above a picture. */
  get caption(): { title: string; legend: Entry[] } {
    return { title: this.title, legend: entries(style) };
  }

  private get title(): string {
    return `Segments of ${this.story?.flow ?? ""}: sequence numbers over time`;
  }

  /** What the canvas shows, as a drawing for documents: on white, whatever the page's colours are. */
  drawing(): string {
    const pen = new SvgPen();
    const width = Math.max(300, this.element.clientWidth);
    this.paint(pen, width, (name) => PRINTED[name] ?? "black");
    const legends = entries((name) => PRINTED[name] ?? "black");
    const [legend, high] = legendOf(legends, 8, 22, width - 16);
    const title = `<text x="8" y="16" font-weight="bold">${escaped(this.title)}</text>`;
    const body = `<g transform="translate(0 ${22 + high})">${pen.parts.join("")}</g>`;
    return framed(width, HEIGHT + 22 + high, this.title, [title, ...legend, body]);
  }

  /** What the diagram shows, for those who do not see it. */
  private describe(): void {
    const { story } = this;
    const seen = story?.sends.filter(({ time }) => time >= this.from && time <= this.to) ?? [];
    const count = (test: (send: Send) => boolean) => seen.filter(test).length;
    const span = `from ${short(this.from)} to ${short(this.to)} s`;
    const words = story
      ? `${this.title}, ${span}: ${seen.length} segments, ${count((send) => send.again)} of them retransmitted and ${count((send) => send.lost)} lost.`
      : "No segments are shown.";
    this.canvas.setAttribute(
      "aria-label",
      plain(`${words} The arrow keys step from segment to segment, which is told below.`),
    );
    this.key.replaceChildren(
      ...entries(style).map((entry) => {
        const line = svg("svg", { width: 24, height: 12, "aria-hidden": "true" });
        line.innerHTML = sampled(entry, 1, 6, 22);
        return el("span", {}, line, ` ${entry.label}`);
      }),
    );
  }

  private draw(): void {
    this.describe();
    const width = Math.max(300, this.element.clientWidth);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = HEIGHT * ratio;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${HEIGHT}px`;
    const context = this.canvas.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    context.clearRect(0, 0, width, HEIGHT);
    this.paint(context, width, style);
  }

  private paint(context: Pen, width: number, of: (name: string) => string): void {
    const { story } = this;
    if (!story) return;
    const seen = story.sends.filter((send) => send.time >= this.from && send.time <= this.to);
    const acks = story.acks.filter((ack) => ack.time >= this.from && ack.time <= this.to);
    // Not by arguments of a call, of which there may be a hundred thousand here.
    let [low, high] = [Number.POSITIVE_INFINITY, 0];
    for (const send of seen) [low, high] = [Math.min(low, send.seq), Math.max(high, send.end)];
    for (const ack of acks) [low, high] = [Math.min(low, ack.ack), Math.max(high, ack.ack)];
    if (!(high > low)) return;
    const x = (time: number) =>
      LEFT + ((time - this.from) / (this.to - this.from)) * (width - LEFT - 8);
    const y = (seq: number) =>
      HEIGHT - BOTTOM - ((seq - low) / (high - low)) * (HEIGHT - BOTTOM - TOP);
    context.font = "12px system-ui";
    context.lineWidth = 1;
    context.strokeStyle = of("--grid");
    context.fillStyle = of("--text");
    context.textBaseline = "middle";
    const times = ticks(this.from, this.to, width / 130);
    const seconds = digits(times);
    for (const tick of times) {
      context.beginPath();
      context.moveTo(x(tick), TOP);
      context.lineTo(x(tick), HEIGHT - BOTTOM);
      context.stroke();
      context.textAlign = "center";
      context.fillText(`${tick.toFixed(seconds)} s`, x(tick), HEIGHT - BOTTOM / 2);
    }
    const numbers = ticks(low, high, 6);
    const unit = high >= 1e6 ? 1e6 : high >= 1e3 ? 1e3 : 1;
    const places = digits(numbers.map((tick) => tick / unit));
    const name = { 1: "B", 1e3: "kB", 1e6: "MB" }[unit];
    for (const tick of numbers) {
      context.beginPath();
      context.moveTo(LEFT, y(tick));
      context.lineTo(width, y(tick));
      context.stroke();
      context.textAlign = "right";
      context.fillText(`${(tick / unit).toFixed(places)} ${name}`, LEFT - 6, y(tick));
    }
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, width - LEFT, HEIGHT - BOTTOM);
    context.clip();
    this.acks(context, acks, [x, y], of);
    const thick = Math.max(1.5, Math.min(4, (width / Math.max(seen.length, 1)) * 0.6));
    for (const send of seen) {
      context.strokeStyle = of(send.lost ? "--lost" : send.again ? "--again" : "--data");
      context.lineWidth = thick;
      context.beginPath();
      context.moveTo(x(send.time), y(send.seq));
      context.lineTo(x(send.time), Math.min(y(send.end), y(send.seq) - 2));
      context.stroke();
      const fate = send.lost ? "cross" : send.again ? "ring" : undefined;
      mark(context, fate, x(send.time), y((send.seq + send.end) / 2));
    }
    const send = story.sends[this.at];
    if (send) {
      context.strokeStyle = of("--accent");
      context.lineWidth = 2;
      context.beginPath();
      context.arc(x(send.time), y((send.seq + send.end) / 2), 9, 0, 2 * Math.PI);
      context.stroke();
    }
    context.restore();
  }

  private acks(
    context: Pen,
    acks: Story["acks"],
    [x, y]: [(time: number) => number, (seq: number) => number],
    of: (name: string) => string,
  ): void {
    context.strokeStyle = of("--ack");
    context.lineWidth = 1.5;
    context.beginPath();
    acks.forEach((ack, n) => {
      const next = acks[n + 1]?.time ?? this.to;
      if (n === 0) context.moveTo(x(ack.time), y(ack.ack));
      context.lineTo(x(ack.time), y(ack.ack));
      context.lineTo(x(next), y(ack.ack));
    });
    context.stroke();
    context.fillStyle = of("--ack");
    for (const ack of acks) context.fillRect(x(ack.time) - 1.5, y(ack.ack) - 1.5, 3, 3);
    context.strokeStyle = of("--sack");
    context.lineWidth = 1.5;
    context.setLineDash([2, 2]);
    for (const ack of acks)
      for (const [from, to] of ack.sacks) {
        context.beginPath();
        context.moveTo(x(ack.time), y(from));
        context.lineTo(x(ack.time), y(to));
        context.stroke();
      }
    context.setLineDash([]);
  }
}
