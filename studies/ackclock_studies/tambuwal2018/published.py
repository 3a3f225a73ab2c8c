"""The paper's numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TABLE_2 = {
    0.4: (0.268, 0.93, 0.038, 0.42, 2.329),
    0.9: (0.86, 1.18, 2.32, 3.13, 3.49),
    0.98: (5.74, 6.66, 6.43, 6.745, 7.093),
}
"""Table 2: the increase of the average loss rate, in percent, for the columns ``OTHERS``."""

TABLE_3 = {
    0.4: (0.0, 0.0, 0.011, 0.027, 0.026),
    0.9: (0.0, 0.15, 1.03, 0.988, 0.907),
    0.98: (0.0, 1.02, 1.08, 1.33, 1.484),
}
"""Table 3: the decrease of the average throughput, in percent."""

FIGURE_6 = {
    ("TSL", 0.4): (20, 100),
    ("TSL", 0.9): (50, 400),
    ("TCP", 0.4): (30, 180),
    ("TCP", 0.9): (60, 600),
}
"""Figure 6: the 90th and the 99th percentile of response times, in round trips."""

PEAKS = {"1,2": 0.19, "3,16": 0.26}
"""Figures 8 to 10: the largest loss rate of a second at a load of 90 %."""

#: The numbers, or the words, of each published statement, by claim.
STATED: Mapping[str, Mapping[str, Any]] = {
    "tambuwal-f2f3": {"share below 50 ms": 0.5},
    "tambuwal-f4": {"floor_rtts": 2},
    "tambuwal-f5": {"p90 gain_s": 0.5, "largest p99 gain_s": 3.0},
    "tambuwal-f6": {
        "p90, p99 at 40 %": {"TSL": [20, 100], "TCP": [30, 180]},
        "p90, p99 at 90 %": {"TSL": [50, 400], "TCP": [60, 600]},
    },
    "tambuwal-f7": {"gain at 40 %": [1, 5], "at 90 %": [13, 15], "at 98 %": -0.7},
    "tambuwal-f8f10": {"peak at 90 %": {"1,2": 0.19, "3,16": 0.26}},
    "tambuwal-f11": {"largest decrease, %": 1.484},
    "tambuwal-f12": {"both": "fall"},
}
