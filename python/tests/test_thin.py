"""Long series thinned for drawing."""

from __future__ import annotations

import numpy as np

from ackclock.plots.thin import thinned


def test_a_span_keeps_its_ends_and_its_extremes() -> None:
    # Two spans of one second, five samples each: of the first 0 (first), 9 (largest), -3 (least)
    # and 2 (last); of the second, a constant, its first and its last.
    times = np.arange(10) / 5
    values = np.array([0.0, 9.0, 1.0, -3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0])
    kept, seen = thinned(times, values, 1.0)
    assert kept.tolist() == [0.0, 0.2, 0.6, 0.8, 1.0, 1.8]
    assert seen.tolist() == [0.0, 9.0, -3.0, 2.0, 2.0, 2.0]


def test_what_is_no_number_is_left_out() -> None:
    kept, seen = thinned(np.arange(3.0), np.array([np.nan, 1.0, np.nan]), 0.5)
    assert (kept.tolist(), seen.tolist()) == ([1.0], [1.0])
    empty = thinned(np.arange(2.0), np.array([np.nan, np.nan]), 0.5)
    assert [part.size for part in empty] == [0, 0]
