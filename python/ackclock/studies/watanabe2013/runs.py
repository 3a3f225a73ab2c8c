"""The simulations of the study, each part reduced to one tidy table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies._frame_core import BrokenRunError, Core, Tables, simulated
from ackclock.studies._frame_parts import Part
from ackclock.studies.watanabe2013.scenarios import (
    ALTERNATIVES,
    CASES,
    Plan,
    Trial,
    other_trials,
    traces,
    trials,
)

HEADER_BYTES = 40


def measure(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    """Return one row a trial: the paper's three numbers, and what stands behind them.

    A run is refused in which pictures or bytes were made or lost.
    """
    whole = pl.col("measure") == "run"
    flows = tables.flows.filter(whole).select(
        "cell",
        "delivered_bytes",
        "segments_sent",
        pl.col("segments_retransmitted").alias("retransmissions"),
        "timeouts",
        "srtt_mean_s",
        "completed_s",
    )
    way = (pl.col("link") == "bottleneck") & (pl.col("direction") == "forward")
    links = tables.links.filter(whole, way).select(
        "cell", (pl.col("dropped_packets") + pl.col("lost_packets")).alias("packets_lost")
    )
    videos = tables.videos.select(
        "cell",
        "pictures",
        "shown",
        "late",
        pl.col("discarded").alias("discards"),
        "underflows",
        "stall_s",
        "startup_s",
        "finished_s",
        "taken_bytes",
    )
    objects = tables.objects.select(
        "cell", "first_byte_s", pl.col("completed_s").alias("last_byte_s"), "bytes"
    )
    rows = (
        videos.join(flows, on="cell").join(links, on="cell").join(objects, on="cell").sort("cell")
    )
    if rows.height != len(settings):
        msg = f"{rows.height} of {len(settings)} runs have a complete result"
        raise BrokenRunError(msg)
    for row, setting in zip(rows.iter_rows(named=True), settings, strict=True):
        fates = row["shown"] + row["discards"]
        if row["finished_s"] is None or row["last_byte_s"] is None:
            who = f"{setting.case.key}, {setting.choice.key}, {setting.variant}"
            msg = f"{who}: the video did not end"
            raise BrokenRunError(msg)
        if fates != row["pictures"] or row["taken_bytes"] != row["bytes"]:
            who = f"{setting.case.key}, {setting.choice.key}, {setting.variant}"
            msg = f"{who}: pictures or bytes are not conserved"
            raise BrokenRunError(msg)
    span = pl.col("last_byte_s") - pl.col("first_byte_s")
    return rows.with_columns((8 * pl.col("bytes") / span).alias("goodput_bps")).drop(
        "cell", "taken_bytes", "first_byte_s", "last_byte_s", "bytes", "completed_s"
    )


def describe(settings: Sequence[Trial]) -> pl.DataFrame:
    """Return one row a trial: what was varied."""
    return pl.DataFrame(
        [
            {
                "scenario": setting.case.key,
                "variant": setting.variant,
                "choice": setting.choice.key,
                "trial": setting.seed,
            }
            for setting in settings
        ]
    )


def parts(core: Core, plan: Plan, threads: int | None) -> list[Part]:
    """Return everything that the study simulates, in the order in which it runs."""
    return [
        *(simulated(core, threads, f"trials-{c.key}", trials(plan, c), _measured) for c in CASES),
        simulated(core, threads, "traces", traces(plan), _traced),
        *(
            simulated(core, threads, f"choice-{c.key}", list(other_trials(plan, c)), _measured)
            for c in ALTERNATIVES
        ),
    ]


def _measured(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    return pl.concat([describe(settings), measure(tables, settings)], how="horizontal")


def _traced(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    measure(tables, settings)
    labels = describe(settings).select(pl.int_range(pl.len()).alias("cell"), "variant")
    sent = tables.objects.select(pl.col("cell").cast(pl.Int64), "completed_s")
    samples = tables.flow_samples.select(
        pl.col("cell").cast(pl.Int64), "time_s", pl.col("cwnd_segments").alias("window_packets")
    )
    rows = labels.join(samples, on="cell", how="inner", maintain_order="left_right")
    # While the file is sent.
    rows = rows.join(sent, on="cell", how="left", maintain_order="left")
    return rows.filter(pl.col("time_s") <= pl.col("completed_s")).drop("cell", "completed_s")
