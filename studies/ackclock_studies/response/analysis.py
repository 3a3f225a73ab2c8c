"""From the parts to the tables that predicates, figures and the page read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

import ackclock as ac
from ackclock.base.estimates import estimate
from ackclock.studies.framework.study import ByName
from ackclock_studies.response import model
from ackclock_studies.response.scenarios import Plan


class Results(ByName[Plan]):
    """The study's tables by name."""


def analyse(plan: Plan, found: Mapping[str, pl.DataFrame]) -> Results:
    """Return the tables for which there are parts."""
    tables: dict[str, pl.DataFrame] = {}
    periodic = [frame for name, frame in found.items() if name.startswith("periodic-")]
    if periodic:
        tables["periodic"] = _periodic(pl.concat(periodic))
    random = [frame for name, frame in found.items() if name.startswith("random-")]
    if random:
        tables["random_seeds"] = _against_models(pl.concat(random))
        tables["random"] = _over_seeds(tables["random_seeds"])
    for name in ("traces", "approach"):
        if name in found:
            tables[name] = found[name]
    return Results(plan, tables)


def _periodic(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.with_columns(
        (1 / pl.col("period")).alias("loss_rate"),
        (pl.col("window_packets") / pl.col("formula_packets")).alias("ratio"),
        (pl.col("window_by_goodput_packets") / pl.col("formula_packets")).alias("ratio_by_goodput"),
    ).sort("law", "rtt_ms", "period")


def _against_models(rows: pl.DataFrame) -> pl.DataFrame:
    """Return each run beside Padhye's model, fed with the run's own round trip and timeout."""
    answers = [
        ac.theory.response(
            loss_rate=1 / row["period"], rtt_s=row["rtt_s"], t_rto_s=row["rto_mean_s"]
        )
        for row in rows.iter_rows(named=True)
    ]
    share = rows["timeouts"] / rows["congestion_events"]
    with_share = [
        model.rate_pps(1 / row["period"], row["rtt_s"], row["rto_mean_s"], each)
        for row, each in zip(rows.iter_rows(named=True), share, strict=True)
    ]
    predicted = pl.Series("pftk_pps", [answer.pftk_pps for answer in answers])
    return rows.with_columns(
        (1 / pl.col("period")).alias("loss_rate"),
        predicted,
        share.alias("timeout_share"),
        (pl.col("sent_pps") / predicted).alias("ratio_pftk"),
        (pl.col("sent_pps") / pl.Series(with_share)).alias("ratio_pftk_share"),
        (pl.col("window_by_goodput_packets") / pl.col("formula_packets")).alias("ratio_law"),
    )


def _over_seeds(rows: pl.DataFrame) -> pl.DataFrame:
    keys = ["variant", "rtt_ms", "min_rto_ms", "period"]
    means = ("ratio_pftk", "ratio_pftk_share", "ratio_law", "sent_pps", "pftk_pps")
    reduced = []
    for key, group in rows.group_by(keys, maintain_order=True):
        row: dict[str, Any] = dict(zip(keys, key, strict=True))
        for name in means:
            over = estimate(group[name].to_numpy())
            row |= {name: over.mean, f"{name}_ci": over.ci}
        first = group.row(0, named=True)
        timeouts, events = (float(group[name].sum()) for name in ("timeouts", "congestion_events"))
        window = 1 + (8 * (first["period"] - 1) / 3 + 1) ** 0.5
        reduced.append(
            row
            | {
                "loss_rate": 1 / first["period"],
                "rtt_s": group["rtt_s"].mean(),
                "rto_mean_s": group["rto_mean_s"].mean(),
                "timeout_share": timeouts / events,
                "timeout_share_model": model.timeout_share(1 / first["period"], window),
                "seeds": group.height,
            }
        )
    return pl.DataFrame(reduced).sort(keys)
