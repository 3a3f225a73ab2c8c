"""From the tables of a run to one row a trial, and what stops the study."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies.framework.simulation import BrokenRunError, Tables
from ackclock_studies.watanabe2013.scenarios import Trial
from ackclock_studies.watanabe2013.scenarios_beyond import Segmented, Shared


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
        "start_bytes",
        "buffer_bytes",
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
        # VLC throws some away that it counts nowhere.
        thrown = row["pictures"] - fates if setting.choice.player == "vlc" else 0
        if fates + thrown != row["pictures"] or thrown < 0 or row["taken_bytes"] != row["bytes"]:
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


def measured(tables: Tables, settings: Sequence[Trial]) -> pl.DataFrame:
    """Return one row a trial: what was varied, and what came of it."""
    return pl.concat([describe(settings), measure(tables, settings)], how="horizontal")


def shared(tables: Tables, settings: Sequence[Shared]) -> pl.DataFrame:
    """Return one row a video of those that share a path."""
    flows = tables.flows.filter(pl.col("measure") == "run").select(
        "cell", "flow", pl.col("segments_retransmitted").alias("retransmissions")
    )
    objects = tables.objects.select("cell", "flow", "bytes")
    videos = tables.videos.rename({"discarded": "discards"})
    rows = (
        videos.with_columns(pl.col("cell").cast(pl.Int64))
        .join(flows, on=["cell", "flow"])
        .join(objects, on=["cell", "flow"], maintain_order="left")
        .sort("cell", "flow")
    )
    broken = rows.filter(
        pl.col("finished_s").is_null()
        | (pl.col("shown") + pl.col("discards") != pl.col("pictures"))
        | (pl.col("taken_bytes") != pl.col("bytes"))
    )
    if broken.height or rows.height != sum(len(setting.variants) for setting in settings):
        msg = f"{broken.height} of {rows.height} videos did not end, or are not conserved"
        raise BrokenRunError(msg)
    labels = pl.DataFrame(
        [
            {
                "cell": cell,
                "flow": f"video-{n}",
                "first": setting.variants[0],
                "variant": variant,
                "videos": len(setting.variants),
                "trial": setting.seed,
            }
            for cell, setting in enumerate(settings)
            for n, variant in enumerate(setting.variants)
        ]
    )
    wanted = ("discards", "underflows", "retransmissions", "stall_s", "startup_s")
    return (
        labels.join(rows, on=["cell", "flow"], how="inner", maintain_order="left")
        .select("first", "variant", "videos", "trial", "flow", *wanted)
    )  # fmt: skip


def segmented(tables: Tables, settings: Sequence[Segmented]) -> pl.DataFrame:
    """Return one row a video in segments."""
    flows = tables.flows.filter(pl.col("measure") == "run").select(
        "cell", pl.col("segments_retransmitted").alias("retransmissions")
    )
    sent = tables.objects.group_by("cell").agg(pl.col("bytes").sum())
    rows = tables.videos.join(flows, on="cell").join(sent, on="cell").sort("cell")
    broken = rows.filter(
        pl.col("finished_s").is_null()
        | (pl.col("shown") != pl.col("pictures"))
        | (pl.col("taken_bytes") != pl.col("bytes"))
    )
    if broken.height or rows.height != len(settings):
        msg = f"{broken.height} of {rows.height} videos in segments did not end as they should"
        raise BrokenRunError(msg)
    labels = pl.DataFrame(
        [
            {
                "scenario": setting.case.key,
                "variant": setting.variant,
                "adapt": setting.adapt,
                "trial": setting.seed,
            }
            for setting in settings
        ]
    )
    wanted = ("mean_rate_bps", "switches", "underflows", "stall_s", "startup_s", "retransmissions")
    return pl.concat([labels, rows.select(*wanted)], how="horizontal")
