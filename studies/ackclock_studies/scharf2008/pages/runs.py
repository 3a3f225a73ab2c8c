"""Runs of the users of a web browser (Table I)."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies.framework.parts import Advance, Part
from ackclock.studies.framework.reduce import mean_of
from ackclock.studies.framework.simulation import Tables, as_inputs, simulate
from ackclock_studies.scharf2008.pages.scenarios import Hour, hours
from ackclock_studies.scharf2008.scenarios import (
    Plan,
)

_BATCH = 40


def page_times(tables: Tables, settings: Sequence[Hour]) -> pl.DataFrame:
    """Return a row a run: the page times of its four users."""
    labels = pl.DataFrame(
        [
            {
                "cell": cell,
                "reading": s.reading.name,
                "model": s.model,
                "http": s.http,
                "startup": s.startup,
                "seed": s.seed,
            }
            for cell, s in enumerate(settings)
        ]
    )
    took = pl.col("completed_s") - pl.col("requested_s")
    seen = (
        tables.pages.filter(pl.col("completed_s").is_not_null())
        .group_by("cell")
        .agg(
            pl.len().alias("pages"),
            mean_of(pl.col("objects")).alias("objects_per_page"),
            (pl.col("bytes").sum() / pl.col("objects").sum()).alias("bytes_per_object"),
            mean_of(pl.col("connections_opened")).alias("connections_per_page"),
            mean_of(took).alias("page_s"),
            took.median().alias("page_median_s"),
            took.quantile(0.9, "linear").alias("page_p90_s"),
        )
    )
    steps = tables.quick_start.filter(pl.col("link").is_null())
    counts = [
        (pl.col("step") == step).sum().alias(name)
        for step, name in (("asked", "asked"), ("approved", "approved"))
    ]
    requests = steps.group_by("cell").agg(*counts)
    joined = labels.join(seen, on="cell", how="left", maintain_order="left").join(
        requests, on="cell", how="left", maintain_order="left"
    )
    return joined.with_columns(pl.col("asked", "approved").fill_null(0)).drop("cell")


def part(plan: Plan, threads: int | None) -> Part:
    """Return the part that runs the users."""
    settings = hours(plan)

    def compute(advance: Advance) -> pl.DataFrame:
        # In batches: a run leaves some ten thousand objects, of which only the pages are wanted.
        found = []
        for first in range(0, len(settings), _BATCH):
            batch = settings[first : first + _BATCH]
            texts = [hour.scenario() for hour in batch]
            tables = simulate(texts, threads, lambda done, first=first: advance(first + done))
            found.append(page_times(tables, batch))
        return pl.concat(found)

    return Part("pages", as_inputs([hour.scenario() for hour in settings]), len(settings), compute)
