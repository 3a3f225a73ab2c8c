"""Runs of other ways to begin."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.reduce import mean_of, sum_of
from ackclock.studies.framework.simulation import BrokenRunError, Tables, simulated
from ackclock_studies.scharf2008.beyond.scenarios import (
    PACKET_BITS,
    Alone,
    Begin,
    Beside,
    Users,
    alone,
    begins,
    beside,
    growth,
    users,
)
from ackclock_studies.scharf2008.scenarios import Plan


def responses(tables: Tables, settings: Sequence[Alone]) -> pl.DataFrame:
    """Return a row a transfer, with the columns of the table of response times."""
    opened = tables.connections.select("cell", "established_s")
    rows = opened.join(tables.objects.select("cell", "completed_s"), on="cell").sort("cell")
    if rows.height != len(settings) or rows["completed_s"].null_count():
        msg = f"{rows.drop_nulls().height} of {len(settings)} transfers ended"
        raise BrokenRunError(msg)
    return pl.DataFrame(
        [
            {
                "rtt_s": s.rtt_s,
                "size_bytes": s.size_bytes,
                "growth": growth(s.startup),
                "buffer": s.buffer,
                "startup": s.startup,
                "ssthresh_rule": "unchanged",
                "seed": 1,
                "response_s": row["completed_s"] - row["established_s"],
            }
            for s, row in zip(settings, rows.iter_rows(named=True), strict=True)
        ]
    )


def rates(tables: Tables, settings: Sequence[Begin]) -> pl.DataFrame:
    """Return the rate at which packets reach the client, averaged over each round trip."""
    labels = pl.DataFrame(
        [{"cell": n, "rtt_s": s.rtt_s, "startup": s.startup} for n, s in enumerate(settings)]
    )
    opened = tables.connections.select("cell", "established_s")
    samples = tables.link_samples.filter(pl.col("direction") == "forward").sort("cell", "time_s")
    arrived = pl.col("delivered_flow_packets").diff().over("cell") * PACKET_BITS
    span = pl.col("time_s").diff().over("cell")
    since = (pl.col("time_s") - pl.col("established_s")).alias("since_request_s")
    return (
        labels.join(samples, on="cell", how="left", maintain_order="left_right")
        .join(opened, on="cell", maintain_order="left")
        .with_columns((arrived / span).alias("rate_bps"), since)
        .filter(pl.col("since_request_s") > 0)
        .select("rtt_s", "startup", "since_request_s", "rate_bps")
    )


def suffered(tables: Tables, settings: Sequence[Beside]) -> pl.DataFrame:
    """Return a row a run: the download's response, and what the others had in the watched time.

    A download that does not end in time has no response.
    """
    opened = tables.connections.group_by("cell").agg(pl.col("established_s").first())
    done = tables.objects.filter(pl.col("flow") == "web").select("cell", "completed_s")
    others = (
        tables.flows.filter(pl.col("measure") == "beside", pl.col("flow") != "web")
        .group_by("cell")
        .agg(
            sum_of(pl.col("goodput_bps")).alias("flows_goodput_bps"),
            pl.col("segments_retransmitted").sum().alias("flows_again"),
            pl.col("timeouts").sum().alias("flows_timeouts"),
        )
    )
    cross = tables.sources.filter(pl.col("measure") == "beside").select(
        "cell",
        pl.col("offered_packets").alias("cross_offered"),
        pl.col("dropped_packets").alias("cross_dropped"),
    )
    labels = pl.DataFrame(
        [
            {
                "cell": n,
                "others": s.others,
                "startup": s.startup,
                "size_bytes": None if s.startup == "none" else s.size_bytes,
                "seed": s.seed,
            }
            for n, s in enumerate(settings)
        ]
    )
    found = labels
    for table in (opened, done, others, cross):
        found = found.join(table, on="cell", how="left", maintain_order="left")
    return found.with_columns(
        (pl.col("completed_s") - pl.col("established_s")).alias("response_s")
    ).drop("cell", "completed_s", "established_s")


def page_times(tables: Tables, settings: Sequence[Users]) -> pl.DataFrame:
    """Return a row a run: the mean time of a page that was there by the end."""
    took = pl.col("completed_s") - pl.col("requested_s")
    seen = (
        tables.pages.filter(pl.col("completed_s").is_not_null())
        .group_by("cell")
        .agg(pl.len().alias("pages"), mean_of(took).alias("page_s"))
    )
    labels = pl.DataFrame(
        [
            {"cell": n, "model": s.model, "http": s.http, "startup": s.startup, "seed": s.seed}
            for n, s in enumerate(settings)
        ]
    )
    return labels.join(seen, on="cell", how="left", maintain_order="left").drop("cell")


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return what is simulated."""
    return [
        simulated(threads, "beyond", alone(plan), responses),
        simulated(threads, "begins", begins(), rates),
        simulated(threads, "beside", beside(plan), suffered),
        simulated(threads, "users", users(plan), page_times),
    ]
