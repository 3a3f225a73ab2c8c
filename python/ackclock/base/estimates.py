"""Statistics of repeated runs: mean and 95 % interval."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["MOST_RUNS", "Estimate", "estimate", "runs_for", "t_975", "with_interval"]

#: No more runs than this are told as a way to a narrower interval.
MOST_RUNS = 100_000

# The 97.5 % point of Student's t with 1, 2, ... degrees of freedom.
_T_975 = (
    12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814,
    2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596,
    2.07961, 2.07387, 2.06866, 2.06390, 2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227,
)  # fmt: skip
_Z_975 = 1.959964


def t_975(degrees_of_freedom: int) -> float:
    """Return the 97.5 % point of Student's t, to four digits."""
    if degrees_of_freedom < 1:
        msg = "an interval needs at least two values"
        raise ValueError(msg)
    if degrees_of_freedom <= len(_T_975):
        return _T_975[degrees_of_freedom - 1]
    # Cornish-Fisher expansion about the normal quantile (Abramowitz and Stegun 26.7.5).
    z, v = _Z_975, float(degrees_of_freedom)
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds; ``ci`` is the half-width of its 95 % t-interval, None for one value."""

    mean: float
    ci: float | None
    n: int


#: An interval of a smaller share of its mean is that of values that are alike but for rounding.
_ALIKE = 1e-9


def with_interval(mean: float, ci: float | None, digits: int) -> str:
    """Return a mean, and its interval, with so many digits behind the point.

    An interval that would be rounded to zero has as many digits as its first that is none, and so
    has the mean beside it. Values that are all alike have no interval.
    """
    if ci is None or not ci > _ALIKE * abs(mean):
        return f"{round(mean, digits) + 0.0:.{digits}f}"
    if math.isfinite(ci) and round(ci, digits) == 0:
        digits = -math.floor(math.log10(ci))
    # Adding zero takes the sign off a rounded zero.
    return f"{round(mean, digits) + 0.0:.{digits}f} ± {ci:.{digits}f}"


def estimate(values: Iterable[float | None]) -> Estimate:
    """Return the mean of finite values and the half-width of its 95 % t-interval.

    ``None`` is a value that a run does not have, such as a delay where nothing was sent.
    """
    data = [float(value) for value in values if value is not None]
    data = [value for value in data if math.isfinite(value)]
    count = len(data)
    if count == 0:
        return Estimate(math.nan, None, 0)
    mean = math.fsum(data) / count
    if count == 1:
        return Estimate(mean, None, 1)
    if min(data) == max(data):
        # Their mean may be another in the last digit.
        return Estimate(mean, 0.0, count)
    variance = math.fsum((value - mean) ** 2 for value in data) / (count - 1)
    return Estimate(mean, t_975(count - 1) * math.sqrt(variance / count), count)


def runs_for(half_width: float, found: Estimate) -> int | None:
    """Return how many runs of the same spread have an interval of this half-width.

    None if the spread is not known, or more than :data:`MOST_RUNS` are needed.
    """
    if not found.ci or half_width <= 0:
        return None
    deviation = found.ci * math.sqrt(found.n) / t_975(found.n - 1)

    def is_enough(count: int) -> bool:
        return t_975(count - 1) * deviation / math.sqrt(count) <= half_width

    if not is_enough(MOST_RUNS):
        return None
    return bisect_left(range(2, MOST_RUNS + 1), True, key=is_enough) + 2
