"""Runs with requests that nobody means, or that nobody checks."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.reduce import mean_of
from ackclock.studies.framework.simulation import Tables, simulated
from ackclock_studies.scharf2008.abuse.scenarios import Abuse, abuses
from ackclock_studies.scharf2008.scenarios import (
    HIGH_BPS,
    Plan,
)


def outcomes(tables: Tables, settings: Sequence[Abuse]) -> pl.DataFrame:
    """Return a row a run: response times, what the honest were approved, what was dropped."""
    labels = pl.DataFrame(
        [
            {"cell": n, "case": s.case, "router": s.router, "startup": s.startup, "seed": s.seed}
            for n, s in enumerate(settings)
        ]
    )
    opened = tables.connections.filter(pl.col("class") == "honest")
    took = (
        tables.objects.filter(pl.col("flow") == "honest")
        .join(opened, on=["cell", "connection"], maintain_order="left")
        .with_columns((pl.col("completed_s") - pl.col("established_s")).alias("response_s"))
        .group_by("cell")
        .agg(
            pl.len().alias("downloads"),
            mean_of(pl.col("response_s")),
            pl.col("response_s").quantile(0.95, "linear").alias("response_p95_s"),
        )
    )
    decided = tables.quick_start.filter(
        pl.col("flow") == "honest", pl.col("link") == "first", pl.col("direction") == "forward"
    )
    approved = decided.group_by("cell").agg(
        mean_of(pl.col("approved_bps") == HIGH_BPS).alias("whole"),
        mean_of(pl.col("approved_bps") == 0).alias("refused"),
        mean_of(pl.col("approved_bps")).alias("approved_bps"),
    )
    dropped = (
        tables.links.filter(pl.col("measure") == "run", pl.col("direction") == "forward")
        .group_by("cell")
        .agg((pl.col("dropped_packets").sum() / pl.col("offered_packets").max()).alias("dropped"))
    )
    joined = labels
    for more in (took, approved, dropped):
        joined = joined.join(more, on="cell", how="left", maintain_order="left")
    return joined.drop("cell")


def part(plan: Plan, threads: int | None) -> Part:
    """Return the part that runs them."""
    return simulated(threads, "abuse", abuses(plan), outcomes)
