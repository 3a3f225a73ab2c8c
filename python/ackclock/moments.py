"""Applications over time, measures that begin with an event, and changes of the path.

The names of this module are those of :mod:`ackclock`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from ackclock._table import Table, each, key
from ackclock.draws import Draw, read_draw
from ackclock.programs import Iperf3, Program
from ackclock.video import Dash, Video

__all__ = [
    "After",
    "Bulk",
    "Bursts",
    "Cbr",
    "Dash",
    "Event",
    "Idle",
    "Iperf3",
    "Limited",
    "LinkChange",
    "Measure",
    "OnOff",
    "Program",
    "Video",
]

FlowEvent: TypeAlias = Literal["idle", "resume", "limited", "restore"]


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


@dataclass(frozen=True)
class After(Table):
    """A flow's own event.

    Attributes
    ----------
    after
        The event.
    number
        Which of a flow's events of that name, from 1.
    """

    after: FlowEvent
    number: int = 1


def read_time(value: Any) -> str | After:
    """Return the moment, or the flow's event, that a file has as ``value``."""
    return value if isinstance(value, str) else After.from_table(value)


@dataclass(frozen=True)
class Measure(Table):
    """A window of time over which flows and links are measured.

    Attributes
    ----------
    name
        The name: the column ``measure`` of the results. ``run``, the whole run, is always there.
    start
        When it begins: a moment such as ``"10 s"``, or :class:`After`, with which each flow has a
        window of its own; ``from`` in a file.
    duration
        The length of the measure, such as ``"1 s"`` or ``"5 RTT"``; default: to the end of the run.
        ``for`` in a file.
    flow
        The flow that is measured; default: all.
    crossings
        Links at which the packets of each flow are counted over its own window.
    """

    name: str
    start: str | After = key(name="from", read=read_time)
    duration: str | None = key(default=None, name="for")
    flow: str | None = None
    crossings: Sequence[str] = key(default=(), read=tuple)

    def __post_init__(self) -> None:
        """Freeze the sequence."""
        object.__setattr__(self, "crossings", tuple(self.crossings))


@dataclass(frozen=True)
class QueueChange(Table):
    """The keys of a queue that change at a moment.

    Attributes
    ----------
    limit
        The most that waits; ``"1 BDP"`` is of the link as the event leaves it.
    """

    limit: str


def _read_loss(value: Any) -> Any:
    from ackclock.scenario import read_loss  # noqa: PLC0415 - scenarios are made of this module

    return read_loss(value)


@dataclass(frozen=True)
class LinkChange(Table):
    """The keys of a link that change at a moment; others stay.

    Attributes
    ----------
    rate, delay, loss
        As those of :class:`Link`.
    queue
        The new limit of the queue.
    """

    rate: str | None = None
    delay: str | None = None
    queue: QueueChange | None = key(default=None, read=QueueChange.from_table)
    loss: Any = key(default=None, read=_read_loss)


@dataclass(frozen=True)
class Event(Table):
    """A change of the path.

    Attributes
    ----------
    at
        When: a moment such as ``"10 s"``, or :class:`After`, the first flow's event.
    link
        The link that changes.
    set
        The new values.
    direction
        The direction in which it does; default: both.
    flow
        The flow that takes another way, in a graph.
    via
        Its links from the sender to the receiver.
    """

    at: str | After = key(read=read_time)
    link: str | None = None
    set: LinkChange | None = key(default=None, read=LinkChange.from_table)
    direction: Literal["forward", "reverse"] | None = None
    flow: str | None = None
    via: Sequence[str] = key(default=(), read=tuple)

    def __post_init__(self) -> None:
        """Freeze the sequence."""
        object.__setattr__(self, "via", tuple(self.via))
