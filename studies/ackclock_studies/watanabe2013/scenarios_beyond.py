"""Beyond the paper's figures: sweeps of what it leaves open, and its next steps, as data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import ackclock as ac
from ackclock_studies.watanabe2013.published import PUBLISHED
from ackclock_studies.watanabe2013.scenarios import (
    ABOVE_BPS,
    BY_KEY,
    CASES,
    DEFAULT,
    HALVES,
    MADE,
    SENDERS,
    VARIANTS,
    Case,
    Choice,
    Plan,
    Trial,
    bundles,
    pictures,
)

SWEPT_LOSSES = (0.0, 1e-4)
SWEPT_CASES = ("below", "above-lossy")

STREAMS = (1, 2, 4, 8)
"""How many videos share a link, whose rate is so many times that of figure 6."""

RIVALS = 4
"""How many videos of a variant share a link with as many of CUBIC's."""

RESIZED_CASES = ("below", "above", "above-lossy", "wide")
RESIZED_VARIANTS = ("reno", "cubic", MADE)

LADDER_MBPS = (1, 2, 3, 4.2, 5.24, 8)
"""The rates of a video in segments; the second last is the film's own."""

ADAPTATIONS: tuple[Literal["throughput", "buffer"], ...] = ("throughput", "buffer")


def seeds(plan: Plan) -> range:
    """Return the trials of a setting here."""
    return range(1, 2 if plan.quick else 4)


BUNDLED_CASES = ("above", "above-lossy", "wide")


@dataclass(frozen=True)
class Bundled(Trial):
    """A trial on a path whose packets leave in bundles, as a link emulator's clock has it."""

    bundle: int = 1

    def bottleneck(self) -> ac.Link:
        """Return the link, whose packets wait for one another."""
        link = super().bottleneck()
        if self.bundle == 1:
            return link
        channel = bundles(self.bundle, self.case.rate_bps)
        return replace(link, channel=channel, reverse=ac.Reverse(loss=0.0))


def bundled(plan: Plan) -> list[Bundled]:
    """Return what the paper's senders do if packets leave by twos, and by fours."""
    return [
        Bundled(BY_KEY[case], variant, DEFAULT, seed, plan.length_s, bundle=bundle)
        for case in BUNDLED_CASES
        for bundle in (2, 4)
        for variant in PUBLISHED
        for seed in seeds(plan)
    ]


def rates_mbps(plan: Plan) -> tuple[float, ...]:
    """Return the rates of the sweep about the film's."""
    return (4.5, 4.9, 5.24, 5.6, 6.5) if plan.quick else tuple(4.5 + 0.25 * n for n in range(9))


def queues_products(plan: Plan) -> tuple[float, ...]:
    """Return the buffers of the sweep, over the product at 100 ms."""
    return (0.25, 1.0, 4.0) if plan.quick else (0.25, 0.5, 1.0, 2.0, 4.0)


def resized_mb(plan: Plan) -> tuple[int, ...]:
    """Return how far the playout buffer may grow."""
    return (4, 64) if plan.quick else (2, 4, 8, 16, 32, 64)


def rates(plan: Plan) -> list[Trial]:
    """Return the sweep of the path's rate, with and without random losses."""
    return [
        Trial(
            Case(f"rate-{mbps:g}", "", 1e6 * mbps, loss=loss), variant, DEFAULT, seed, plan.length_s
        )
        for loss in SWEPT_LOSSES
        for mbps in rates_mbps(plan)
        for variant in VARIANTS
        for seed in seeds(plan)
    ]


def queues(plan: Plan) -> list[Trial]:
    """Return the sweep of the emulator's buffer."""
    return [
        Trial(BY_KEY[case], variant, Choice(f"{products:g}", buffer=products), seed, plan.length_s)
        for case in SWEPT_CASES
        for products in queues_products(plan)
        for variant in VARIANTS
        for seed in seeds(plan)
    ]


def halves(plan: Plan) -> list[Trial]:
    """Return what either half of the sender made for video does by itself, in every case."""
    return [
        Trial(case, variant, DEFAULT, seed, plan.length_s)
        for case in CASES
        for variant in HALVES
        for seed in seeds(plan)
    ]


def resized(plan: Plan) -> list[Trial]:
    """Return the playout buffers that follow the path, up to a bound."""
    return [
        Trial(BY_KEY[case], variant, DEFAULT, seed, plan.length_s, resize=f"{most} MB")
        for case in RESIZED_CASES
        for most in resized_mb(plan)
        for variant in RESIZED_VARIANTS
        for seed in seeds(plan)
    ]


@dataclass(frozen=True)
class Shared:
    """Videos that share a link, each at another place of the film: ``variants`` has one a video."""

    variants: tuple[str, ...]
    seed: int
    length_s: int

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        case = replace(BY_KEY["above"], rate_bps=ABOVE_BPS * len(self.variants))
        film = pictures(self.length_s)
        trials = [
            Trial(case, variant, DEFAULT, self.seed, self.length_s) for variant in self.variants
        ]
        flows: list[ac.Flow] = []
        for n, trial in enumerate(trials):
            begin = n * len(film) // len(trials)
            app = replace(trial.film(), pictures=[*film[begin:], *film[:begin]])
            (flow,) = trial.scenario().flows
            flows.append(replace(flow, name=f"video-{n}", app=app))
        return replace(trials[-1].scenario(), flows=flows)


def streams(plan: Plan) -> list[Shared]:
    """Return several videos of one variant on one path."""
    return [
        Shared((variant,) * count, seed, plan.length_s)
        for count in STREAMS
        for variant in VARIANTS
        for seed in seeds(plan)
    ]


def rivals(plan: Plan) -> list[Shared]:
    """Return each variant's videos beside as many of CUBIC's."""
    return [
        Shared((variant,) * RIVALS + ("cubic",) * RIVALS, seed, plan.length_s)
        for variant in VARIANTS
        for seed in seeds(plan)
    ]


@dataclass(frozen=True)
class Segmented:
    """A video in segments."""

    case: Case
    variant: str
    adapt: Literal["throughput", "buffer"]
    seed: int
    length_s: int

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        whole = Trial(self.case, self.variant, DEFAULT, self.seed, self.length_s).scenario()
        app = ac.Dash(
            [f"{mbps:g} Mbit/s" for mbps in LADDER_MBPS],
            pictures=pictures(self.length_s),
            adapt=self.adapt,
        )
        (flow,) = whole.flows
        # It sends what is asked for, and has no film to pace by.
        return replace(whole, flows=[replace(flow, variant=SENDERS[self.variant], app=app)])


def segmented(plan: Plan) -> list[Segmented]:
    """Return the film in segments, in every case."""
    return [
        Segmented(case, variant, adapt, seed, plan.length_s)
        for case in CASES
        for variant in VARIANTS
        for adapt in ADAPTATIONS
        for seed in seeds(plan)
    ]
