"""The runs: one path, two routers, and what the paper's figures vary.

Sizes in bytes, rates in bit/s, times in s. Where the paper is silent the choice stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import ackclock as ac

LINK_BPS = 100_000_000
"""The rate of both routers' links."""
HIGH_BPS, LOW_BPS = 81_920_000, 5_120_000
"""The rates that the paper asks for."""
RTTS_S = (0.1, 0.2)
SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000,
         30_000_000, 100_000_000)  # fmt: skip
GROWTHS: Mapping[str, str] = {"newreno": "newreno+sack", "cubic": "cubic+sack+standard"}
"""CUBIC without HyStart, as Linux 2.6.24 had it; its beta, then 0.8, matters only after a loss."""
WINDOW = "8 MB"
"""The socket buffers of the paper."""
TCP = ac.Tcp(
    initial_window=3,
    delayed_ack="off",
    # Linux's rule, by which the last segment of a response does not wait for an ACK.
    nagle="minshall",
    receive_window=WINDOW,
)
"""The settings of every connection."""
SLOT_S = 0.2
"""The slots of Figures 7 and 8; two of them make the history."""
FLOOD_PER_S = 200
SLOTS_S, HISTORIES = (0.1, 0.2, 0.5, 1.0), (1, 2, 4)
SHARES = (0.0, 0.01, 0.5)
"""Packets with a request, of all (Table II)."""


@dataclass(frozen=True)
class Plan:
    """The amount of work; ``quick`` is a smaller honest version."""

    quick: bool

    @property
    def long_s(self) -> float:
        """The time for which the slowest rates of Figures 4 and 6 are watched."""
        return 60.0 if self.quick else 420.0

    @property
    def flood_s(self) -> float:
        """The time for which the routers are flooded."""
        return 24.0 if self.quick else 120.0

    @property
    def trials(self) -> int:
        """Runs of each attack."""
        return 100 if self.quick else 1000

    @property
    def batches(self) -> int:
        """Batches for the distribution of a router's times, in hundreds; runs of an end point."""
        return 60 if self.quick else 400

    @property
    def blocks(self) -> int:
        """New pairs of routers by which their cost is measured."""
        return 10 if self.quick else 40


def quickstart(rate_bps: int, ssthresh_rule: str, *, unlimited: bool = False) -> str:
    """Return the part of a variant's name that asks for a rate."""
    rule = ",approved" if ssthresh_rule == "approved" else ""
    after = ",unlimited" if unlimited else ""
    return f"+quickstart({rate_bps / 1e6:g}Mbps{rule}{after})"


@dataclass(frozen=True)
class Opened:
    """A choice each of what the paper leaves open; the defaults are the study's own."""

    buffer: str = ""
    """The routers' buffer; empty: what the run says."""
    cubic: str = GROWTHS["cubic"]
    main: str = "newreno"
    """The growth law of the runs that are called NewReno's in Figure 10."""
    unlimited: bool = False
    """Slow start after Quick-Start is not limited."""
    delayed_ack: bool = False
    idle: str = "+cwv"
    """The rule for a window after silence, in Table I."""

    @property
    def tcp(self) -> ac.Tcp:
        """The settings of every connection."""
        return replace(TCP, delayed_ack=ac.DelayedAck("40 ms")) if self.delayed_ack else TCP

    def sender(self, growth: str) -> str:
        """Return the sender with a growth law."""
        return self.cubic if growth == "cubic" else GROWTHS[growth]


OWN = Opened()


def router(
    slot_s: float = SLOT_S,
    history: int = 2,
    *,
    most: str | None = None,
    cheat: str | None = None,
) -> ac.Admission:
    """Return a router's admission, with a threshold of all of the link."""
    return ac.Admission(
        threshold=1.0, slot=f"{slot_s:g} s", history=history, most=most, cheat=cheat
    )


Router = Literal["approve", "deny"] | ac.Admission | None
"""A router's treatment of requests; None takes no part."""


def path(
    rtt_s: float,
    *,
    buffer: str = "lossless",
    first: Router = "approve",
    second: Router = "approve",
) -> ac.Graph:
    """Return server, router 1, router 2, client; the routers' links are the slow ones.

    Both ends have 1 Gbit/s and 1 ms; ``buffer`` is that of the routers.
    """
    inner_ms = (rtt_s * 1000 / 2 - 2) / 2

    def link(name: str, ends: tuple[str, str], router: Router, *, slow: bool) -> ac.GraphLink:
        return ac.GraphLink(
            name,
            *ends,
            rate=f"{LINK_BPS} bit/s" if slow else "1 Gbit/s",
            delay=f"{inner_ms:g} ms" if slow else "1 ms",
            queue=ac.Queue(buffer) if slow and buffer != "lossless" else None,
            quick_start=router,
            reverse=ac.Reverse(quick_start="approve"),
        )

    return ac.graph(
        [
            link("server", ("server", "r1"), "approve", slow=False),
            link("first", ("r1", "r2"), first, slow=True),
            link("second", ("r2", "r3"), second, slow=True),
            link("client", ("r3", "client"), "approve", slow=False),
        ]
    )


def download(
    variant: str,
    size_bytes: int,
    *,
    at_s: Sequence[float] = (0.0,),
    exchanges: int = 1,
    gap_s: float = 0.0,
    tcp: ac.Tcp = TCP,
) -> ac.Traffic:
    """Return a class of connections on which a client asks and the server answers."""
    return ac.Traffic(
        "web",
        variant,
        arrivals=ac.At([f"{at:g} s" for at in at_s]),
        app=ac.Request(
            f"{size_bytes} B",
            request="100 B",
            exchanges=exchanges,
            gap=f"{gap_s:g} s",
            closes="client",
        ),
        tcp=tcp,
        from_node="client",
        to_node="server",
    )


@dataclass(frozen=True)
class Transfer:
    """A response on an open connection; the grant came with the handshake."""

    rtt_s: float
    size_bytes: int
    growth: str
    buffer: str
    startup: str
    ssthresh_rule: str
    seed: int = 1
    window: str = WINDOW
    opened: Opened = OWN

    @property
    def variant(self) -> str:
        """The sender."""
        opened = self.opened
        base = opened.sender(opened.main if self.growth == "newreno" else self.growth)
        if self.startup == "quick-start":
            return base + quickstart(HIGH_BPS, self.ssthresh_rule, unlimited=opened.unlimited)
        return base

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        slow_s = self.size_bytes * 8 / LINK_BPS
        first = 10 if self.startup == "iw10" else TCP.initial_window
        tcp = replace(self.opened.tcp, receive_window=self.window, initial_window=first)
        return ac.Scenario(
            duration=f"{20 + 40 * self.rtt_s + 4 * slow_s:g} s",
            seed=self.seed,
            topology=path(self.rtt_s, buffer=self.opened.buffer or self.buffer),
            flows=[],
            traffic=[download(self.variant, self.size_bytes, tcp=tcp)],
        )


def transfers() -> list[Transfer]:
    """Return the runs of Figure 10."""
    ways = [("slow-start", "unchanged"), ("iw10", "unchanged"), ("quick-start", "unchanged"),
            ("quick-start", "approved")]  # fmt: skip
    return [
        Transfer(rtt_s, size, growth, buffer, startup, rule)
        for rtt_s in RTTS_S
        for growth in GROWTHS
        for buffer in ("lossless", "1 BDP")
        for startup, rule in ways
        for size in SIZES
    ]


def windows() -> list[Transfer]:
    """Return the same with smaller receive windows, of one size: flow control in the way."""
    return [
        Transfer(0.1, 1_000_000, "newreno", "lossless", startup, "unchanged", window=window)
        for window in ("64 kB", "256 kB", "1 MB", WINDOW)
        for startup in ("slow-start", "quick-start")
    ]


@dataclass(frozen=True)
class Trace:
    """A long download, its rate seen over time."""

    rtt_s: float
    growth: str
    rate_bps: int
    """What is asked for; zero asks for nothing."""
    ssthresh_rule: str
    length_s: float
    opened: Opened = OWN

    @property
    def variant(self) -> str:
        """The sender."""
        opened = self.opened
        asks = quickstart(self.rate_bps, self.ssthresh_rule, unlimited=opened.unlimited)
        return opened.sender(self.growth) + (asks if self.rate_bps else "")

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario: the last link is sampled once a round trip."""
        return ac.Scenario(
            duration=f"{self.length_s:g} s",
            topology=path(self.rtt_s, buffer=self.opened.buffer or "lossless"),
            flows=[],
            traffic=[download(self.variant, 20_000_000_000, tcp=self.opened.tcp)],
            probes=[ac.Probe(link="client", every=f"{self.rtt_s:g} s")],
        )


def traces(plan: Plan) -> list[Trace]:
    """Return the runs of Figures 4 and 6."""
    asked = [(0, "unchanged"), (HIGH_BPS, "unchanged"), (HIGH_BPS, "approved"),
             (LOW_BPS, "unchanged"), (LOW_BPS, "approved")]  # fmt: skip
    return [
        Trace(rtt_s, growth, rate, rule, plan.long_s if rule == "approved" else 30.0)
        for rtt_s in RTTS_S
        for growth in GROWTHS
        for rate, rule in asked
    ]


SECOND_DOWNLOAD_S, END_S = 8.0, 24.0


def _cross(link: str, rate_bps: float, start_s: float, stop_s: float) -> ac.CrossTraffic:
    return ac.CrossTraffic(
        link,
        f"{rate_bps / 12_000:.6f} packet/s",
        "1500 B",
        kind="periodic",
        start=f"{start_s:g} s",
        stop=f"{stop_s:g} s",
    )


def cross_traffic() -> list[ac.CrossTraffic]:
    """Return that of Figure 8.

    30 Mbit/s until the first download is over; 100 Mbit/s from before the third request on.
    """
    return [_cross("first", 30e6, 0.0, 5.0), _cross("second", 100e6, 12.0, END_S)]


def downloads(*, cross: bool, growth: str, opened: Opened = OWN) -> ac.Scenario:
    """Return Figure 7 or, with cross-traffic, 8: three downloads of 10 MB, 5 s apart.

    As in the paper the threshold becomes the approved window, and silence costs window (RFC 2861).
    """
    asks = quickstart(HIGH_BPS, "approved", unlimited=opened.unlimited)
    variant = opened.sender(growth) + "+cwv" + asks
    topology = path(0.1, buffer=opened.buffer or "lossless", first=router(), second=router())
    return ac.Scenario(
        duration=f"{END_S:g} s",
        topology=topology,
        flows=[],
        traffic=[
            download(variant, 10_000_000, at_s=(1.0,), exchanges=3, gap_s=5.0, tcp=opened.tcp)
        ],
        cross_traffic=cross_traffic() if cross else [],
        probes=[
            ac.Probe(link=link, every=f"{SLOT_S:g} s") for link in ("first", "second", "client")
        ],
    )


def flood(slot_s: float, history: int, seconds: float) -> ac.Scenario:
    """Return Figure 9: 200 requests a second for 5.12 Mbit/s, none of which is used."""
    variant = GROWTHS["newreno"] + quickstart(LOW_BPS, "unchanged")
    asking = replace(download(variant, 1), arrivals=ac.Periodic(f"{FLOOD_PER_S} /s"))
    return ac.Scenario(
        duration=f"{seconds:g} s",
        topology=path(0.02, first=router(slot_s, history)),
        flows=[],
        traffic=[asking],
    )


@dataclass(frozen=True)
class Attack:
    """Somebody lies about a rate that router 1 has lowered by ``steps`` steps."""

    who: str
    steps: int
    seed: int

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        lowered = f"{HIGH_BPS >> self.steps} bit/s"
        high = f"{HIGH_BPS} bit/s"
        second: Router = router(cheat=high) if self.who == "router" else "approve"
        if self.who == "no part":
            second = None
        lie = ac.QuickStart(lie=high) if self.who == "receiver" else None
        variant = GROWTHS["newreno"] + quickstart(HIGH_BPS, "unchanged")
        return ac.Scenario(
            duration="2 s",
            seed=self.seed,
            topology=path(0.1, first=router(most=lowered), second=second),
            flows=[],
            traffic=[download(variant, 1_000, tcp=replace(TCP, quick_start=lie))],
        )


def attacks(plan: Plan) -> list[Attack]:
    """Return the runs of every attack."""
    return [
        Attack(who, steps, seed)
        for who, depths in (
            ("nobody", (1,)),
            ("router", (1, 2, 3)),
            ("receiver", (1, 2, 3)),
            ("no part", (1,)),
        )
        for steps in depths
        for seed in range(1, plan.trials + 1)
    ]
