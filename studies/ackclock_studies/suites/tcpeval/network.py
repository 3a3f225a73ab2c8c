"""The networks and the traffic of the Common TCP Evaluation Suite (draft-irtf-iccrg-tcpeval-01).

The draft replays traces of connections (Tmix), which are not to be had. Its loads are kept, and its
edge delays; the connections are a substitute of our own: Poisson arrivals of connections with
exchanges of heavy-tailed size and pauses between them, between each pair of edges.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import ackclock as ac
from ackclock.scenario.queues import AnyQueue
from ackclock.suites.framework.case import MEASURE

__all__ = ["CENTRE", "EDGES_LEFT", "EDGES_RIGHT", "Centre", "between", "centre_rtt_s", "scenario"]

CENTRE = "bottleneck"
"""The name of the centre link; forward is from right to left, the direction with more load."""

EDGES_LEFT = (0.0, 0.012, 0.025)
EDGES_RIGHT = (0.002, 0.037, 0.075)
"""One-way delays of the edges, in seconds."""

PACKET_BYTES = 1500
MEDIAN_BYTES, SIGMA = 3_000, 2.0
"""The sizes of answers: log-normal, with a mean of 3 kB · e² = 22.2 kB."""

EXCHANGES, PAUSE_S = 3.0, 1.0
"""The mean number of exchanges of a connection, and the mean pause between two."""

SMALL_SHARE = 0.1
"""The part of connections with packets of 536 bytes; the others have 1500."""


@dataclass(frozen=True)
class Centre:
    """The centre link.

    ``back_bps`` and ``back_buffer_s`` are those of the way with less load, where they differ.
    """

    rate_bps: float
    delay_s: float
    buffer_s: float
    edge_bps: float
    back_bps: float | None = None
    back_buffer_s: float | None = None
    queue: AnyQueue | None = None
    channel: ac.Channel | None = None
    edges: tuple[tuple[float, ...], tuple[float, ...]] = (EDGES_LEFT, EDGES_RIGHT)


def mean_bytes() -> float:
    """Return the mean volume of a connection."""
    return EXCHANGES * MEDIAN_BYTES * math.exp(SIGMA**2 / 2)


def centre_rtt_s(centre: Centre, left: int, right: int) -> float:
    """Return the round-trip time between two edges."""
    return 2 * (centre.delay_s + centre.edges[0][left] + centre.edges[1][right])


def packets(rate_bps: float, seconds: float) -> str:
    """Return a buffer of so many seconds of a rate."""
    return f"{max(2, round(rate_bps * seconds / 8 / PACKET_BYTES))} packet"


def links(centre: Centre) -> list[ac.GraphLink]:
    """Return the centre link and the edges."""
    back_bps = centre.back_bps or centre.rate_bps
    back_s = centre.buffer_s if centre.back_buffer_s is None else centre.back_buffer_s
    middle = ac.GraphLink(
        CENTRE,
        from_node="right",
        to_node="left",
        rate=_rate(centre.rate_bps),
        delay=_nanos(centre.delay_s),
        queue=centre.queue or ac.Queue(packets(centre.rate_bps, centre.buffer_s)),
        channel=centre.channel,
        reverse=ac.Reverse(
            rate=_rate(back_bps),
            queue=centre.queue or ac.Queue(packets(back_bps, back_s)),
        ),
    )
    edges = [
        ac.GraphLink(
            f"{side} {n}",
            from_node=side,
            to_node=f"{side}{n}",
            rate=_rate(centre.edge_bps),
            delay=_nanos(delay),
        )
        for side, delays in zip(("left", "right"), centre.edges, strict=True)
        for n, delay in enumerate(delays, 1)
    ]
    return [middle, *edges]


def between(variant: str, client: str, server: str, rate_bps: float, name: str) -> list[ac.Traffic]:
    """Return connections whose answers from ``server`` to ``client`` have a mean rate."""
    per_second = rate_bps / 8 / mean_bytes()
    request = ac.Request(
        ac.Lognormal(f"{MEDIAN_BYTES} B", SIGMA),
        request=ac.Lognormal("400 B", 1.0),
        # Rounded up it is geometric: 1 / (1 - e^(-1/m)) is EXCHANGES for this mean m.
        exchanges=ac.Exponential(1 / math.log(EXCHANGES / (EXCHANGES - 1))),
        gap=ac.Exponential(f"{PAUSE_S:g} s"),
    )
    return [
        ac.Traffic(
            f"{name} of {packet}",
            variant,
            arrivals=ac.Poisson(f"{share * per_second:.9f} /s"),
            app=request,
            from_node=client,
            to_node=server,
            tcp=ac.Tcp(mss=f"{packet - 40} B"),
        )
        for packet, share in ((536, SMALL_SHARE), (PACKET_BYTES, 1 - SMALL_SHARE))
    ]


def everywhere(variant: str, centre: Centre, load: float) -> list[ac.Traffic]:
    """Return connections between all pairs of edges: half as much load from left to right."""
    back_bps = centre.back_bps or centre.rate_bps
    found: list[ac.Traffic] = []
    pairs = [(left, right) for left in (1, 2, 3) for right in (1, 2, 3)]
    for left, right in pairs:
        down = load * centre.rate_bps / len(pairs)
        up = 0.5 * load * back_bps / len(pairs)
        found += between(variant, f"left{left}", f"right{right}", down, f"down {left}{right}")
        found += between(variant, f"right{right}", f"left{left}", up, f"up {left}{right}")
    return found


def scenario(
    title: str,
    centre: Centre,
    traffic: Sequence[ac.Traffic],
    *,
    seed: int,
    warm_up_s: float,
    test_s: float,
    flows: Sequence[ac.Flow] = (),
    cross: Sequence[ac.CrossTraffic] = (),
    probes: Sequence[ac.Probe] = (),
) -> ac.Scenario:
    """Return a scenario on the centre link, measured after the warm-up."""
    return ac.Scenario(
        title=title,
        duration=_nanos(warm_up_s + test_s),
        seed=seed,
        topology=ac.graph(links(centre)),
        flows=flows,
        traffic=traffic,
        cross_traffic=cross,
        probes=probes,
        measures=[ac.Measure(MEASURE, start=_nanos(warm_up_s))],
    )


def _rate(bps: float) -> str:
    return f"{bps:.0f} bit/s"


def _nanos(seconds: float) -> str:
    return f"{round(1e9 * seconds)} ns"
