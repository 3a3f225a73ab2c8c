"""Theorem 3.1 a second time, with the one term on which Figure 5 turns as a parameter.

The report's theory is the core's. This is for the question how far a statement depends on the
theorem's W_max = W_loss + 2, and a check of the core by other hands.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

PUBLISHED_OVERSHOOT = 2.0


def utilisation(
    share: float, tau: float, buffer: float, overshoot: float = PUBLISHED_OVERSHOOT
) -> float:
    """Return thp/(μ − λ) by theorem 3.1, the unit of time being one service time.

    Parameters
    ----------
    share
        λ/μ.
    tau
        The propagation delay τ, in service times.
    buffer
        The buffer B, in packets.
    overshoot
        The packets by which W_max lies above W_loss.
    """
    free = 1 - share
    whole = tau + 1
    w_max = (buffer + whole) * free + share + overshoot
    w_th = max(w_max / 2, 1.0)
    w_tilde = max(whole * free, 1.0)
    if w_tilde < w_th:
        lengths = (
            whole * math.log(w_tilde),
            (w_th - w_tilde) / (1 - share / 2),
            (w_max**2 - w_th**2) / (2 * free),
        )
        packets = (w_tilde - 1, w_th - w_tilde, (w_max**2 - w_th**2) / 2)
    else:
        lengths = (
            whole * math.log(w_th),
            whole * (w_tilde - w_th),
            (w_max**2 - w_tilde**2) / (2 * free),
        )
        packets = (w_th - 1, (w_tilde**2 - w_th**2) / 2, (w_max**2 - w_tilde**2) / 2)
    return sum(packets) / sum(lengths) / free


F4_BUFFER = 20.0
F5_TAU = 30.0
SHARES = (0.05, 0.2, 0.4, 0.6)
"""λ/μ of the curves; the paper's text does not name its own."""

DENSE_SHARES = tuple(round(0.05 * step, 2) for step in range(1, 13))
"""λ/μ of the grid on which the statements are checked: 0.05 to 0.60."""

F4_TAUS = tuple(round(2 * 50 ** (step / 160), 4) for step in range(161))
"""τ of figure 4, in service times: 2 to 100. Below 2 a window of one packet fills the path."""

F5_BUFFERS = tuple(round(0.5 * step, 1) for step in range(2, 201))
"""B of figure 5, in packets: 1 to 100."""


def grid(
    shares: Sequence[float], taus: Sequence[float], buffers: Sequence[float]
) -> list[tuple[float, float, float]]:
    """Return every λ/μ with every τ, in service times, and every B."""
    return [(share, tau, buffer) for share in shares for tau in taus for buffer in buffers]
