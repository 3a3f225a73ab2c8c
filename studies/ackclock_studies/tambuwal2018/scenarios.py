"""The study's scenarios: web traffic over one bottleneck, and the variants that meet it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import ackclock as ac

MSS_BYTES = 1460
BOTTLENECK_BPS = 10_000_000
WARM_UP_S = 60
INITIAL_RTO_S = 1.0
HIGH_RTT_S = 0.05
QUEUE_PACKETS = 100

BASE = "newreno+sack"

TSL = {
    "1,2": f"{BASE}+tsl(1,2)",
    "1,16": f"{BASE}+tsl(1,16)",
    "1,1000": f"{BASE}+tsl(1,1000)",
    "3,2": f"{BASE}+tsl(3,2)",
    "3,16": f"{BASE}+tsl(3,16)",
    "3,1000": f"{BASE}+tsl(3,1000)",
}
"""The paper's variants by its own names: window and threshold after a lost SYN-ACK, in segments.

``1,2`` is what it calls TCP; an ns-2 that nobody changed behaves as ``3,2``.
"""

RFC6928 = f"{BASE}+synloss(rfc6928)"
STANDARD, BEST = TSL["1,2"], TSL["3,16"]
OTHERS = tuple(name for name in TSL if name != "1,2")
"""The five columns of the paper's tables."""

VARIANTS = (*TSL.values(), RFC6928)

LABELS: Mapping[str, str] = {
    **{variant: f"TSL {short}" for short, variant in TSL.items()},
    STANDARD: "TCP (1,2)",
    RFC6928: "RFC 6928",
}

LOADS = (0.4, 0.6, 0.75, 0.9, 0.98)
LONG_LOADS = (0.4, 0.9, 0.98)
"""The loads that the paper's figures show; the others lie between."""

GUESSES: Mapping[float, float] = {0.4: 54.0, 0.6: 82.5, 0.75: 104.0, 0.9: 125.0, 0.98: 144.0}
"""Connections per second with which the search for a load's rate begins; it ends where it must."""

TOLERANCE: Mapping[float, float] = {0.4: 0.004, 0.6: 0.006, 0.75: 0.0075, 0.9: 0.005, 0.98: 0.003}
"""How near to the load the mean utilisation over the seeds has to be.

Closer where the curve is flat: at 98 % the rate changes by 3 % where the utilisation does by 0.3.
"""

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Of connections that use TSL 3,16, in the mixed populations of Figure 12; the rest use 1,2."""


@dataclass(frozen=True)
class Plan:
    """The amount of work: the study, or its quick version."""

    quick: bool

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds; all variants of one seed meet the same connections."""
        return (1, 2) if self.quick else (1, 2, 3, 4, 5)

    @property
    def loads(self) -> tuple[float, ...]:
        """The loads."""
        return LONG_LOADS if self.quick else LOADS

    def connections(self, load: float) -> int:
        """Return how many connections a run opens after its warm-up, on average."""
        if self.quick:
            return 20_000
        return 750_000 if load in LONG_LOADS else 200_000

    @property
    def mixed_connections(self) -> int:
        """Connections of a run with a mixed population."""
        return 20_000 if self.quick else 300_000

    @property
    def beside_connections(self) -> int:
        """Connections of a run beside the paper's."""
        return 10_000 if self.quick else 200_000

    def tolerance(self, load: float) -> float:
        """Return how near to the load the search goes."""
        return 3 * TOLERANCE[load] if self.quick else TOLERANCE[load]


@dataclass(frozen=True)
class Feedback:
    """The end of TSL: a server whose SYN-ACKs are lost too often gives new connections 1,2.

    No bit on the wire, nothing of the client: an exponential mean over the server's last hundred
    connections, of the share whose SYN-ACK it had to send again.
    """

    threshold: float
    memory: float = 100.0

    def as_variant(self) -> ac.Feedback:
        """Return it as a scenario has it."""
        return ac.Feedback(BEST, STANDARD, threshold=self.threshold, memory=self.memory)


THRESHOLD = 0.06
"""A sender in congestion avoidance keeps √(1.5/p) segments at a loss rate p (Mathis et al. 1997):
at 6 % five. Where more than that is lost, beginning with three and doubling twice is past what the
path gives anybody."""

OTHER_THRESHOLDS = (0.03, 0.12)

SYN_LOSS = 0.01
QUIET_LOAD = 0.1
"""The middlebox: one SYN or SYN-ACK in a hundred, on a path that is used to a tenth."""

FTP_FLOWS = 2
FTP_ONE_WAY_S = 0.025


@dataclass(frozen=True)
class Setting:
    """One run.

    ``variant`` is a name, shares by name for a mixed population, or a :class:`Feedback`.
    ``syn_loss`` is the share of SYNs and SYN-ACKs that a middlebox before the servers takes,
    without congestion; ``ftp`` so many transfers without end run beside the web.
    """

    variant: str | Mapping[str, float] | Feedback
    rate_per_s: float
    connections: int
    seed: int
    three_seconds: bool | None = None
    """Three seconds of timeout after a lost SYN; default: the profile's."""
    syn_loss: float = 0.0
    ftp: int = 0
    memory: Literal["ns2", "long"] = "ns2"
    """How far connections remember one another."""
    queue_packets: int = QUEUE_PACKETS
    min_rto: str | None = None
    """The least timeout; None: ns-2's."""
    delayed_ack: bool = False
    http: Literal["1.0", "1.1"] = "1.1"
    later: Literal["drawn"] | None = None
    """The later responses of a connection: drawn as the first; None: near a size of its own."""
    delaybox: bool = False
    """The delays forget a connection with its first FIN, as ns-2's DelayBox does."""
    counted: Literal["one", "any"] = "one"
    """The connections that lost a SYN-ACK: exactly one and no SYN, or one or more."""

    @property
    def duration_s(self) -> int:
        """The simulated time: the warm-up, then the time that so many arrivals take on average."""
        return WARM_UP_S + max(1, round(self.connections / self.rate_per_s))

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario.

        The gigabit edges are a line of each connection's own: a link of 10 Mbit/s cannot fill one
        that all share.
        """
        edge = ac.AccessLine(rate="1 Gbit/s", delaybox=self.delaybox)
        start = f"{WARM_UP_S} s"
        web = ac.Traffic(
            "web",
            self._variant(),
            arrivals=ac.PackMimeArrivals(f"{self.rate_per_s!r} /s", memory=self.memory),
            app=ac.PackMime(http=self.http, memory=self.memory, later=self.later),
            profile="ns2",
            tcp=ac.Tcp(
                mss=f"{MSS_BYTES} B",
                initial_window=3,
                receive_window=f"{1000 * MSS_BYTES} B",
                min_rto=self.min_rto,
                delayed_ack=ac.DelayedAck("200 ms") if self.delayed_ack else None,
                three_seconds_after_lost_syn=self.three_seconds,
            ),
            from_node="clients",
            to_node="servers",
            access=ac.Access(client=edge, server=replace(edge, syn_loss=self.syn_loss)),
        )
        bottleneck = ac.GraphLink(
            "bottleneck",
            from_node="servers",
            to_node="clients",
            rate=f"{BOTTLENECK_BPS} bit/s",
            delay="0 ms",
            queue=ac.Queue(f"{self.queue_packets} packet"),
        )
        return ac.Scenario(
            title=f"Web traffic, {self.rate_per_s:.2f} connections a second",
            duration=f"{self.duration_s} s",
            seed=self.seed,
            topology=ac.graph([bottleneck]),
            flows=[],
            traffic=[web, *self._ftp()],
            measures=[
                ac.Measure("warmup", start="0 s", duration=start),
                ac.Measure("steady", start=start),
            ],
            probes=[ac.Probe(link="bottleneck", what=["queue"], every="1 s", start=start)],
        )

    def _ftp(self) -> list[ac.Traffic]:
        """Return the long-lived class: transfers from the servers to the clients."""
        if not self.ftp:
            return []
        line = ac.AccessLine(rate="1 Gbit/s", delay=f"{FTP_ONE_WAY_S / 2!r} s")
        return [
            ac.Traffic(
                "ftp",
                BASE,
                arrivals=ac.At(["0 s"] * self.ftp),
                app=ac.Upload("1000 GB"),
                profile="ns2",
                tcp=ac.Tcp(mss=f"{MSS_BYTES} B", initial_window=3),
                from_node="servers",
                to_node="clients",
                access=ac.Access(client=line, server=line),
            )
        ]

    def _variant(self) -> str | list[ac.Share] | ac.Feedback:
        if isinstance(self.variant, Feedback):
            return self.variant.as_variant()
        if isinstance(self.variant, str):
            return self.variant
        return [ac.Share(name, weight) for name, weight in self.variant.items()]
