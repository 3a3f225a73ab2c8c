"""Features of an observation: what a sender knows of an interval, each with its unit and bounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ackclock import _core

__all__ = ["FEATURES", "FIELDS", "Feature", "Records"]

#: The fields of a record, in the order of the core.
FIELDS: tuple[str, ...] = tuple(_core.Worlds.fields())

Numbers = NDArray[np.float64]


class Records:
    """The records of an interval: an array a field, all of one shape.

    Attributes
    ----------
    start_s, duration_s
        When the interval began, and its length.
    sent_bytes, delivered_bytes, lost_bytes
        Payload that went out, that ACKs showed to have arrived, and that was found lost.
    rtt_samples, rtt_mean_s, rtt_min_s, rtt_first_half_s, rtt_second_half_s
        The number of round-trip times measured, their mean, their least, and the means of the
        first and the second half of them; NaN of none.
    rtt_min_ever_s
        The least since the connection began.
    rtt_least_mean_s
        The least of the means of its intervals so far.
    in_flight_bytes, cwnd_bytes, rate_bps
        At the end of the interval. The rate is NaN where nothing paces.
    """

    def __init__(self, values: Numbers, least_mean_s: Numbers) -> None:
        self._values = values
        self.rtt_least_mean_s = least_mean_s

    def __getattr__(self, name: str) -> Numbers:
        """Return a field."""
        try:
            return self._values[..., FIELDS.index(name)]
        except ValueError:
            raise AttributeError(f"a record has no field `{name}`") from None

    @property
    def throughput_bps(self) -> Numbers:
        """Delivered payload over the length of the interval."""
        return 8 * self.delivered_bytes / self.duration_s

    @property
    def send_rate_bps(self) -> Numbers:
        """Sent payload over the length of the interval."""
        return 8 * self.sent_bytes / self.duration_s

    @property
    def loss(self) -> Numbers:
        """Lost payload over lost and delivered."""
        over = self.lost_bytes + self.delivered_bytes
        return np.divide(self.lost_bytes, over, out=np.zeros_like(over), where=over > 0)

    @property
    def latency_s(self) -> Numbers:
        """The mean round-trip time; 0 of none."""
        return np.nan_to_num(self.rtt_mean_s, nan=0.0)


@dataclass(frozen=True)
class Feature:
    """A number of an observation.

    Attributes
    ----------
    unit
        Its unit; empty if it has none.
    low, high
        Its bounds: beyond them it is cut.
    help
        Its meaning, in a line.
    of
        The number, from records.
    before
        Its value before the first interval.
    """

    unit: str
    low: float
    high: float
    help: str
    of: Callable[[Records], Numbers]
    before: float = 0.0


def _inflation(it: Records) -> Numbers:
    rise = it.rtt_second_half_s - it.rtt_first_half_s
    return np.nan_to_num(rise / it.duration_s, nan=0.0)


def _latency_ratio(it: Records) -> Numbers:
    return np.nan_to_num(it.latency_s / it.rtt_least_mean_s, nan=1.0)


def _send_ratio(it: Records) -> Numbers:
    sent, came = it.send_rate_bps, it.throughput_bps
    known = (came > 0) & (sent < 1000 * came)
    return np.divide(sent, came, out=np.ones_like(sent), where=known)


def _field(name: str) -> Callable[[Records], Numbers]:
    return lambda it: np.nan_to_num(getattr(it, name), nan=0.0)


#: The features by name.
FEATURES: dict[str, Feature] = {
    "latency_inflation": Feature(
        "s/s", -1, 10, "the rise of the round-trip time in the interval, by halves of its samples",
        _inflation,
    ),
    "latency_ratio": Feature(
        "", 0, 10_000, "the mean round-trip time over the least such mean so far", _latency_ratio
    ),
    "send_ratio": Feature("", 0, 1000, "sent over delivered data", _send_ratio, 1.0),
    "throughput_bps": Feature("bit/s", 0, 1e12, "delivered payload", _field("throughput_bps")),
    "send_rate_bps": Feature("bit/s", 0, 1e12, "sent payload", _field("send_rate_bps")),
    "loss": Feature("", 0, 1, "lost over lost and delivered data", _field("loss")),
    "rtt_mean_s": Feature("s", 0, 1000, "the mean round-trip time", _field("rtt_mean_s")),
    "rtt_min_s": Feature("s", 0, 1000, "the least round-trip time", _field("rtt_min_s")),
    "rtt_min_ever_s": Feature(
        "s", 0, 1000, "the least round-trip time so far", _field("rtt_min_ever_s")
    ),
    "duration_s": Feature("s", 0, 1000, "the length of the interval", _field("duration_s")),
    "in_flight_bytes": Feature("B", 0, 1e12, "payload in flight", _field("in_flight_bytes")),
    "cwnd_bytes": Feature("B", 0, 1e13, "the window", _field("cwnd_bytes")),
    "rate_bps": Feature("bit/s", 0, 1e12, "the pacing rate", _field("rate_bps")),
}  # fmt: skip
