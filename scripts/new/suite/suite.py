"""The cases of the suite ``probe``, each with its metric, its limit and its source."""

from __future__ import annotations

from collections.abc import Sequence

import ackclock as ac
from ackclock.suites.framework.case import Case, Limit, Outcome, Suite
from ackclock.suites.framework.paths import Member, Way

RATE_BPS = 10e6
RTT_S = 0.04


def cases(quick: bool) -> Sequence[Case]:
    """Return the cases."""
    return [_alone(10.0 if quick else 60.0, 2 if quick else 5)]


def _alone(whole_s: float, seeds: int) -> Case:
    def build(variant: str, seed: int) -> ac.Scenario:
        way = Way("one flow alone", RATE_BPS, RTT_S, whole_s, buffer_bdp=1.0)
        return way.with_([Member(variant, "flow", RTT_S)], seed)

    def share(outcome: Outcome) -> float:
        return outcome.goodput("flow") / RATE_BPS

    return Case(
        key="alone",
        title="TODO one line. One flow, buffer of one bandwidth-delay product",
        source="TODO document and section",
        kind="ours",
        metric="its goodput over the rate of the link",
        build=build,
        measure=share,
        limit=Limit(low=0.8),
        seeds=seeds,
    )


SUITE = Suite(
    key="probe",
    title="TODO the title of the suite",
    source="TODO the document or program that the cases follow",
    cases=cases,
)
