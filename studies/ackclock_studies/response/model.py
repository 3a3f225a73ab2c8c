"""The model of Padhye et al. (1998) once more, with its share of timeouts as a parameter.

The core has the model as published. What a sender does with independent losses differs from it in
one number, and here that number can be put in.
"""

from __future__ import annotations

import math


def timeout_share(p: float, window: float) -> float:
    """Return the share of losses that end in a timeout by the model (Q̂), for a loss rate ``p``."""
    if window <= 3:
        return 1.0
    q = 1 - p
    return min(1.0, (1 - q**3) * (1 + q**3 * (1 - q ** (window - 3))) / (1 - q**window))


def rate_pps(p: float, rtt_s: float, t_rto_s: float, share: float | None = None) -> float:
    """Return the sending rate, packets/s, without delayed ACKs and without a limit to the window.

    ``share`` takes the place of the model's own share of timeouts.
    """
    window = 1 + math.sqrt(8 * (1 - p) / (3 * p) + 1)
    rounds = window / 2 + 1
    q = timeout_share(p, window) if share is None else share
    backoff = 1 + sum(2**n * p ** (n + 1) for n in range(6))
    sent = (1 - p) / p + window + q / (1 - p)
    return sent / (rtt_s * rounds + q * t_rto_s * backoff / (1 - p))
