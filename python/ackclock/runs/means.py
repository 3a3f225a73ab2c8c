"""Means over time of what probes saw: one rule for the summary of a run and for comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, pairwise
from operator import mul
from typing import Any

from ackclock import _core

__all__ = ["mean_over", "open_span"]


def open_span(
    row: Mapping[str, Any], flow: str, probes: Iterable[Mapping[str, Any]]
) -> tuple[float, float] | None:
    """Return the times between which ``flow`` was open and looked at, or None if it never was.

    It is open from the end of its handshake until all its data is acknowledged, or to the end of
    the run. A flow of programs has no handshake of its own, and is open for all of the run.

    Parameters
    ----------
    row
        Its row of the table ``flows`` over the whole run.
    probes
        The probes of the scenario, as its file has them.
    """
    begins, ends = row["established_s"], row["completed_s"]
    if begins is None and row["outcome"] is not None:
        return None
    until = [
        _core.seconds("until", probe["until"]) if "until" in probe else math.inf
        for probe in probes
        # Flows of an entry with `count` have its name and a number.
        if probe.get("flow") in (flow, flow.rpartition("-")[0])
    ]
    last = row["duration_s"] if ends is None else min(ends, row["duration_s"])
    return begins or 0.0, min(last, max(until, default=math.inf))


def mean_over(
    span: tuple[float, float] | None, times: Sequence[float], values: Sequence[float | None]
) -> float | None:
    """Return the mean in a span of a value that stays until its next sample; None if unknown.

    The time before the first known sample is not counted.
    """
    known = [value is not None for value in values]
    held = [value for value in values if value is not None]
    if span is None or not held:
        return None
    first, last = span
    bounds = [min(max(time, first), last) for time in (*compress(times, known), last)]
    spans = [after - before for before, after in pairwise(bounds)]
    total = math.fsum(spans)
    return math.fsum(map(mul, held, spans)) / total if total > 0 else None
