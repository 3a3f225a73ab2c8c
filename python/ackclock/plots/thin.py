"""Long series as the eye sees them."""

from __future__ import annotations

import numpy as np


def thinned(times: np.ndarray, values: np.ndarray, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Return, of every span of ``width``, the first, the least, the largest and the last sample.

    A line through them covers what a line through all samples covers, if a span is no wider than a
    few of the picture's dots. ``times`` do not fall; samples that are not numbers are left out.
    """
    known = np.isfinite(values)
    times, values = times[known], values[known]
    order = extremes(times, values, width)
    return times[order], values[order]


def extremes(times: np.ndarray, values: np.ndarray, width: float) -> np.ndarray:
    """Return the places of the first, the least, the largest and the last sample of every span.

    Every value is a number.
    """
    if times.size == 0:
        return np.empty(0, dtype=int)
    spans = np.floor((times - times[0]) / width).astype(int)
    starts = np.flatnonzero(np.r_[True, np.diff(spans) > 0])
    ends = np.r_[starts[1:], times.size]
    kept: set[int] = set()
    for start, end in zip(starts, ends, strict=True):
        part = values[start:end]
        kept |= {int(start), int(end) - 1}
        kept |= {int(start + part.argmin()), int(start + part.argmax())}
    return np.array(sorted(kept), dtype=int)


def thin_rows(times: np.ndarray, columns: list[np.ndarray], width: float) -> np.ndarray:
    """Return the places of the rows that :func:`thinned` keeps of any of the columns."""
    kept: set[int] = set()
    for values in columns:
        known = np.flatnonzero(np.isfinite(values))
        kept |= set(known[extremes(times[known], values[known], width)].tolist())
    return np.array(sorted(kept), dtype=int)
