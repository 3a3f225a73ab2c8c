"""From the parts to the tables under ``data/``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from ackclock.studies.framework.reduce import mean_of
from ackclock_studies.scharf2008.scenarios import LINK_BPS, Plan

RESPONSE = ("rtt_s", "size_bytes", "growth", "buffer", "startup", "ssthresh_rule", "seed",
            "response_s")  # fmt: skip
FULL = 0.95
"""A rate that is the link's: this share of it."""


@dataclass(frozen=True)
class Results:
    """The study's tables, by name."""

    plan: Plan
    tables: dict[str, pl.DataFrame]

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Return a table."""
        return self.tables[name]

    def speedup(self, rtt_s: float, size: int, growth: str, buffer: str, rule: str) -> float:
        """Return the response time with slow start over the one with Quick-Start."""
        rows = self["speedup"].filter(
            pl.col("rtt_s") == rtt_s,
            pl.col("size_bytes") == size,
            pl.col("growth") == growth,
            pl.col("buffer") == buffer,
            pl.col("startup") == "quick-start",
            pl.col("ssthresh_rule") == rule,
        )
        return float(rows["speedup"][0]) if rows.height else float("nan")

    def full_s(self, rtt_s: float, growth: str, asked_bps: int, rule: str) -> float:
        """Return when a download first has the link's rate, from its request; NaN if it has not."""
        rows = self["full"].filter(
            pl.col("rtt_s") == rtt_s,
            pl.col("growth") == growth,
            pl.col("asked_bps") == asked_bps,
            pl.col("ssthresh_rule") == rule,
        )
        value = rows["full_s"][0] if rows.height else None
        return float("nan") if value is None else float(value)

    def granted_mbps(self, figure: str, growth: str, link: str) -> list[float]:
        """Return what a router approved, request by request, in Mbit/s."""
        rows = self["routers"].filter(
            pl.col("figure") == figure,
            pl.col("growth") == growth,
            pl.col("what") == "step",
            pl.col("link") == link,
        )
        return [value / 1e6 for value in rows.sort("time_s")["approved_bps"]]


def speedups(response: pl.DataFrame) -> pl.DataFrame:
    """Return for each way to begin the response time of slow start over its own."""
    keys = ["rtt_s", "size_bytes", "growth", "buffer", "seed"]
    slow = response.filter(pl.col("startup") == "slow-start").select(
        *keys, pl.col("response_s").alias("slow_s")
    )
    joined = response.join(slow, on=keys, maintain_order="left")
    return joined.with_columns((pl.col("slow_s") / pl.col("response_s")).alias("speedup"))


def full(traces: pl.DataFrame) -> pl.DataFrame:
    """Return for each trace when it first has the link's rate, and what came in the first 4 s."""
    keys = ["rtt_s", "growth", "asked_bps", "ssthresh_rule"]
    there = pl.col("rate_bps") >= FULL * LINK_BPS
    first = pl.col("since_request_s").filter(there).min().alias("full_s")
    early = pl.col("since_request_s") <= 4.0
    mean = mean_of(pl.col("rate_bps").filter(early)).alias("early_bps")
    second = pl.col("rate_bps").sort_by("since_request_s").slice(1, 2).max().alias("at_once_bps")
    return traces.group_by(keys, maintain_order=True).agg(first, mean, second)


def concluded(attacks: pl.DataFrame) -> pl.DataFrame:
    """Return for each attack how often the sender concluded what."""
    return (
        attacks.group_by("who", "steps", "concluded", maintain_order=True)
        .agg(pl.len().alias("runs"))
        .with_columns((pl.col("runs") / pl.col("runs").sum().over("who", "steps")).alias("share"))
    )


def analyse(plan: Plan, parts: Mapping[str, pl.DataFrame]) -> Results:
    """Return the study's tables; of a single figure, those that its parts make."""
    tables = dict(parts)
    if "response" in parts:
        tables["response"] = parts["response"].select(RESPONSE)
        tables["speedup"] = speedups(tables["response"])
    if "traces" in parts:
        tables["full"] = full(parts["traces"])
    if "attacks" in parts:
        tables["attacks"] = concluded(parts["attacks"])
    return Results(plan, tables)
