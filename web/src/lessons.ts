/** Lessons: a scenario, a question, and the answer that runs give. */

import type { Run, Table } from "./core";
import { tableOf } from "./core";
import { short } from "./quantity";

/** How a number is taken from a run, or from other numbers. */
export interface Value {
  op: "sum" | "max" | "mean" | "count" | "first" | "at_first" | "ratio" | "difference" | "scaled";
  /** 1: of the run beside. */
  run?: number;
  table?: string;
  where?: Record<string, string>;
  column?: string;
  /** A column and the least value at which a row is the first one meant. */
  when?: [string, number];
  /** A column without which a row does not count. */
  unless_missing?: string;
  scale?: number;
  of?: string | [string, string];
  times?: number;
  plus?: number;
}

export interface Lesson {
  id: string;
  title: string;
  intro: string[];
  scenario: string[];
  /** Replacements that make the scenario of the run beside. */
  beside?: [string, string][];
  question: string;
  values: Record<string, Value>;
  decides: string;
  options: { text: string; low: number; high: number }[];
  /** The option that was right when the lesson was written, which a test holds the runs against. */
  right: number;
  answer: string;
  links: [string, string][];
}

const files = import.meta.glob<Lesson>("../lessons/*.json", { eager: true, import: "default" });

export const LESSONS: Lesson[] = Object.keys(files)
  .sort()
  .map((path) => files[path])
  .filter((lesson) => lesson !== undefined);

export function scenarioOf(lesson: Lesson): string {
  return `${lesson.scenario.join("\n")}\n`;
}

export function besideOf(lesson: Lesson): string | undefined {
  if (!lesson.beside) return undefined;
  return lesson.beside.reduce((text, [from, to]) => text.replace(from, to), scenarioOf(lesson));
}

function rowsOf(table: Table, value: Value): number[] {
  const wanted = Object.entries(value.where ?? {});
  const missing = value.unless_missing ? table.numbers(value.unless_missing) : undefined;
  return table.where(
    (row) =>
      wanted.every(([column, word]) => table.word(column, row) === word) &&
      !Number.isNaN(missing?.[row] ?? 0),
  );
}

function taken(run: Run, value: Value): number {
  const table = tableOf(run, value.table ?? "flows");
  const rows = rowsOf(table, value);
  if (value.op === "count") return rows.length;
  const numbers = table.numbers(value.column ?? "");
  if (value.op === "first" || value.op === "at_first") {
    const [column, least] = value.when ?? ["time_s", 0];
    const judged = table.numbers(column);
    const row = rows.find((row) => (judged[row] ?? Number.NaN) >= least);
    return row === undefined ? Number.NaN : (numbers[row] ?? Number.NaN);
  }
  const found = rows.map((row) => numbers[row] ?? Number.NaN).filter((each) => !Number.isNaN(each));
  const sum = found.reduce((total, each) => total + each, 0);
  if (value.op === "max") return found.length > 0 ? Math.max(...found) : Number.NaN;
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
      found[name] = run ? taken(run, value) * (value.scale ?? 1) : Number.NaN;
    }
  }
  return found;
}

/** The places of the options that the numbers make right. */
export function right(lesson: Lesson, numbers: Record<string, number>): number[] {
  const value = numbers[lesson.decides] ?? Number.NaN;
  return lesson.options
    .map((option, n) => (value >= option.low && value < option.high ? n : -1))
    .filter((n) => n >= 0);
}

/** The answer in words, with its numbers. */
export function said(lesson: Lesson, numbers: Record<string, number>): string {
  return lesson.answer.replace(/\{(\w+)\}/g, (_, name: string) =>
    short(numbers[name] ?? Number.NaN),
  );
}
