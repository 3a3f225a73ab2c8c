"""The page of many runs: what was varied, and what came of it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from markupsafe import Markup, escape

from ackclock import _core
from ackclock.base.shown import number
from ackclock.base.words import number_of
from ackclock.base.estimates import Estimate, estimate
from ackclock.plots.distributions import percentile
from ackclock.report.content import Content, PageFigure, sections
from ackclock.report.design import NOT_GIVEN, Factor, combined, factors, plain, varied
from ackclock.report.many import footer, source
from ackclock.report.page import Block, Cell, Page, Prose, Sheet
from ackclock.report.run import path_section

if TYPE_CHECKING:
    from ackclock.runs.run import Run

__all__ = ["build_sweep", "sweep_table"]

_MOST_LINES = 3
"""With more levels of the second factor than this a map is drawn."""

_MOST_IN_MAP = 60
_MOST_SETTINGS = 100
_MOST_KEYS = 10
"""More keys than this have no columns in the table of settings, which has what varies together."""

#: The columns of a sweep: heading in figures, factor.
_SWEPT: Mapping[str, tuple[str, float]] = {
    "goodput_bps": ("goodput of all flows (Mbit/s)", 1e-6),
    "fairness": ("Jain's fairness index", 1.0),
    "page_p50_s": ("median of page times (s)", 1.0),
    "page_p95_s": ("95th percentile of page times (s)", 1.0),
    "pages_share": ("pages that came in full (%)", 100.0),
    "transfer_p50_s": ("median of transfer times (s)", 1.0),
    "transfer_p95_s": ("95th percentile of transfer times (s)", 1.0),
    "traffic_bps": ("payload of traffic classes (Mbit/s)", 1e-6),
    "utilisation": ("use of the busiest link (%)", 100.0),
    "queue_delay_mean_s": ("mean queueing delay there (ms)", 1e3),
    "dropped_share": ("dropped there (%)", 100.0),
    "startup_s": ("start-up of the video (s)", 1.0),
    "underflows": ("stalls of the video", 1.0),
    "stall_s": ("time for which the video stalled (s)", 1.0),
}

_OF_VIDEOS = ("startup_s", "underflows", "stall_s")


@dataclass(frozen=True)
class Swept:
    """The runs of a sweep: a row a run, the keys that vary, and what varies together."""

    table: pl.DataFrame
    keys: tuple[str, ...]
    parts: tuple[Factor, ...]


def build_sweep(runs: Run, content: Content, *, title: str) -> Page:
    """Return the page of many runs: what was varied, and what it did to goodput and queues."""
    found = sweep_table(runs)
    blocks: list[Block] = [*_sweep_figures(found, content), _settings(found)]
    beyond = len(found.keys) - _MOST_KEYS
    shown = [*found.keys[:_MOST_KEYS], *([f"{beyond} more keys"] if beyond > 0 else [])]
    varied_words = ", ".join(shown) or "the seed alone"
    return Page(
        title=title,
        subtitle=f"{number_of(found.table.height, 'run')}; varied: {varied_words}",
        citation="",
        banner="",
        kicker="a sweep",
        lead=(),
        summary=(),
        sections=(
            *sections(("sweep", "What it comes to", blocks)),
            *path_section(_First(runs), content),  # type: ignore[arg-type]
            *source(runs.scenario.to_toml()),
        ),
        footer=footer(content),
    )


class _First:
    """The first of many runs, as the section on the path sees it."""

    def __init__(self, runs: Run) -> None:
        self.scenario = runs.scenario
        self._runs = runs

    def rows(self, table: str) -> list[dict[str, Any]]:
        return [row for row in self._runs.rows(table) if row.get("cell", 0) == 0]


def sweep_table(runs: Run) -> Swept:
    """Return a row a run with what was varied and what came of it."""
    scenarios = [json.loads(scenario.to_json()) for scenario in runs.scenarios]
    settings = {name: each for name, each in varied(scenarios).items() if name != "seed"}
    titles = [table.get("title", "") for table in scenarios]
    tables = {
        name: _by_cell(runs.rows(name))
        for name in ("flows", "links", "objects", "pages", "connections", "videos")
    }
    rows: list[dict[str, Any]] = []
    for cell, scenario in enumerate(scenarios):
        of = {name: found.get(cell, []) for name, found in tables.items()}
        rows.append(
            {"cell": cell}
            | {name: values[cell] for name, values in settings.items()}
            | _of_flows(of["flows"])
            | _of_traffic(of["connections"], _core.seconds("duration", scenario["duration"]))
            | _of_links(of["links"])
            | _of_times("transfer", of["objects"])
            | _of_times("page", of["pages"])
            | {"pages_share": _share_completed(of["pages"])}
            | {key: _mean(of["videos"], key) for key in _OF_VIDEOS}
        )
    overrides = dict.fromkeys(_SWEPT, pl.Float64)
    table = pl.DataFrame(rows, schema_overrides=overrides, infer_schema_length=None)
    parts = factors(settings, titles)
    return Swept(table.select("cell", *settings, *_SWEPT), tuple(settings), tuple(parts))


def _of_flows(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    rates = [row["goodput_bps"] or 0.0 for row in rows if _is_whole(row)]
    total = math.fsum(rates)
    squares = math.fsum(rate * rate for rate in rates)
    fair = total**2 / (len(rates) * squares) if len(rates) > 1 and total else None
    return {"goodput_bps": total if rates else None, "fairness": fair}


def _of_traffic(rows: Sequence[Mapping[str, Any]], seconds: float) -> dict[str, float | None]:
    carried = sum(row["bytes_to_server"] + row["bytes_to_client"] for row in rows)
    return {"traffic_bps": 8 * carried / seconds if rows and seconds > 0 else None}


def _of_links(rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    busiest = max(
        (row for row in rows if _is_whole(row)), key=lambda row: row["utilisation"], default=None
    )
    if busiest is None:
        return {}
    offered = busiest["offered_packets"]
    return {
        "utilisation": busiest["utilisation"],
        "queue_delay_mean_s": busiest["queue_delay_mean_s"],
        "dropped_share": busiest["dropped_packets"] / offered if offered else None,
    }


def _of_times(name: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    completed = [row for row in rows if row["completed_s"] is not None]
    times = np.sort([row["completed_s"] - row["requested_s"] for row in completed])
    return {f"{name}_p{share}_s": percentile(times, share) for share in (50, 95)}


def _share_completed(rows: Sequence[Mapping[str, Any]]) -> float | None:
    return sum(row["completed_s"] is not None for row in rows) / len(rows) if rows else None


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


def _known(table: pl.DataFrame) -> list[str]:
    """Return the columns of results that some run has."""
    return [name for name in _SWEPT if table[name].count()]


def _settings(found: Swept) -> Sheet:
    """Return the table of all settings, with means and intervals."""
    known = _known(found.table)
    named = [part for part in found.parts if part.name not in found.keys]
    many = len(found.keys) > _MOST_KEYS
    labels = [part.name for part in named if many or part.name in {"title", "setting"}]
    table = found.table.with_columns(
        pl.Series(part.name, part.levels, strict=False) for part in named if part.name in labels
    )
    single = [part.name for part in found.parts if part.name in found.keys]
    stubs = [*labels, *(single if many else found.keys)]
    grouped = table.group_by(stubs, maintain_order=True) if stubs else [((), table)]
    rows: list[tuple[Cell, ...]] = []
    for level, of in grouped:
        cells = [Cell(plain(value)) for value in level]
        cells.append(Cell(f"{of.height:,}"))
        for name in known:
            factor = _SWEPT[name][1]
            values = [value * factor for value in of[name].drop_nulls()]
            cells.append(Cell(told(estimate(values))))
        rows.append(tuple(cells))
    caption = "Means over the runs of each setting"
    if any("±" in cell.text for row in rows for cell in row):
        caption += ", with 95 % intervals"
    caption += "."
    if many:
        caption += f" They differ in {len(found.keys)} keys."
    elif any(value is None for key in found.keys for value in found.table[key]):
        caption += f" {NOT_GIVEN}: the scenario does not give the key, or there is no such value."
    beyond = len(rows) - _MOST_SETTINGS
    if beyond > 0:
        caption = escape(caption) + Markup(
            " The first {}; all runs are in <code>data/sweep.parquet</code>."
        ).format(_MOST_SETTINGS)
    return Sheet(
        key="settings",
        label="Settings",
        caption=caption,
        heads=(*stubs, "runs", *(_SWEPT[name][0] for name in known)),
        rows=tuple(rows[:_MOST_SETTINGS]),
        stubs=len(stubs),
    )


def told(value: Estimate) -> str:
    """Return a mean with the half-width of its interval to two digits; alike values have none."""
    if not math.isfinite(value.mean):
        return NOT_GIVEN
    text = number(value.mean)
    if not value.ci:
        return text
    digits = max(1 - math.floor(math.log10(value.ci)), 0)
    return f"{text} ± {value.ci:,.{min(digits, 9)}f}"


def _sweep_figures(found: Swept, content: Content) -> Iterator[Block]:
    """Draw each result over the factor with most levels; every other setting has its own line."""
    if not found.parts:
        return
    across = max(found.parts, key=lambda part: part.count)
    others = [part for part in found.parts if part is not across]
    by = combined(others) if others else None
    if by is not None and by.count > _MOST_IN_MAP:
        yield Prose(
            f"{escape(by.name)} have {by.count:,} levels between them, too many for a figure that "
            "keeps them apart; the table and <code>data/sweep.parquet</code> have all."
        )
        return
    table = found.table
    for part in (across, by):
        if part is not None and part.name not in table.columns:
            table = table.with_columns(pl.Series(part.name, part.levels, strict=False))
    as_map = by is not None and by.count > _MOST_LINES
    repeated = table.height > table.select(part.name for part in (across, by) if part).n_unique()
    if as_map:
        caption = "Means over the runs of each pair."
    elif repeated:
        caption = "Dots: runs; lines: their means, with 95 % intervals."
    else:
        caption = "Each dot is a run."
    if any(level is None or level == NOT_GIVEN for part in found.parts for level in part.levels):
        caption += f" {NOT_GIVEN}: the scenario does not give the key."
    for value in _known(table):
        if table.filter(pl.col(value).is_not_null())[across.name].n_unique() < 2:
            continue
        label, factor = _SWEPT[value]
        options: dict[str, Any] = {"x": across.name, "value": value, "label": label}
        options |= {"factor": factor, "y" if as_map else "by": by.name if by else None}
        if not as_map and label.endswith("(%)"):
            options["most"] = 100.0
        options["title"] = label[:1].upper() + label[1:]
        yield content.draw(
            PageFigure(
                value.removesuffix("_bps").removesuffix("_s"),
                options["title"],
                caption,
                "heat_map" if as_map else "sweep",
                {"sweep": table},
                options,
            )
        )
