"""The frame of the studies' parts on Linux, without a kernel."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import ackclock as ac
from ackclock.base.claims import Claim, Observation, Predicate
from ackclock.base.entries import loaded
from ackclock.studies import STUDIES
from ackclock.studies.framework.linux import (
    ALIKE,
    OWN,
    REAL,
    OnLinux,
    Statement,
    claims_file,
    verdicts_in,
)
from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.simulation import BrokenRunError, Tables, on_bench, simulate
from ackclock.studies.framework.study import LINUX, Definition

STUDIES_ON_LINUX = ("altman1997", "biswas2010", "scharf2008", "tambuwal2018", "watanabe2013")

Values = dict[str, Any]

FAR = Predicate[Values](
    "far", "nothing is far", "distance", "<=", 0.07,
    lambda found: [Observation(label, value) for label, value in found.items()],
)  # fmt: skip
CLAIM = Claim[Values]("claim", "Nothing is far.", (FAR,), lambda _: {}, lambda _: {})


def judged(own: Values, alike: Values, real: Values) -> Statement:
    """Return the statement that nothing is farther than 0.07, with numbers of each place."""
    return Statement.of(CLAIM, {OWN: own, ALIKE: alike, REAL: real})


def test_numbers_agree_on_one_side_of_the_bound_or_within_its_width() -> None:
    near = {"a": 0.05, "b": 0.10, "c": 0.50, "d": 0.068, "only": 0.0}
    real = {"a": 0.06, "b": 0.12, "c": 0.01, "d": 0.09}
    (test,) = judged(near, near, real).tests
    # a passes twice, b fails twice, c is 0.49 apart, d 0.022; one has no partner.
    assert (test.agree, test.numbers) == (3, 4)


@pytest.mark.parametrize(
    ("own", "alike", "real", "nearer", "because"),
    [
        (0.0, 0.0, 0.0, "the same verdict", ""),
        (0.0, 1.0, 1.0, "simulation", "Linux’s recovery and habits"),
        (0.0, 0.0, 1.0, "simulation", "the kernel"),
        (1.0, 1.0, 0.0, "Linux", "the kernel"),
    ],
)
def test_the_simulated_kernel_says_what_makes_the_difference(
    own: float, alike: float, real: float, nearer: str, because: str
) -> None:
    statement = judged({"a": own}, {"a": alike}, {"a": real})
    assert statement.nearer() == nearer
    assert statement.because().startswith(because)
    assert bool(because) == bool(statement.because())


def test_alternatives_of_a_claim_are_not_asked() -> None:
    def broken(_: Values) -> Sequence[Observation]:
        raise KeyError

    other = replace(FAR, measure=broken)
    claim = replace(CLAIM, alternatives={"another reading": (other,)})
    statement = Statement.of(claim, {place: {"a": 0.0} for place in (OWN, ALIKE, REAL)})
    assert statement.at[REAL].verdict == "reproduced"


SHORT = ac.Scenario(
    duration="1 s",
    topology=ac.dumbbell(
        bottleneck=ac.Link("1 Mbit/s", "10 ms"), access=ac.Link("10 Mbit/s", "1 ms")
    ),
    flows=[ac.Flow("reno")],
)


def test_runs_on_a_bench_are_held_to_conservation() -> None:
    whole = Tables(ac.simulate_many([SHORT]).to_polars())
    broken = whole.with_frames(
        links=whole.links.with_columns(pl.col("dropped_packets") + 1, pl.col("measure"))
    )
    with on_bench(lambda _runs, _threads, _progress: whole):
        assert simulate([], None) is whole
    with (
        on_bench(lambda _runs, _threads, _progress: broken),
        pytest.raises(BrokenRunError, match="offered packets"),
    ):
        simulate([], None)
    # Behind it runs are simulated again.
    assert simulate([SHORT], None).flows.height == whole.flows.height


def test_a_report_without_the_part_has_no_verdicts(tmp_path: Path) -> None:
    assert verdicts_in(tmp_path) == {}
    claims_file(tmp_path).write_text("{")
    assert verdicts_in(tmp_path) == {}
    told = {"statements": [judged({"a": 0.0}, {"a": 0.0}, {"a": 0.1}).as_json()]}
    claims_file(tmp_path).write_text(json.dumps(told))
    assert verdicts_in(tmp_path) == {"claim": "not reproduced"}


def part_of(key: str) -> tuple[Definition[Any, Any], OnLinux[Any, Any]]:
    """Return a study's definition and its part on Linux."""
    definition = loaded(key, f"{STUDIES.get(key).package}.study:DEFINITION")
    assert definition.linux is not None
    return definition, definition.linux


@pytest.mark.parametrize("key", STUDIES_ON_LINUX)
def test_every_statement_is_asked_or_has_a_reason(key: str) -> None:
    definition, on = part_of(key)
    names = [claim.id for claim in definition.claims]
    assert sorted([*on.claims, *on.not_asked]) == sorted(names)
    assert LINUX in definition.study.figures


@pytest.mark.parametrize("key", STUDIES_ON_LINUX)
def test_what_the_kernel_is_asked_has_its_profile_or_our_end_points(key: str) -> None:
    _, on = part_of(key)
    asked: list[ac.Scenario] = []

    def seen(scenarios: Sequence[ac.Scenario], *_: object) -> Tables:
        asked.extend(map(on.asked, scenarios))
        raise InterruptedError

    parts: list[Part] = on.parts(on.plan(True), 1)
    for part in parts:
        with on_bench(seen), pytest.raises(InterruptedError):
            part.compute(lambda _: None)
    assert asked
    for scenario in asked[:: max(1, len(asked) // 20)]:
        assert scenario.check()
        senders = [*(scenario.flows or ()), *(scenario.traffic or ())]
        assert senders
        assert all(one.profile == "linux" or one.endpoint == "ackclock" for one in senders)
