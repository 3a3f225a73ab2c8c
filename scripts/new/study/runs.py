"""Simulations of the study, reduced to one table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.simulation import Tables, simulated
from ackclock_studies.probe.scenarios import Plan, Setting


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return everything that the study simulates, in the order in which it runs."""
    return [simulated(threads, "utilisation", plan.settings, measure)]


def measure(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return one row a run: what was varied, and the utilisation of the bottleneck."""
    varied = pl.DataFrame(
        {
            "cell": range(len(settings)),
            "buffer_bdp": [setting.buffer_bdp for setting in settings],
            "seed": [setting.seed for setting in settings],
        }
    )
    links = tables.links.filter(
        pl.col("measure") == "steady",
        pl.col("link") == "bottleneck",
        pl.col("direction") == "forward",
    )
    found = links.select(pl.col("cell").cast(pl.Int64), "utilisation")
    return varied.join(found, on="cell", maintain_order="left").drop("cell")
