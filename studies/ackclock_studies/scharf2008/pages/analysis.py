"""From the runs of users to the means of Table I."""

from __future__ import annotations

from typing import Any

import polars as pl

from ackclock.base.estimates import estimate


def summary(pages: pl.DataFrame) -> pl.DataFrame:
    """Return for each reading, model and version of HTTP the mean page times over the seeds.

    ``speedup`` is the mean over seeds of slow start's page time over Quick-Start's, on the same
    pages; ``saved_s`` their difference; ``_ci``: half the width of the 95 % interval.
    """
    keys = ["reading", "model", "http"]
    slow = pl.col("page_s").filter(pl.col("startup") == "slow-start")
    quick = pl.col("page_s").filter(pl.col("startup") == "quick-start")
    found = []
    for (reading, model, http), here in pages.group_by(keys, maintain_order=True):
        seeds = here.group_by("seed", maintain_order=True).agg(
            slow.first().alias("slow"), quick.first().alias("quick")
        )
        values = {
            "slow_s": seeds["slow"],
            "quick_s": seeds["quick"],
            "speedup": seeds["slow"] / seeds["quick"],
            "saved_s": seeds["slow"] - seeds["quick"],
        }
        row: dict[str, Any] = {"reading": reading, "model": model, "http": http}
        for name, column in values.items():
            over = estimate(column.to_numpy())
            row |= {name: over.mean, f"{name}_ci": over.ci}
        asked = here.filter(pl.col("startup") == "quick-start")
        for name in ("pages", "asked", "approved"):
            row[name] = int(asked[name].sum())
        for name in ("objects_per_page", "bytes_per_object", "connections_per_page"):
            mean: Any = asked[name].mean()
            row[name] = float(mean)
        found.append(row)
    return pl.DataFrame(found)
