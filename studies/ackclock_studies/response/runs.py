"""The simulations of the study, each part reduced to one tidy table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.reduce import mean_of
from ackclock.studies.framework.simulation import BrokenRunError, Tables, simulated
from ackclock_studies.response import scenarios
from ackclock_studies.response.published import formulas
from ackclock_studies.response.scenarios import (
    MSS_BYTES,
    RECEIVE_WINDOW_BYTES,
    Plan,
    Setting,
)

BINS = 12
"""Into how many stretches, each longer than the last by one factor, the way to the cycle is cut."""

FIRST_LOSSES = 5
"""How many losses go before the first of them: fewer make no mean."""

_QUEUE_SHARE = 0.01
"""Of the round-trip time, what may be waiting in the link's queue: a burst of one window."""


def measure(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return one row a run over the steady window: windows, rates, losses.

    A run is refused in which something other than the losses under study held the sender back.
    """
    steady = pl.col("measure") == "steady"
    flows = tables.flows.filter(steady).select(
        "cell",
        "duration_s",
        (pl.col("segments_sent") / pl.col("duration_s")).alias("sent_pps"),
        (pl.col("goodput_bps") / (8 * MSS_BYTES)).alias("goodput_pps"),
        "segments_sent",
        "congestion_events",
        "timeouts",
        pl.col("path_rtt_mean_s").alias("rtt_s"),
        "rto_mean_s",
    )
    windows = tables.flow_samples.group_by("cell").agg(
        mean_of(pl.col("cwnd_segments")).alias("window_packets"),
        pl.col("cwnd_segments").max().alias("largest_window_packets"),
    )
    way = tables.links.filter(steady, pl.col("direction") == "forward")
    back = tables.links.filter(steady, pl.col("direction") == "reverse")
    rows = (
        flows.join(windows, on="cell", maintain_order="left")
        .join(
            way.select(
                "cell",
                pl.col("lost_packets"),
                pl.col("dropped_packets").alias("dropped"),
                pl.col("queue_delay_mean_s").alias("waited_s"),
            ),
            on="cell",
        )
        .join(
            back.select("cell", (pl.col("lost_packets") + pl.col("dropped_packets")).alias("acks")),
            on="cell",
        )
        .sort("cell")
        .with_columns((pl.col("goodput_pps") * pl.col("rtt_s")).alias("window_by_goodput_packets"))
    )
    if rows.height != len(settings):
        msg = f"{rows.height} of {len(settings)} runs have a complete result"
        raise BrokenRunError(msg)
    for row, setting in zip(rows.iter_rows(named=True), settings, strict=True):
        _check(row, setting)
    return rows.drop("cell", "dropped", "acks", "waited_s", "largest_window_packets")


def _check(row: dict[str, Any], setting: Setting) -> None:
    reasons = {
        "the queue dropped packets": row["dropped"] > 0,
        "ACKs were lost": row["acks"] > 0,
        "packets waited in the queue": row["waited_s"] > _QUEUE_SHARE * setting.rtt_ms / 1e3,
        "the receive window was near": (
            2 * row["largest_window_packets"] * MSS_BYTES > RECEIVE_WINDOW_BYTES
        ),
        "the losses are not one in every so many": (
            setting.losses == "periodic"
            and abs(row["lost_packets"] - row["segments_sent"] / setting.period) > 1
        ),
    }
    for reason, given in reasons.items():
        if given:
            msg = f"{setting.variant}, {setting.rtt_ms} ms, one in {setting.period}: {reason}"
            raise BrokenRunError(msg)


def describe(settings: Sequence[Setting]) -> pl.DataFrame:
    """Return one row a run: what was varied."""
    return pl.DataFrame(
        [
            {
                "variant": setting.variant,
                "law": scenarios.law(setting.variant),
                "rtt_ms": setting.rtt_ms,
                "period": setting.period,
                "min_rto_ms": setting.min_rto_ms,
                "seed": setting.seed,
                "formula_packets": setting.window,
            }
            for setting in settings
        ]
    )


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return everything that the study simulates, in the order in which it runs."""
    windows = formulas()
    measured = [
        *(
            (f"periodic-{period}", scenarios.periodic(plan, period, windows))
            for period in plan.periods
        ),
        *(
            (f"random-{period}", scenarios.random(plan, period, windows))
            for period in plan.random_periods
        ),
    ]
    return [
        *(simulated(threads, name, settings, _measured) for name, settings in measured),
        simulated(threads, "traces", scenarios.traces(plan, windows), _traced),
        simulated(threads, "approach", scenarios.approaches(plan, windows), _approached),
    ]


def _measured(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    return pl.concat([describe(settings), measure(tables, settings)], how="horizontal")


def _labelled(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return the samples of every run beside what was varied, time from the first sample on."""
    measure(tables, settings)
    labels = describe(settings).with_columns(
        pl.Series("start", [setting.start for setting in settings]),
        pl.int_range(len(settings)).alias("cell"),
    )
    samples = tables.flow_samples.select(
        pl.col("cell").cast(pl.Int64),
        (pl.col("time_s") - pl.col("time_s").min().over("cell")).alias("time_s"),
        pl.col("cwnd_segments").alias("window_packets"),
    )
    return labels.join(samples, on="cell", how="inner", maintain_order="left_right")


def _traced(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    return _labelled(tables, settings).drop("cell", "start")


def _approached(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return the mean window over stretches of time; a loss is as long as by the formula."""
    whole = max(setting.measured for setting in settings)
    factor = math.log(whole / FIRST_LOSSES) / BINS
    times = pl.Series("loss_s", [setting.loss_s for setting in settings])
    labels = pl.DataFrame(times).with_row_index("cell").with_columns(pl.col("cell").cast(pl.Int64))
    return (
        _labelled(tables, settings)
        .join(labels, on="cell", how="left", maintain_order="left")
        .with_columns((pl.col("time_s") / pl.col("loss_s")).alias("losses"))
        .filter(pl.col("losses") >= FIRST_LOSSES)
        .with_columns(
            ((pl.col("losses") / FIRST_LOSSES).log() / factor).floor().cast(pl.Int64).alias("bin")
        )
        .filter(pl.col("bin") < BINS)
        .group_by("start", "bin", "formula_packets", maintain_order=True)
        .agg(mean_of(pl.col("window_packets")))
        .with_columns((FIRST_LOSSES * ((pl.col("bin") + 0.5) * factor).exp()).alias("losses"))
        .sort("start", "bin")
    )
