"""The tables of page times in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from ackclock.base.estimates import estimate
from ackclock.report.page import Cell, Sheet
from ackclock_studies.scharf2008.analysis import Results
from ackclock_studies.scharf2008.pages.scenarios import (
    HTTPS,
    KEPT_READING,
    MODELS,
    READINGS,
    SENDERS,
)
from ackclock_studies.scharf2008.published import TABLE_1

if TYPE_CHECKING:
    pass


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
                Cell("{:.2f}, {:.2f}".format(*TABLE_1[row["model"], row["http"]])),
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
    slow, quick = TABLE_1[row["model"], row["http"]]
    return slow / quick


def _with_interval(row: dict[str, Any], name: str) -> str:
    half = row[f"{name}_ci"]
    return f"{row[name]:.2f} ± {half:.2f}" if half is not None else f"{row[name]:.2f}"
