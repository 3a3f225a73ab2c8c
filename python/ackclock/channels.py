"""What a link loses, and what takes the place of its constant rate."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

from ackclock._table import Table, key
from ackclock.errors import BadInput

__all__ = [
    "BurstLoss",
    "Cellular",
    "Channel",
    "Loss",
    "PeriodicLoss",
    "Trace",
    "Wifi",
    "read_channel",
    "read_loss",
    "read_mahimahi",
]


@dataclass(frozen=True)
class PeriodicLoss(Table):
    """A loss at regular intervals, without chance.

    Attributes
    ----------
    every
        Of the packets that carry a flow's data, new or sent again, every so-manieth is lost.
        Packets without data, and cross-traffic, are neither lost nor counted.
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
        What a bundle costs besides its bits, in the mean, such as ``"200 us"``.
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
        How far the rate wanders in a second, such as ``"200 packet/s"``.
    period
        After how long the trace begins again.
    """

    KIND: ClassVar[str | None] = "cellular"

    wander: str = "200 packet/s"
    period: str = "600 s"


Channel: TypeAlias = Wifi | Trace | Cellular

_CHANNELS: dict[str | None, type[Wifi | Trace | Cellular]] = {
    kind.KIND: kind for kind in (Wifi, Trace, Cellular)
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
    times: list[int] = []
    for number, line in enumerate(Path(path).read_text(encoding="ascii").splitlines(), start=1):
        text = line.strip()
        if not text:
            continue
        if not text.isdecimal():
            msg = f"{path}:{number}: `{text}` is not a time in whole milliseconds, such as `120`"
            raise BadInput(msg)
        times.append(int(text))
        if len(times) > 1 and times[-2] > times[-1]:
            msg = f"{path}:{number}: {text} ms comes after {times[-2]} ms; expected times in order"
            raise BadInput(msg)
    if not times or times[-1] == 0:
        msg = f"{path}: expected a line with a time of more than 0 ms"
        raise BadInput(msg)
    return Trace(times_ms=tuple(times))
