"""The published values: response functions, Scalable's recovery, H-TCP's growth."""

from __future__ import annotations

import math
from collections.abc import Callable

COPA_DELTA = 0.5
"""Copa's δ by default (NSDI 2018 §2.1)."""
VEGAS_BACKLOG = (2.0, 4.0)
"""Packets that Vegas keeps waiting (Brakmo and Peterson 1995 §IV: α and β of two and four)."""
LEDBAT_TARGET_S = 0.1
"""RFC 6817 §2.5: the most that TARGET may be."""
LEDBATPP_TARGET_S = 0.06
"""draft-irtf-iccrg-ledbat-plus-plus §4.2."""
SLOWDOWNS = (5.0, 6.0)
"""LEDBAT++'s slowdowns in 30 s at 137 ms and some 16 packets.

A slowdown takes two round trips at two packets and three to double them to sixteen: 5 · 0.137 =
0.685 s. The next follows nine times as long after: every 6.85 s.
"""
SCALABLE_RECOVERY_RTTS = math.log(1 - 1 / 8) / -math.log(1 + 0.01)
"""Round trips that Scalable takes to come back from a loss, whatever the window: 13.42.

Kelly 2003 §3: log(1 − b)/log(1 + a), with a = 0.01 and b = 1/8.
"""


def additive(increase: float, decrease: float) -> Callable[[float], float]:
    """Return the mean window of an AIMD law over the loss rate.

    From (1 − b) W to W by ``a`` a round trip are b W²(1 − b/2)/a packets, which are 1/p; the
    mean is (1 − b/2) W.
    """
    factor = math.sqrt(increase * (1 - decrease / 2) / decrease)
    return lambda p: factor / math.sqrt(p)


def compound(p: float) -> float:
    """Return Compound's mean window (Tan et al. 2006 §III-B): α = 1/8, β = 1/2, k = 3/4.

    The window grows by α W^k a round trip. A cycle has (1 − (1 − β)^(2−k)) W^(2−k)/(α(2 − k))
    packets, which are 1/p, and lasts (1 − (1 − β)^(1−k)) W^(1−k)/(α(1 − k)) round trips.
    """
    alpha, beta, k = 1 / 8, 1 / 2, 3 / 4
    top = (alpha * (2 - k) / (p * (1 - (1 - beta) ** (2 - k)))) ** (1 / (2 - k))
    rounds = (1 - (1 - beta) ** (1 - k)) * top ** (1 - k) / (alpha * (1 - k))
    return 1 / (p * rounds)


RESPONSE: dict[str, tuple[str, Callable[[float], float], float]] = {
    "reno": ("1.22/√p", additive(1, 1 / 2), 1e-3),
    "highspeed": ("0.12/p^0.835", lambda p: 0.12 / p**0.835, 1e-3),
    "scalable": ("0.08/p", lambda p: 0.08 / p, 1e-3),
    "illinois": ("8.66/√p", additive(10, 1 / 8), 1e-3),
    "veno": ("2.12/√p", additive(1, 1 / 5), 1e-3),
    "compound": ("0.25/p^0.8", compound, 1e-3),
}
"""Mean windows in packets over the loss rate, and up to which rate the source has it.

Reno: RFC 3649 §5 rounds it to 1.2. HighSpeed: RFC 3649 §5. Scalable: Kelly 2003 §3. Illinois with
an empty queue: α = 10 and β = 1/8 (Liu et al. 2008 §3). Veno where little waits: β = 1/5 (Fu and
Liew 2003 §III-B).
"""

GUESS: dict[str, Callable[[float], float]] = {
    "cubic": lambda p: max(1.054 * (0.1 / p) ** 0.75, 1.2 / math.sqrt(p)),
    "bic": lambda p: 3 / math.sqrt(p),
    "htcp": lambda p: 0.12 / p**0.835 if p < 1e-3 else 1.2 / math.sqrt(p),
    "hybla": lambda p: 4 * 1.2 / math.sqrt(p),
}
"""About the windows of the others, at which their first loss comes."""


def start(law: str, p: float) -> float:
    """Return about the mean window of a law."""
    return RESPONSE[law][1](p) if law in RESPONSE else GUESS[law](p)


def htcp_gain(since_s: float, rtt_s: float) -> float:
    """Return the growth of H-TCP's window between 1 s and ``since_s`` after a loss, in segments.

    α(Δ) = 1 + 10 (Δ − 1) + ((Δ − 1)/2)² a round trip (Leith and Shorten 2004 §3), integrated; the
    first reduction is by half, so that the factor 2 (1 − β) is 1.
    """
    y = since_s - 1
    return (y + 5 * y**2 + y**3 / 12) / rtt_s
