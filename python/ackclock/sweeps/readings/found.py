"""The tables of a search of readings: shares, the best, the choices that matter, contradictions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import polars as pl

from ackclock import _core
from ackclock.studies.framework.found import (
    Excluded,
    SearchOutcome,
    Share,
    StatementFound,
    interval,
)
from ackclock.sweeps.readings.run import FRESH, Outcome, changed, rank, scores, short_id
from ackclock.sweeps.tasks.studies import SIZE

__all__ = ["outcome", "tables"]

#: Two predicates exclude each other if so many readings would be expected to have both, and none
#: has: by chance alone that happens once in 150 times at the least.
_EXPECTED = 5.0


def tables(found: Outcome) -> dict[str, pl.DataFrame]:
    """Return the tables of what was found, by name."""
    sampled = _sampled(found)
    return {
        "readings": _readings(found),
        "counts": _counts(found),
        "predicates": _predicates(found, sampled),
        "statements": _statements(found),
        "axes": _axes(found, sampled),
        "excluded": _excluded(found, sampled),
        "judged": found.judged.drop("key"),
    }


def outcome(found: Outcome, made: Mapping[str, pl.DataFrame]) -> SearchOutcome:
    """Return what the study's folder may keep of a search."""

    def share(row: Mapping[str, Any], who: str) -> Share:
        seeds = row[f"{who}_seeds"]
        return Share(round((row[f"{who}_share"] or 0.0) * seeds), seeds)

    def row_of(row: Mapping[str, Any], predicate: str, held: str, tried: str) -> StatementFound:
        best, own = share(row, "best"), share(row, "own")
        return StatementFound(row["claim"], predicate, best, own, row[held], row[tried])

    return SearchOutcome(
        study=found.of.key,
        core=_core.version(),
        tried=found.tried,
        samples=found.samples["key"].n_unique(),
        runs=found.judged["key"].n_unique(),
        best=found.best[0] if found.best else "",
        reading=dict(found.readings[found.best[0]]) if found.best else {},
        own=found.of.default,
        statements=tuple(
            row_of(row, "", "held", "tried") for row in made["statements"].iter_rows(named=True)
        ),
        predicates=tuple(
            row_of(row, row["predicate"], "samples_held", "samples")
            for row in made["predicates"].iter_rows(named=True)
        ),
        excluded=tuple(
            Excluded(
                f"{row['claim']}/{row['predicate']}",
                f"{row['other_claim']}/{row['other_predicate']}",
                row["held"],
                row["other_held"],
                row["expected"],
            )
            for row in made["excluded"].iter_rows(named=True)
        ),
    )


def _sampled(found: Outcome) -> pl.DataFrame:
    """Return the predicates of the Latin hypercube: a row a reading and predicate."""
    keys = found.samples.unique("key", maintain_order=True).select("key")
    return keys.join(found.judged, on="key", how="inner", maintain_order="left_right")


def _readings(found: Outcome) -> pl.DataFrame:
    """Return a row a reading, the best first: of the last stage by its seeds, then the others."""
    stages = (("fresh", found.fresh), ("local", found.local), ("samples", found.samples))
    rows: list[dict[str, Any]] = []
    seen: set[str] = set()
    for stage, cells in stages:
        counts = dict(cells.group_by("reading").len().iter_rows())
        found_ = scores(cells)
        for name in sorted(found_, key=lambda e: rank(found.of, found.readings[e], found_[e])):
            score = found_[name]
            if name in seen:
                continue
            seen.add(name)
            rows.append(
                {
                    "reading": name,
                    "stage": stage,
                    "seeds": counts[name],
                    "statements_held": score[0],
                    "predicates_held": score[1],
                    "observations_share": score[2],
                    "choices": changed(found.of, found.readings[name]),
                }
            )
    return pl.DataFrame(rows)


def _counts(found: Outcome) -> pl.DataFrame:
    """Return how many of the samples have so many statements and predicates."""
    cells = found.samples.unique("key", maintain_order=True).drop_nulls("statements_held")
    rows = [
        cells[name]
        .cast(pl.Int64)
        .value_counts(name="readings")
        .sort(name)
        .select(pl.lit(name).alias("what"), pl.col(name).alias("held"), "readings")
        for name in ("statements_held", "predicates_held")
    ]
    return pl.concat(rows).with_columns(pl.col("readings").cast(pl.Int64))


def _predicates(found: Outcome, sampled: pl.DataFrame) -> pl.DataFrame:
    """Return a row a predicate: in how many samples it holds, and on fresh seeds by whom."""
    best, own = (found.best[0] if found.best else ""), short_id(found.of.default)
    last = found.judged.filter(pl.col("seed") >= FRESH)
    tried = sampled["key"].n_unique()
    rows: list[dict[str, Any]] = []
    for claim, name in found.of.predicates():
        is_it = (pl.col("claim") == claim) & (pl.col("predicate") == name)
        row: dict[str, Any] = {"claim": claim, "predicate": name, "samples": tried}
        row["samples_held"] = int(sampled.filter(is_it)["holds"].sum())
        for who, reading in (("best", best), ("own", own)):
            held = last.filter(is_it, pl.col("reading") == reading)["holds"]
            low, high = interval(int(held.sum()), len(held))
            share = held.mean()
            row |= {
                f"{who}_seeds": len(held),
                f"{who}_share": share,
                f"{who}_share_low": low,
                f"{who}_share_high": high,
            }
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _statements(found: Outcome) -> pl.DataFrame:
    """Return a row a statement: readings under which it held in a run, and on fresh seeds."""
    whole = found.judged.group_by("key", "reading", "seed", SIZE, "claim", maintain_order=True).agg(
        pl.col("holds").all()
    )
    best, own = (found.best[0] if found.best else ""), short_id(found.of.default)
    rows: list[dict[str, Any]] = []
    for claim in found.of.judged:
        here = whole.filter(pl.col("claim") == claim.id)
        row: dict[str, Any] = {
            "claim": claim.id,
            "tried": here["reading"].n_unique(),
            "held": here.filter(pl.col("holds"))["reading"].n_unique(),
        }
        for who, reading in (("best", best), ("own", own)):
            held = here.filter(pl.col("reading") == reading, pl.col("seed") >= FRESH)["holds"]
            low, high = interval(int(held.sum()), len(held))
            row |= {
                f"{who}_seeds": len(held),
                f"{who}_share": held.mean(),
                f"{who}_share_low": low,
                f"{who}_share_high": high,
            }
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _axes(found: Outcome, sampled: pl.DataFrame) -> pl.DataFrame:
    """Return a row an axis and statement: the share of the variance that the axis explains.

    Of the samples: epsilon squared, which is eta squared (the first-order Sobol index of an axis
    with levels) less what chance gives to as many levels. ``claim`` is ``all`` for the number of
    predicates that hold, and otherwise a statement, for the number of its predicates.
    """
    held = sampled.group_by("key", "claim", maintain_order=True).agg(
        pl.col("holds").sum().cast(pl.Float64)
    )
    whole = held.group_by("key", maintain_order=True).agg(pl.col("holds").sum())
    whole = whole.with_columns(pl.lit("all").alias("claim")).select("key", "claim", "holds")
    settings = found.samples.unique("key", maintain_order=True)
    joined = pl.concat([whole, held]).join(settings, on="key", maintain_order="left")
    rows: list[dict[str, Any]] = []
    for (claim,), group in joined.group_by("claim", maintain_order=True):
        values = group["holds"].to_list()
        rows += [
            {
                "claim": claim,
                "axis": axis.name,
                "samples": len(values),
                "explained": explained(group[axis.name].to_list(), values),
            }
            for axis in found.of.axes
        ]
    return pl.DataFrame(rows)


def explained(labels: list[str], values: list[float]) -> float:
    """Return epsilon squared of values in groups: 1 − (1 − η²)(n − 1)/(n − k), not below zero."""
    groups: dict[str, list[float]] = {}
    for label, value in zip(labels, values, strict=True):
        groups.setdefault(label, []).append(value)
    n, k = len(values), len(groups)
    mean = math.fsum(values) / n
    total = math.fsum((value - mean) ** 2 for value in values)
    if total == 0 or n <= k:
        return 0.0
    between = math.fsum(
        len(group) * (math.fsum(group) / len(group) - mean) ** 2 for group in groups.values()
    )
    return max(0.0, 1 - (1 - between / total) * (n - 1) / (n - k))


def _excluded(found: Outcome, sampled: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of predicates that each hold in some sample, and never in one together.

    ``expected`` are the samples that would have both if one told nothing of the other. In no cell
    of the other stages they are together either.
    """
    sets = _cells_of(sampled)
    everywhere = _cells_of(found.judged)
    count = sampled["key"].n_unique()
    rows: list[dict[str, Any]] = []
    for one, other in combinations(sets, 2):
        expected = len(sets[one]) * len(sets[other]) / count if count else 0.0
        if expected < _EXPECTED or everywhere[one] & everywhere[other]:
            continue
        rows.append(
            {
                "claim": one[0],
                "predicate": one[1],
                "held": len(sets[one]),
                "other_claim": other[0],
                "other_predicate": other[1],
                "other_held": len(sets[other]),
                "expected": expected,
                "samples": count,
            }
        )
    schema: dict[str, Any] = {
        "claim": pl.String, "predicate": pl.String, "held": pl.Int64, "other_claim": pl.String,
        "other_predicate": pl.String, "other_held": pl.Int64, "expected": pl.Float64,
        "samples": pl.Int64,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def _cells_of(judged: pl.DataFrame) -> Mapping[tuple[str, str], set[str]]:
    """Return the cells in which each predicate holds."""
    found: dict[tuple[str, str], set[str]] = {}
    for key, claim, name, holds in judged.select("key", "claim", "predicate", "holds").iter_rows():
        cells = found.setdefault((claim, name), set())
        if holds:
            cells.add(key)
    return found
