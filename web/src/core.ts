/** The answers of the core: a header, and buffers of numbers behind it. */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Tree = { [key: string]: Json };

export interface Text {
  file: string;
  text: string;
}

export type Request =
  | { do: "about" }
  | { do: "read"; text: Text }
  | { do: "write"; tree: Tree }
  | { do: "choices"; variant: string; profile: string }
  | { do: "run"; text: Text; watch: boolean }
  | { do: "segments"; text: Text; from_s: number; until_s: number }
  | { do: "capture"; text: Text; link: string | null };

/** A column of a table; NaN where there is no number, and -1 where there is no word. */
export type Column =
  | { name: string; kind: "number"; values: Float64Array }
  | { name: string; kind: "word"; values: Int32Array; words: string[] };

export class Table {
  constructor(
    readonly name: string,
    readonly rows: number,
    readonly columns: Column[],
  ) {}

  column(name: string): Column {
    const found = this.columns.find((column) => column.name === name);
    if (!found) throw new Error(`${this.name} has no column ${name}`);
    return found;
  }

  numbers(name: string): Float64Array {
    const column = this.column(name);
    if (column.kind !== "number") throw new Error(`${name} has no numbers`);
    return column.values;
  }

  /** The word of a row; the empty text where there is none. */
  word(name: string, row: number): string {
    const column = this.column(name);
    if (column.kind !== "word") throw new Error(`${name} has no words`);
    return column.words[column.values[row] ?? -1] ?? "";
  }

  /** The rows for which `test` is true. */
  where(test: (row: number) => boolean): number[] {
    const found: number[] = [];
    for (let row = 0; row < this.rows; row += 1) if (test(row)) found.push(row);
    return found;
  }

  /** The rows in which `name` is `word`. */
  rowsOf(name: string, word: string): number[] {
    const column = this.column(name);
    if (column.kind !== "word") throw new Error(`${name} has no words`);
    const key = column.words.indexOf(word);
    return this.where((row) => column.values[row] === key);
  }
}

export interface Word {
  word: string;
  help: string;
  with?: string;
  name?: string;
  refused?: string;
}

export interface Slot {
  slot: string;
  word: string | null;
  written: boolean;
  words: Word[];
  forms: { form: string; help: string }[];
  without: string;
}

export interface Choices {
  name: string;
  slots: Slot[];
}

export interface Sender {
  kind: string;
  name: string;
  names: string[];
  variant: string;
  recovery: string;
  first_window: string;
}

export interface Run {
  scenario: Tree;
  /** The seconds that it lasts; of a run that is over, its tables say that. */
  duration_s?: number;
  events: number;
  flows: string[];
  links: string[];
  senders: Sender[];
  tables: Map<string, Table>;
}

/** The rule by which a segment was sent. */
export interface Reason {
  says: string;
  /** The number of an RFC, and its section. */
  rfc?: [number, string];
  /** A page of the algorithms. */
  page?: string;
}

export interface Segments {
  flows: string[];
  links: string[];
  columns: string[];
  rows: number;
  values: Float64Array;
  whole: boolean;
  /** What hosts gave to their first links; undefined of a capture. */
  sends?: { width: number; values: Float64Array };
  reasons?: Reason[];
}

export class Refused extends Error {}

/** Nothing can be asked any more: the server has gone, or knows this page no longer. */
export class Gone extends Refused {}

/** A core, wherever it is. */
export interface Ask {
  ask(request: Request): Promise<ArrayBuffer>;
  /** Ends all that is under way. */
  stop(): void;
}

type Place = [number, number];

/** Whole numbers beyond 2^53, as seeds may be, keep all their digits. */
function whole(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  return /^-?\d+$/.test(context?.source ?? "") ? BigInt(context?.source ?? "0") : value;
}

/** A request as text. */
export function asJson(request: unknown): string {
  const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown };
  return JSON.stringify(request, (_, value: unknown) => {
    if (typeof value !== "bigint") return value;
    return rawJSON ? rawJSON(value.toString()) : Number(value);
  });
}

/** The header of an answer, and where its buffers begin. */
export function open(bytes: ArrayBuffer): { header: Tree; behind: number } {
  const length = new DataView(bytes).getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(bytes, 4, length));
  const header = JSON.parse(text, whole as (key: string, value: unknown) => unknown) as Tree;
  if (typeof header.error === "string") throw new Refused(header.error);
  return { header, behind: Math.ceil((4 + length) / 8) * 8 };
}

interface WrittenColumn {
  name: string;
  kind: "number" | "count" | "word";
  data: Place;
  known?: Place | null;
  words?: string[];
}

function column(bytes: ArrayBuffer, behind: number, written: WrittenColumn): Column {
  const [at, length] = written.data;
  const from = behind + at;
  if (written.kind === "word") {
    const values = new Int32Array(bytes, from, length / 4);
    return { name: written.name, kind: "word", values, words: written.words ?? [] };
  }
  if (written.kind === "number") {
    return {
      name: written.name,
      kind: "number",
      values: new Float64Array(bytes, from, length / 8),
    };
  }
  // Counts are below 2^53.
  const counts = new BigInt64Array(bytes, from, length / 8);
  const values = Float64Array.from(counts, Number);
  if (written.known) {
    const known = new Uint8Array(bytes, behind + written.known[0], written.known[1]);
    known.forEach((is, row) => {
      if (is === 0) values[row] = Number.NaN;
    });
  }
  return { name: written.name, kind: "number", values };
}

/** The tables of an answer. */
export function readTables(bytes: ArrayBuffer): Table[] {
  const { header, behind } = open(bytes);
  const written = header.tables as unknown as {
    name: string;
    rows: number;
    columns: WrittenColumn[];
  }[];
  return written.map(
    (table) =>
      new Table(
        table.name,
        table.rows,
        table.columns.map((each) => column(bytes, behind, each)),
      ),
  );
}

export function readRun(bytes: ArrayBuffer): Run {
  const { header } = open(bytes);
  const tables = readTables(bytes);
  return {
    scenario: header.scenario as Tree,
    events: header.events as number,
    flows: header.flows as string[],
    links: header.links as string[],
    senders: header.senders as unknown as Sender[],
    tables: new Map(tables.map((table) => [table.name, table])),
  };
}

export function readSegments(bytes: ArrayBuffer): Segments {
  const { header, behind } = open(bytes);
  const numbers = ([at, length]: Place) => new Float64Array(bytes, behind + at, length / 8);
  const made: Segments = {
    flows: header.flows as string[],
    links: header.links as string[],
    columns: header.columns as string[],
    rows: header.rows as number,
    values: numbers(header.data as Place),
    whole: header.whole as boolean,
  };
  // A capture tells no more.
  if (!header.sends) return made;
  const width = (header.send_columns as string[]).length;
  const told = header.reasons as { says: string; rfc: Reason["rfc"] | null; page: string | null }[];
  return {
    ...made,
    sends: { width, values: numbers(header.sends as Place) },
    reasons: told.map(({ says, rfc, page }) => ({
      says,
      ...(rfc ? { rfc } : {}),
      ...(page ? { page } : {}),
    })),
  };
}

export function readCapture(bytes: ArrayBuffer): { link: string; data: Uint8Array<ArrayBuffer> } {
  const { header, behind } = open(bytes);
  const [at, length] = header.data as Place;
  return { link: header.link as string, data: new Uint8Array(bytes, behind + at, length) };
}

export function tableOf(run: Run, name: string): Table {
  const table = run.tables.get(name);
  if (!table) throw new Error(`the run has no table ${name}`);
  return table;
}
