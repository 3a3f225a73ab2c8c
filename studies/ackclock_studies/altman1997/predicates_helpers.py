"""Helpers of the predicates: their form, and how numbers go into ``claims.json``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ackclock.base.claims import Observation, Predicate
from ackclock_studies.altman1997.analysis import Results

Measure = Callable[[Results], Sequence[Observation]]


def relative_error(
    name: str, statement: str, metric: str, limit: float, measure: Measure
) -> Predicate[Results]:
    """Return a predicate on relative errors, printed in per cent."""
    return Predicate(name, statement, metric, "<=", limit, measure, scale=100, unit="%")


def rounded(value: float | None, digits: int = 4) -> float | None:
    """Return a number to so many digits, None if there is none."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{digits}g}")


def number(value: float | None) -> float:
    """Return a number, NaN for none."""
    return math.nan if value is None else float(value)
