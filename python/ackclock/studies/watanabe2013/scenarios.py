"""The study's scenarios, variants and choices, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

import ackclock as ac
from ackclock.studies.watanabe2013.published import (
    LENGTH_S,
    PICTURE_RATE,
    PUBLISHED,
    VOLUME_BYTES,
)

RTT_MS = 100
PACKET_BITS = 12_000

TODAY = ("bbr", "cubic+hystartpp")
"""What is common today, with today's recovery and first window."""

MADE = "playout"
"""The sender made for video: the law of that name, and a server that paces."""

VARIANTS = (*PUBLISHED, *TODAY, MADE)

PACE = 1.25
"""How many times as fast as the film needs that server sends: a quarter more than enough."""

SENDERS = {
    **{name: f"{name}+sack+iw3" for name in PUBLISHED},
    "cubic": "cubic(linux)+sack+iw3",
    "bbr": "bbr",
    "cubic+hystartpp": "cubic(rfc9438)",
    MADE: "playout",
}
"""The paper's senders are of its time: SACK, a first window of three; its CUBIC has HyStart."""

LITERAL = {
    **SENDERS,
    "ccp(1)": "ccp(1,literal)+sack+iw3",
    "ccpd(1,2000)": "ccpd(1,2000,literal)+sack+iw3",
    "ccpd(1,4000)": "ccpd(1,4000,literal)+sack+iw3",
}

MODERN = {
    **SENDERS,
    **{name: name for name in PUBLISHED},
    "reno": "reno+rack+iw10",
    "cubic": "cubic(linux)",
}
"""The same laws with today's recovery (RACK, PRR) and first window (ten)."""

HALVES = {
    "playout, not paced": (SENDERS[MADE], None),
    "cubic, paced": (SENDERS["cubic"], PACE),
}
"""Either half of the sender made for video by itself: the law, and the server that paces."""


@dataclass(frozen=True)
class Case:
    """A path of the paper: its figure, rate, round trip and random losses."""

    key: str
    figure: str
    rate_bps: float
    rtt_ms: int = RTT_MS
    loss: float = 0.0
    wifi: bool = False

    @property
    def label(self) -> str:
        """Its name in tables and figures."""
        parts = [f"{self.rate_bps / 1e6:g} Mbit/s", f"{self.rtt_ms} ms"]
        if self.loss:
            parts.append("0.01 % lost")
        if self.wifi:
            parts.append("WiFi")
        return ", ".join(parts)


BELOW_BPS, ABOVE_BPS = 4.9e6, 5.6e6
"""Not stated in the paper: "slightly" below and above 5.24 Mbit/s."""

CASES = (
    Case("below", "4", BELOW_BPS),
    Case("below-lossy", "", BELOW_BPS, loss=1e-4),
    Case("above", "6", ABOVE_BPS),
    Case("above-near", "7", ABOVE_BPS, rtt_ms=10),
    Case("above-lossy", "8", ABOVE_BPS, loss=1e-4),
    Case("wide", "9", 20e6),
    Case("wide-lossy", "10", 20e6, loss=1e-4),
    Case("wifi", "11", 31.9e6, wifi=True),
)
BY_KEY = {case.key: case for case in CASES}


@dataclass(frozen=True)
class Choice:
    """A choice of what the paper leaves open: buffer (over the product at 100 ms), CCP, film.

    A film of a constant rate has the same pictures, each second of them scaled to the mean.
    """

    key: str
    buffer: float = 1.0
    literal: bool = False
    constant: bool = False
    modern: bool = False


DEFAULT = Choice("default")
MODERN_ERA = Choice("modern", modern=True)
"""No choice of the paper's, whose time is known: what the same laws do today."""

ALTERNATIVES = (
    Choice("quarter", buffer=0.25),
    Choice("quadruple", buffer=4.0),
    Choice("literal", literal=True),
    Choice("constant", constant=True),
)


@dataclass(frozen=True)
class Plan:
    """The amount of work."""

    quick: bool

    @property
    def trials(self) -> int:
        """Trials of each variant in each case: ten in the paper."""
        return 3 if self.quick else 10

    @property
    def other_trials(self) -> int:
        """Trials under the other choices."""
        return 2 if self.quick else 5

    @property
    def length_s(self) -> int:
        """The length of the video that is played."""
        return 120 if self.quick else LENGTH_S


@cache
def pictures(length_s: int, *, constant: bool = False) -> tuple[int, ...]:
    """Return the sizes of the video's pictures, scaled to the paper's mean rate."""
    text = (
        files("ackclock.studies.watanabe2013").joinpath("pictures.csv").read_text(encoding="ascii")
    )
    sizes = [int(line) for line in text.splitlines()[1:]][: length_s * PICTURE_RATE]
    volume = VOLUME_BYTES * length_s // LENGTH_S
    if not constant:
        return ac.scale_pictures(sizes, volume)
    seconds = [sizes[at : at + PICTURE_RATE] for at in range(0, len(sizes), PICTURE_RATE)]
    return tuple(
        size
        for n, second in enumerate(seconds)
        for size in ac.scale_pictures(second, volume * (n + 1) // length_s - volume * n // length_s)
    )


@dataclass(frozen=True)
class Trial:
    """One run."""

    case: Case
    variant: str
    choice: Choice
    seed: int
    length_s: int
    probe: Literal["", "cwnd", "playout"] = ""
    resize: str = ""

    def sender(self) -> tuple[str, float | None]:
        """Return the sender as the core reads it, and how much faster than needed it sends."""
        if self.variant in HALVES:
            return HALVES[self.variant]
        names = LITERAL if self.choice.literal else MODERN if self.choice.modern else SENDERS
        return names[self.variant], PACE if self.variant == MADE else None

    def film(self) -> ac.Video:
        """Return the application: the film, and how it is sent and played."""
        return ac.Video(
            pictures=pictures(self.length_s, constant=self.choice.constant),
            pace=self.sender()[1],
            resize=self.resize or None,
        )

    def bottleneck(self) -> ac.Link:
        """Return the link that the film has to cross."""
        case = self.case
        packets = max(1, int(self.choice.buffer * case.rate_bps * RTT_MS / 1e3 / PACKET_BITS))
        return ac.Link(
            f"{case.rate_bps:.0f} bit/s",
            f"{case.rtt_ms / 2 - 0.2:g} ms",
            queue=ac.Queue(f"{packets} packet"),
            loss=case.loss,
            channel=ac.Wifi() if case.wifi else None,
            # Stations of a wireless LAN answer over the same air.
            reverse=ac.Reverse(rate=None if case.wifi else "1 Gbit/s", loss=0.0),
        )

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        return ac.Scenario(
            # The slowest, CCP read literally, leaves up to four fifths of a link unused.
            duration=f"{8 * self.length_s:g} s",
            seed=self.seed,
            topology=ac.dumbbell(
                bottleneck=self.bottleneck(), access=ac.Link("1 Gbit/s", "0.1 ms")
            ),
            flows=[
                ac.Flow(
                    self.sender()[0],
                    name="video",
                    start=ac.Uniform("0 s", "1 s"),
                    tcp=ac.Tcp(receive_window="256 MB"),
                    app=self.film(),
                )
            ],
            # What every bench has, such as ARP and NTP, so that no two trials are alike: a packet
            # of 100 bytes in a second.
            cross_traffic=[ac.CrossTraffic("bottleneck", "1 packet/s", "100 B")],
            # The unit of the paper's figure 5.
            probes=[ac.Probe(flow="video", what=[self.probe], every="100 ms")]
            if self.probe
            else [],
        )


def trials(plan: Plan, case: Case) -> list[Trial]:
    """Return the trials of a case, of every variant."""
    return [
        Trial(case, variant, DEFAULT, seed, plan.length_s)
        for variant in VARIANTS
        for seed in range(1, plan.trials + 1)
    ]


def other_trials(plan: Plan, choice: Choice) -> Iterator[Trial]:
    """Return the trials under another choice, of the paper's variants in every case."""
    for case in CASES:
        for variant in PUBLISHED:
            for seed in range(1, plan.other_trials + 1):
                yield Trial(case, variant, choice, seed, plan.length_s)


FIGURE_2 = {"λ high": "below", "λ med": "above", "λ low": "wide"}
"""The paper's three cases: the mean playout rate above, near and below that of the path."""


def buffers(plan: Plan) -> list[Trial]:
    """Return the runs of figure 2: a film of constant rate, since the paper speaks of its mean."""
    constant = Choice("constant", constant=True)
    return [
        Trial(BY_KEY[case], "reno", constant, 1, plan.length_s, probe="playout")
        for case in FIGURE_2.values()
    ]


def traces(plan: Plan) -> list[Trial]:
    """Return the runs of figure 5."""
    below = BY_KEY["below"]
    return [Trial(below, variant, DEFAULT, 1, plan.length_s, probe="cwnd") for variant in VARIANTS]
