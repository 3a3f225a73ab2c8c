"""Paths that cases are run on: flows with access links of their own behind one bottleneck."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import ackclock as ac
from ackclock.scenario.channels import Loss
from ackclock.scenario.jitters import Jitter
from ackclock.scenario.queues import AnyQueue
from ackclock.suites.framework.case import MEASURE

__all__ = ["Member", "Way", "queue_of"]

PACKET_BYTES = 1500
MSS_BYTES = 1448
_SHARED = 0.02
"""The part of the shortest round trip that the bottleneck has; the rest is on the access links."""


def queue_of(rate_bps: float, seconds: float) -> str:
    """Return a queue of so many seconds at a rate, as packets."""
    return f"{max(1, round(rate_bps * seconds / (8 * PACKET_BYTES)))} packet"


@dataclass(frozen=True)
class Member:
    """A flow: its sender, name, round-trip time, second of starting and volume in bytes."""

    variant: str
    name: str
    rtt_s: float
    start_s: float = 0.0
    size: int = 0
    """0: as much as the run takes."""
    count: int = 1
    stagger_s: float = 0.0
    app: ac.App | None = None
    """Another application than a transfer of ``size``."""


@dataclass(frozen=True)
class Way:
    """A bottleneck, and how long flows are measured on it.

    The buffer is ``buffer_bdp`` bandwidth-delay products of ``rtt_s``, or ``buffer_s`` of the
    rate, drop-tail, or another queue. Without ``warm_up_s`` the first quarter is not measured. A
    seed moves every start by less than ``jitter_starts_s``.
    """

    title: str
    rate_bps: float
    rtt_s: float
    duration_s: float
    buffer_bdp: float = 1.0
    buffer_s: float | None = None
    warm_up_s: float | None = None
    loss: Loss = 0.0
    queue: AnyQueue | None = None
    jitter: Jitter | None = None
    reorder: ac.Reorder | None = None
    channel: ac.Channel | None = None
    outage: ac.Outage | None = None
    reverse: ac.Reverse | None = None
    probes: Sequence[ac.Probe] = field(default=())
    events: Sequence[ac.Event] = field(default=())
    traffic: Sequence[ac.Traffic] = field(default=())
    cross: Sequence[ac.CrossTraffic] = field(default=())
    jitter_starts_s: float = 0.1
    ecn: bool = False
    """True if the flows ask for marks."""

    def limit(self) -> str:
        """Return the buffer as packets."""
        seconds = self.buffer_bdp * self.rtt_s if self.buffer_s is None else self.buffer_s
        return queue_of(self.rate_bps, seconds)

    @property
    def shared_s(self) -> float:
        """The part of the round trip that the bottleneck has, if no flow has a shorter one."""
        return _SHARED * self.rtt_s

    def changing(self, events: Sequence[ac.Event]) -> Way:
        """Return the path with changes of the bottleneck."""
        return replace(self, events=events)

    def with_(self, members: Sequence[Member], seed: int) -> ac.Scenario:
        """Return the scenario of flows on this path."""
        draws = random.Random(f"{self.title} {seed}")  # noqa: S311
        shared_s = _SHARED * min([self.rtt_s, *(member.rtt_s for member in members)])
        bottleneck = ac.GraphLink(
            "bottleneck",
            from_node="left",
            to_node="right",
            rate=f"{self.rate_bps:.0f} bit/s",
            delay=_nanos(shared_s / 2),
            queue=self.queue or ac.Queue(self.limit()),
            loss=self.loss,
            jitter=self.jitter,
            reorder=self.reorder,
            channel=self.channel,
            outage=self.outage,
            reverse=self.reverse or ac.Reverse(loss=0.0),
        )
        links, flows = [bottleneck], []
        for member in members:
            node = f"at {member.name}"
            links.append(_access(node, self.rate_bps, (member.rtt_s - shared_s) / 2))
            at = member.start_s + draws.random() * self.jitter_starts_s
            flow = ac.Flow(
                member.variant,
                name=member.name,
                from_node=node,
                to_node="right",
                start=_nanos(at),
                app=member.app or (ac.Bulk(f"{member.size} B") if member.size else ac.Bulk()),
                tcp=ac.Tcp(
                    mss=f"{MSS_BYTES} B",
                    receive_window="1 GB",
                    # Programs that send frames as they come set TCP_NODELAY.
                    ecn="on" if self.ecn else None,
                    nagle="off" if isinstance(member.app, ac.Frames) else None,
                ),
            )
            if member.count > 1:
                flow = replace(flow, count=member.count, stagger=_nanos(member.stagger_s))
            flows.append(flow)
        if self.traffic:
            links.append(_access("at the web", self.rate_bps, (self.rtt_s - shared_s) / 2))
        warm_up_s = self.duration_s / 4 if self.warm_up_s is None else self.warm_up_s
        return ac.Scenario(
            title=self.title,
            duration=_nanos(self.duration_s),
            seed=seed,
            topology=ac.graph(links),
            flows=flows,
            traffic=self.traffic,
            cross_traffic=self.cross,
            events=self.events,
            probes=self.probes,
            measures=[ac.Measure(MEASURE, start=_nanos(warm_up_s))],
        )


def _access(node: str, rate_bps: float, delay_s: float) -> ac.GraphLink:
    return ac.GraphLink(
        f"access of {node}",
        from_node=node,
        to_node="left",
        rate=f"{max(10 * rate_bps, 1e9):.0f} bit/s",
        delay=_nanos(delay_s),
    )


def _nanos(seconds: float) -> str:
    return f"{round(1e9 * seconds)} ns"
