"""The published values: mean windows by the formulas of RFC 9438."""

from __future__ import annotations

import ackclock as ac
from ackclock_studies.response.scenarios import PERIODS, RTTS_MS

Windows = dict[tuple[str, int, int], float]
"""Mean windows by the formulas, packets, for (law, round-trip time in ms, packets a loss)."""


def formulas() -> Windows:
    """Return the mean windows that RFC 9438 gives for Reno (1.2/√p) and CUBIC (§5.1)."""
    points = [(rtt_ms, period) for rtt_ms in RTTS_MS for period in PERIODS]
    windows: Windows = {}
    for rtt_ms, period in points:
        answer = ac.theory.response(loss_rate=1 / period, rtt_s=rtt_ms / 1e3)
        windows["reno", rtt_ms, period] = answer.reno_window_packets
        windows["cubic", rtt_ms, period] = answer.cubic_window_packets
    return windows
