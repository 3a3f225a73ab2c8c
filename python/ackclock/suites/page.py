"""The page of a suite: a matrix, and a card for each case."""

from __future__ import annotations

import html
import math
import shlex
from typing import TYPE_CHECKING

import ackclock
from ackclock.plots.style import COLOURS, figure, rendered, styled
from ackclock.report import page as blocks
from ackclock.suites.framework.case import Case
from ackclock.suites.framework.cells import Cell, apart
from ackclock.suites.running import SuiteResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["build", "matrix"]

_COLOUR = {
    "pass": COLOURS["green"],
    "fail": COLOURS["red"],
    "cannot tell": COLOURS["orange"],
    "no limit: reported": COLOURS["grey"],
    "refused": COLOURS["pale"],
}


def build(found: SuiteResult) -> blocks.Page:
    """Return the page."""
    senders = (*found.variants, *found.baselines)
    counts = {
        verdict: sum(
            cell.verdict == verdict for cell in found.cells if cell.variant in found.variants
        )
        for verdict in _COLOUR
    }
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    return blocks.Page(
        title=f"Suite {found.suite.key}: {', '.join(found.variants)}",
        subtitle=html.escape(found.suite.title),
        citation=html.escape(found.suite.source),
        banner=_banner(found),
        lead=(
            blocks.Prose(
                f"Of the cases of {html.escape(', '.join(found.variants))}: {told}. A limit is "
                "<i>published</i> if it stands in the source, a <i>rule</i> if the source states a "
                "condition, and <i>ours</i> if it was chosen here."
            ),
        ),
        summary=(),
        sections=(
            blocks.Section("matrix", "At a glance", (_matrix(found, senders),)),
            *(
                blocks.Section(f"case-{n}", case.key, _card(found, case.key, senders))
                for n, case in enumerate(found.cases)
            ),
            blocks.Section("cite", "How to cite", _cite(found)),
        ),
        footer=(
            blocks.Prose(
                f"Made by Ackclock {ackclock.__version__} with <code>{_command(found)}</code>."
            ),
        ),
        kicker="a test set",
    )


def _command(found: SuiteResult, case: str | None = None) -> str:
    names = [apart(variant) for variant in found.variants]
    senders = dict.fromkeys(sender for sender, _ in names)
    places = dict.fromkeys(str(place) for _, place in names)
    words = ["ackclock", "suite", found.suite.key, *senders]
    words += ["--on", ",".join(places)] if [*places] != ["sim"] else []
    words += [] if case is None else ["--case", case]
    words += ["--quick"] if found.quick and found.suite.key != "quick" else []
    words += [] if found.seeds is None else ["--seeds", str(found.seeds)]
    words += [part for law in found.laws for part in ("--law", law)]
    return html.escape(f"{shlex.join(words)} --out DIR")


def _banner(found: SuiteResult) -> str:
    """Return what the page says of a result that is quick; empty for another."""
    if found.suite.key == "quick":
        return "Cases of other suites, shorter and fewer runs. A verdict there may differ."
    if found.quick:
        return (
            "Fewer cases, shorter and fewer runs. A verdict may differ from that of the full suite."
        )
    return ""


def _matrix(found: SuiteResult, senders: tuple[str, ...]) -> blocks.Sheet:
    def shown(cell: Cell) -> blocks.Cell:
        mark = {"pass": "good", "fail": "bad"}.get(cell.verdict, "")
        word = {"pass": "✓ ", "fail": "✗ ", "cannot tell": "? "}.get(cell.verdict, "")
        return blocks.Cell(f"{word}{cell.text}", mark, cell.reason)

    return blocks.Sheet(
        key="matrix",
        label=f"Cases and {found.suite.subject}s",
        caption="✓ within the limit, ✗ outside, ? the interval reaches over it, nothing: no limit. "
        "Means with 95 % intervals; of runs on several settings the least and the most.",
        heads=("case", *senders, "metric"),
        rows=tuple(
            (
                blocks.Cell(case.key),
                # Behind the values, which a narrow window shows first.
                *(shown(found.cell(case.key, sender)) if _has(found, case.key, sender)
                  else blocks.Cell("") for sender in senders),
                blocks.Cell(_in_one_line(case)),
            )
            for case in found.cases
        ),
        text_columns=frozenset({0, len(senders) + 1}),
    )  # fmt: skip


def _in_one_line(case: Case) -> str:
    metric = f"{case.metric}, {case.unit}" if case.unit else case.metric
    return metric.replace(" ", "\u00a0")


def _has(found: SuiteResult, case: str, sender: str) -> bool:
    return any((cell.case.key, cell.variant) == (case, sender) for cell in found.cells)


def _card(found: SuiteResult, case: str, senders: tuple[str, ...]) -> tuple[blocks.Block, ...]:
    cells = [found.cell(case, sender) for sender in senders if _has(found, case, sender)]
    told = cells[0].case
    note = f" {html.escape(told.note)}" if told.note else ""
    return (
        blocks.Prose(
            f"{html.escape(told.title[:1].upper() + told.title[1:])}. Source: "
            f"{html.escape(told.source)}. {html.escape(_limit(cells))}{note}"
        ),
        *_picture(found, cells),
        blocks.Sheet(
            key=f"numbers-{case}",
            label=told.metric + (f", {told.unit}" if told.unit else ""),
            caption="Means with half-widths of 95 % intervals.",
            heads=(found.suite.subject, "value", "limit", "verdict"),
            rows=tuple(
                (
                    blocks.Cell(cell.variant),
                    blocks.Cell(cell.text, title=cell.reason),
                    blocks.Cell(cell.rule),
                    blocks.Cell(
                        cell.judgement, {"pass": "good", "fail": "bad"}.get(cell.verdict, "")
                    ),
                )
                for cell in cells
            ),
            text_columns=frozenset({0, 2, 3}),
        ),
    )


def _picture(found: SuiteResult, cells: list[Cell]) -> tuple[blocks.Block, ...]:
    """Return the values as a picture; of a condition there is none."""
    told = cells[0].case
    if told.condition:
        return ()
    made = rendered(matrix(cells), f"case-{told.key}", title=told.title, description=told.metric)
    return (
        blocks.Drawing(
            key=f"figure-{told.key}",
            label=told.metric,
            caption=f"Each of {told.seeds} runs, and the mean.",
            svg=made.svg,
            command=_command(found, told.key),
        ),
    )


def _limit(cells: list[Cell]) -> str:
    case = cells[0].case
    if case.limit is None and not case.own:
        return "No limit: reported."
    every = "each run" if case.every else "the interval of the mean"
    rules = dict.fromkeys(cell.rule for cell in cells if cell.rule)
    rule = "as in the table" if len(rules) > 1 else next(iter(rules), "none could be made")
    return f"Limit ({case.kind}), for {every}: {rule}."


def matrix(cells: list[Cell]) -> Figure:
    """Draw the values of a case: a line a sender, each run, the mean, the limit."""
    case = cells[0].case
    with styled():
        made, panel = figure(0.9 + 0.28 * len(cells))
        for n, cell in enumerate(reversed(cells)):
            known = [case.factor * value for value in cell.values if math.isfinite(value)]
            colour = _COLOUR[cell.verdict]
            panel.plot(known, [n] * len(known), color=colour, marker="|", linestyle="none",
                       markersize=9, alpha=0.6)  # fmt: skip
            if math.isfinite(cell.mean):
                panel.plot([case.factor * cell.mean], [n], color=colour, marker="o")
            for bound in (cell.low, cell.high):
                if math.isfinite(bound):
                    panel.plot([case.factor * bound] * 2, [n - 0.4, n + 0.4], color=COLOURS["ink"],
                               linewidth=0.9, linestyle=(0, (2, 1)))  # fmt: skip
        panel.set_yticks(range(len(cells)), [cell.variant for cell in reversed(cells)])
        panel.set_ylim(-0.6, len(cells) - 0.4)
        panel.set_xlabel(f"{case.metric}, {case.unit}" if case.unit else case.metric)
        panel.grid(visible=False, axis="y")
        return made


def _cite(found: SuiteResult) -> tuple[blocks.Block, ...]:
    found_out = "; ".join(found.suite.left_out)
    return (
        blocks.Prose(
            "The digest is a hash of every scenario and seed, of the engine's rules and of the "
            "sources of laws of one's own: the same digest gives the same numbers, whoever built "
            "Ackclock. "
            f"Here it is <code>{found.digest}</code>."
            + (f" Not here: {html.escape(found_out)}." if found_out else "")
        ),
        blocks.Source("BibTeX", found.bibtex()),
    )
