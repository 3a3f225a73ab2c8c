"""Channels: the losses of a link, and the rates that take the place of a constant one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from ackclock._columns import read_columns
from ackclock._table import Table, key

__all__ = [
    "BurstLoss",
    "Cellular",
    "Channel",
    "Loss",
    "PeriodicLoss",
    "Rates",
    "Trace",
    "Wifi",
    "read_channel",
    "read_loss",
    "read_mahimahi",
    "read_rates",
]


@dataclass(frozen=True)
class PeriodicLoss(Table):
    """A loss at regular intervals, without chance.

    Attributes
    ----------
    every
        The distance between losses: of the packets that carry a flow's data, new or sent
        again, one in so many is lost. Packets without data, and cross-traffic, are
        neither lost nor counted.
    first
        The number of the first that is lost, from 1; default: ``every``.
    """

    every: int
    first: int | None = None


@dataclass(frozen=True)
class BurstLoss(Table):
    """Losses in bursts: a chain of two states that moves before each packet (Gilbert, Elliott).

    Attributes
    ----------
    to_bad, to_good
        The probabilities of going over to the bad state, and back: bursts begin once in
        1/``to_bad`` packets and last 1/``to_good`` in the mean.
    in_bad, in_good
        The probability of a loss in either state.
    """

    to_bad: float
    to_good: float
    in_bad: float = 1.0
    in_good: float = 0.0


@dataclass(frozen=True)
class Wifi(Table):
    """A wireless LAN in place of a constant rate: bundles that have to win the air.

    The link's rate is what full bundles of 1500-byte packets get in the mean.

    Attributes
    ----------
    bundle
        The most packets of a bundle.
    overhead
        The mean cost of a bundle besides its bits, such as ``"200 us"``.
    levels
        Rates of the air over their mean, in order; the channel steps to a neighbour.
    hold
        The mean time between two steps, such as ``"500 ms"``.
    """

    KIND: ClassVar[str | None] = "wifi"

    bundle: int = 32
    overhead: str = "200 us"
    levels: tuple[float, ...] = key(default=(0.6, 0.8, 1.0, 1.2, 1.4), read=tuple)
    hold: str = "500 ms"


@dataclass(frozen=True)
class Trace(Table):
    """Moments at which up to 1500 bytes may leave, in place of a constant rate.

    Attributes
    ----------
    times_ms
        The moments, in milliseconds and in order; they begin again with the last. See
        :func:`ackclock.read_mahimahi`.
    """

    KIND: ClassVar[str | None] = "trace"

    times_ms: tuple[int, ...] = key(read=tuple)


@dataclass(frozen=True)
class Cellular(Table):
    """A trace drawn at random, in place of a constant rate, which is its mean.

    Attributes
    ----------
    wander
        The distance that the rate wanders in a second, such as ``"200 packet/s"``.
    period
        After how long the trace begins again.
    """

    KIND: ClassVar[str | None] = "cellular"

    wander: str = "200 packet/s"
    period: str = "600 s"


def _read_series(steps: Any) -> tuple[tuple[str, str], ...]:
    return tuple((step["at"], step["rate"]) for step in steps)


@dataclass(frozen=True)
class Rates(Table):
    """A measured series of rates, in place of a constant one.

    What is left of a packet in transmission when the rate changes is sent at the rate that comes; a
    rate of zero holds it up.

    Attributes
    ----------
    series
        Pairs (time, rate), such as ``("1 s", "0 bit/s")``; the first time is ``"0 s"``. Each rate
        holds until the next. See :func:`ackclock.read_rates`.
    period
        The time after which the series begins again. Default: the last rate holds as long as the
        one before it.
    """

    KIND: ClassVar[str | None] = "rates"

    series: Sequence[tuple[str, str]] = key(read=_read_series)
    period: str | None = None

    def __post_init__(self) -> None:
        """Freeze the sequence."""
        object.__setattr__(self, "series", tuple((at, rate) for at, rate in self.series))

    def to_dict(self) -> dict[str, Any]:
        """Return the form of a file, in which a pair is ``{"at": time, "rate": rate}``."""
        steps = [{"at": at, "rate": rate} for at, rate in self.series]
        return {**super().to_dict(), "series": steps}


Channel: TypeAlias = Wifi | Trace | Cellular | Rates

_CHANNELS: dict[str | None, type[Wifi | Trace | Cellular | Rates]] = {
    kind.KIND: kind for kind in (Wifi, Trace, Cellular, Rates)
}


def read_channel(table: Any) -> Channel:
    """Return the channel of a table that the core has checked."""
    return _CHANNELS[table["kind"]].from_table(table)


Loss: TypeAlias = float | PeriodicLoss | BurstLoss


def read_loss(value: Any) -> Loss:
    """Return the losses of a value that the core has checked."""
    if not isinstance(value, Mapping):
        return value
    return BurstLoss.from_table(value) if "to_bad" in value else PeriodicLoss.from_table(value)


def read_mahimahi(path: str | os.PathLike[str]) -> Trace:
    """Return the link that a trace of mahimahi describes (its packet-delivery format).

    Each line is a time in whole milliseconds, not earlier than the line before, at which 1500 bytes
    may leave. The trace begins again with its last line.

    Raises
    ------
    BadInput
        A line that is not such a time, or no line.
    """
    return Trace.from_table(read_columns("times_ms", path))


def read_rates(
    path: str | os.PathLike[str],
    *,
    unit: str,
    interval: str | None = None,
    period: str | None = None,
) -> Rates:
    """Return the link that a file of measured rates describes.

    Each line has a time in seconds and a rate, or a rate alone. Blanks, commas, semicolons or tabs
    separate them; ``#`` begins a comment, and the first line may be a heading. The first time
    becomes 0.

    Parameters
    ----------
    path
        The file.
    unit
        The unit of its rates, such as ``"Mbit/s"``.
    interval
        The time between two lines, such as ``"1 s"``, of a file without times.
    period
        As of :class:`Rates`.

    Raises
    ------
    BadInput
        The file cannot be read, or a line of it is not such a pair.
    """
    table = read_columns("series", path, unit=unit, interval=interval)
    return Rates(series=_read_series(table["series"]), period=period)
