"""The simulations of the study, each part reduced to one tidy table."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.reduce import mean_of, sum_of
from ackclock.studies.framework.simulation import BrokenRunError, Tables, simulated
from ackclock_studies.aqm import scenarios
from ackclock_studies.aqm.scenarios import HIGH_BPS, LOW_BPS, RATE_BPS, Plan, Setting


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return everything that the study simulates, in the order in which it runs."""
    return [
        simulated(threads, "friendly", scenarios.friendly(plan), _flows),
        simulated(threads, "ellipse", scenarios.friendly(plan), _over_time),
        simulated(threads, "short", scenarios.short(plan), _shorts),
        simulated(threads, "unresponsive", scenarios.unresponsive(plan), _flows),
        simulated(threads, "rtt", scenarios.rtts(plan), _flows),
        simulated(threads, "levels", scenarios.levels(plan), _flows),
        simulated(threads, "capacity", scenarios.capacity(plan), _phases),
        simulated(threads, "scavenger", scenarios.scavenger(plan), _flows),
        simulated(threads, "mix", scenarios.mixes(plan), _mix),
    ]


def _described(settings: Sequence[Setting]) -> pl.DataFrame:
    """Return one row a run: what was varied."""
    return pl.DataFrame(
        [
            {"cell": cell, "queue": each.queue, "case": each.case, "seed": each.seed}
            for cell, each in enumerate(settings)
        ]
    )


def _cell() -> pl.Expr:
    return pl.col("cell").cast(pl.Int64)


def _flows(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return one row a run over the steady time: goodputs, and what the bottleneck saw.

    ``goodput_bps`` is of the first flow, ``others_bps`` of all others together.
    """
    steady = pl.col("measure") == "steady"
    first = pl.col("flow") == pl.col("first")
    names = pl.DataFrame(
        {
            "cell": list(range(len(settings))),
            "first": [each.members[0].name if each.members else "" for each in settings],
        }
    )
    goodputs = (
        tables.flows.filter(steady)
        .select(_cell(), "flow", "goodput_bps")
        .join(names, on="cell", how="left")
        .group_by("cell", maintain_order=True)
        .agg(
            sum_of(pl.col("goodput_bps").filter(first)),
            sum_of(pl.col("goodput_bps").filter(~first)).alias("others_bps"),
        )
    )
    link = tables.links.filter(
        steady, pl.col("link") == "bottleneck", pl.col("direction") == "forward"
    ).select(
        _cell(), "utilisation", "queue_delay_mean_s", "queue_delay_p99_s",
        (pl.col("dropped_packets") / pl.col("offered_packets")).alias("drop_share"),
    )  # fmt: skip
    found = (
        _described(settings)
        .join(goodputs, on="cell", how="left", maintain_order="left")
        .join(link, on="cell", how="left", maintain_order="left")
    )
    if found["utilisation"].null_count():
        msg = "a run has no complete result"
        raise BrokenRunError(msg)
    return found.drop("cell")


def _backlogs(tables: Tables) -> pl.DataFrame:
    """Return the samples of the bottleneck's queue, with the number of the run as an integer."""
    return tables.link_samples.select(_cell(), "time_s", "queue_bytes")


def _over_time(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return the mean delay of each second: RFC 7928 has it over ten round trips of 100 ms."""
    named = _described(settings)
    return (
        _backlogs(tables)
        .with_columns(pl.col("time_s").floor().cast(pl.Int64).alias("second"))
        .group_by("cell", "second", maintain_order=True)
        .agg((mean_of(pl.col("queue_bytes")) * 8 / RATE_BPS).alias("delay_s"))
        .join(named, on="cell", how="left", maintain_order="left")
        .filter(pl.col("seed") == 1, pl.col("second") >= settings[0].measure_from_s)
        .select("queue", "case", "second", "delay_s")
        .sort("case", "queue", "second")
    )


def _shorts(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return one row a run: the completion times of its short flows."""
    done = (
        tables.flows.filter(pl.col("measure") == "run", pl.col("flow").str.starts_with("short"))
        .select(_cell(), (pl.col("completed_s") - pl.col("established_s")).alias("took_s"))
        .group_by("cell", maintain_order=True)
        .agg(
            mean_of(pl.col("took_s")).alias("completion_mean_s"),
            pl.col("took_s").quantile(0.9, "linear").alias("completion_p90_s"),
            pl.col("took_s").null_count().cast(pl.Int64).alias("unfinished"),
        )
    )
    keys = ["queue", "case", "seed"]
    rows = _described(settings).join(done, on="cell", how="left", maintain_order="left")
    return _flows(tables, settings).join(
        rows.drop("cell"), on=keys, how="left", maintain_order="left"
    )


def _phases(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return the same with the delays in the queue while the rate is low.

    A backlog is turned into a delay by the rate of its moment.
    """
    rows = []
    samples = _backlogs(tables)
    for cell, setting in enumerate(settings):
        phase = (pl.col("time_s") / setting.every_s + 1e-9).floor().cast(pl.Int64)
        mine = samples.filter(
            pl.col("cell") == cell, pl.col("time_s") >= setting.measure_from_s
        ).with_columns(
            pl.when(phase % 2 == 1).then(LOW_BPS).otherwise(HIGH_BPS).alias("rate_bps"),
        )
        delays = (8 * mine["queue_bytes"] / mine["rate_bps"]).to_list()
        low = mine["rate_bps"] == LOW_BPS
        found = [delay for delay, is_low in zip(delays, low, strict=True) if is_low]
        found.sort()
        mean = sum(found) / len(found) if found else None
        rows.append(
            {
                "low_delay_mean_s": mean,
                "low_delay_p95_s": found[int(0.95 * (len(found) - 1))] if found else None,
            }
        )
    return pl.concat([_flows(tables, settings), pl.DataFrame(rows)], how="horizontal")


def _mix(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return one row a run: responses of the web, the voice's losses, the video's stalls."""
    objects = (
        tables.objects.filter(pl.col("flow") == "web")
        .select(_cell(), (pl.col("completed_s") - pl.col("requested_s")).alias("s"))
        .group_by("cell", maintain_order=True)
        .agg(
            mean_of(pl.col("s")).alias("response_mean_s"),
            pl.col("s").quantile(0.95, "linear").alias("response_p95_s"),
        )
    )
    voice = tables.sources.filter(
        pl.col("measure") == "steady", pl.col("source") == "voice"
    ).select(_cell(), (pl.col("dropped_packets") / pl.col("offered_packets")).alias("voice_lost"))
    videos = tables.videos.select(
        _cell(),
        pl.col("mean_rate_bps").alias("video_rate_bps"),
        pl.col("stall_s").alias("video_stall_s"),
    )
    named = _described(settings)
    found = (
        named.join(objects, on="cell", how="left", maintain_order="left")
        .join(videos, on="cell", how="left", maintain_order="left")
        .join(voice, on="cell", how="left", maintain_order="left")
        .drop("cell", "queue", "case", "seed")
    )
    return pl.concat([_flows(tables, settings), found], how="horizontal")
