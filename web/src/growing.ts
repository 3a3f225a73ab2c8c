/** Tables of a run under way, which grow by the rows that come. */

import { type Column, type Run, readTables, Table, type Tree } from "./core";
import { type Panel, panels } from "./series";

/** A column and the rows behind it. */
function joined(first: Column | undefined, more: Column): Column {
  if (!first) return more;
  if (more.kind === "number") {
    const values = new Float64Array(first.values.length + more.values.length);
    values.set(first.values);
    values.set(more.values, first.values.length);
    return { name: more.name, kind: "number", values };
  }
  // Each part has words of its own.
  const words = first.kind === "word" ? [...first.words] : [];
  const places = more.words.map((word) => {
    const at = words.indexOf(word);
    return at >= 0 ? at : words.push(word) - 1;
  });
  const values = new Int32Array(first.values.length + more.values.length);
  values.set(first.values);
  more.values.forEach((key, row) => {
    values[first.values.length + row] = key < 0 ? -1 : (places[key] ?? -1);
  });
  return { name: more.name, kind: "word", values, words };
}

/** The run so far. */
export class Growing {
  private readonly tables = new Map<string, Table>();
  rows = 0;
  /** The time that the run has reached. */
  reached_s = 0;

  add(bytes: ArrayBuffer): void {
    for (const part of readTables(bytes)) {
      const before = this.tables.get(part.name);
      const columns = part.columns.map((column) =>
        joined(
          before?.columns.find((each) => each.name === column.name),
          column,
        ),
      );
      this.tables.set(part.name, new Table(part.name, (before?.rows ?? 0) + part.rows, columns));
      this.rows += part.rows;
    }
  }

  /** The panels of what has come. */
  panels(): Panel[] {
    return panels(this.run());
  }

  get names(): string[] {
    const run = this.run();
    return [...run.flows, ...run.links];
  }

  private run(): Run {
    const empty = (name: string) => new Table(name, 0, []);
    const flows = this.tables.get("flow_samples")?.column("flow");
    const links = this.tables.get("link_samples")?.column("link");
    const tables = ["flow_samples", "link_samples", "law_samples", "flow_events"].map(
      (name) => this.tables.get(name) ?? empty(name),
    );
    return {
      scenario: {} as Tree,
      duration_s: this.reached_s,
      events: 0,
      flows: flows?.kind === "word" ? flows.words : [],
      links: links?.kind === "word" ? links.words : [],
      senders: [],
      tables: new Map(tables.map((table) => [table.name, table])),
    };
  }
}
