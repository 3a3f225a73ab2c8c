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
    if times.size == 0:
        return times, values
    spans = np.floor((times - times[0]) / width).astype(int)
    starts = np.flatnonzero(np.r_[True, np.diff(spans) > 0])
    ends = np.r_[starts[1:], times.size]
    kept: set[int] = set()
    for start, end in zip(starts, ends, strict=True):
        part = values[start:end]
        kept |= {int(start), int(end) - 1}
        kept |= {int(start + part.argmin()), int(start + part.argmax())}
    order = np.array(sorted(kept))
    return times[order], values[order]
