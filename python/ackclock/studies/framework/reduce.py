"""Means and sums of groups that do not depend on the number of threads.

Polars adds the numbers of a group in parts, one a thread, and the last digit of a sum depends on
where its parts begin. Here a sum is the exact one, rounded once (``math.fsum``), in whatever order.
"""

from __future__ import annotations

import math

import polars as pl

__all__ = ["mean_of", "sum_of"]


def mean_of(values: pl.Expr) -> pl.Expr:
    """Return the mean of a group's values that are known; null if there is none."""
    return values.map_batches(_mean, return_dtype=pl.Float64, returns_scalar=True)


def sum_of(values: pl.Expr) -> pl.Expr:
    """Return the sum of a group's values that are known."""
    return values.map_batches(_sum, return_dtype=pl.Float64, returns_scalar=True)


def _mean(values: pl.Series) -> pl.Series:
    known = _known(values)
    return _scalar(values, math.fsum(known) / len(known) if known else None)


def _sum(values: pl.Series) -> pl.Series:
    return _scalar(values, math.fsum(_known(values)))


def _known(values: pl.Series) -> list[float]:
    return values.drop_nulls().cast(pl.Float64).to_list()


def _scalar(values: pl.Series, number: float | None) -> pl.Series:
    return pl.Series(values.name, [number], dtype=pl.Float64)
