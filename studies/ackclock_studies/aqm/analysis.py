"""From the parts to the tables that predicates, figures and the page read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from ackclock.base.estimates import estimate
from ackclock.studies.framework.study import ByName
from ackclock_studies.aqm.published import LEVELS, loss_of
from ackclock_studies.aqm.scenarios import (
    HIGH_BPS,
    LOW_BPS,
    MSS_BYTES,
    PACKET_BYTES,
    PATH_PACKETS,
    RATE_BPS,
    Plan,
    flows_of,
)

CAPACITY_BPS = RATE_BPS * MSS_BYTES / PACKET_BYTES
"""The most that can be goodput."""

COMMON = ("goodput_bps", "others_bps", "utilisation", "queue_delay_mean_s", "queue_delay_p99_s",
          "drop_share")  # fmt: skip


class Results(ByName[Plan]):
    """The study's tables by name."""

    def value(self, table: str, column: str, queue: str, case: str) -> float:
        """Return the mean over the seeds; NaN if there is none."""
        rows = self[table].filter(pl.col("queue") == queue, pl.col("case") == case)
        return float("nan") if rows.is_empty() or rows[column][0] is None else rows[column][0]


def analyse(plan: Plan, found: Mapping[str, pl.DataFrame]) -> Results:
    """Return the tables for which there are parts."""
    tables: dict[str, pl.DataFrame] = {}
    more = {
        "friendly": (),
        "short": ("completion_mean_s", "completion_p90_s"),
        "unresponsive": ("share",),
        "rtt": ("ratio",),
        "levels": (),
        "capacity": ("low_delay_mean_s", "low_delay_p95_s", "used"),
        "scavenger": ("share",),
        "mix": ("response_mean_s", "response_p95_s", "voice_lost", "video_rate_bps",
                "video_stall_s"),
    }  # fmt: skip
    for name, columns in more.items():
        if name in found:
            rows = _derived(name, found[name])
            tables[f"{name}_seeds"] = rows
            tables[name] = _over_seeds(rows, (*COMMON, *columns))
    if "levels" in tables:
        tables["levels"] = _against_formula(tables["levels"])
    if "ellipse" in found:
        tables["ellipse"] = found["ellipse"]
    return Results(plan, tables)


def _derived(name: str, rows: pl.DataFrame) -> pl.DataFrame:
    first, others = pl.col("goodput_bps"), pl.col("others_bps")
    if name == "unresponsive":
        return rows.with_columns((first / CAPACITY_BPS).alias("share"))
    if name == "scavenger":
        return rows.with_columns((first / (first + others)).alias("share"))
    if name == "rtt":
        return rows.with_columns((others / first).alias("ratio"))
    if name == "capacity":
        mean_bps = (LOW_BPS + HIGH_BPS) / 2 * MSS_BYTES / PACKET_BYTES
        return rows.with_columns(((first + others) / mean_bps).alias("used"))
    return rows


def _over_seeds(rows: pl.DataFrame, columns: tuple[str, ...]) -> pl.DataFrame:
    """Return means over the seeds with half-widths of their 95 % intervals."""
    reduced = []
    for key, group in rows.group_by("queue", "case", maintain_order=True):
        row: dict[str, Any] = dict(zip(("queue", "case"), key, strict=True))
        for name in columns:
            over = estimate(group[name].drop_nulls().to_list())
            row |= {name: over.mean if over.n else None, f"{name}_ci": over.ci}
        reduced.append(row | {"seeds": group.height})
    return pl.DataFrame(reduced, infer_schema_length=None)


def _against_formula(rows: pl.DataFrame) -> pl.DataFrame:
    expected = {
        level: loss_of(flows_of(level), 2 * PATH_PACKETS) for level in LEVELS
    }  # fmt: skip
    return rows.with_columns(
        pl.col("case").replace_strict(expected, return_dtype=pl.Float64).alias("formula_loss")
    )
