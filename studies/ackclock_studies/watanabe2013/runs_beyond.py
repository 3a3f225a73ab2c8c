"""The simulations beyond the paper, each part reduced to one tidy table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.simulation import Tables, simulated
from ackclock_studies.watanabe2013 import runs_measures, scenarios_beyond
from ackclock_studies.watanabe2013.scenarios import Plan, Trial


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return what is run beyond the paper."""
    measured = runs_measures.measured
    return [
        simulated(threads, "rates", scenarios_beyond.rates(plan), _swept),
        simulated(threads, "queues", scenarios_beyond.queues(plan), _swept),
        simulated(threads, "bundled", scenarios_beyond.bundled(plan), _bundled),
        simulated(threads, "halves", scenarios_beyond.halves(plan), measured),
        simulated(threads, "resized", scenarios_beyond.resized(plan), _resized),
        simulated(threads, "streams", scenarios_beyond.streams(plan), runs_measures.shared),
        simulated(threads, "rivals", scenarios_beyond.rivals(plan), runs_measures.shared),
        simulated(threads, "segmented", scenarios_beyond.segmented(plan), runs_measures.segmented),
    ]


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
    return pl.concat([varied, runs_measures.measured(tables, settings)], how="horizontal")


def _bundled(tables: Tables, settings: Sequence[scenarios_beyond.Bundled]) -> pl.DataFrame:
    bundles = pl.DataFrame({"bundle_packets": [setting.bundle for setting in settings]})
    return pl.concat([bundles, runs_measures.measured(tables, settings)], how="horizontal")


def _resized(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    most = pl.DataFrame(
        {"most_bytes": [int(setting.resize.removesuffix(" MB")) * 10**6 for setting in settings]}
    )
    return pl.concat([most, runs_measures.measured(tables, settings)], how="horizontal")
