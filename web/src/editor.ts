/** The scenario as text, with the line of a fault. */

import { el, rich } from "./dom";

/** The line that an error names: `scenario.toml:3: …`. */
export function lineOf(error: string): number | undefined {
  const found = /^[^:]+:(\d+): /.exec(error);
  return found ? Number(found[1]) : undefined;
}

export class Editor {
  readonly element: HTMLElement;
  private readonly area = el("textarea", {
    id: "text",
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    wrap: "off",
    rows: 18,
    "aria-describedby": "fault",
  });
  private readonly lines = el("div", { class: "lines", "aria-hidden": "true" });
  private readonly fault = el("p", { id: "fault", role: "alert", class: "fault" });

  constructor(changed: (text: string) => void) {
    this.element = el(
      "section",
      { class: "editor" },
      el("h2", {}, el("label", { for: "text" }, "The scenario as a file")),
      el("div", { class: "area" }, this.lines, this.area),
      this.fault,
    );
    this.area.addEventListener("input", () => {
      this.number();
      changed(this.area.value);
    });
    this.area.addEventListener("scroll", () => {
      this.lines.scrollTop = this.area.scrollTop;
    });
  }

  get text(): string {
    return this.area.value;
  }

  set text(text: string) {
    if (this.area.value !== text) this.area.value = text;
    this.number();
  }

  private number(bad?: number): void {
    const count = this.area.value.split("\n").length;
    const rows = Array.from({ length: count }, (_, n) =>
      el("div", n + 1 === bad ? { class: "bad" } : {}, String(n + 1)),
    );
    this.lines.replaceChildren(...rows);
    this.lines.scrollTop = this.area.scrollTop;
  }

  /** Shows the fault of the text, or that there is none. */
  blame(error: string | undefined): void {
    const line = error === undefined ? undefined : lineOf(error);
    this.area.setAttribute("aria-invalid", String(error !== undefined));
    this.number(line);
    this.fault.replaceChildren(...rich(error ?? ""));
    if (line !== undefined)
      this.fault.append(
        " ",
        el(
          "button",
          { type: "button", class: "quiet", click: () => this.go(line) },
          `Go to line ${line}`,
        ),
      );
  }

  private go(line: number): void {
    const before = this.area.value
      .split("\n")
      .slice(0, line - 1)
      .join("\n");
    const from = before.length + (line > 1 ? 1 : 0);
    const end = this.area.value.indexOf("\n", from);
    this.area.focus();
    this.area.setSelectionRange(from, end < 0 ? this.area.value.length : end);
  }
}
