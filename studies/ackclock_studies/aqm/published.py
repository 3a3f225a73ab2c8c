"""The published values: targets of the disciplines, and the loss that a number of flows makes."""

from __future__ import annotations

TARGETS_S = {
    "codel": 0.005,
    "cobalt": 0.005,
    "pie": 0.015,
    "fq_codel": 0.005,
    "fq_cobalt": 0.005,
    "fq_pie": 0.015,
    "cake": 0.005,
}
"""The delays that they aim at: RFC 8289 §4.3, RFC 8290 §5.2.2, RFC 8033 §4.2; COBALT's and CAKE's
are CoDel's (Høiland-Jørgensen et al. 2018), FQ-PIE's is PIE's."""

LEVELS = {"mild": (0.036, 0.001), "medium": (0.081, 0.005), "heavy": (0.114, 0.01)}
"""Flows for each packet of path and buffer, and the share lost (RFC 7928 §8.2.2 to §8.2.4).

§8.2.1: the share lost is 0.76 N²/S², S the packets of the path and of the buffer together.
"""


def loss_of(flows: int, packets: float) -> float:
    """Return the share of packets lost that RFC 7928 §8.2.1 gives for ``flows`` flows."""
    return 0.76 * (flows / packets) ** 2
