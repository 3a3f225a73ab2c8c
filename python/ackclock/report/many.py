"""The page of a comparison of substrates or senders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl
from markupsafe import escape

import ackclock
from ackclock.runs.comparison import ALL_FLOWS, METRICS
from ackclock.plots.thin import thin_rows
from ackclock.report.content import Content, PageFigure, sections, shown_source
from ackclock.report.page import Block, Cell, Page, Prose, Sheet, Source
from ackclock.report.run import path_section

if TYPE_CHECKING:
    from ackclock.runs.comparison import Comparison

__all__ = ["build_comparison", "footer", "source"]

_POINTS = 1500


def build_comparison(found: Comparison, content: Content, *, title: str) -> Page:
    """Return the page of a comparison: every metric side by side, windows and queue over time."""
    columns = list(found.columns)
    first = found.runs[columns[0]][0]
    runs = ", ".join(f"{name}: {len(each)}" for name, each in found.runs.items())
    values = comparison_values(found)
    figure = PageFigure(
        "compared",
        "Goodput and queue, side by side",
        "Every run a dot, the mean a bar, by flow.",
        "side_by_side",
        {"compared": values},
    )
    traces = {name: _texts(table) for name, table in found.traces().items()}
    windows = PageFigure(
        "windows",
        "Windows and queue",
        "A colour a column, six at most: the first run, and pale the further ones, of more than three "
        "the range of all. Dashed: the mean that a closed form gives.",
        "windows_beside",
        {name: _thinned(table) for name, table in traces.items()},
        {"link": found.link},
    )
    blocks: list[Block] = [content.draw(figure), _metrics(found)]
    drawn: list[Block] = [content.draw(windows)]
    doubts = [Prose(f"In doubt: {escape(why)}") for why in found.doubts]
    return Page(
        title=title,
        subtitle="Compared: " + ", ".join(columns),
        citation=f"Runs in each column: {runs}. The seeds are the same in each.",
        banner="",
        kicker="a comparison",
        lead=tuple(doubts),
        summary=(),
        sections=(
            *sections(("compared", "Side by side", blocks), ("windows", "Windows", drawn)),
            *path_section(first, content),
            *source(found.scenario.to_toml()),
        ),
        footer=footer(content),
    )


def comparison_values(found: Comparison) -> pl.DataFrame:
    """Return a row a run, flow and metric, with its column; those of all flows are left out."""
    units = {key: (name, unit, factor) for key, name, unit, factor, _ in METRICS}
    rows: list[dict[str, Any]] = []
    for column, number, flow, metric, value in found.values():
        if flow == ALL_FLOWS:
            continue
        name, unit, factor = units[metric]
        label = f"{name} ({unit})" if unit else name
        rows.append(
            {"column": column, "run": number, "flow": flow, "metric": label, "value": value * factor}
        )
    schema = {
        "column": pl.String,
        "run": pl.Int64,
        "flow": pl.String,
        "metric": pl.String,
        "value": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema).filter(pl.col("value").is_finite())


def _texts(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def _thinned(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that a figure of the whole run shows, of each run and flow."""
    value = next((name for name in ("cwnd_segments", "queue_packets") if name in table), None)
    if value is None or "time_s" not in table or table.is_empty():
        return table
    keys = [name for name in ("column", "run", "flow") if name in table]
    parts: list[pl.DataFrame] = []
    for _, of in table.group_by(keys, maintain_order=True):
        times = of["time_s"].to_numpy()
        long = max(float(times[-1] - times[0]), 1e-9)
        values = of[value].cast(pl.Float64).fill_null(math.nan).to_numpy()
        parts.append(of[thin_rows(times, [values], long / _POINTS)])
    return pl.concat(parts)


def _metrics(found: Comparison) -> Sheet:
    columns = list(found.columns)
    shown = {key: (name, unit, factor, digits) for key, name, unit, factor, digits in METRICS}
    rows: list[tuple[Cell, ...]] = []
    for row in found.rows()[:400]:
        name, unit, factor, digits = shown[row["metric"]]
        cells = [Cell(row["flow"]), Cell(f"{name} ({unit})" if unit else name)]
        for column in columns:
            value = row[column]
            cells.append(Cell(value.shown(factor, digits)))
        rows.append(tuple(cells))
    return Sheet(
        key="metrics",
        label="All metrics",
        caption="Means over the runs, with 95 % intervals where there are several.",
        heads=("flow", "metric", *columns),
        rows=tuple(rows),
        stubs=2,
        text_columns=frozenset({0, 1}),
    )


def source(text: str) -> Sequence[Any]:
    """Return the section with the first of several scenarios."""
    says = Prose("The first of the scenarios.")
    return sections(("scenario", "The scenario", (says, Source("Show the file", shown_source(text)))))


def footer(content: Content) -> Sequence[Prose]:
    """Return the foot of a page: what made it, and where its data lie."""
    how = f" with <code>{escape(content.command)}</code>" if content.command else ""
    return (
        Prose(
            f"Made by Ackclock {escape(ackclock.__version__)}{how}. The data of each figure lie in "
            "<code>data/</code>, the figures and the programs that draw them again in "
            "<code>figures/</code>."
        ),
    )
