"""The suite ``quick``: the essence of the others in two minutes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ackclock.suites.framework.case import Case, Suite
from ackclock_studies.suites import fairness, nsperf, rfc9743
from ackclock_studies.suites.c4 import suite as c4

CHOSEN = (
    "jain-2-1bdp",
    "rtt-2",
    "beside-cubic-1bdp",
    "beside-newreno-1bdp",
    "coexist-1bdp",
    "random-loss-1",
    "bufferbloat-10bdp",
    "alone",
    "drop-and-back",
    "5.1.3-loss-2-0.5bdp",
    "5.1.5-short",
    "7.1-aqm-codel",
    "7.4-constrained",
    "7.8-up",
    "7.9-down",
)

SEEDS = 5


def cases(_quick: bool) -> Sequence[Case]:
    """Return the cases: quick ones always, with more seeds."""
    every = [case for suite in (fairness, nsperf, c4, rfc9743) for case in suite.cases(True)]
    found: dict[str, Case] = {}
    for case in every:
        if case.key in CHOSEN:
            found.setdefault(case.key, case)
    return [replace(found[key], seeds=SEEDS) for key in CHOSEN]


SUITE = Suite(
    key="quick",
    title="The essence of the other suites",
    source="fairness, nsperf, c4 and rfc9743, each with its source",
    cases=cases,
)
