"""From the parts to the tables that predicates, figures and the page read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from ackclock.base.estimates import Estimate, estimate
from ackclock.studies.framework.reduce import mean_of
from ackclock.studies.framework.study import ByName
from ackclock_studies.biswas2010.scenarios import Plan

GROUP = ("mix", "mode", "n", "variant", "rival", "cwv_rto", "period_s", "delay_s", "choice")


class Results(ByName[Plan]):
    """The study's tables by name."""


def analyse(plan: Plan, found: Mapping[str, pl.DataFrame]) -> Results:
    """Return the tables for which there are parts."""
    tables: dict[str, pl.DataFrame] = {}

    def joined(name: str) -> pl.DataFrame | None:
        frames = [frame for part, frame in found.items() if part.partition("-")[0] == name]
        return pl.concat(frames) if frames else None

    silent = [frame for name in ("idle", "long") if (frame := joined(name)) is not None]
    if silent:
        rows = pl.concat(silent)
        tables["idle"] = rows.rename({"period_s": "idle_s"}).drop("mode", "choice", "changed_bps")
        tables["idle_means"] = over_seeds(rows)
    slow = joined("limited")
    if slow is not None:
        tables["applimited"] = slow.drop("mode", "choice", "changed_bps")
        tables["applimited_means"] = over_seeds(slow)
    choices = joined("choices")
    if choices is not None:
        tables["choices"] = choices
        tables["choices_means"] = over_seeds(choices)
    delays = joined("delay")
    if delays is not None:
        tables["delay"] = delays.rename({"period_s": "idle_s"}).drop(
            "mode", "choice", "rival", "mix"
        )
        tables["delay_means"] = _delays(tables["delay"])
    for name in ("traces", "video"):
        rows = joined(name)
        if rows is not None:
            tables[name] = rows
    if "video" in tables:
        tables["video_means"] = _videos(tables["video"])
    return Results(plan, tables)


def over_seeds(rows: pl.DataFrame) -> pl.DataFrame:
    """Return means over seeds with the half-widths of their 95 % intervals."""
    reduced: list[dict[str, Any]] = []
    for key, group in rows.group_by(GROUP, maintain_order=True):
        rate = estimate(group["rate_bps"].to_numpy())
        drops = estimate(group["drop_rate"].cast(pl.Float64).drop_nulls().to_numpy())
        reduced.append(
            dict(zip(GROUP, key, strict=True))
            | {
                "rate_bps": rate.mean,
                "rate_bps_ci": rate.ci,
                "drop_rate": drops.mean if drops.n else None,
                "drop_rate_ci": drops.ci,
                "timeouts": group["timeouts"].mean(),
                "seeds": group.height,
            }
        )
    types: dict[str, type[pl.DataType]] = dict.fromkeys(("rival", "cwv_rto"), pl.String)
    types |= dict.fromkeys(("rate_bps_ci", "drop_rate", "drop_rate_ci"), pl.Float64)
    return pl.DataFrame(reduced, schema_overrides=types, infer_schema_length=None)


def difference(
    rows: pl.DataFrame, column: str, one: pl.Expr, other: pl.Expr, *, paired: bool
) -> Estimate:
    """Return the mean of one variant less the other's, with its 95 % interval over seeds.

    ``paired``: the two are of one run, so that the difference of each seed counts. Otherwise they
    are of runs that share nothing but the seed's number, and the variances add (Welch).
    """
    first = rows.filter(one).sort("seed")[column].to_numpy()
    second = rows.filter(other).sort("seed")[column].to_numpy()
    if paired:
        return estimate(first - second)
    left, right = estimate(first), estimate(second)
    if left.ci is None or right.ci is None:
        return Estimate(left.mean - right.mean, None, min(left.n, right.n))
    # Both have the same number of seeds: the quantile is on the safe side of Welch's.
    return Estimate(left.mean - right.mean, float(np.hypot(left.ci, right.ci)), left.n)


FIRST = 50
"""Messages after the restart over which delays are compared: 1.1 s, 5.6 round trips."""


def _delays(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the mean delay of the first messages after the restart, over seeds."""
    keys = ["changed_bps", "variant", "cwv_rto", "idle_s"]
    each = (
        rows.filter(pl.col("message") < FIRST)
        .group_by(*keys, "seed", maintain_order=True)
        .agg(mean_of(pl.col("message_delay_s")), pl.col("missing").sum())
    )
    reduced: list[dict[str, Any]] = []
    for key, group in each.group_by(keys, maintain_order=True):
        mean = estimate(group["message_delay_s"].to_numpy())
        reduced.append(
            dict(zip(keys, key, strict=True))
            | {"first_delay_s": mean.mean, "first_delay_s_ci": mean.ci, "seeds": mean.n}
        )
    return pl.DataFrame(
        reduced,
        schema_overrides={"cwv_rto": pl.String, "changed_bps": pl.Int64},
        infer_schema_length=None,
    )


def _videos(rows: pl.DataFrame) -> pl.DataFrame:
    """Return what segments took after the first of each flow, over seeds."""
    keys = ["growth", "rule", "variant", "rtt_ms"]
    each = (
        rows.filter(pl.col("segment") > 0)
        .group_by(*keys, "seed", maintain_order=True)
        .agg(
            mean_of(pl.col("took_s")),
            pl.col("took_s").quantile(0.95).alias("took_p95_s"),
            pl.col("resent").first(),
        )
    )
    reduced: list[dict[str, Any]] = []
    for key, group in each.group_by(keys, maintain_order=True):
        row: dict[str, Any] = dict(zip(keys, key, strict=True))
        for name in ("took_s", "took_p95_s", "resent"):
            mean = estimate(group[name].to_numpy())
            row |= {name: mean.mean, f"{name}_ci": mean.ci}
        reduced.append(row)
    return pl.DataFrame(reduced, infer_schema_length=None)
