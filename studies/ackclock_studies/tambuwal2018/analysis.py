"""From the parts to the tables that predicates, figures and the page read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from ackclock.base.estimates import Estimate, estimate
from ackclock.studies.framework.study import ByName
from ackclock_studies.tambuwal2018.runs import LISTS, found_rate
from ackclock_studies.tambuwal2018.scenarios import LABELS, TSL, VARIANTS, Plan

RUN_COLUMNS = (
    "variant",
    "load",
    "seed",
    "conn_rate_per_s",
    "connections",
    "utilisation",
    "plr",
    "throughput_bps",
    "response_mean_s",
    "response_p50_s",
    "response_p90_s",
    "response_p99_s",
    "synack_lost_connections",
    "synack_lost_response_rtt_mean",
    "synack_lost_response_rtt_p50",
)
"""The first columns of ``data/runs.parquet``; what the predicates read follows them."""


class Results(ByName[Plan]):
    """The study's tables by name."""

    def by_seed(self, column: str, load: float, variant: str) -> dict[int, float]:
        """Return a column's value in the run of each seed."""
        rows = self["runs"].filter(
            (pl.col("load") - load).abs() < 1e-9, pl.col("variant") == variant
        )
        return {
            row["seed"]: math.nan if row[column] is None else float(row[column])
            for row in rows.select("seed", column).iter_rows(named=True)
        }

    def over_seeds(self, column: str, load: float, variant: str) -> Estimate:
        """Return the mean over the seeds, with its 95 % interval."""
        return estimate(list(self.by_seed(column, load, variant).values()))

    def mean(self, column: str, load: float, variant: str) -> float:
        """Return the mean over the seeds."""
        return self.over_seeds(column, load, variant).mean

    def difference(self, column: str, load: float, variant: str, other: str) -> Estimate:
        """Return the mean over the seeds of a variant's number less another's on the same draws."""
        mine, its = (self.by_seed(column, load, each) for each in (variant, other))
        return estimate([mine[seed] - its[seed] for seed in mine if seed in its])

    def mixed(self, column: str, share: float, protocol: str) -> float:
        """Return the mean over the seeds of a protocol's number in a mixed population."""
        rows = self["mixed"].filter((pl.col("share") - share).abs() < 1e-9)
        name = f"{column}_{protocol.lower()}"
        return estimate([math.nan if x is None else x for x in rows[name].to_list()]).mean


def analyse(
    plan: Plan,
    found: Mapping[str, pl.DataFrame],
    draws: Mapping[str, Any] | None,
) -> Results:
    """Return the tables for which there are parts."""
    tables: dict[str, pl.DataFrame] = {}
    searches = [frame for name, frame in found.items() if name.startswith("rate-")]
    if searches:
        tables["rates"] = pl.concat(
            [
                frame.select("load", "conn_rate_per_s", "seed", "utilisation", "connections")
                for frame in searches
            ]
        )
    runs = [frame for name, frame in found.items() if name.startswith("runs-")]
    if runs:
        standard = [
            frame.filter(pl.col("conn_rate_per_s") == found_rate(frame)) for frame in searches
        ]
        whole = pl.concat([*runs, *standard], how="diagonal_relaxed")
        rest = [name for name in whole.columns if name not in RUN_COLUMNS and name not in LISTS]
        tables["runs"] = whole.select(*RUN_COLUMNS, *rest).sort("load", "variant", "seed")
        tables["lost"] = _lost(whole)
        tables["seconds"] = _seconds(whole)
        tables["steps"] = steps(tables["lost"])
    mixed = [frame for name, frame in found.items() if name.startswith("mixed-")]
    if mixed:
        whole = pl.concat(mixed, how="diagonal_relaxed")
        tables["mixed"] = whole.select([name for name in whole.columns if name not in LISTS]).sort(
            "share", "seed"
        )
    for name in ("feedback", "middlebox", "rto", "ftp"):
        beside = [frame for part, frame in found.items() if part.startswith(f"{name}-")]
        if beside:
            whole = pl.concat(beside, how="diagonal_relaxed")
            tables[name] = whole.select([each for each in whole.columns if each not in LISTS])
    if draws is not None:
        tables |= marginals(draws)
    return Results(plan, tables)


def marginals(draws: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return the model's draws: their distances from the reference, curves, and round trips."""
    judged = [row for row in draws["quantities"] if row["distance"] is not None]
    curves = [
        {"quantity": row["quantity"], "unit": row["unit"], "p": p, "drawn": value,
         "reference": None if row["reference"] is None else row["reference"][n]}
        for row in draws["quantities"]
        for n, (p, value) in enumerate(zip(draws["probabilities"], row["drawn"], strict=True))
    ]  # fmt: skip
    rtt = next(row for row in draws["quantities"] if row["quantity"] == "rtt")
    middle = min(
        range(len(draws["probabilities"])), key=lambda n: abs(draws["probabilities"][n] - 0.5)
    )
    return {
        "marginals": pl.DataFrame(
            [{key: row[key] for key in ("quantity", "unit", "n", "distance", "critical")}
             for row in judged]
        ),
        "curves": pl.DataFrame(curves, schema_overrides={"reference": pl.Float64}),
        "rtt_shares": pl.DataFrame(
            {
                "below_50_ms": [draws["rtt_below_50_ms_share"]],
                "median_ms": [rtt["drawn"][middle]],
                "mean_ms": [rtt["mean"]],
            }
        ),
    }  # fmt: skip


def _lost(runs: pl.DataFrame) -> pl.DataFrame:
    """Return one row a connection that lost one SYN-ACK."""
    return (
        runs.select("variant", "load", "seed", "lost_bytes", "lost_rtts", "lost_base_rtt_s")
        .explode("lost_bytes", "lost_rtts", "lost_base_rtt_s")
        .rename({"lost_bytes": "bytes", "lost_rtts": "rtts", "lost_base_rtt_s": "base_rtt_s"})
        .filter(pl.col("rtts").is_not_null())
    )


def _seconds(runs: pl.DataFrame) -> pl.DataFrame:
    """Return one row a second: the share of packets that the bottleneck dropped in it."""
    return (
        runs.select("variant", "load", "seed", "seconds_plr")
        .with_columns(pl.int_ranges(pl.col("seconds_plr").list.len()).alias("second"))
        .explode("seconds_plr", "second")
        .rename({"seconds_plr": "plr"})
        .filter(pl.col("plr").is_not_null())
    )


def round_trips(segments: int, window: int) -> int:
    """Return how many round trips a response takes after the handshake in pure slow start.

    Counted with the handshake's own, from the second SYN-ACK on: a response that fits into the
    first window takes 2.
    """
    sent, trips = 0, 1
    while sent < segments:
        sent += window
        window *= 2
        trips += 1
    return trips


def steps(lost: pl.DataFrame) -> pl.DataFrame:
    """Return the tenth percentile of each step of the staircase at 40 %, by variant."""
    rows: list[dict[str, Any]] = []
    here = lost.filter((pl.col("load") - 0.4).abs() < 1e-9, pl.col("bytes").is_between(1, 50_000))
    for short, variant in TSL.items():
        window = int(short.partition(",")[0])
        mine = here.filter(pl.col("variant") == variant).with_columns(
            (pl.col("bytes") / 1460).ceil().cast(pl.Int64).alias("segments")
        )
        trips = {n: round_trips(n, window) for n in range(1, 36)}
        mine = mine.with_columns(pl.col("segments").replace_strict(trips).alias("step"))
        for (step,), group in mine.sort("step").group_by("step", maintain_order=True):
            rows.append(
                {
                    "short": short,
                    "step": int(step),  # type: ignore[call-overload]
                    "n": group.height,
                    "p10_rtts": group["rtts"].quantile(0.1, "linear"),
                    "p50_rtts": group["rtts"].quantile(0.5, "linear"),
                }
            )
    return pl.DataFrame(
        rows,
        schema={"short": pl.String, "step": pl.Int64, "n": pl.Int64, "p10_rtts": pl.Float64,
                "p50_rtts": pl.Float64},
    )  # fmt: skip


def labels() -> Mapping[str, str]:
    """Return the variants' names in figures."""
    return {variant: LABELS[variant] for variant in VARIANTS}
