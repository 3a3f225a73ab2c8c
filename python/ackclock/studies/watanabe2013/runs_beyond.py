"""The simulations beyond the paper, each part reduced to one tidy table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.simulation import Tables, simulated
from ackclock.studies.watanabe2013 import extras, measures
from ackclock.studies.watanabe2013.scenarios import Plan, Trial


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return what is run beyond the paper."""
    measured = measures.measured
    return [
        simulated(threads, "rates", extras.rates(plan), _swept),
        simulated(threads, "queues", extras.queues(plan), _swept),
        simulated(threads, "bundled", extras.bundled(plan), _bundled),
        simulated(threads, "halves", extras.halves(plan), measured),
        simulated(threads, "resized", extras.resized(plan), _resized),
        simulated(threads, "streams", extras.streams(plan), measures.shared),
        simulated(threads, "rivals", extras.rivals(plan), measures.shared),
        simulated(threads, "segmented", extras.segmented(plan), measures.segmented),
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
    return pl.concat([varied, measures.measured(tables, settings)], how="horizontal")


def _bundled(tables: Tables, settings: Sequence[extras.Bundled]) -> pl.DataFrame:
    bundles = pl.DataFrame({"bundle_packets": [setting.bundle for setting in settings]})
    return pl.concat([bundles, measures.measured(tables, settings)], how="horizontal")


def _resized(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    most = pl.DataFrame(
        {"most_bytes": [int(setting.resize.removesuffix(" MB")) * 10**6 for setting in settings]}
    )
    return pl.concat([most, measures.measured(tables, settings)], how="horizontal")
