"""The study's scenarios: flows that fall silent or slow down, and a path that shrinks then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import ackclock as ac

Mix = Literal["homo", "hetero"]
Mode = Literal["idle", "limited"]

MSS_BYTES = 1460
PACKET_BYTES = 1500
RATE_BPS = 512_000
LIMITED_BPS = 12_000
ACCESS_DELAY_S = 0.001
RECEIVE_WINDOW_SEGMENTS = 1027

FLOWS = (2, 4, 8, 16, 25, 32)
IDLES_S = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 10.0, 30.0)
PERIODS_S = (0.5, 1.0, 2.0, 3.0, 5.0)
SHORT_S, LONG_S = 0.1, 0.3
"""One-way delays of the bottleneck."""

INTERRUPT_S = (10.0, 10.2)
RTTS: dict[Mode, int] = {"idle": 5, "limited": 10}
"""Over how many round trips from its own restart a flow is measured."""

STANDARD = "newreno"
"""Under the profile ns2 with ns-2's restart: by the timer, to one segment."""

CWV = "newreno+cwv"
CWV_RTOS = {
    "clamped": CWV,
    "500 ms": "newreno+cwv(rto=500ms)",
    "unclamped": "newreno+cwv(rto=unclamped)",
}
"""RFC 2861 with three readings of the timeout that it counts."""

RFC5681 = "newreno+rfc5681(rw=1)"
"""Standard TCP by the RFC's clock, with the paper's restart window."""

NEWCWV = "newreno+newcwv"
RENOS = (STANDARD, RFC5681, *CWV_RTOS.values(), NEWCWV, "newreno+noidle")
CUBICS = tuple(
    f"cubic+partialack{rule}"
    for rule in (
        "",
        "+rfc5681(rw=1)",
        "+cwv",
        "+cwv(rto=500ms)",
        "+newcwv",
        "+linuxidle",
        "+noidle",
    )
)
"""CUBIC with Reno's recovery, so that they differ in growth alone."""

VARIANTS = (*RENOS, *CUBICS)

VIDEO_RULES = {
    "Linux": "",
    "Linux, no restart": "+linuxidle(norestart)",
    "RFC 5681": "+rfc5681",
    "CWV": "+cwv",
    "newCWV": "+newcwv",
    "none": "+noidle",
}
VIDEO_RTTS_MS = (20, 200)
VIDEO_SEGMENTS = 30
VIDEO_SEGMENT_S = 4
VIDEO_BPS = 5_000_000
VIDEO_LINK_BPS = 20_000_000


def cwv_rto(variant: str) -> str | None:
    """Return which timeout a variant's window validation counts; None without RFC 2861's."""
    if "+cwv" not in variant:
        return None
    for word, reading in (("unclamped", "unclamped"), ("500ms", "500 ms")):
        if word in variant:
            return reading
    return "clamped"


@dataclass(frozen=True)
class Plan:
    """The amount of work: the study, or its quick version."""

    quick: bool

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of every setting."""
        return tuple(range(1, 4 if self.quick else 11))

    @property
    def flows(self) -> tuple[int, ...]:
        """The numbers of flows that share the path."""
        return (4, 16, 32) if self.quick else FLOWS

    @property
    def idles(self) -> tuple[float, ...]:
        """The lengths of the silence."""
        return (0.5, 1.5, 5.0) if self.quick else IDLES_S

    @property
    def periods(self) -> tuple[float, ...]:
        """The times for which the flows are limited."""
        return (1.0, 5.0) if self.quick else PERIODS_S


@dataclass(frozen=True)
class Setting:
    """One run: ``variants`` share ``n`` flows, the first of two having the smaller half."""

    mix: Mix
    n: int
    variants: tuple[str, ...]
    mode: Mode
    period_s: float
    delay_s: float
    seed: int
    choice: str = ""
    """What differs from the study's defaults, by name."""
    changed_bps: int | None = 2_000_000
    buffer_bdp: float = 1.0
    changed_delay_s: float | None = None
    delayed_ack: bool = False
    sack: bool = False
    jitter_s: float = 0.0
    watched: bool = False
    """True if the windows are recorded, and the run goes on for a second more."""
    tail_s: float = 0.5
    stop: bool = False
    """True if the sources stop once the messages whose delay counts are given."""
    senders: tuple[tuple[str, str], ...] = ()
    """The sender that runs under a variant's name, where it is another."""
    min_rto: str = "1 s"
    measured_rtts: int | None = None
    """Over how many round trips a flow is measured; None: as the paper says."""

    @property
    def base_rtt_s(self) -> float:
        """The round trip without queues."""
        return 2 * (self.delay_s + 2 * ACCESS_DELAY_S)

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        counts = [self.n] if len(self.variants) == 1 else [self.n // 2, self.n - self.n // 2]
        rtts = self.measured_rtts or RTTS[self.mode]
        senders = dict(self.senders)
        duration = INTERRUPT_S[1] + self.period_s + rtts * self.base_rtt_s + self.tail_s
        names = [f"v{place}" for place in range(len(self.variants))]
        return ac.Scenario(
            duration=f"{duration:.6f} s",
            seed=self.seed,
            topology=path(self.delay_s),
            flows=[
                ac.Flow(
                    senders.get(variant, variant) + ("+sack" if self.sack else ""),
                    name=name,
                    count=count,
                    profile="ns2",
                    start=ac.Uniform("0 s", "1 s"),
                    tcp=self._tcp(),
                    app=self._app(),
                )
                for name, variant, count in zip(names, self.variants, counts, strict=True)
            ],
            measures=[
                ac.Measure(
                    "restart",
                    start=self._event(),
                    duration=f"{rtts} RTT",
                    crossings=["bottleneck"],
                )
            ],
            events=self._changes(),
            probes=[ac.Probe(flow=name, what=["cwnd", "ssthresh", "in_flight"]) for name in names]
            if self.watched
            else [],
        )

    def _event(self) -> ac.After:
        return ac.After("resume" if self.mode == "idle" else "restore")

    def _changes(self) -> list[ac.Event]:
        if self.changed_bps is None and self.changed_delay_s is None:
            return []
        slower = self.changed_bps is not None
        change = ac.LinkChange(
            rate=f"{self.changed_bps} bit/s" if slower else None,
            queue=ac.QueueChange(f"{self.buffer_bdp} BDP") if slower else None,
            delay=None if self.changed_delay_s is None else f"{self.changed_delay_s} s",
        )
        # While all are silent: half way between the last interruption and the first restart.
        first, last = INTERRUPT_S
        quiet = f"{last + (self.period_s - (last - first)) / 2:.6f} s"
        at = quiet if self.mode == "idle" else self._event()
        return [ac.Event(at, link="bottleneck", set=change)]

    def _tcp(self) -> ac.Tcp:
        return ac.Tcp(
            mss=f"{MSS_BYTES} B",
            initial_window=3,
            min_rto=self.min_rto,
            receive_window=f"{RECEIVE_WINDOW_SEGMENTS * MSS_BYTES} B",
            delayed_ack=ac.DelayedAck("200 ms") if self.delayed_ack else None,
        )

    def _app(self) -> ac.Cbr:
        at = ac.Uniform(*(f"{bound} s" for bound in INTERRUPT_S))
        period = f"{self.period_s} s"
        message_s = 8 * MSS_BYTES / RATE_BPS
        stop_s = INTERRUPT_S[1] + self.period_s + MESSAGES * message_s
        silent = self.mode == "idle"
        return ac.Cbr(
            f"{RATE_BPS} bit/s",
            f"{MSS_BYTES} B",
            idle=[ac.Idle(at, period)] if silent else [],
            limited=[] if silent else [ac.Limited(at, period, f"{LIMITED_BPS} bit/s")],
            stop=f"{stop_s:.6f} s" if self.stop else None,
            jitter=f"{self.jitter_s} s" if self.jitter_s else None,
        )


def path(delay_s: float) -> ac.Dumbbell:
    """Return the paper's path, by the delay of its bottleneck."""
    return ac.dumbbell(
        bottleneck=ac.Link("100 Mbit/s", f"{delay_s} s"),
        access=ac.Link("100 Mbit/s", f"{ACCESS_DELAY_S} s"),
    )


def idle(plan: Plan) -> list[Setting]:
    """Return the runs of the idle case on the short path, mixed and alike."""
    settings = [
        Setting("homo", n, (variant,), "idle", idle_s, SHORT_S, seed)
        for idle_s in plan.idles
        for n in plan.flows
        for variant in (
            VARIANTS if idle_s == 1.5 else (STANDARD, RFC5681, *CWV_RTOS.values(), NEWCWV)
        )
        for seed in plan.seeds
    ]
    settings += [
        Setting("hetero", n, (STANDARD, variant), "idle", idle_s, SHORT_S, seed)
        for idle_s in plan.idles
        for n in plan.flows
        for variant in ((*CWV_RTOS.values(), NEWCWV) if idle_s == 1.5 else tuple(CWV_RTOS.values()))
        for seed in plan.seeds
    ]
    settings += [
        Setting("hetero", n, (CUBICS[0], variant), "idle", 1.5, SHORT_S, seed)
        for n in plan.flows
        for variant in (CUBICS[2], CUBICS[4])
        for seed in plan.seeds
    ]
    return settings


def long_path(plan: Plan) -> list[Setting]:
    """Return the runs of the idle case on the long path."""
    return [
        Setting("homo", n, (variant,), "idle", 2.0, LONG_S, seed)
        for n in plan.flows
        for variant in VARIANTS
        for seed in plan.seeds
    ]


def limited(plan: Plan) -> list[Setting]:
    """Return the runs of the application-limited case, mixed and alike."""
    settings = [
        Setting("homo", n, (variant,), "limited", period_s, SHORT_S, seed)
        for period_s in plan.periods
        for n in plan.flows
        for variant in (VARIANTS if period_s == 5.0 else (STANDARD, *CWV_RTOS.values(), NEWCWV))
        for seed in plan.seeds
    ]
    settings += [
        Setting("hetero", n, (standard, variant), "limited", 5.0, SHORT_S, seed)
        for n in plan.flows
        for standard, variants in (
            (STANDARD, (*CWV_RTOS.values(), NEWCWV)),
            (CUBICS[0], (CUBICS[2], CUBICS[4])),
        )
        for variant in variants
        for seed in plan.seeds
    ]
    return settings


DELAYED = 25
"""Flows of Figure 8."""
MESSAGES = 200
"""Messages after the restart whose delay is shown: 4.6 s of them."""


def delays(plan: Plan) -> list[Setting]:
    """Return the runs of Figure 8: the capacity stays, or falls as in the other figures."""
    idles = (0.5, 1.5, 3.0, 5.0) if plan.quick else (0.5, 0.8, *IDLES_S[1:])
    return [
        Setting(
            "homo", DELAYED, (variant,), "idle", idle_s, SHORT_S, seed,
            changed_bps=capacity, stop=True, tail_s=5.0 if capacity is None else 45.0,
        )
        for capacity in (None, 2_000_000)
        for idle_s in idles
        for variant in (STANDARD, RFC5681, *CWV_RTOS.values(), NEWCWV)
        for seed in plan.seeds
    ]  # fmt: skip


def traces(plan: Plan) -> list[Setting]:
    """Return the runs whose windows are shown: one flow, and eight that were limited for a time."""
    one = [
        Setting(
            "homo",
            1,
            (variant,),
            "idle",
            1.5,
            SHORT_S,
            1,
            changed_bps=None,
            watched=True,
            tail_s=2.0,
        )
        for variant in (STANDARD, CWV, NEWCWV)
    ]
    return one + [
        Setting("homo", 8, (variant,), "limited", period_s, SHORT_S, 1, watched=True)
        for variant in (STANDARD, CWV)
        for period_s in plan.periods
    ]


CHOICES: dict[str, dict[str, Any]] = {
    "as the notes have it": {},
    "half the buffer": {"buffer_bdp": 0.5},
    "twice the buffer": {"buffer_bdp": 2.0},
    "delayed ACKs": {"delayed_ack": True},
    "SACK": {"sack": True},
    "10 ms of jitter": {"jitter_s": 0.01},
    "the delay trebles too": {"changed_delay_s": 0.3},
}
CHOICE_FLOWS = (8, 25)
CHOICE_CASES: tuple[tuple[Mode, float], ...] = (("idle", 1.5), ("limited", 5.0))


def choices(plan: Plan) -> list[Setting]:
    """Return the runs under other choices where the paper says nothing."""
    return [
        Setting("homo", n, (variant,), mode, period_s, SHORT_S, seed, choice=name, **choice)
        for name, choice in CHOICES.items()
        for mode, period_s in CHOICE_CASES
        for n in CHOICE_FLOWS
        for variant in (STANDARD, CWV, NEWCWV)
        for seed in plan.seeds
    ]


@dataclass(frozen=True)
class Video:
    """A video over HTTP beside another, on a path of ``rtt_ms``."""

    growth: str
    rule: str
    rtt_ms: int
    seed: int

    @property
    def variant(self) -> str:
        """The sender."""
        return self.growth + VIDEO_RULES[self.rule]

    def scenario(self) -> ac.Scenario:
        """Return the scenario: two servers of segments, out of step, on a path for eight."""
        bottleneck_ms = self.rtt_ms / 2 - 2
        return ac.Scenario(
            duration=f"{VIDEO_SEGMENTS * VIDEO_SEGMENT_S + 10} s",
            seed=self.seed,
            topology=ac.dumbbell(
                bottleneck=ac.Link(f"{VIDEO_LINK_BPS} bit/s", f"{bottleneck_ms} ms"),
                access=ac.Link("1 Gbit/s", "1 ms"),
            ),
            flows=[
                ac.Flow(
                    self.variant,
                    name="video",
                    count=2,
                    profile="linux",
                    start=ac.Uniform("0 s", "4 s"),
                    app=ac.Bursts(
                        size=f"{VIDEO_BPS * VIDEO_SEGMENT_S // 8} B",
                        every=f"{VIDEO_SEGMENT_S} s",
                        stop=f"{VIDEO_SEGMENTS * VIDEO_SEGMENT_S} s",
                    ),
                )
            ],
        )


def videos(plan: Plan) -> list[Video]:
    """Return the runs of video over HTTP."""
    return [
        Video(growth, rule, rtt_ms, seed)
        for growth in ("cubic", "reno")
        for rule in VIDEO_RULES
        for rtt_ms in VIDEO_RTTS_MS
        for seed in plan.seeds
    ]
