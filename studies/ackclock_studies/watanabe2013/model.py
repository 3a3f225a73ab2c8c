"""The player's rules by themselves: what becomes of the film if its bytes come evenly, or in lumps.

No packets and no senders: the arithmetic behind why the sender that loses more may discard less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import polars as pl

from ackclock_studies.watanabe2013.published import PICTURE_RATE
from ackclock_studies.watanabe2013.scenarios import BY_KEY, Plan, pictures

BUFFER_BYTES = 656_000
CATCH_UP = 1.1
"""The player's defaults."""

PAYLOAD = 1460 / 1500
"""What of a packet is the film's."""

LUMPS_S = (0.0, 0.01, 0.03, 0.1, 0.2)
CASES = ("below", "above")


def play(
    sizes: Sequence[int], bytes_per_s: float, lump_s: float, start_bytes: int = BUFFER_BYTES
) -> tuple[int, int]:
    """Return how many pictures are discarded, and how often the buffer runs empty.

    All that came in ``lump_s`` seconds comes at their end; zero is evenly.
    """
    ends = [0, *accumulate(sizes)]
    interval = 1 / PICTURE_RATE

    def arrived(time_s: float) -> float:
        if lump_s > 0:
            time_s = lump_s * math.floor(time_s / lump_s + 1e-9)
        return bytes_per_s * time_s

    def until(level: float) -> float:
        time_s = min(level, ends[-1]) / bytes_per_s
        return lump_s * math.ceil(time_s / lump_s - 1e-9) if lump_s > 0 else time_s

    due = nominal = until(start_bytes)
    n = discards = underflows = 0
    while n < len(sizes):
        there = arrived(due) + 1e-6
        if there < ends[n + 1]:
            if there < ends[n] + 1:
                underflows += 1
                due = until(ends[n] + start_bytes)
                continue
            discards += 1
        n += 1
        nominal += interval
        due = max(nominal, due + interval / CATCH_UP)
    return discards, underflows


def table(plan: Plan) -> pl.DataFrame:
    """Return one row a film, path and lump."""
    rows: list[dict[str, object]] = []
    for constant in (False, True):
        film = pictures(plan.length_s, constant=constant)
        for case in CASES:
            for lump_s in LUMPS_S:
                rate = BY_KEY[case].rate_bps / 8 * PAYLOAD
                discards, underflows = play(film, rate, lump_s)
                rows.append(
                    {
                        "film": "constant" if constant else "own",
                        "scenario": case,
                        "lump_s": lump_s,
                        "discards": discards,
                        "underflows": underflows,
                    }
                )
    return pl.DataFrame(rows)
