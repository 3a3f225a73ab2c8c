"""Applications, which ask for data.

The names of this module are those of :mod:`ackclock`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from ackclock._table import Table, each, key
from ackclock.distributions import Draw, read_draw
from ackclock.programs import Iperf3, Program
from ackclock.video import Dash, Video

__all__ = [
    "App",
    "Bulk",
    "Bursts",
    "Cbr",
    "Dash",
    "Idle",
    "Iperf3",
    "Limited",
    "OnOff",
    "Program",
    "Video",
    "read_app",
]


@dataclass(frozen=True)
class Bulk(Table):
    """As much data as the connection takes.

    Attributes
    ----------
    size
        The volume after which the connection closes, such as ``"10 MB"``; default: no end.
    """

    KIND: ClassVar[str | None] = "bulk"

    size: str | None = None


@dataclass(frozen=True)
class Idle(Table):
    """A period without messages; the flow's events are ``idle`` and ``resume``.

    Attributes
    ----------
    at
        When it begins, from the start of the run, such as ``"10 s"``, or a distribution.
    duration
        The length of the period; ``for`` in a file.
    """

    at: Draw = key(read=read_draw)
    duration: Draw = key(name="for", read=read_draw)


@dataclass(frozen=True)
class Limited(Table):
    """A period of another rate; the flow's events are ``limited`` and ``restore``.

    Attributes
    ----------
    at
        When it begins, from the start of the run, such as ``"10 s"``, or a distribution.
    duration
        The length of the period; ``for`` in a file.
    rate
        The rate meanwhile, such as ``"12 kbit/s"``.
    """

    at: Draw = key(read=read_draw)
    duration: Draw = key(name="for", read=read_draw)
    rate: str = key()


@dataclass(frozen=True)
class Cbr(Table):
    """Messages at a constant rate, with periods of silence and of other rates.

    Each message is a row of the table ``objects``.

    Attributes
    ----------
    rate
        The rate of the messages' bytes, such as ``"512 kbit/s"``.
    message
        The size of a message, such as ``"1460 B"``.
    idle
        Periods without messages.
    limited
        Periods of another rate.
    jitter
        Each message comes later by a draw from zero to this.
    stop
        When the connection closes; default: not before the run ends.
    """

    KIND: ClassVar[str | None] = "cbr"

    rate: str
    message: str
    idle: Sequence[Idle] = key(default=(), read=each(Idle.from_table))
    limited: Sequence[Limited] = key(default=(), read=each(Limited.from_table))
    jitter: str | None = None
    stop: str | None = None

    def __post_init__(self) -> None:
        """Freeze the sequences."""
        object.__setattr__(self, "idle", tuple(self.idle))
        object.__setattr__(self, "limited", tuple(self.limited))


@dataclass(frozen=True)
class OnOff(Table):
    """Bursts of messages with silence between them; each message is an object.

    Attributes
    ----------
    rate
        The rate of the messages' bytes while the source is on.
    message
        The size of a message.
    on, off
        The times for which the source is on, and off: durations or distributions.
    stop
        When the connection closes; default: not before the run ends.
    """

    KIND: ClassVar[str | None] = "onoff"

    rate: str
    message: str
    on: Draw = key(read=read_draw)
    off: Draw = key(read=read_draw)
    stop: str | None = None


@dataclass(frozen=True)
class Bursts(Table):
    """Volumes given at once, such as the segments of a video over HTTP; each is an object.

    Attributes
    ----------
    size
        The volume, such as ``"2 MB"``, or a distribution.
    every
        The time from one to the next, such as ``"4 s"``, or a distribution.
    quick_start
        The rate that the sender asks the routers for with each, whatever the variant.
    stop
        When the connection closes; default: not before the run ends.
    """

    KIND: ClassVar[str | None] = "bursts"

    size: Draw = key(read=read_draw)
    every: Draw = key(read=read_draw)
    quick_start: str | None = None
    stop: str | None = None


App: TypeAlias = Bulk | Cbr | OnOff | Bursts | Video | Dash | Program | Iperf3

_APPS = {str(app.KIND): app for app in (Bulk, Cbr, OnOff, Bursts, Video, Dash, Program, Iperf3)}


def read_app(table: Mapping[str, Any]) -> App:
    """Return the application that a file has as ``table``."""
    return _APPS[table["kind"]].from_table(table)
