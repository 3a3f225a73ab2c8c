"""The simulations of the study, each part reduced to one tidy table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.simulation import Tables, simulated
from ackclock_studies.watanabe2013 import scenarios_beyond
from ackclock_studies.watanabe2013.runs_measures import (
    describe,
    measure,
    measured,
    segmented,
    shared,
)
from ackclock_studies.watanabe2013.scenarios import (
    ALTERNATIVES,
    CASES,
    MODERN_ERA,
    Plan,
    Trial,
    buffers,
    other_trials,
    traces,
    trials,
)


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return everything that the study simulates, in the order in which it runs."""
    choices = {choice: list(other_trials(plan, choice)) for choice in (*ALTERNATIVES, MODERN_ERA)}
    return [
        *(simulated(threads, f"trials-{c.key}", trials(plan, c), measured) for c in CASES),
        simulated(threads, "traces", traces(plan), traced),
        simulated(threads, "buffers", buffers(plan), _buffered),
        *(
            simulated(threads, f"choice-{choice.key}", settings, measured)
            for choice, settings in choices.items()
        ),
        simulated(threads, "rates", scenarios_beyond.rates(plan), _swept),
        simulated(threads, "queues", scenarios_beyond.queues(plan), _swept),
        simulated(threads, "bundled", scenarios_beyond.bundled(plan), _bundled),
        simulated(threads, "halves", scenarios_beyond.halves(plan), measured),
        simulated(threads, "resized", scenarios_beyond.resized(plan), _resized),
        simulated(threads, "streams", scenarios_beyond.streams(plan), shared),
        simulated(threads, "rivals", scenarios_beyond.rivals(plan), shared),
        simulated(threads, "segmented", scenarios_beyond.segmented(plan), segmented),
    ]


def traced(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    """Return the windows over time, while the file is sent; runs without an end are refused."""
    measure(tables, settings)
    return windows(tables, settings)


def windows(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    """Return the windows over time, while the file is sent."""
    labels = describe(settings).select(pl.int_range(pl.len()).alias("cell"), "variant")
    sent = tables.objects.select(pl.col("cell").cast(pl.Int64), "completed_s")
    samples = tables.flow_samples.select(
        pl.col("cell").cast(pl.Int64), "time_s", pl.col("cwnd_segments").alias("window_packets")
    )
    rows = labels.join(samples, on="cell", how="inner", maintain_order="left_right")
    # While the file is sent.
    rows = rows.join(sent, on="cell", how="left", maintain_order="left")
    return rows.filter(pl.col("time_s") <= pl.col("completed_s")).drop("cell", "completed_s")


def _buffered(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    measure(tables, settings)
    labels = describe(settings).select(pl.int_range(pl.len()).alias("cell"), "scenario")
    samples = tables.flow_samples.select(pl.col("cell").cast(pl.Int64), "time_s", "playout_s")
    return labels.join(samples, on="cell", how="inner", maintain_order="left_right").drop("cell")


def _swept(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    varied = pl.DataFrame(
        [
            {
                "rate_bps": setting.case.rate_bps,
                "loss_rate": setting.case.loss,
                "buffer_products": setting.choice.buffer,
            }
            for setting in settings
        ]
    )
    return pl.concat([varied, measured(tables, settings)], how="horizontal")


def _bundled(tables: Tables, settings: Sequence[scenarios_beyond.Bundled]) -> pl.DataFrame:
    bundles = pl.DataFrame({"bundle_packets": [setting.bundle for setting in settings]})
    return pl.concat([bundles, measured(tables, settings)], how="horizontal")


def _resized(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    most = pl.DataFrame(
        {"most_bytes": [int(setting.resize.removesuffix(" MB")) * 10**6 for setting in settings]}
    )
    return pl.concat([most, measured(tables, settings)], how="horizontal")
