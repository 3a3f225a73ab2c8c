"""The pages of several runs: a comparison of substrates or senders, and a sweep."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from markupsafe import escape

import ackclock
from ackclock.comparison import ALL_FLOWS, METRICS
from ackclock.plots.distributions import percentile
from ackclock.plots.thin import thin_rows
from ackclock.report.content import Content, PageFigure, sections, sheet
from ackclock.report.page import Block, Cell, Page, Prose, Sheet, Source
from ackclock.report.run import path_section

if TYPE_CHECKING:
    from ackclock.comparison import Comparison
    from ackclock.results import Run

__all__ = ["build_comparison", "build_sweep", "varied"]

_MOST_AXES = 8
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
        "A colour a column, six at most; pale: the further runs. Dashed: the mean that a closed form gives.",
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
            *_source(found.scenario.to_toml()),
        ),
        footer=_footer(content),
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
            if not math.isfinite(value.mean):
                cells.append(Cell("–"))
                continue
            interval = "" if value.ci is None else f" ± {value.ci * factor:.{digits}f}"
            cells.append(Cell(f"{value.mean * factor:.{digits}f}{interval}"))
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


def build_sweep(runs: Run, content: Content, *, title: str) -> Page:
    """Return the page of many runs: what was varied, and what it did to goodput and queues."""
    table, axes = sweep_table(runs)
    figures = list(_sweep_figures(table, axes, content))
    shown = [*axes, "runs", *_SWEPT]
    grouped = _grouped(table, axes)
    caption = "Means over the runs of each setting; goodput is that of all flows together."
    rows: list[Block] = [sheet("settings", "Settings", caption, grouped, shown, stubs=len(axes))]
    varied_words = ", ".join(axes) if axes else "the seed alone"
    return Page(
        title=title,
        subtitle=f"{table.height:,} runs; varied: {varied_words}",
        citation="",
        banner="",
        kicker="a sweep",
        lead=(),
        summary=(),
        sections=(
            *sections(("sweep", "What it comes to", [*figures, *rows])),
            *path_section(_First(runs), content),  # type: ignore[arg-type]
            *_source(runs.scenario.to_toml()),
        ),
        footer=_footer(content),
    )


class _First:
    """The first of many runs, as the section on the path sees it."""

    def __init__(self, runs: Run) -> None:
        self.scenario = runs.scenario
        self._runs = runs

    def rows(self, table: str) -> list[dict[str, Any]]:
        return [row for row in self._runs.rows(table) if row.get("cell", 0) == 0]


#: The columns of a sweep: heading in figures, factor.
_SWEPT: Mapping[str, tuple[str, float]] = {
    "goodput_bps": ("goodput (Mbit/s)", 1e-6),
    "fairness": ("Jain's fairness index", 1.0),
    "utilisation": ("use of the busiest link (%)", 100.0),
    "queue_delay_mean_s": ("mean queueing delay there (ms)", 1e3),
    "dropped_share": ("dropped there (%)", 100.0),
    "transfer_p95_s": ("95th percentile of transfer times (s)", 1.0),
    "startup_s": ("start-up of the video (s)", 1.0),
    "underflows": ("stalls of the video", 1.0),
    "stall_s": ("time for which the video stalled (s)", 1.0),
}

_OF_VIDEOS = ("startup_s", "underflows", "stall_s")


def sweep_table(runs: Run) -> tuple[pl.DataFrame, list[str]]:
    """Return a row a run with what was varied and what came of it, and the names of the former."""
    settings = varied([json.loads(text) for text in scenario_texts(runs)])
    axes = [name for name in settings if name != "seed"][:_MOST_AXES]
    flows = _by_cell(runs.rows("flows"))
    links = _by_cell(runs.rows("links"))
    transfers = _by_cell(runs.rows("objects"))
    videos = _by_cell(runs.rows("videos"))
    rows: list[dict[str, Any]] = []
    for cell in range(len(scenario_texts(runs))):
        rates = [row["goodput_bps"] or 0.0 for row in flows.get(cell, []) if _is_whole(row)]
        total = sum(rates)
        squares = sum(rate * rate for rate in rates)
        busiest = max(
            (row for row in links.get(cell, []) if _is_whole(row)),
            key=lambda row: row["utilisation"],
            default=None,
        )
        times = np.sort(
            [
                row["completed_s"] - row["requested_s"]
                for row in transfers.get(cell, [])
                if row["completed_s"] is not None
            ]
        )
        offered = busiest["offered_packets"] if busiest is not None else 0
        rows.append(
            {"cell": cell}
            | {name: settings[name][cell] for name in axes}
            | {
                "goodput_bps": total,
                "fairness": total**2 / (len(rates) * squares) if len(rates) > 1 and total else None,
                "utilisation": busiest["utilisation"] if busiest else None,
                "queue_delay_mean_s": busiest["queue_delay_mean_s"] if busiest else None,
                "dropped_share": busiest["dropped_packets"] / offered if busiest and offered else None,
                "transfer_p95_s": percentile(times, 95),
                **{key: _mean(videos.get(cell, []), key) for key in _OF_VIDEOS},
            }
        )
    overrides = dict.fromkeys(_SWEPT, pl.Float64)
    return pl.DataFrame(rows, schema_overrides=overrides, infer_schema_length=None), axes


def scenario_texts(runs: Run) -> list[str]:
    """Return the scenarios of many runs as JSON texts."""
    return [scenario.to_json() for scenario in runs.scenarios]


def _by_cell(rows: Sequence[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row.get("cell", 0), []).append(row)
    return found


def _mean(rows: Sequence[Mapping[str, Any]], key: str) -> float | None:
    known = [row[key] for row in rows if row[key] is not None]
    return math.fsum(known) / len(known) if known else None


def _is_whole(row: Mapping[str, Any]) -> bool:
    return row["measure"] == "run"


def varied(tables: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return the keys in which scenarios differ, by their path, with the value in each."""
    flat = [dict(_leaves(table, "")) for table in tables]
    keys = dict.fromkeys(key for leaves in flat for key in leaves)
    found = {key: [leaves.get(key) for leaves in flat] for key in keys if key != "title"}
    return {
        _short(key): values
        for key, values in found.items()
        if any(value != values[0] for value in values)
    }


def _leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, f"{at}.{key}" if at else str(key))
    elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        for place, each in enumerate(value):
            name = each.get("name", place) if isinstance(each, Mapping) else place
            yield from _leaves(each, f"{at}[{name}]")
    else:
        yield at, json.dumps(value) if isinstance(value, list) else value


def _short(key: str) -> str:
    return key.removeprefix("topology.").replace("[", " ").replace("].", " ").rstrip("]")


def _grouped(table: pl.DataFrame, axes: Sequence[str]) -> list[dict[str, Any]]:
    means = [pl.col(name).mean() for name in _SWEPT]
    if not axes:
        return table.select(pl.len().alias("runs"), *means).to_dicts()
    grouped = table.group_by(axes, maintain_order=True)
    return grouped.agg(pl.len().alias("runs"), *means).to_dicts()


def _sweep_figures(
    table: pl.DataFrame, axes: Sequence[str], content: Content
) -> Iterator[Block]:
    if not axes:
        return
    ordered = _ordered(table, axes)
    across = max(axes, key=lambda name: table[name].n_unique())
    others = [name for name in axes if name != across]
    by = min(others, key=lambda name: table[name].n_unique()) if others else None
    for value, (label, factor) in _SWEPT.items():
        if table[value].count() == 0:
            continue
        as_map = by is not None and table[by].n_unique() > 3
        options: dict[str, Any] = {"x": across, "value": value, "label": label, "factor": factor}
        options |= {"y": by} if as_map else {"by": by}
        options["title"] = label[:1].upper() + label[1:]
        yield content.draw(
            PageFigure(
                value.removesuffix("_bps").removesuffix("_s"),
                options["title"],
                "Means over the runs of each pair." if as_map else "Dots: runs; lines: their means.",
                "heat_map" if as_map else "sweep",
                {"sweep": ordered},
                options,
            )
        )


def _ordered(table: pl.DataFrame, axes: Sequence[str]) -> pl.DataFrame:
    return table.select("cell", *axes, *_SWEPT)


def _source(text: str) -> Sequence[Any]:
    says = Prose("The first of the scenarios.")
    return sections(("scenario", "The scenario", (says, Source("Show the file", text[:40_000]))))


def _footer(content: Content) -> Sequence[Prose]:
    how = f" with <code>{escape(content.command)}</code>" if content.command else ""
    return (
        Prose(
            f"Made by Ackclock {escape(ackclock.__version__)}{how}. The data of each figure lie in "
            "<code>data/</code>, the figures and the programs that draw them again in "
            "<code>figures/</code>."
        ),
    )
