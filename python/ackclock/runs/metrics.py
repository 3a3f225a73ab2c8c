"""Metrics of flows that share a link, each by its definition (RFC 5166)."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["convergence_s", "harm", "jain", "oscillation", "throughput_ratio"]


def jain(values: Sequence[float]) -> float:
    """Return Jain's fairness index: 1 of equal values, 1/n if one of n has all (RFC 5166 §2.6).

    NaN without values, or of zeros alone.
    """
    total = math.fsum(values)
    squares = math.fsum(value * value for value in values)
    return total * total / (len(values) * squares) if squares else math.nan


def harm(alone: float, beside: float, *, more_is_better: bool = True) -> float:
    """Return the harm that a newcomer does: 0 none, 1 ruin, below 0 a gain.

    Ware, Mukerjee, Seshan and Sherry, "Beyond Jain's Fairness Index", HotNets 2019: (x − y)/x of a
    metric of which more is better, as goodput, and (y − x)/y of one of which less is, as delay; x
    is the value ``alone`` and y that ``beside`` the newcomer. NaN where the divisor is zero.
    """
    before, lost = (alone, alone - beside) if more_is_better else (beside, beside - alone)
    return lost / before if before else math.nan


def throughput_ratio(flow: float, base: float) -> float:
    """Return the rate of a flow over that of a base flow (RFC 8868 §4.3 accepts 0.333 to 3)."""
    return flow / base if base else math.nan


def oscillation(values: Sequence[float]) -> float:
    """Return the coefficient of variation: standard deviation over mean (RFC 5166 §2.4).

    NaN of fewer than two values, or of a mean of zero.
    """
    if len(values) < 2:
        return math.nan
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return math.sqrt(variance) / mean if mean else math.nan


def convergence_s(
    times_s: Sequence[float],
    first: Sequence[float],
    second: Sequence[float],
    *,
    since_s: float = 0.0,
    delta: float = 0.1,
    stays: int = 1,
) -> float | None:
    """Return the time to δ-fairness of two flows, in seconds from ``since_s`` on (RFC 5166 §2.5).

    Parameters
    ----------
    times_s
        The moments of the samples, ascending.
    first, second
        The rates of the two flows at these moments.
    since_s
        The moment at which the second flow began.
    delta
        The flows are fair when both have between (1 − δ)/2 and (1 + δ)/2 of their sum.
    stays
        The number of samples in a row that have to be fair; the time is that of the first of them.

    Returns
    -------
    float or None
        The time; None if the flows never were fair for so long.
    """
    run = 0
    begin = 0.0
    for time_s, a, b in zip(times_s, first, second, strict=True):
        if time_s < since_s:
            continue
        total = a + b
        fair = total > 0 and abs(a - b) <= delta * total
        if fair and run == 0:
            begin = time_s
        run = run + 1 if fair else 0
        if run >= stays:
            return begin - since_s
    return None
