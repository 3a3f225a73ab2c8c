"""Queues of a scenario: the packets in front of a link, and the order in which they leave.

What each discipline does, and where its defaults come from, stands in ``docs/queues``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

from ackclock._table import Table, key

__all__ = ["AnyQueue", "CoDel", "FqCoDel", "Pie", "Queue", "Red", "read_queue"]


@dataclass(frozen=True)
class Queue(Table):
    """The queue in front of a link, and its discipline: which packet is dequeued next.

    Attributes
    ----------
    limit
        The most that waits: ``"50 packet"``, ``"64 kB"``, ``"1 BDP"`` or ``"unlimited"``.
    kind
        ``"droptail"``: first in, first out. ``"fair"``: the flows are served in turn.
    counts_in_service
        True if the packet being sent counts against the limit, too.
    mark
        The length of the queue from which an arrival is marked with congestion (ECN), written and
        counted like the limit; never if left out.
    """

    limit: str = "unlimited"
    kind: Literal["droptail", "fair"] = key(default="droptail", always=True)
    counts_in_service: bool = False
    mark: str | None = None


@dataclass(frozen=True)
class Red(Table):
    """Random early detection: arrivals are dropped by chance as the average queue rises.

    Attributes
    ----------
    min_th, max_th
        The averages between which the probability rises from 0 to `max_p`: packets
        (``"5 packet"``), bytes (``"7500 B"``) or a multiple of the bandwidth-delay product.
    limit
        The most that waits, whatever the average is.
    weight
        The weight of a new sample in the average, above 0 and up to 1.
    max_p
        The probability as the average comes to `max_th`, above 0 and up to 1.
    gentle
        True if the probability rises to 1 between `max_th` and twice that; otherwise all arrivals
        are dropped from `max_th` on.
    adaptive
        True if `max_p` moves so that the average comes to the middle of the thresholds.
    ecn
        True if packets that ask for ECN are marked where others are dropped by chance.
    packet_size
        A full packet, such as ``"1500 B"``.
    """

    KIND: ClassVar[str | None] = "red"

    min_th: str = "5 packet"
    max_th: str = "15 packet"
    limit: str = "unlimited"
    weight: float = 0.002
    max_p: float = 0.1
    gentle: bool = True
    adaptive: bool = False
    ecn: bool = False
    packet_size: str = "1500 B"


@dataclass(frozen=True)
class CoDel(Table):
    """Controlled delay: packets are dropped at the head while the delay stands above a target.

    Attributes
    ----------
    target
        The standing delay that is accepted, such as ``"5 ms"``.
    interval
        For how long the delay may stay above it, such as ``"100 ms"``.
    limit
        The most that waits.
    ecn
        True if packets that ask for ECN are marked instead of dropped.
    ce_threshold
        The delay above which every packet that asks for ECN is marked; default: none.
    """

    KIND: ClassVar[str | None] = "codel"

    target: str = "5 ms"
    interval: str = "100 ms"
    limit: str = "unlimited"
    ecn: bool = False
    ce_threshold: str | None = None


@dataclass(frozen=True)
class FqCoDel(Table):
    """Flow queues under controlled delay, served by deficit round robin.

    Attributes
    ----------
    target, interval, ce_threshold
        As those of :class:`CoDel`, of each flow queue.
    limit
        The most that waits, in all flow queues together.
    ecn
        True if packets that ask for ECN are marked instead of dropped.
    quantum
        The bytes that a flow queue sends in its turn, such as ``"1514 B"``.
    classify
        The way to a packet's flow queue: by a ``"hash"`` of its flow, or each ``"flow"`` has one of
        its own.
    queues
        The number of flow queues that the hash leads to; default: 1024.
    drop_batch
        The most packets that the longest flow queue loses at once when the buffer is full.
    """

    KIND: ClassVar[str | None] = "fq_codel"

    target: str = "5 ms"
    interval: str = "100 ms"
    limit: str = "10240 packet"
    ecn: bool = True
    ce_threshold: str | None = None
    quantum: str = "1514 B"
    classify: Literal["hash", "flow"] = "hash"
    queues: int | None = None
    drop_batch: int = 64


@dataclass(frozen=True)
class Pie(Table):
    """Proportional integral control: arrivals are dropped by chance to hold a target delay.

    Attributes
    ----------
    target
        The delay that is aimed at, such as ``"15 ms"``.
    update
        The interval at which the probability is computed, such as ``"15 ms"``.
    limit
        The most that waits.
    alpha, beta
        The weights of a second of delay beyond the target, and of a second by which the delay has
        grown, in the probability before the steps are made smaller for small probabilities.
    burst
        For how long nothing is dropped as congestion begins, such as ``"150 ms"``.
    estimate
        The estimate of the delay: by the wait of the packet that left last, or by the rate at which
        packets have left.
    packet_size
        The mean size of a packet: where no more than two wait, nothing is dropped.
    byte_mode
        True if smaller packets are dropped with a smaller probability.
    ecn, mark_below
        True if packets that ask for ECN are marked instead of dropped while the probability is
        below `mark_below`.
    derandomise
        True if drops keep a distance from one another.
    """

    KIND: ClassVar[str | None] = "pie"

    target: str = "15 ms"
    update: str = "15 ms"
    limit: str = "unlimited"
    alpha: float = 0.125
    beta: float = 1.25
    burst: str = "150 ms"
    estimate: Literal["sojourn", "departure_rate"] = "sojourn"
    packet_size: str = "1500 B"
    byte_mode: bool = False
    ecn: bool = False
    mark_below: float = 0.1
    derandomise: bool = False


AnyQueue: TypeAlias = Queue | Red | CoDel | FqCoDel | Pie

_MANAGED: Mapping[str, type[Red | CoDel | FqCoDel | Pie]] = {
    "red": Red,
    "codel": CoDel,
    "fq_codel": FqCoDel,
    "pie": Pie,
}


def read_queue(table: Mapping[str, Any]) -> AnyQueue:
    """Return the queue of a table that the core has checked."""
    return _MANAGED.get(table["kind"], Queue).from_table(table)
