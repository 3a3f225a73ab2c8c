"""Topologies by their form."""

from __future__ import annotations

from collections.abc import Sequence

from ackclock import _core
from ackclock.scenario.channels import Aggregation, Channel, Loss
from ackclock.scenario.jitters import Jitter
from ackclock.scenario.links import (
    AckThinning,
    Dumbbell,
    Graph,
    GraphLink,
    Link,
    Path,
    Reorder,
    Reverse,
)
from ackclock.scenario.queues import AnyQueue, Queue

__all__ = ["dumbbell", "graph", "link_of", "path"]


def path(
    rate: str,
    rtt: str,
    buffer: str | None = None,
    *,
    queue: AnyQueue | None = None,
    loss: Loss = 0.0,
    reorder: Reorder | None = None,
    channel: Channel | None = None,
    jitter: Jitter | None = None,
    aggregation: Aggregation | None = None,
    ack_thinning: AckThinning | None = None,
    reverse: Reverse | None = None,
) -> Path:
    """Return a topology of one link, named ``bottleneck``, that all flows share.

    Parameters
    ----------
    rate
        The rate of the link, both ways, such as ``"20 Mbit/s"``.
    rtt
        The round-trip time of the empty path, such as ``"40 ms"``.
    buffer
        The most that waits in front of the link: ``"1 BDP"`` (default), ``"50 ms"``,
        ``"100 packet"``.
    queue
        A queue with another discipline, such as ``ac.CoDel()``, in the place of ``buffer``.
    loss
        Packets that are lost after they were sent, both ways, such as ``0.01``.
    reorder
        Packets that arrive late, behind others.
    channel
        A channel in the place of the constant rate, such as ``ac.Cellular()``.
    jitter
        A delay on top that varies, such as ``ac.UniformJitter("5 ms")``.
    aggregation
        A rule by which packets leave in frames, such as ``ac.Ampdu()``.
    ack_thinning
        Thinning of ACKs, such as ``ac.AckThinning(every=4)``.
    reverse
        The keys that differ on the way back, such as ``ac.Reverse(aggregation=ac.Hold())``.

    Returns
    -------
    Path
        The topology.
    """
    return Path(
        rate=rate,
        rtt=rtt,
        buffer=buffer,
        queue=queue,
        loss=loss,
        reorder=reorder,
        channel=channel,
        jitter=jitter,
        aggregation=aggregation,
        ack_thinning=ack_thinning,
        reverse=reverse,
    )


def link_of(path: Path) -> Link:
    """Return the link that a path is, with the delay of one way."""
    half_ms = 1e3 * _core.seconds("rtt", path.rtt) / 2
    queue = path.queue if path.buffer is None else Queue(path.buffer)
    return Link(
        path.rate,
        f"{half_ms:g} ms",
        queue=queue,
        loss=path.loss,
        reorder=path.reorder,
        channel=path.channel,
        jitter=path.jitter,
        aggregation=path.aggregation,
        ack_thinning=path.ack_thinning,
        reverse=path.reverse,
    )


def dumbbell(*, bottleneck: Link, access: Link, access_right: Link | None = None) -> Dumbbell:
    """Return a topology in which every flow crosses one shared link.

    Parameters
    ----------
    bottleneck
        The shared link.
    access
        The access links of the senders, and of the receivers unless ``access_right`` is given.
    access_right
        The access links of the receivers.

    Returns
    -------
    Dumbbell
        The topology.
    """
    return Dumbbell(bottleneck=bottleneck, access=access, access_right=access_right)


def graph(links: Sequence[GraphLink]) -> Graph:
    """Return a topology of any nodes, joined by named links.

    Parameters
    ----------
    links
        The links; the nodes are those that they name.

    Returns
    -------
    Graph
        The topology.
    """
    return Graph(links=links)
