"""Paths of the suite ``c4`` that change during a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import ackclock as ac
from ackclock.suites.framework.paths import Way, queue_of

__all__ = ["FADING", "SOURCE", "Stage", "suspended"]

SOURCE = "draft-huitema-ccwg-c4-test, November 2025, and picoquic’s sim_specs"


@dataclass(frozen=True)
class Stage:
    """A change of the bottleneck at a second: None stays."""

    at_s: float
    part: float | None = 1.0
    """The part of the path's rate."""
    owd_ms: float | None = None
    """The delay one way."""
    queue_ms: float | None = None
    wifi_ms: float | None = None
    """The aimed-at mean of the Wi-Fi's delays; the path has some before."""
    lost: float | None = None
    """The part of the packets that is lost, in pairs."""

    def change(self, way: Way) -> ac.Event:
        """Return the event on a path."""
        rate = None if self.part is None else f"{self.part * way.rate_bps:.0f} bit/s"
        delay = None
        if self.owd_ms is not None:
            # The access links keep their part.
            delay = f"{self.owd_ms / 1e3 - way.rtt_s / 2 + way.shared_s / 2:.9f} s"
        limit = None if self.queue_ms is None else queue_of(way.rate_bps, self.queue_ms / 1e3)
        return ac.Event(
            f"{self.at_s:g} s",
            link="bottleneck",
            set=ac.LinkChange(
                rate=rate,
                delay=delay,
                queue=None if limit is None else ac.QueueChange(limit),
                jitter=None if self.wifi_ms is None else ac.WifiJitter(f"{self.wifi_ms:g} ms"),
                loss=None if self.lost is None else _pairs(self.lost),
            ),
            direction="forward" if self.lost is not None else None,
        )


def _pairs(lost: float) -> ac.BurstLoss | float:
    """Return losses of two packets in a row: 2 after every 16 that arrive are 2 of 18."""
    return ac.BurstLoss(to_bad=lost / 2 / (1 - lost), to_good=0.5) if lost else 0.0


FADING = (Stage(1.0, part=0.9, wifi_ms=12), Stage(3.0, wifi_ms=1))
"""The source's ``wifi_fade``: 2 s at 0.9 of the rate with long delays. Its text says 2 Mbit/s."""


def suspended(until_s: float) -> tuple[Stage, ...]:
    """Return the source's ``wifi_suspension``: 0.2 s of each 2 s without service."""
    count = math.ceil(until_s / 2) - 1
    return tuple(
        stage for n in range(count) for stage in (Stage(2 * n + 1.8, part=0.0), Stage(2 * n + 2.0))
    )
