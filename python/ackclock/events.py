"""Flows' own events, measures that may begin with one, and changes of the path.

The names of this module are those of :mod:`ackclock`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ackclock._table import Table, key
from ackclock.channels import read_loss

__all__ = ["After", "Event", "LinkChange", "Measure", "QueueChange"]

FlowEvent: TypeAlias = Literal["idle", "resume", "limited", "restore"]


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
    loss: Any = key(default=None, read=read_loss)


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
