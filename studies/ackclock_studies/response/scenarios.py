"""The study's scenarios: one flow, and a link that does nothing to it but lose packets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import ackclock as ac

Losses = Literal["periodic", "random"]

MSS_BYTES = 1460
RATE = "10 Gbit/s"
RECEIVE_WINDOW_BYTES = 1_000_000_000

LAWS = {"reno": "reno+rack", "cubic": "cubic"}
"""The growth laws, each with the same recovery (RACK-TLP), so that they differ in nothing else."""

RTTS_MS = (10, 50, 100, 200)
PERIODS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
"""Packets from one loss to the next, 1/p."""

SENDERS = ("reno", "reno+rack", "cubic")
"""What meets random losses: Reno as the model has it, Reno with RACK-TLP, CUBIC."""

RANDOM_PERIODS = (100, 1_000, 10_000, 100_000)
RANDOM_RTT_MS = 100
MIN_RTOS_MS = (200, 1000)
"""Linux's smallest timeout, and that of RFC 6298."""

START = 2.0
"""The window at the first loss, in the window that the formula gives: the law has to find it."""

STARTS = (0.5, 1.0, 2.0, 8.0)

TRACED = {"rtt_ms": 100, "period": 10_000}
"""The point whose window is shown over time."""


@dataclass(frozen=True)
class Plan:
    """The amount of work: the study, or its quick version."""

    quick: bool

    @property
    def periods(self) -> tuple[int, ...]:
        """The loss rates with periodic losses, as packets from one loss to the next."""
        most = 10_000 if self.quick else max(PERIODS)
        return tuple(period for period in PERIODS if period <= most)

    @property
    def random_periods(self) -> tuple[int, ...]:
        """The loss rates with random losses, likewise."""
        most = 1_000 if self.quick else max(RANDOM_PERIODS)
        return tuple(period for period in RANDOM_PERIODS if period <= most)

    @property
    def seeds(self) -> int:
        """Runs of each setting with random losses."""
        return 3 if self.quick else 10

    def losses(self, period: int) -> tuple[int, int]:
        """Return how many losses are waited for, and how many are measured."""
        if self.quick:
            return (30, 40)
        return next(counts for most, counts in _LOSSES if period <= most)

    def random_losses(self, period: int) -> tuple[int, int]:
        """Return the same for random losses, of which about so many come in a run."""
        if self.quick:
            return (20, 100)
        return next(counts for most, counts in _RANDOM_LOSSES if period <= most)

    @property
    def approach_losses(self) -> int:
        """Losses over which the window is seen to find its cycle."""
        return 60 if self.quick else 1000


_LOSSES = (
    (1_000, (500, 500)),
    (10_000, (300, 300)),
    (100_000, (60, 60)),
    (300_000, (30, 30)),
    (1_000_000, (20, 20)),
)
_RANDOM_LOSSES = ((100, (50, 1000)), (1_000, (30, 400)), (10_000, (20, 100)), (100_000, (10, 30)))


@dataclass(frozen=True)
class Setting:
    """One run.

    ``window`` is what the law's formula gives, in packets. It decides how long the run is and when
    the first periodic loss comes, at ``start`` times it.
    """

    variant: str
    losses: Losses
    rtt_ms: int
    period: int
    window: float
    warm_up: int
    measured: int
    seed: int = 1
    start: float = START
    min_rto_ms: int = 1000
    samples: int = 20_000

    @property
    def loss_s(self) -> float:
        """The time from one loss to the next by the formula."""
        return self.period / self.window * self.rtt_ms / 1e3

    @property
    def warm_up_s(self) -> float:
        """The time that is simulated before the measurement."""
        return self.warm_up * self.loss_s

    @property
    def duration_s(self) -> float:
        """The time that is simulated."""
        return (self.warm_up + self.measured) * self.loss_s

    @property
    def sample_s(self) -> float:
        """The time between samples of the window: no simple share of the round-trip time.

        A window that grows with the ACKs grows in step with the round trips.
        """
        return max(0.37 * self.rtt_ms / 1e3, self.measured * self.loss_s / self.samples)

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        periodic = ac.PeriodicLoss(self.period, first=max(1, round(self.start * self.window)))
        warm_up = _seconds(self.warm_up_s)
        return ac.Scenario(
            title=f"{self.variant}, one loss in {self.period}, {self.losses}",
            duration=_seconds(self.duration_s),
            seed=self.seed,
            topology=ac.graph(
                [
                    ac.GraphLink(
                        "path",
                        from_node="sender",
                        to_node="receiver",
                        rate=RATE,
                        delay=f"{self.rtt_ms * 500} us",
                        loss=periodic if self.losses == "periodic" else 1 / self.period,
                        reverse=ac.Reverse(loss=0.0),
                    )
                ]
            ),
            flows=[
                ac.Flow(
                    self.variant,
                    name="flow",
                    from_node="sender",
                    to_node="receiver",
                    tcp=ac.Tcp(
                        mss=f"{MSS_BYTES} B",
                        delayed_ack="off",
                        receive_window=f"{RECEIVE_WINDOW_BYTES} B",
                        min_rto=f"{self.min_rto_ms} ms",
                    ),
                )
            ],
            measures=[
                ac.Measure("warmup", start="0 s", duration=warm_up),
                ac.Measure("steady", start=warm_up),
            ],
            probes=[
                ac.Probe(
                    flow="flow",
                    what=["cwnd"],
                    every=f"{round(self.sample_s * 1e6)} us",
                    start=warm_up,
                )
            ],
        )


def _seconds(value: float) -> str:
    return f"{round(value * 1e6)} us"


def law(variant: str) -> str:
    """Return the growth law of a variant: ``reno`` of ``reno+rack``."""
    return variant.partition("+")[0]


def periodic(plan: Plan, period: int, windows: dict[tuple[str, int, int], float]) -> list[Setting]:
    """Return the runs with one loss in exactly ``period`` packets."""
    warm_up, measured = plan.losses(period)
    return [
        Setting(
            variant, "periodic", rtt_ms, period, windows[name, rtt_ms, period], warm_up, measured
        )
        for name, variant in LAWS.items()
        for rtt_ms in RTTS_MS
    ]


def random(plan: Plan, period: int, windows: dict[tuple[str, int, int], float]) -> list[Setting]:
    """Return the runs with one loss in ``period`` packets on the average."""
    warm_up, measured = plan.random_losses(period)
    return [
        Setting(
            variant,
            "random",
            rtt_ms,
            period,
            windows[law(variant), rtt_ms, period],
            warm_up,
            measured,
            seed=seed,
            min_rto_ms=min_rto_ms,
        )
        for variant, rtt_ms, min_rto_ms in _random_paths()
        for seed in range(1, plan.seeds + 1)
    ]


def _random_paths() -> Iterator[tuple[str, int, int]]:
    for variant in SENDERS:
        yield variant, RANDOM_RTT_MS, MIN_RTOS_MS[0]
    for rtt_ms in RTTS_MS:
        for min_rto_ms in MIN_RTOS_MS:
            if (rtt_ms, min_rto_ms) != (RANDOM_RTT_MS, MIN_RTOS_MS[0]):
                yield SENDERS[0], rtt_ms, min_rto_ms


def traces(plan: Plan, windows: dict[tuple[str, int, int], float]) -> list[Setting]:
    """Return the runs whose window is shown over a few losses."""
    rtt_ms, period = TRACED["rtt_ms"], TRACED["period"]
    return [
        Setting(
            variant,
            "periodic",
            rtt_ms,
            period,
            windows[name, rtt_ms, period],
            plan.losses(period)[0],
            6,
            samples=10_000,
        )
        for name, variant in LAWS.items()
    ]


def approaches(plan: Plan, windows: dict[tuple[str, int, int], float]) -> list[Setting]:
    """Return the runs that begin at different windows, seen from the first loss on."""
    (cubic,) = (each for each in traces(plan, windows) if law(each.variant) == "cubic")
    return [
        replace(cubic, warm_up=1, measured=plan.approach_losses, start=start, samples=100_000)
        for start in STARTS
    ]
