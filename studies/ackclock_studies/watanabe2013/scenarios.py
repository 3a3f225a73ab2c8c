"""The study's scenarios, variants and choices, as data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import Literal

import ackclock as ac
from ackclock_studies.watanabe2013.published import (
    LENGTH_S,
    PICTURE_RATE,
    PUBLISHED,
    VOLUME_BYTES,
)

RTT_MS = 100
PACKET_BITS = 12_000
WINDOW = "256 MB"
BUFFER_BYTES = 656_000
AIR = 0.5
"""The share of a bundle's time that passes before its packets leave, at twice the path's rate."""

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
    variation: float = 1.0
    """How far the volume of each second of the film lies from the mean, over ours."""
    bundle_s: float = 0.0
    """The tick of the emulator's clock: all that a tick lets go leaves together. 0: one by one."""
    bundle_packets: int = 1
    """The packets that always leave together, if there is no tick."""
    resume: float = 1.0
    """The share of the playout buffer with which play begins, and goes on after it ran empty."""
    catch_up: float | None = None
    """How fast play hurries after it stood still; None: the player's default."""
    first_window: int = 3
    sack: bool = True
    """Reno, Compound and CUBIC repair by SACK, and otherwise by partial ACKs (NewReno)."""
    hystart: bool = True
    """CUBIC's slow start has HyStart."""
    acks: Literal["delayed", "each"] = "delayed"
    autotuned: bool = False
    """The receive window grows with what is read, as Linux has it, up to what the paper states."""
    ccp: str = ""
    """Words of CCP's and CCPD's readings, such as ``,literal``."""
    kd: float = 1.0
    """How many microseconds the paper's unit of Kd has."""
    patience: float = 8.0
    """How many times the film's length it may take; the slowest of the study's own, CCP read
    literally, leaves up to four fifths of a link unused."""
    capacity: str = ""
    """The word of CCP's and CCPD's estimate of the capacity, such as ``,delivery``."""
    player: Literal["deadline", "vlc"] = "deadline"
    group: str = ""
    """The kinds of a group's pictures, if a picture that refers to a discarded one is discarded."""
    wifi_bundle: int | None = None
    wifi_levels: tuple[float, ...] | None = None

    def varied(self, variant: str) -> str:
        """Return the sender of a paper's variant under this choice."""
        law, _, numbers = variant.rstrip(")").partition("(")
        repair = "sack" if self.sack or law.startswith("ccp") else "partialack"
        parts = f"+{repair}+iw{self.first_window}"
        if law == "cubic":
            return f"cubic(linux){parts}" + ("" if self.hystart else "+standard")
        if law == "ccpd":
            kp, kd = numbers.split(",")
            kd = f"{round(float(kd) * self.kd)}"
            return f"ccpd({kp},{kd}{self.ccp}{self.capacity}){parts}"
        if law == "ccp":
            return f"ccp({numbers}{self.ccp}{self.capacity}){parts}"
        return f"{variant}{parts}"


DEFAULT = Choice("default")
MODERN_ERA = Choice("modern", modern=True)
"""No choice of the paper's, whose time is known: what the same laws do today."""

ALTERNATIVES = (
    Choice("quarter", buffer=0.25),
    Choice("quadruple", buffer=4.0),
    Choice("literal", literal=True),
    Choice("constant", constant=True),
)


def bundles(packets: int, rate_bps: float) -> ac.Wifi:
    """Return a channel that lets so many packets go together, at the path's rate in the mean."""
    wait_us = packets * PACKET_BITS / rate_bps * AIR * 1e6
    return ac.Wifi(bundle=packets, levels=[1.0], overhead=f"{wait_us:.0f} us")


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
def pictures(length_s: int, *, constant: bool = False, variation: float = 1.0) -> tuple[int, ...]:
    """Return the sizes of the video's pictures, scaled to the paper's mean rate."""
    text = (
        files("ackclock_studies.watanabe2013").joinpath("pictures.csv").read_text(encoding="ascii")
    )
    sizes = [int(line) for line in text.splitlines()[1:]][: length_s * PICTURE_RATE]
    volume = VOLUME_BYTES * length_s // LENGTH_S
    if not constant:
        film = ac.scale_pictures(sizes, volume)
        return film if variation == 1.0 else _evened(film, volume, variation)
    seconds = [sizes[at : at + PICTURE_RATE] for at in range(0, len(sizes), PICTURE_RATE)]
    return tuple(
        size
        for n, second in enumerate(seconds)
        for size in ac.scale_pictures(second, volume * (n + 1) // length_s - volume * n // length_s)
    )


def _evened(film: Sequence[int], volume: int, variation: float) -> tuple[int, ...]:
    """Return a film whose seconds lie nearer to their mean, in all as large."""
    seconds = [film[at : at + PICTURE_RATE] for at in range(0, len(film), PICTURE_RATE)]
    mean = volume / len(seconds)
    ends = [0.0]
    for second in seconds:
        ends.append(ends[-1] + mean + variation * (sum(second) - mean))
    return tuple(
        size
        for second, (begin, end) in zip(seconds, pairwise(map(round, ends)), strict=True)
        for size in ac.scale_pictures(second, end - begin)
    )


@lru_cache(maxsize=64)
def _film(choice: Choice, length_s: int, pace: float | None, resize: str | None) -> ac.Video:
    film = ac.Video(
        pictures=pictures(length_s, constant=choice.constant, variation=choice.variation),
        pace=pace,
        resize=resize,
    )
    if choice.player == "vlc":
        return replace(film, player="vlc")
    if choice.group:
        film = replace(film, group=choice.group)
    if choice.resume != 1.0:
        film = replace(film, start=f"{round(choice.resume * BUFFER_BYTES)} B")
    return film if choice.catch_up is None else replace(film, catch_up=choice.catch_up)


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
        if self.variant in PUBLISHED and not (self.choice.literal or self.choice.modern):
            return self.choice.varied(self.variant), None
        names = LITERAL if self.choice.literal else MODERN if self.choice.modern else SENDERS
        return names[self.variant], PACE if self.variant == MADE else None

    def film(self) -> ac.Video:
        """Return the application: the film, and how it is sent and played."""
        return _film(self.choice, self.length_s, self.sender()[1], self.resize or None)

    def bottleneck(self) -> ac.Link:
        """Return the link that the film has to cross."""
        case, choice = self.case, self.choice
        packets = max(1, int(choice.buffer * case.rate_bps * RTT_MS / 1e3 / PACKET_BITS))
        return ac.Link(
            f"{case.rate_bps:.0f} bit/s",
            f"{case.rtt_ms / 2 - 0.2:g} ms",
            queue=ac.Queue(f"{packets} packet"),
            loss=case.loss,
            channel=self._air() if case.wifi else self._clock(),
            # Stations of a wireless LAN answer over the same air.
            reverse=ac.Reverse(
                rate=None if case.wifi else "1 Gbit/s",
                loss=0.0,
                without=() if case.wifi or self._clock() is None else ("channel",),
            ),
        )

    def _air(self) -> ac.Wifi:
        """Return the channel of the wireless LAN."""
        air, choice = ac.Wifi(), self.choice
        if choice.wifi_bundle is not None:
            air = replace(air, bundle=choice.wifi_bundle)
        return air if choice.wifi_levels is None else replace(air, levels=choice.wifi_levels)

    def _clock(self) -> ac.Wifi | None:
        """Return the clock of the emulator, which lets packets go together; None: one by one."""
        choice, rate_bps = self.choice, self.case.rate_bps
        bundle = max(choice.bundle_packets, round(choice.bundle_s * rate_bps / PACKET_BITS))
        return None if bundle == 1 else bundles(bundle, rate_bps)

    def _tcp(self) -> ac.Tcp:
        """Return the settings of the connection."""
        choice = self.choice
        return ac.Tcp(
            receive_window=None if choice.autotuned else WINDOW,
            receive_autotune=ac.Autotune("128 KiB", WINDOW) if choice.autotuned else None,
            delayed_ack=None if choice.acks == "delayed" else "off",
        )

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        return ac.Scenario(
            duration=f"{self.choice.patience * self.length_s:g} s",
            seed=self.seed,
            topology=ac.dumbbell(
                bottleneck=self.bottleneck(), access=ac.Link("1 Gbit/s", "0.1 ms")
            ),
            flows=[
                ac.Flow(
                    self.sender()[0],
                    name="video",
                    start=ac.Uniform("0 s", "1 s"),
                    tcp=self._tcp(),
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
