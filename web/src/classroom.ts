/** A lesson on the page: it asks first, and what its runs give comes after the answer. */

import { Charts } from "./charts";
import type { Run } from "./core";
import { el, rich } from "./dom";
import {
  besideOf,
  evaluate,
  LANGUAGES,
  LESSONS,
  type Lesson,
  type LessonTexts,
  right,
  said,
  scenarioOf,
  type Texts,
  written,
} from "./lessons";
import { duration, type Panel } from "./series";
import { pageLink } from "./why";

/** A text, its run, and the panels of that. */
export interface Made {
  text: string;
  run: Run;
  panels: Panel[];
}

export interface Hooks {
  /** The run of a text. */
  run(text: string): Promise<Made>;
  /** A drawing of a text's path. */
  path(text: string): Promise<Node>;
  /** A lesson was chosen, or none: nothing of another run is to be seen any more. */
  chosen(lesson: Lesson | undefined): void;
  /** The student has answered. */
  answered(lesson: Lesson, first: Made, second: Made | undefined): void;
}

const KEPT = "ackclock-language";

/** The language that was chosen last, or the browser's; English if there are no lessons in it. */
function preferred(): string {
  let kept = "";
  try {
    kept = localStorage.getItem(KEPT) ?? "";
  } catch {
    // A browser may forbid it.
  }
  const found = [kept, ...navigator.languages].map((each) => each.slice(0, 2));
  return found.find((each) => LANGUAGES.has(each)) ?? "en";
}

/** A sentence's begin. */
function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface Answer {
  chosen: number;
  first: Made;
  second: Made | undefined;
}

export class Classroom {
  readonly element = el("section", { id: "lesson", hidden: true });
  private readonly lessons = el("select", {
    id: "lessons",
    change: () => this.choose(LESSONS.find((lesson) => lesson.id === this.lessons.value)),
  });
  private readonly languages = el("select", {
    id: "language",
    change: () => this.speak(this.languages.value),
  });
  private readonly lessonLabel = el("label", { for: "lessons" });
  private readonly languageLabel = el("label", { for: "language" });
  /** The choices of a lesson and of a language. */
  readonly chooser = el(
    "span",
    { class: "pair" },
    this.lessonLabel,
    this.lessons,
    this.languageLabel,
    this.languages,
  );
  private readonly charts = new Charts();
  private language = preferred();
  private lesson: Lesson | undefined;
  private answer: Answer | undefined;
  private path = el("div", {});

  constructor(private readonly hooks: Hooks) {
    this.languages.append(
      ...[...LANGUAGES].map(([name, texts]) =>
        el("option", { value: name, lang: name }, texts.name),
      ),
    );
    this.speak(this.language);
  }

  /** True while a question is open. */
  get asks(): boolean {
    return this.lesson !== undefined && this.answer === undefined;
  }

  get id(): string | undefined {
    return this.lesson?.id;
  }

  /** Begins a lesson with its question, or leaves it. */
  choose(lesson: Lesson | undefined): void {
    this.lesson = lesson;
    this.answer = undefined;
    this.hooks.chosen(lesson);
    this.open(lesson);
  }

  /** The same, and the page stays as it is. */
  open(lesson: Lesson | undefined): void {
    this.lesson = lesson;
    this.answer = undefined;
    this.lessons.value = lesson?.id ?? "";
    this.draw();
  }

  private get texts(): Texts {
    return LANGUAGES.get(this.language) as Texts;
  }

  private word(name: string): string {
    return this.texts.words[name] ?? name;
  }

  private speak(language: string): void {
    this.language = language;
    try {
      localStorage.setItem(KEPT, language);
    } catch {
      // It is asked for again, then.
    }
    this.languages.value = language;
    this.lessonLabel.textContent = this.word("lesson");
    this.languageLabel.textContent = this.word("language");
    for (const element of [this.element, this.chooser]) element.lang = language;
    const had = this.lesson?.id ?? "";
    this.lessons.replaceChildren(
      el("option", { value: "" }, this.word("none")),
      ...LESSONS.map(({ id }, n) =>
        el("option", { value: id }, `${n + 1}. ${this.texts.lessons[id]?.title}`),
      ),
    );
    this.lessons.value = had;
    this.draw();
  }

  /** Draws the colours anew. */
  redraw(): void {
    if (this.answer && this.lesson) this.fill(this.lesson, this.answer);
  }

  private draw(): void {
    const { lesson } = this;
    this.charts.clear();
    this.element.hidden = !lesson;
    const texts = lesson && this.texts.lessons[lesson.id];
    if (!lesson || !texts) {
      delete this.element.dataset.lesson;
      this.element.replaceChildren();
      return;
    }
    this.element.setAttribute("aria-label", `${this.word("lesson")}: ${texts.title}`);
    // A choice outlives another language, and no other lesson.
    const had =
      this.element.dataset.lesson === lesson.id
        ? this.element.querySelector<HTMLInputElement>("input:checked")?.value
        : undefined;
    if (this.element.dataset.lesson !== lesson.id) this.show(lesson);
    this.element.dataset.lesson = lesson.id;
    const options = texts.options.map((text, n) => {
      const input = el("input", {
        type: "radio",
        name: "option",
        value: n,
        disabled: this.answer !== undefined,
        change: () => {
          judge.disabled = false;
        },
      });
      input.checked = String(this.answer?.chosen ?? had) === String(n);
      return el("label", { class: "option" }, input, ` ${upper(text)}`);
    });
    const judge = el(
      "button",
      { type: "button", id: "judge", click: () => this.judge(lesson) },
      this.word("answer"),
    );
    judge.disabled = !options.some((label) => label.querySelector("input")?.checked);
    this.element.replaceChildren(
      el(
        "div",
        { class: "intro" },
        el("h2", {}, texts.title),
        ...texts.intro.map((text) => el("p", {}, text)),
        this.path,
      ),
      el(
        "div",
        { class: "ask" },
        el("fieldset", { id: "question" }, el("legend", {}, texts.question), ...options),
        this.answer ? "" : judge,
        el("p", { id: "lesson-status", role: "status" }),
      ),
      el("div", { id: "verdict", tabindex: -1 }),
      el("div", { id: "figure" }, el("p", { class: "waits" }, this.word("waits"))),
      el("div", { id: "answer" }),
    );
    if (this.answer) this.fill(lesson, this.answer);
  }

  /** Shows the path of a lesson; without a drawing the texts do. */
  private show(lesson: Lesson): void {
    const path = el("div", { class: "setup", lang: "en" });
    this.path = path;
    this.hooks.path(scenarioOf(lesson)).then(
      (drawn) => path.replaceChildren(drawn),
      () => path.remove(),
    );
  }

  private async judge(lesson: Lesson): Promise<void> {
    const chosen = Number(this.element.querySelector<HTMLInputElement>("input:checked")?.value);
    const status = this.element.querySelector("#lesson-status");
    const button = this.element.querySelector<HTMLButtonElement>("#judge");
    if (!status || !button) return;
    status.textContent = this.word("running");
    button.disabled = true;
    try {
      const beside = besideOf(lesson);
      const first = await this.hooks.run(scenarioOf(lesson));
      const second = beside === undefined ? undefined : await this.hooks.run(beside);
      // Another lesson may have been chosen meanwhile.
      if (this.lesson !== lesson || this.answer) return;
      this.answer = { chosen, first, second };
      this.draw();
      this.element.querySelector<HTMLElement>("#verdict")?.focus({ preventScroll: true });
      this.hooks.answered(lesson, first, second);
      this.bring();
    } catch (error) {
      status.replaceChildren(...rich((error as Error).message));
      button.disabled = false;
    }
  }

  /** Brings the question to the top where its chart stands below it, so that both are seen. */
  private bring(): void {
    const question = this.element.querySelector("#question");
    const below = question?.getBoundingClientRect().bottom ?? 0;
    const chart = this.element.querySelector("#figure")?.getBoundingClientRect();
    if (chart && chart.top >= below) question?.scrollIntoView({ block: "start" });
  }

  /** The verdict, the chart, and what happened in it. */
  private fill(lesson: Lesson, { chosen, first, second }: Answer): void {
    const texts = this.texts.lessons[lesson.id] as LessonTexts;
    const numbers = evaluate(lesson, [first.run, ...(second ? [second.run] : [])]);
    const places = right(lesson, numbers);
    const well = places.includes(chosen);
    const found = places.map((n) => upper(texts.options[n] ?? "")).join("; ");
    this.element.querySelectorAll(".option").forEach((label, n) => {
      label.querySelector(".mark")?.remove();
      const says = places.includes(n) ? "correct" : n === chosen ? "yours" : "";
      if (says !== "") label.append(el("span", { class: `mark ${says}` }, ` ← ${this.word(says)}`));
    });
    this.element
      .querySelector("#verdict")
      ?.replaceChildren(
        el(
          "p",
          { class: well ? "yes" : "no" },
          el("strong", {}, this.word(well ? "right" : "wrong")),
          ` ${found}.`,
        ),
      );
    const moments = lesson.steps.map((name) => (name === null ? undefined : numbers[name]));
    const steps = texts.steps.map((text, n) =>
      el(
        "li",
        {},
        moments[n] === undefined
          ? ""
          : el("span", { class: "moment", "data-at": moments[n] }, String(n + 1)),
        said(text, numbers, this.language),
      ),
    );
    const links = lesson.links.flatMap((to, n) => {
      const rfc = /rfc(\d+)(?:#section-(.*))?$/.exec(to);
      const text = rfc ? `RFC ${rfc[1]}${rfc[2] ? ` §${rfc[2]}` : ""}` : this.texts.links[to];
      const href = rfc ? to : pageLink(to);
      return [n > 0 ? ", " : " ", el("a", { href, target: "_blank", rel: "noopener" }, text ?? to)];
    });
    this.element
      .querySelector("#answer")
      ?.replaceChildren(
        el("h3", {}, this.word("why")),
        el("ol", { class: "steps" }, ...steps),
        el("p", { class: "help" }, this.word("marks")),
        el("p", { class: "help" }, this.word("read"), ...links),
        el("p", { class: "help" }, this.word("next")),
      );
    this.element.querySelector("#figure")?.replaceChildren(this.charts.element);
    const named = (made: Made): Panel[] =>
      made.panels.map((panel) => {
        const [title, unit] = this.texts.panels[panel.key] ?? [panel.title, panel.unit];
        return { ...panel, title, unit };
      });
    const { panels, from, to, alone = [] } = lesson.figure;
    const order = panels.flatMap((key) => named(first).filter((panel) => panel.key === key));
    const beside = second ? named(second).filter((panel) => !alone.includes(panel.key)) : [];
    this.charts.show(order, beside, [...first.run.flows, ...first.run.links], duration(first.run), {
      span: [from, to],
      marks: moments.flatMap((at, n) => (at === undefined ? [] : [{ at, text: String(n + 1) }])),
      ...(texts.runs ? { runs: texts.runs } : {}),
      chart: this.word("chart"),
      time: this.word("time"),
      series: this.word("series"),
      write: (value) => written(value, this.language),
    });
  }
}
