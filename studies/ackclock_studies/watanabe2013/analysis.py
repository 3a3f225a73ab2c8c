"""From the parts to the tables under ``data/``: means over trials, differences, traces."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl

from ackclock.base.estimates import Estimate, estimate
from ackclock.studies.framework.reduce import mean_of, sum_of
from ackclock.studies.framework.study import ByName
from ackclock_studies.watanabe2013.scenarios import DEFAULT, Plan

METRICS = ("discards", "underflows", "retransmissions", "packets_lost", "stall_s", "startup_s")


class Results(ByName[Plan]):
    """The study's tables by name."""

    def values(
        self, case: str, variant: str, metric: str, choice: str = DEFAULT.key
    ) -> list[float]:
        """Return a metric of every trial of a variant in a case."""
        return [float(row[metric]) for row in self._details[case, variant, choice]]

    @cached_property
    def _details(self) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
        """The trials by case, variant and choice; those of an unknown one are none."""
        found: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
        for row in self["details"].iter_rows(named=True):
            found[row["scenario"], row["variant"], row["choice"]].append(row)
        return found

    def _estimate(self, case: str, variant: str, metric: str, choice: str) -> Estimate:
        """Return the mean over the trials and its interval, which many predicates ask for."""
        known = self._estimates.get((case, variant, metric, choice))
        if known is None:
            known = estimate(self.values(case, variant, metric, choice))
            self._estimates[case, variant, metric, choice] = known
        return known

    @cached_property
    def _estimates(self) -> dict[tuple[str, str, str, str], Estimate]:
        return {}

    def mean(self, case: str, variant: str, metric: str, choice: str = DEFAULT.key) -> float:
        """Return a metric's mean over the trials of a variant in a case."""
        return self._estimate(case, variant, metric, choice).mean

    def excess(
        self, case: str, variant: str, other: str, metric: str, choice: str = DEFAULT.key
    ) -> float:
        """Return by how much a variant's mean is certainly larger than another's.

        The difference of the means less the half-width of its 95 % interval, where it is positive;
        zero if the interval holds zero; negative if it is certainly smaller.
        """
        mine = self._estimate(case, variant, metric, choice)
        its = self._estimate(case, other, metric, choice)
        difference = mine.mean - its.mean
        width = math.hypot(mine.ci or 0.0, its.ci or 0.0)
        return math.copysign(max(abs(difference) - width, 0.0), difference)


COLUMNS = (
    *("scenario", "variant", "trial", "discards", "underflows", "retransmissions"),
    *("stall_s", "startup_s", "goodput_bps"),
)
"""Those of ``trials``; ``details`` has the other choices and what else a trial left."""

MEANS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "rates": (("loss_rate", "rate_bps", "variant"), (*METRICS, "goodput_bps")),
    "queues": (("scenario", "buffer_products", "variant"), (*METRICS, "goodput_bps")),
    "bundled": (("scenario", "bundle_packets", "variant"), (*METRICS, "goodput_bps")),
    "halves": (("scenario", "variant"), (*METRICS, "goodput_bps")),
    "resized": (("scenario", "most_bytes", "variant"), (*METRICS, "buffer_bytes")),
    "segmented": (
        ("scenario", "variant", "adapt"),
        ("mean_rate_bps", "switches", "underflows", "stall_s", "startup_s", "retransmissions"),
    ),
}
"""Parts of which means are taken over the trials: what says which, and of what."""


def analyse(plan: Plan, found: Mapping[str, pl.DataFrame], *, summary: bool = True) -> Results:
    """Return the tables for which there are parts; no predicate reads the summary."""
    tables: dict[str, pl.DataFrame] = {}
    trials = [frame for name, frame in found.items() if name.startswith(("trials-", "choice-"))]
    if trials:
        details = pl.concat(trials)
        tables["details"] = details
        tables["trials"] = details.filter(pl.col("choice") == DEFAULT.key).select(*COLUMNS)
        if summary:
            metrics = (*METRICS, "goodput_bps", "start_bytes")
            tables["summary"] = means(details, ("choice", "scenario", "variant"), metrics)
    if "traces" in found:
        tables["traces"] = found["traces"]
        tables["shapes"] = shapes(found["traces"])
    if "buffers" in found:
        tables["buffers"] = found["buffers"]
    for name, (keys, metrics) in MEANS.items():
        if name in found:
            tables[name] = found[name]
            tables[f"{name}_means"] = means(found[name], keys, metrics)
    for name in ("streams", "rivals"):
        if name in found:
            tables[name] = found[name]
            tables[f"{name}_means"] = sharing(found[name])
    return Results(plan, tables)


def means(rows: pl.DataFrame, keys: Sequence[str], metrics: Sequence[str]) -> pl.DataFrame:
    """Return one row a group: how many, and means, deviations and 95 % intervals of ``metrics``."""
    reduced: list[dict[str, object]] = []
    for key, group in rows.group_by(*keys, maintain_order=True):
        row: dict[str, object] = dict(zip(keys, key, strict=True))
        row["trials"] = group.height
        for metric in metrics:
            values = group[metric].cast(pl.Float64).to_list()
            found = estimate(values)
            row[metric] = found.mean
            row[f"{metric}_sd"] = float(group[metric].std() or 0.0)  # type: ignore[arg-type]
            row[f"{metric}_ci"] = found.ci
        reduced.append(row)
    return pl.DataFrame(reduced, infer_schema_length=None)


def sharing(rows: pl.DataFrame) -> pl.DataFrame:
    """Return means over the trials of what a video on a shared path has, a row a kind of sender.

    ``worst_stall_s`` is of the video that stood still longest; ``fairness`` is Jain's index of the
    time that each took from its request to its end.
    """
    spent = pl.col("stall_s") + pl.col("startup_s")
    runs = rows.group_by("first", "variant", "videos", "trial", maintain_order=True).agg(
        mean_of(pl.col("discards", "underflows", "retransmissions", "stall_s", "startup_s")),
        pl.col("stall_s").max().alias("worst_stall_s"),
        (sum_of(spent) ** 2 / (pl.len() * sum_of(spent**2))).alias("fairness"),
    )
    metrics = (
        *("discards", "underflows", "retransmissions", "stall_s", "startup_s"),
        *("worst_stall_s", "fairness"),
    )
    return means(runs, ("first", "variant", "videos"), metrics)


SETTLED_FROM_S = 20.0


def shapes(traces: pl.DataFrame) -> pl.DataFrame:
    """Return what is judged of the traces of figure 5, a row a variant.

    ``settle_s``: slow start ends at the largest window of the first ten seconds; from the lowest
    window of the ten seconds after it to the first time at which the window is back at nine tenths
    of what it later exceeds in 2.5 % of the time. ``range_packets`` and ``variation``: the largest
    less the smallest window, and the deviation over the mean, from 20 s on.
    """
    rows = []
    for (variant,), trace in traces.group_by("variant", maintain_order=True):
        ordered = trace.sort("time_s")
        later = ordered.filter(pl.col("time_s") >= SETTLED_FROM_S)
        window = later["window_packets"]
        mean = float(window.mean() or 0.0)  # type: ignore[arg-type]
        early = ordered.filter(pl.col("time_s") < SETTLED_FROM_S / 2)
        peak = early.sort("window_packets", "time_s", descending=[True, False]).row(0, named=True)
        begin = peak["time_s"]
        after = ordered.filter(pl.col("time_s") > begin)
        dip = after.filter(pl.col("time_s") < begin + SETTLED_FROM_S / 2)
        low = dip.sort("window_packets", "time_s").row(0, named=True)["time_s"]
        high = float(window.quantile(0.975) or 0.0)
        back = after.filter(pl.col("time_s") >= low, pl.col("window_packets") >= 0.9 * high)
        settle = float(back["time_s"].min()) - low if back.height else math.inf  # type: ignore[arg-type]
        rows.append(
            {
                "variant": variant,
                "settle_s": settle,
                "mean_packets": mean,
                "range_packets": float(window.max() - window.min()),  # type: ignore[operator, arg-type]
                "variation": float(window.std() or 0.0) / mean,  # type: ignore[arg-type]
            }
        )
    return pl.DataFrame(rows)
