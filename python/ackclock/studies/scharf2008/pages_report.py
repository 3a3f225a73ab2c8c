"""Table I in the report: its figure and its sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from ackclock.plots.style import COLOURS, figure, styled
from ackclock.report.page import Cell, Sheet
from ackclock.studies.framework.stats import estimate
from ackclock.studies.scharf2008.analysis import Results
from ackclock.studies.scharf2008.pages import (
    HTTPS,
    KEPT_READING,
    MAIN,
    MODELS,
    PUBLISHED,
    READINGS,
    SENDERS,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLE = {"small": "small pages (SURGE)", "large": "objects of 250 kB on average"}
_TICKS = ("HTTP/1.0", "HTTP/1.1", "pipelining")


def page_times(table: pl.DataFrame) -> Figure:
    """Draw the page times of each reading beside the published ones."""
    looks = (
        ("slow_s", "slow start", COLOURS["ink"], -0.09, 0),
        ("quick_s", "Quick-Start", COLOURS["blue"], 0.09, 1),
    )
    with styled():
        made, panels = figure(3.2, 1, 2)
        for panel, model in zip(panels, MODELS, strict=True):
            rows = table.filter(pl.col("reading") == MAIN.name, pl.col("model") == model)
            for column, label, colour, aside, which in looks:
                places = [n + aside for n in range(len(HTTPS))]
                published = [PUBLISHED[model, http][which] for http in HTTPS]
                panel.plot(
                    places, published, "_", color=colour, markersize=13, markeredgewidth=1.6,
                    label=f"{label}, published",
                )  # fmt: skip
                panel.errorbar(
                    places, rows[column], yerr=rows[f"{column}_ci"].fill_null(0.0), fmt="o",
                    color=colour, markersize=4.5, elinewidth=1.0, label=f"{label}, here",
                )  # fmt: skip
            panel.set(title=_TITLE[model], ylim=(0, None), xlim=(-0.5, len(HTTPS) - 0.5))
            panel.set_xticks(range(len(HTTPS)), _TICKS)
        panels[0].set(ylabel="mean page time, s")
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7)
        return made


def table_1(results: Results) -> Sheet:
    """Return Table I by readings."""
    order = {reading.name: n for n, reading in enumerate(READINGS)}
    rows = sorted(
        results["table1"].iter_rows(named=True),
        key=lambda r: (order[r["reading"]], MODELS.index(r["model"]), HTTPS.index(r["http"])),
    )
    return Sheet(
        key="table1",
        label="Table I by readings",
        caption=(
            "Mean page times and half the width of their 95 % interval over the seeds; "
            "slow start and Quick-Start meet the same pages. Published: slow start, Quick-Start."
        ),
        heads=(
            "reading", "pages", "HTTP", "slow start, s", "Quick-Start, s", "speed-up",
            "published, s", "speed-up",
        ),
        rows=tuple(
            (
                Cell(row["reading"]),
                Cell(row["model"]),
                Cell(row["http"]),
                Cell(_with_interval(row, "slow_s")),
                Cell(_with_interval(row, "quick_s")),
                Cell(_with_interval(row, "speedup")),
                Cell("{:.2f}, {:.2f}".format(*PUBLISHED[row["model"], row["http"]])),
                Cell(f"{_published_speedup(row):.2f}"),
            )
            for row in rows
        ),
        data=("pages", "table1"),
    )  # fmt: skip


def kept(results: Results) -> Sheet:
    """Return what each sender makes of large pages over connections that are kept."""
    rows = results["pages"].filter(
        pl.col("reading") == KEPT_READING.name, pl.col("model") == "large", pl.col("http") == "1.1"
    )
    found = []
    for sender in SENDERS:
        here = rows.filter(pl.col("startup") == sender)
        over = estimate(here["page_s"].to_numpy())
        found.append(
            (
                Cell(sender.replace("-", " ").replace("quick start", "Quick-Start")),
                Cell(f"{over.mean:.3f} ± {over.ci or 0.0:.3f}"),
                Cell(f"{int(here['asked'].sum()):,}"),
            )
        )
    return Sheet(
        key="kept",
        label="A low rate asked for on a connection that is kept",
        caption=(
            "Large pages over HTTP/1.1, connections kept for five seconds. Quick-Start demands "
            "limited slow start (RFC 3742) afterwards; the last row has it without Quick-Start."
        ),
        heads=("sender", "page time, s", "requests"),
        rows=tuple(found),
        data=("pages",),
    )


def _published_speedup(row: dict[str, str]) -> float:
    slow, quick = PUBLISHED[row["model"], row["http"]]
    return slow / quick


def _with_interval(row: dict[str, Any], name: str) -> str:
    half = row[f"{name}_ci"]
    return f"{row[name]:.2f} ± {half:.2f}" if half is not None else f"{row[name]:.2f}"
