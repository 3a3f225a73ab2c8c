"""From the parts to the tables that predicates, figures and the page read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from ackclock.base.estimates import estimate
from ackclock.studies.framework.study import ByName
from ackclock_studies.laws.published import RESPONSE, htcp_gain
from ackclock_studies.laws.runs import LOW_PACKETS
from ackclock_studies.laws.scenarios import (
    BESIDE,
    PACKET_BYTES,
    PAYLOAD_BYTES,
    RESPONSE_RTT_MS,
    SLOWDOWN_S,
    Plan,
)

CAPACITY = PAYLOAD_BYTES / PACKET_BYTES
"""The part of a link's rate that can be goodput."""


class Results(ByName[Plan]):
    """The study's tables by name."""

    def value(self, table: str, column: str, law: str, **where: Any) -> float:
        """Return a law's value; NaN if there is none."""
        rows = self[table].filter(pl.col("law") == law)
        for name, wanted in where.items():
            here = pl.col(name)
            rows = rows.filter((here - wanted).abs() < 1e-9 if isinstance(wanted, float)
                               else here == wanted)  # fmt: skip
        return float("nan") if rows.is_empty() or rows[column][0] is None else rows[column][0]


def analyse(plan: Plan, found: Mapping[str, pl.DataFrame]) -> Results:
    """Return the tables for which there are parts."""
    tables: dict[str, pl.DataFrame] = {}
    windows = [frame for name, frame in found.items() if name.startswith("response-")]
    if windows:
        tables["response"] = _against_formulas(pl.concat(windows))
    losses = [frame for name, frame in found.items() if name.startswith("random-")]
    if losses:
        rows = pl.concat(losses).with_columns(_share_of_capacity().alias("share"))
        tables["random_seeds"] = rows
        tables["random"] = _over_seeds(rows, ["law", "loss"], ("share",))
    beside = [
        found[f"beside-{other}"].with_columns(pl.lit(other).alias("other"))
        for other in BESIDE
        if f"beside-{other}" in found
    ]
    if beside:
        both = pl.col("goodput_bps") + pl.col("other_bps")
        rows = pl.concat(beside).with_columns(
            (pl.col("goodput_bps") / both).alias("share"),
            (1 - pl.col("other_bps") / (0.5 * CAPACITY * pl.col("rate_bps"))).alias("harm"),
        )
        tables["sharing_seeds"] = rows
        tables["sharing"] = _over_seeds(
            rows, ["law", "other", "buffer_bdp"], ("share", "harm", "utilisation")
        )
    if "fairness" in found:
        rows = found["fairness"].with_columns(_jain().alias("jain"))
        tables["fairness_seeds"] = rows
        converged = rows.group_by("law", maintain_order=True).agg(
            pl.col("converged_s").count().cast(pl.Int64).alias("converged"),
        )
        # A run that did not converge counts as the whole time that it had.
        longest = float(plan.span(240) - 30)
        rows = rows.with_columns(pl.col("converged_s").fill_null(longest))
        tables["fairness"] = _over_seeds(
            rows, ["law"], ("jain", "converged_s", "utilisation")
        ).join(converged, on="law", how="left", maintain_order="left")
    if "rtt" in found:
        rows = found["rtt"].with_columns(
            (pl.col("goodput_bps") / pl.col("other_bps")).alias("ratio"), _jain().alias("jain")
        )
        tables["rtt_seeds"] = rows
        tables["rtt"] = _over_seeds(rows, ["law"], ("ratio", "jain", "utilisation"))
    if "delay" in found:
        packet_s = 8 * PACKET_BYTES / pl.col("rate_bps")
        tables["delay"] = found["delay"].with_columns(
            _share_of_capacity().alias("share"),
            (pl.col("queue_delay_mean_s") / packet_s).alias("backlog_packets"),
        )
    for name in ("hybla", "ramp", "slowdowns"):
        if name in found:
            tables[name] = found[name]
    if "growth" in found:
        tables["growth"] = _gains(found["growth"])
    return Results(plan, tables)


def _share_of_capacity() -> pl.Expr:
    return pl.col("goodput_bps") / (CAPACITY * pl.col("rate_bps"))


def _jain() -> pl.Expr:
    """Return Jain's index of two goodputs."""
    a, b = pl.col("goodput_bps"), pl.col("other_bps")
    return (a + b) ** 2 / (2 * (a**2 + b**2))


def _over_seeds(rows: pl.DataFrame, keys: list[str], columns: tuple[str, ...]) -> pl.DataFrame:
    """Return means over the seeds with half-widths of their 95 % intervals."""
    reduced = []
    for key, group in rows.group_by(keys, maintain_order=True):
        row: dict[str, Any] = dict(zip(keys, key, strict=True))
        for name in columns:
            over = estimate(group[name].to_list())
            row |= {name: over.mean, f"{name}_ci": over.ci}
        reduced.append(row | {"seeds": group.height})
    return pl.DataFrame(reduced)


def _against_formulas(rows: pl.DataFrame) -> pl.DataFrame:
    formulas = [
        RESPONSE[row["law"]][1](1 / row["period"]) if row["law"] in RESPONSE else None
        for row in rows.iter_rows(named=True)
    ]
    return rows.with_columns(
        (1 / pl.col("period")).alias("loss_rate"),
        pl.Series("formula_packets", formulas, dtype=pl.Float64),
    ).with_columns((pl.col("window_packets") / pl.col("formula_packets")).alias("ratio"))


def _gains(rows: pl.DataFrame) -> pl.DataFrame:
    """Return H-TCP's window since its loss, beside the paper's growth from 1 s on.

    The loss is where the window falls most.
    """
    rows = rows.sort("time_s")
    falls = rows.with_columns(pl.col("window_packets").diff().alias("step")).drop_nulls("step")
    cut_s = float(falls.sort("step")["time_s"][0])
    after = rows.filter(pl.col("time_s") >= cut_s).with_columns(
        (pl.col("time_s") - cut_s).alias("since_s")
    )
    one = after.filter(pl.col("since_s") >= 1.0)
    first = float(one["window_packets"][0])
    rtt_s = RESPONSE_RTT_MS / 1e3
    published = [
        first + htcp_gain(t, rtt_s) if t >= 1 else None for t in after["since_s"].to_list()
    ]
    return after.select("since_s", "window_packets").with_columns(
        (pl.col("window_packets") - first).alias("gain_packets"),
        pl.Series("published_packets", published, dtype=pl.Float64),
    )


def slowdown_starts(rows: pl.DataFrame) -> list[float]:
    """Return the moments at which the window falls to two packets, in seconds after the first.

    Only those of the first ``SLOWDOWN_S`` seconds after it count, the first one among them.
    """
    rows = rows.sort("time_s")
    low = rows.with_columns((pl.col("window_packets") < LOW_PACKETS).alias("low")).with_columns(
        pl.col("low").shift(1, fill_value=True).alias("before")
    )
    starts = low.filter(pl.col("low"), ~pl.col("before"))["time_s"].to_list()
    return [at - starts[0] for at in starts if at - starts[0] < SLOWDOWN_S]
