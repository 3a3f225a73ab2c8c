"""The suite ``fairness``: flows of one kind, and beside the senders that are there already."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import ackclock as ac
from ackclock.runs.metrics import jain
from ackclock.suites.framework.case import Case, Limit, Outcome, Suite
from ackclock.suites.framework.paths import Member, Way

RATE_BPS = 50e6
RTT_S = 0.04
BUFFERS_BDP = (0.25, 1.0, 4.0)
RTT_RATIOS = (2, 4, 10)
LEGACY = ("cubic", "newreno")


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases."""
    whole = 30.0 if quick else 120.0
    buffers = BUFFERS_BDP[1:2] if quick else BUFFERS_BDP
    seeds = 2 if quick else 5
    return [
        *(_among(count, buffer, whole, seeds) for count in (2, 8) for buffer in buffers),
        *(_unequal(ratio, whole, seeds) for ratio in (RTT_RATIOS[:1] if quick else RTT_RATIOS)),
        *(_beside(other, buffer, whole, seeds) for other in LEGACY for buffer in buffers),
        *(_among_many(other, whole, seeds) for other in LEGACY[:1]),
    ]


def _way(title: str, whole: float, buffer: float = 1.0) -> Way:
    return Way(title, RATE_BPS, RTT_S, whole, buffer_bdp=buffer)


def _among(count: int, buffer: float, whole: float, seeds: int) -> Case:
    def build(variant: str, seed: int) -> ac.Scenario:
        members = [Member(variant, f"flow{n}", RTT_S) for n in range(count)]
        return _way(f"{count} flows of a kind, {buffer:g} BDP", whole, buffer).with_(members, seed)

    return Case(
        key=f"jain-{count}-{buffer:g}bdp",
        title=f"{count} flows of one kind, buffer of {buffer:g} BDP",
        source="RFC 9743 §5.1.4; RFC 5166 §2.6",
        kind="ours",
        metric="Jain’s index",
        digits=3,
        build=build,
        measure=lambda outcome: jain(outcome.goodputs()),
        limit=Limit(low=0.9),
        seeds=seeds,
    )


def _unequal(ratio: int, whole: float, seeds: int) -> Case:
    def build(variant: str, seed: int) -> ac.Scenario:
        members = [
            Member(variant, "short", RTT_S),
            Member(variant, "long", ratio * RTT_S),
        ]
        return _way(f"round-trip times of 1:{ratio}", whole).with_(members, seed)

    return Case(
        key=f"rtt-{ratio}",
        title=f"two flows of one kind with round-trip times of 1:{ratio}",
        source="RFC 9743 §5.1.4",
        kind="ours",
        metric="rate of the short flow over that of the long one",
        build=build,
        measure=lambda outcome: _over(outcome, "short", "long"),
        seeds=seeds,
    )


def _over(outcome: Outcome, one: str, other: str) -> float:
    below = outcome.goodput(other)
    return outcome.goodput(one) / below if below else float("inf")


def _pair(
    other: str, title: str, whole: float, buffer: float, variant: str, seed: int
) -> ac.Scenario:
    members = [Member(variant, "newcomer", RTT_S), Member(other, "legacy", RTT_S)]
    return _way(title, whole, buffer).with_(members, seed)


def _harm_of_half(outcome: Outcome) -> float:
    """Return the part of an even share that the flow which was there loses; it may gain."""
    fair = sum(outcome.goodputs()) / len(outcome.flows)
    return 1 - outcome.goodput("legacy") / fair if fair else 0.0


def _beside(other: str, buffer: float, whole: float, seeds: int) -> Case:
    title = f"beside {other}, {buffer:g} BDP"
    return Case(
        key=f"beside-{other}-{buffer:g}bdp",
        title=f"one flow beside one of {other}, buffer of {buffer:g} BDP",
        source="RFC 9743 §5.2.1; Ware et al., HotNets 2019",
        kind="ours",
        metric=f"part of its even share that {other} loses",
        digits=3,
        build=partial(_pair, other, title, whole, buffer),
        measure=_harm_of_half,
        limit=Limit(high=1.0, of=other, plus=0.1, at_least=0.1),
        seeds=seeds,
        note=f"No more than {other} loses beside another of its kind, if it loses, and 0.1.",
    )


def _among_many(other: str, whole: float, seeds: int) -> Case:
    def build(variant: str, seed: int) -> ac.Scenario:
        members = [Member(variant, "newcomer", RTT_S)] + [
            Member(other, f"legacy{n}", RTT_S) for n in range(9)
        ]
        return _way(f"one beside nine of {other}", whole).with_(members, seed)

    def share(outcome: Outcome) -> float:
        return outcome.goodput("newcomer") * len(outcome.flows) / sum(outcome.goodputs())

    return Case(
        key=f"one-among-nine-{other}",
        title=f"one flow beside nine of {other}",
        source="RFC 9743 §5.2.1",
        kind="ours",
        metric="its rate over an even share",
        build=build,
        measure=share,
        limit=Limit(low=0.5, high=2.0),
        seeds=seeds,
    )


SUITE = Suite(
    key="fairness",
    title="Fairness among flows of one kind, and beside CUBIC and NewReno",
    source="RFC 9743 §5.1.4 and §5.2.1; RFC 5166 §2.6; Ware et al., HotNets 2019",
    cases=cases,
)
