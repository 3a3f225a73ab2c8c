"""The simulations of the study, each part reduced to one tidy table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.reduce import mean_of
from ackclock.studies.framework.simulation import Tables, simulated
from ackclock_studies.biswas2010 import scenarios
from ackclock_studies.biswas2010.scenarios import (
    MESSAGES,
    PACKET_BYTES,
    Plan,
    Setting,
    Video,
    cwv_rto,
)


def _settings(settings: Sequence[Setting]) -> pl.DataFrame:
    """Return one row a (run, variant): what was varied, and the flows' name.

    In a mixed run standard flows carry the timeout that their rivals count.
    """
    return pl.DataFrame(
        [
            {
                "cell": cell,
                "group": f"v{place}",
                "mix": setting.mix,
                "n": setting.n,
                "variant": variant,
                "rival": next((v for v in setting.variants if v != variant), None),
                "cwv_rto": next(filter(None, map(cwv_rto, (variant, *setting.variants))), None),
                "mode": setting.mode,
                "period_s": setting.period_s,
                "delay_s": setting.delay_s,
                "changed_bps": setting.changed_bps,
                "choice": setting.choice,
                "seed": setting.seed,
            }
            for cell, setting in enumerate(settings)
            for place, variant in enumerate(setting.variants)
        ],
        schema_overrides={"cwv_rto": pl.String, "rival": pl.String, "changed_bps": pl.Int64},
    )


def _group() -> pl.Expr:
    return pl.col("flow").cast(pl.String).str.split("-").list.first().alias("group")


def restart(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return a row a (run, variant): rate and drops from each flow's own restart on.

    The rate is that of the packets that reached the receiver, retransmissions in, as packets of
    1500 bytes, a flow's mean. Drops are over packets offered to the bottleneck in the same windows.
    """
    here = pl.col("measure") == "restart"
    flows = (
        tables.flows.filter(here)
        .group_by("cell", _group())
        .agg(
            mean_of(pl.col("arrived_packets") * (8 * PACKET_BYTES) / pl.col("duration_s")).alias(
                "rate_bps"
            ),
            mean_of(pl.col("timeouts")),
            pl.len().alias("flows"),
        )
    )
    crossed = tables.crossings.filter(here, pl.col("direction") == "forward")
    drops = crossed.group_by("cell", _group()).agg(
        pl.col("offered_packets").sum(), pl.col("dropped_packets").sum()
    )
    return (
        _settings(settings)
        .join(flows, on=["cell", "group"], how="left", maintain_order="left")
        .join(drops, on=["cell", "group"], how="left", maintain_order="left")
        .with_columns(
            pl.when(pl.col("mix") == "homo")
            .then(pl.col("dropped_packets") / pl.col("offered_packets"))
            .alias("drop_rate")
        )
        .drop("cell", "group")
    )


def delay(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return the delay of each message after the restart, from given to read, over the flows."""
    first = pl.DataFrame(
        {
            "cell": range(len(settings)),
            "from_s": [scenarios.INTERRUPT_S[0] + s.period_s for s in settings],
        }
    )
    messages = (
        tables.objects.join(first, on="cell", how="left", maintain_order="left")
        # A flow's first message after the silence; none was given since its beginning.
        .filter(pl.col("requested_s") >= pl.col("from_s") - 1e-9)
        .with_columns(
            (pl.col("object") - pl.col("object").min().over("cell", "flow")).alias("message"),
            (pl.col("completed_s") - pl.col("requested_s")).alias("delay_s"),
        )
        .filter(pl.col("message") < MESSAGES)
    )
    means = messages.group_by("cell", "message").agg(
        mean_of(pl.col("delay_s")).alias("message_delay_s"),
        pl.col("delay_s").null_count().alias("missing"),
    )
    return (
        _settings(settings)
        .drop("group")
        .join(means, on="cell", how="left", maintain_order="left")
        .drop("cell")
        .sort("changed_bps", "period_s", "variant", "seed", "message", nulls_last=True)
    )


def trace(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return the windows over time of each watched run's first flow."""
    samples = tables.flow_samples.with_columns(pl.col("flow").cast(pl.String))
    first = samples.filter(pl.col("flow").is_in(["v0", "v0-1"]))
    return (
        _settings(settings)
        .drop("group")
        .join(
            first.select("cell", "time_s", "cwnd_segments", "in_flight_segments"),
            on="cell",
            how="left",
            maintain_order="left_right",
        )
        .drop("cell")
    )


def video(tables: Tables, settings: Sequence[Video]) -> pl.DataFrame:
    """Return a row a segment of video: when it was given, and how long it took."""
    labels = pl.DataFrame(
        [
            {
                "cell": cell,
                "growth": setting.growth,
                "rule": setting.rule,
                "variant": setting.variant,
                "rtt_ms": setting.rtt_ms,
                "seed": setting.seed,
            }
            for cell, setting in enumerate(settings)
        ]
    )
    sent = (
        tables.flows.filter(pl.col("measure") == "run")
        .group_by("cell")
        .agg(
            (pl.col("segments_retransmitted").sum() / pl.col("segments_sent").sum()).alias("resent")
        )
    )
    segments = tables.objects.select(
        "cell",
        pl.col("flow").cast(pl.String),
        pl.col("object").alias("segment"),
        (pl.col("completed_s") - pl.col("requested_s")).alias("took_s"),
    )
    return (
        labels.join(segments, on="cell", how="left", maintain_order="left_right")
        .join(sent, on="cell", how="left", maintain_order="left")
        .drop("cell")
    )


Reduce = Callable[[Tables, Sequence[Any]], pl.DataFrame]


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return everything that the study simulates, in the order in which it runs."""

    def chunks(name: str, settings: list[Setting], reduce: Reduce = restart) -> list[Part]:
        by_period: dict[float, list[Setting]] = {}
        for setting in settings:
            by_period.setdefault(setting.period_s, []).append(setting)
        return [
            simulated(threads, f"{name}-{period_s:g}", these, reduce)
            for period_s, these in by_period.items()
        ]

    return [
        simulated(threads, "traces", scenarios.traces(plan), trace),
        *chunks("idle", scenarios.idle(plan)),
        *chunks("long", scenarios.long_path(plan)),
        *chunks("limited", scenarios.limited(plan)),
        *chunks("delay", scenarios.delays(plan), delay),
        simulated(threads, "choices", scenarios.choices(plan), restart),
        simulated(threads, "video", scenarios.videos(plan), video),
    ]
