/** The controls of a scenario: they change its tree, and the text follows. */

import type { Choices, Json, Slot, Tree, Word } from "./core";
import { el, plain, rich } from "./dom";
import { found, grouped } from "./laws";
import { parse, rate, short, time } from "./quantity";

interface Slider {
  key: string;
  label: string;
  low: number;
  high: number;
  /** The place of a value between 0 and 1, and back. */
  logarithmic: boolean;
  read(tree: Tree): Json | undefined;
  parse(value: Json | undefined): number;
  write(tree: Tree, value: number): void;
  show(value: number): string;
  /** True if the path has no such setting. */
  without?(tree: Tree): boolean;
}

function bottleneck(tree: Tree): Tree | undefined {
  const topology = tree.topology as Tree | undefined;
  if (topology?.kind === "path") return topology;
  return topology?.kind === "dumbbell" ? (topology.bottleneck as Tree) : undefined;
}

function queue(tree: Tree): Tree {
  const link = bottleneck(tree) ?? {};
  // A path may say its drop-tail queue by `buffer` alone.
  return (link.queue as Tree | undefined) ?? { kind: "droptail", limit: link.buffer ?? "1 BDP" };
}

/** Queues whose limit is a volume or a time, and no share of the path. */
const WITHOUT_SHARE = new Set(["cake"]);

function limit(value: Json | undefined): number {
  const found = /^\s*([\d.]+)\s*BDP\s*$/.exec(String(value ?? ""));
  return found ? Number(found[1]) : Number.NaN;
}

/** The key of a path's delay: a dumbbell says it one way, a path there and back. */
function delayKey(tree: Tree): string {
  return (tree.topology as Tree).kind === "path" ? "rtt" : "delay";
}

const SLIDERS: Slider[] = [
  {
    key: "rate",
    label: "Rate",
    low: 1e5,
    high: 1e9,
    logarithmic: true,
    read: (tree) => bottleneck(tree)?.rate,
    parse,
    write: (tree, value) => {
      const link = bottleneck(tree);
      if (link) link.rate = rate(value);
    },
    show: rate,
  },
  {
    key: "delay",
    label: "Delay",
    low: 1e-4,
    high: 0.5,
    logarithmic: true,
    read: (tree) => bottleneck(tree)?.[delayKey(tree)],
    parse,
    write: (tree, value) => {
      const link = bottleneck(tree);
      if (link) link[delayKey(tree)] = time(value);
    },
    show: time,
  },
  {
    key: "buffer",
    label: "Buffer",
    low: 0.1,
    high: 20,
    logarithmic: true,
    read: (tree) => queue(tree).limit ?? (queue(tree).kind === "droptail" ? "1 BDP" : undefined),
    without: (tree) => WITHOUT_SHARE.has(String(queue(tree).kind)),
    parse: limit,
    write: (tree, value) => {
      const link = bottleneck(tree);
      const limit = `${short(value)} BDP`;
      if (link?.buffer !== undefined) link.buffer = limit;
      else if (link) link.queue = { ...queue(tree), limit };
    },
    show: (value) => `${short(value)} BDP`,
  },
  {
    key: "loss",
    label: "Loss",
    low: 0,
    high: 0.05,
    logarithmic: false,
    read: (tree) => bottleneck(tree)?.loss ?? 0,
    parse,
    write: (tree, value) => {
      const link = bottleneck(tree);
      if (link && value === 0) delete link.loss;
      else if (link) link.loss = `${short(value * 100)} %`;
    },
    show: (value) => `${short(value * 100)} %`,
  },
  {
    key: "duration",
    label: "Duration",
    low: 0.5,
    high: 120,
    logarithmic: true,
    read: (tree) => tree.duration,
    parse,
    write: (tree, value) => {
      tree.duration = time(value);
    },
    show: time,
  },
];

/** The steps of a slider. */
const STEPS = 200;

function toPlace(slider: Slider, value: number): number {
  const { low, high, logarithmic } = slider;
  const share = logarithmic
    ? Math.log(value / low) / Math.log(high / low)
    : (value - low) / (high - low);
  return Math.round(Math.min(Math.max(share, 0), 1) * STEPS);
}

function fromPlace(slider: Slider, at: number): number {
  const { low, high, logarithmic } = slider;
  const share = at / STEPS;
  const value = logarithmic ? low * (high / low) ** share : low + share * (high - low);
  return Number(value.toPrecision(2));
}

export interface Hooks {
  /** The tree has changed, by a slider that is still held or otherwise. */
  changed(tree: Tree, held: boolean): void;
  choices(variant: string, profile: string): Promise<Choices>;
}

/** The kinds of queues, and a line about each, from the schema. */
export function queueKinds(schema: Tree): { kind: string; help: string }[] {
  const defs = schema.$defs as Record<string, Tree>;
  const kinds = (defs.QueueSpec?.oneOf as Tree[] | undefined) ?? [];
  return kinds.map((each) => ({
    kind: String(((each.properties as Tree).kind as Tree).const),
    help: String(each.description ?? "")
      .split("\n")
      .join(" "),
  }));
}

export class Controls {
  readonly element = el("div", { class: "controls" });
  private readonly open = new Set<string>();
  private tree: Tree = {};
  private focused = "";
  /** What is sought among the laws of each sender. */
  private readonly sought = new Map<number, string>();

  constructor(
    private readonly kinds: { kind: string; help: string }[],
    private readonly hooks: Hooks,
  ) {}

  show(tree: Tree): void {
    this.tree = tree;
    this.focused = document.activeElement?.id ?? "";
    this.element.replaceChildren(
      el("fieldset", {}, el("legend", {}, "Path"), ...this.path(tree)),
      ...this.senders(tree),
    );
    this.focus();
  }

  /** Gives the focus back to the element that had it, which was made anew. */
  private focus(): void {
    if (this.focused === "" || document.activeElement !== document.body) return;
    const gone = this.focused.startsWith("remove-") ? "add-sender" : "";
    (document.getElementById(this.focused) ?? document.getElementById(gone))?.focus();
  }

  private change(by: (tree: Tree) => void, held = false): void {
    const changed = structuredClone(this.tree);
    by(changed);
    this.tree = changed;
    this.hooks.changed(changed, held);
  }

  private path(tree: Tree): Node[] {
    if (!bottleneck(tree))
      return [
        el("p", { class: "note" }, "This path is a graph; its text beside it can be changed."),
      ];
    const rows: Node[] = SLIDERS.map((slider) => this.slider(tree, slider));
    const chosen = String(queue(tree).kind);
    const select = el(
      "select",
      {
        id: "queue",
        change: (event) => {
          const kind = (event.target as HTMLSelectElement).value;
          this.change((changed) => {
            const link = bottleneck(changed);
            const had = queue(changed).limit;
            if (!link) return;
            // A limit is said alike for all; what else a queue was told is its own.
            const keeps = had !== undefined && !(WITHOUT_SHARE.has(kind) && limit(had) > 0);
            link.queue = keeps ? { kind, limit: had } : { kind };
            delete link.buffer;
          });
        },
      },
      ...this.kinds.map((each) =>
        el("option", { value: each.kind, selected: each.kind === chosen }, each.kind),
      ),
    );
    const help = this.kinds.find((each) => each.kind === chosen)?.help ?? "";
    rows.push(
      el("div", { class: "row" }, el("label", { for: "queue" }, "Queue"), select),
      el("p", { class: "help" }, ...rich(help)),
    );
    return rows;
  }

  private slider(tree: Tree, slider: Slider): Node {
    const written = slider.read(tree);
    const value = slider.parse(written);
    const id = `slider-${slider.key}`;
    const output = el(
      "output",
      { for: id, id: `${id}-value` },
      typeof written === "string"
        ? written
        : Number.isNaN(value)
          ? "as written"
          : slider.show(value),
    );
    const input = el("input", {
      id,
      type: "range",
      min: 0,
      max: STEPS,
      value: Number.isNaN(value) ? 0 : toPlace(slider, value),
      "aria-describedby": `${id}-value`,
      disabled: slider.without?.(tree) ?? false,
      input: (event) => {
        const value = fromPlace(slider, Number((event.target as HTMLInputElement).value));
        output.textContent = slider.show(value);
        this.change((changed) => slider.write(changed, value), true);
      },
    });
    return el("div", { class: "row" }, el("label", { for: id }, slider.label), input, output);
  }

  private senders(tree: Tree): Node[] {
    const flows = (tree.flow as Tree[] | undefined) ?? [];
    const made: Node[] = flows.map((flow, n) => this.sender(tree, flow, n));
    const add = el(
      "button",
      {
        type: "button",
        id: "add-sender",
        click: () =>
          this.change((changed) => {
            const list = (changed.flow as Tree[] | undefined) ?? [];
            const last = list.at(-1);
            const names = new Set(list.map((each, n) => String(each.name ?? `flow-${n + 1}`)));
            let n = list.length + 1;
            while (names.has(`flow-${n}`)) n += 1;
            const ends =
              last && "from" in last ? { from: last.from ?? null, to: last.to ?? null } : {};
            changed.flow = [...list, { name: `flow-${n}`, variant: "cubic", ...ends }];
          }),
      },
      "Add a sender",
    );
    return [...made, add];
  }

  private sender(tree: Tree, flow: Tree, n: number): Node {
    const name = String(flow.name ?? `flow-${n + 1}`);
    const variant = String(flow.variant ?? "");
    const profile = String(flow.profile ?? "rfc");
    const write = (key: string, value: Json) =>
      this.change((changed) => {
        const list = changed.flow as Tree[];
        const one = list[n];
        if (one) one[key] = value;
      });
    const list = el("div", { class: "slots" });
    const details = el(
      "details",
      {
        open: this.open.has(name),
        toggle: () => (details.open ? this.open.add(name) : this.open.delete(name)),
      },
      el("summary", { id: `parts-${n}` }, "Choices"),
      list,
    );
    const head = el("div", { class: "row sender" }, el("code", { class: "variant" }, variant));
    if (((tree.flow as Tree[]) ?? []).length > 1)
      head.append(
        el(
          "button",
          {
            type: "button",
            class: "quiet",
            id: `remove-${n}`,
            "aria-label": `Remove ${name}`,
            click: () =>
              this.change((changed) => {
                (changed.flow as Tree[]).splice(n, 1);
              }),
          },
          "Remove",
        ),
      );
    const growth = el("div", {});
    this.hooks.choices(variant, profile).then(
      (choices) => {
        const [law, ...rest] = choices.slots.map((slot) =>
          this.slot(slot, n, (word) => write("variant", word)),
        );
        growth.replaceChildren(...(law ? [law] : []));
        list.replaceChildren(...rest);
        this.focus();
      },
      (error: Error) => growth.replaceChildren(el("p", { class: "note" }, ...rich(error.message))),
    );
    return el(
      "fieldset",
      { class: `sender-${(n % 6) + 1}` },
      el("legend", {}, `Sender ${name}`),
      head,
      growth,
      details,
    );
  }

  /** A search that fills the choice of a law with the laws found, by groups; the chosen one stays among them. */
  private search(
    slot: Slot,
    n: number,
    select: HTMLSelectElement,
    option: (word: Word) => HTMLElement,
    first: HTMLElement[],
  ): HTMLElement {
    const count = el("output", { for: `search-${n}` });
    const fill = () => {
      const sought = this.sought.get(n) ?? "";
      const shown = found(slot.words, sought);
      const laws = slot.words.filter((word) => shown.includes(word) || word.word === slot.word);
      select.replaceChildren(
        ...first,
        ...grouped(laws).map(([label, words]) => el("optgroup", { label }, ...words.map(option))),
      );
      count.textContent = sought === "" ? "" : `${shown.length} of ${slot.words.length}`;
    };
    fill();
    const input = el("input", {
      id: `search-${n}`,
      type: "search",
      placeholder: "name, author, RFC …",
      value: this.sought.get(n) ?? "",
      input: () => {
        this.sought.set(n, input.value);
        fill();
      },
    });
    return el(
      "div",
      { class: "row" },
      el("label", { for: `search-${n}` }, "Find a law"),
      input,
      count,
    );
  }

  private slot(slot: Slot, n: number, write: (variant: string) => void): Node {
    const id = `slot-${n}-${slot.slot.replaceAll(" ", "-")}`;
    const known = slot.words.some((word) => word.word === slot.word);
    const option = (word: Word) =>
      el(
        "option",
        {
          value: word.with ?? "",
          selected: word.word === slot.word && word.refused === undefined,
          disabled: word.refused !== undefined,
          title: plain(word.refused ?? word.help),
        },
        word.refused === undefined ? word.word : `${word.word} (refused)`,
      );
    const options: HTMLElement[] = slot.slot === "growth" ? [] : slot.words.map(option);
    // A jump is made or not; the other choices always have a word.
    if (slot.slot.startsWith("jump") && (slot.word !== null || !known))
      options.unshift(el("option", { value: slot.without, selected: slot.word === null }, "none"));
    if (!known && slot.word !== null)
      options.unshift(el("option", { value: "", selected: true }, slot.word));
    const chosen = slot.words.find((word) => word.word === slot.word);
    // A law that does without a part has one all the same, which nobody asks.
    if (chosen?.refused !== undefined)
      options.unshift(el("option", { value: "", selected: true }, "the law's own"));
    const select = el(
      "select",
      { id, change: (event) => write((event.target as HTMLSelectElement).value) },
      ...options,
    );
    const row = el("div", { class: "row" }, el("label", { for: id }, upper(slot.slot)), select);
    const refused = slot.words.filter((word) => word.refused !== undefined);
    const parts: Node[] =
      slot.slot === "growth" ? [this.search(slot, n, select, option, options), row] : [row];
    if (chosen && chosen.refused === undefined)
      parts.push(el("p", { class: "help" }, ...rich(chosen.help)));
    if (refused.length > 0) {
      const reasons = new Map<string, string[]>();
      for (const word of refused) {
        const why = word.refused ?? "";
        reasons.set(why, [...(reasons.get(why) ?? []), word.word]);
      }
      const items = [...reasons].map(([why, words]) =>
        el("li", {}, ...rich(`${words.join(", ")}: ${why}`)),
      );
      parts.push(
        el(
          "details",
          { class: "refused" },
          el("summary", {}, `${refused.length} refused here: why`),
          el("ul", {}, ...items),
        ),
      );
    }
    return el("div", { class: "slot" }, ...parts);
  }
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
