/** Lessons: a scenario, a question, and the answer that runs give. Their words are in `lessons/texts`. */

import type { Run, Table } from "./core";
import { tableOf } from "./core";

/** How a number is taken from a run, or from other numbers. */
export interface Value {
  op: "sum" | "max" | "mean" | "count" | "first" | "last" | "ratio" | "difference" | "scaled";
  /** 1: of the run beside. */
  run?: number;
  table?: string;
  where?: Record<string, string>;
  column?: string;
  /** A column and the least value, or the number that is it, at which a row is one of those meant. */
  when?: [string, number | string];
  /** The same for those below a value. */
  before?: [string, number | string];
  /** 2: the second of those meant, where the first would be taken. */
  nth?: number;
  /** A column without which a row does not count. */
  unless_missing?: string;
  scale?: number;
  of?: string | [string, string];
  times?: number;
  plus?: number;
}

export interface Lesson {
  id: string;
  scenario: string[];
  /** Replacements that make the scenario of the run beside. */
  beside?: [string, string][];
  values: Record<string, Value>;
  decides: string;
  /** From which value on, and up to which, each option is right. */
  options: [number, number][];
  /** The option that was right when the lesson was written, which a test holds the runs against. */
  right: number;
  /** The panels of the answer's chart, the part of the time, and panels without the run beside. */
  figure: { panels: string[]; from: number; to: number; alone?: string[] };
  /** For each sentence of the explanation the number that is its moment, or null. */
  steps: (string | null)[];
  /** Addresses of RFCs, and pages of the algorithms. */
  links: string[];
}

export interface LessonTexts {
  title: string;
  /** What the run and the one beside are called. */
  runs?: [string, string];
  intro: string[];
  question: string;
  options: string[];
  steps: string[];
}

/** All words of the lessons in a language. */
export interface Texts {
  name: string;
  words: Record<string, string>;
  /** The title and the unit of each panel. */
  panels: Record<string, [string, string]>;
  links: Record<string, string>;
  lessons: Record<string, LessonTexts>;
}

const files = import.meta.glob<Lesson>("../lessons/*.json", { eager: true, import: "default" });
const texts = import.meta.glob<Texts>("../lessons/texts/*.json", {
  eager: true,
  import: "default",
});

export const LESSONS: Lesson[] = Object.keys(files)
  .sort()
  .map((path) => files[path])
  .filter((lesson) => lesson !== undefined);

/** The languages of the lessons by their names of RFC 5646, English first. */
export const LANGUAGES = new Map(
  Object.entries(texts)
    .map(([path, each]): [string, Texts] => [/(\w+)\.json$/.exec(path)?.[1] ?? "", each])
    .sort(([a], [b]) => Number(b === "en") - Number(a === "en")),
);

export function scenarioOf(lesson: Lesson): string {
  return `${lesson.scenario.join("\n")}\n`;
}

export function besideOf(lesson: Lesson): string | undefined {
  if (!lesson.beside) return undefined;
  return lesson.beside.reduce((text, [from, to]) => text.replace(from, to), scenarioOf(lesson));
}

function rowsOf(table: Table, value: Value, known: Record<string, number>): number[] {
  const wanted = Object.entries(value.where ?? {});
  const missing = value.unless_missing ? table.numbers(value.unless_missing) : undefined;
  const bound = (told: Value["when"]): [Float64Array, number] | undefined =>
    told && [
      table.numbers(told[0]),
      typeof told[1] === "string" ? (known[told[1]] ?? Number.NaN) : told[1],
    ];
  const [from, until] = [bound(value.when), bound(value.before)];
  return table.where(
    (row) =>
      wanted.every(([column, word]) => table.word(column, row) === word) &&
      !Number.isNaN(missing?.[row] ?? 0) &&
      (!from || (from[0][row] ?? Number.NaN) >= from[1]) &&
      (!until || (until[0][row] ?? Number.NaN) < until[1]),
  );
}

function taken(run: Run, value: Value, known: Record<string, number>): number {
  const table = tableOf(run, value.table ?? "flows");
  const rows = rowsOf(table, value, known);
  if (value.op === "count") return rows.length;
  const numbers = table.numbers(value.column ?? "");
  if (value.op === "first") return numbers[rows[(value.nth ?? 1) - 1] ?? -1] ?? Number.NaN;
  if (value.op === "last") return numbers[rows.at(-1) ?? -1] ?? Number.NaN;
  const found = rows.map((row) => numbers[row] ?? Number.NaN).filter((each) => !Number.isNaN(each));
  const sum = found.reduce((total, each) => total + each, 0);
  // Not by arguments of a call, of which there may be a hundred thousand here.
  if (value.op === "max")
    return found.length > 0 ? found.reduce((a, b) => Math.max(a, b)) : Number.NaN;
  return value.op === "mean" ? sum / found.length : sum;
}

/** The numbers of a lesson, from its run and the one beside. */
export function evaluate(lesson: Lesson, runs: Run[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const [name, value] of Object.entries(lesson.values)) {
    const [a, b] = [value.of].flat().map((each) => found[each ?? ""] ?? Number.NaN);
    if (value.op === "ratio") found[name] = (a ?? Number.NaN) / (b ?? Number.NaN);
    else if (value.op === "difference") found[name] = (a ?? Number.NaN) - (b ?? Number.NaN);
    else if (value.op === "scaled")
      found[name] = (a ?? Number.NaN) * (value.times ?? 1) + (value.plus ?? 0);
    else {
      const run = runs[value.run ?? 0];
      found[name] = run ? taken(run, value, found) * (value.scale ?? 1) : Number.NaN;
    }
  }
  return found;
}

/** The places of the options that the numbers make right. */
export function right(lesson: Lesson, numbers: Record<string, number>): number[] {
  const value = numbers[lesson.decides] ?? Number.NaN;
  return lesson.options
    .map(([low, high], n) => (value >= low && value < high ? n : -1))
    .filter((n) => n >= 0);
}

/** A number as a language writes it, to three digits. */
export function written(value: number, language: string): string {
  if (!Number.isFinite(value)) return "–";
  return value.toLocaleString(language, { maximumSignificantDigits: 3, useGrouping: false });
}

/** A text with the numbers of a lesson in it. */
export function said(text: string, numbers: Record<string, number>, language: string): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) =>
    written(numbers[name] ?? Number.NaN, language),
  );
}
