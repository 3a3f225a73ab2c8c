"""Claims, predicates and statistics, on numbers that are known."""

from __future__ import annotations

import dataclasses
import math

import polars as pl
import pytest

import ackclock as ac
from ackclock.base.claims import Claim, Observation, Predicate, decide, plain
from ackclock.base.estimates import estimate, t_975
from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.simulation import BrokenRunError, check_conservation
from ackclock.studies.framework.study import budget


def predicate(tolerance: float = 0.1) -> Predicate[list[float]]:
    return Predicate(
        "p",
        "Small.",
        "error",
        "<=",
        tolerance,
        lambda values: [Observation(str(i), value) for i, value in enumerate(values)],
        scale=100,
        unit="%",
    )


def claim(**changes: object) -> Claim[list[float]]:
    settings: dict[str, object] = {
        "id": "c",
        "statement": "Small.",
        "predicates": (predicate(),),
        "published": lambda _values: {"error": 0.1},
        "measured": lambda values: {"error": max(values)},
    }
    return Claim(**{**settings, **changes})  # type: ignore[arg-type]


def test_a_predicate_holds_when_every_observation_does() -> None:
    found = predicate().judge([0.05, 0.1])
    assert found.holds
    assert found.summary() == "2 of 2; worst 10 % (1)"


def test_a_predicate_fails_with_one_observation_and_names_it() -> None:
    found = predicate().judge([0.05, 0.2, 0.01])
    assert not found.holds
    assert [seen.label for seen in found.failing] == ["1"]
    assert found.summary() == "2 of 3; worst 20 % (1)"


@pytest.mark.parametrize("values", [[], [math.nan], [math.inf]])
def test_nothing_measured_is_not_a_success(values: list[float]) -> None:
    assert not predicate().judge(values).holds


def test_verdicts() -> None:
    assert decide(True, {}) == "reproduced"
    assert decide(False, {}) == "not reproduced"
    assert decide(True, {"other choice": True}) == "reproduced"
    assert decide(True, {"other choice": False}) == "under-specified"
    assert decide(False, {"other choice": True}) == "under-specified"


def test_a_claim_is_judged_by_its_predicates_alone() -> None:
    assert claim().judge([0.05]).verdict == "reproduced"
    judged = claim().judge([0.5])
    assert judged.verdict == "not reproduced"
    assert "error ≤ 10 %" in judged.note
    assert set(judged.as_json()) == {"id", "verdict", "published", "measured", "note"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (-0.0354, "−0.0354"),
        (1234.0, "1,230"),
        (-1.5e6, "−1,500,000"),
        (0.00012, "1.2·10⁻⁴"),
    ],
)
def test_a_number_is_written_as_people_write_it(value: float, text: str) -> None:
    assert plain(value) == text


@pytest.mark.parametrize(
    ("seen", "text"),
    [
        ([0.05], "holds"),
        ([0.5], "does not hold"),
        ([0.05, 0.5], "holds for 1 of 2 numbers"),
    ],
)
def test_the_share_that_holds_is_said(seen: list[float], text: str) -> None:
    assert claim().judge(seen).share() == text


def test_a_claim_without_predicates_is_not_reproduced() -> None:
    assert claim(predicates=()).judge([0.0]).verdict == "not reproduced"


def test_a_flip_between_choices_is_under_specified() -> None:
    judged = claim(alternatives={"wider": (predicate(1.0),)}).judge([0.5])
    assert judged.verdict == "under-specified"


def test_student_t() -> None:
    # From the quantile function of R.
    known = {1: 12.7062, 4: 2.776445, 9: 2.262157, 30: 2.042272, 31: 2.039513, 60: 2.000298,
             1000: 1.962339}  # fmt: skip
    for degrees, value in known.items():
        assert t_975(degrees) == pytest.approx(value, rel=3e-6)
    with pytest.raises(ValueError, match="two values"):
        t_975(0)


def test_mean_and_interval() -> None:
    found = estimate([1.0, 2.0, 3.0, 4.0, 5.0])
    # sd = sqrt(2.5), half-width = 2.776445 * sqrt(2.5 / 5)
    assert found.mean == 3.0
    assert found.ci == pytest.approx(2.776445 * math.sqrt(0.5), rel=3e-6)
    assert estimate([2.0]).ci is None
    assert math.isnan(estimate([]).mean)
    assert estimate([1.0, math.nan]).n == 1


def links(**changes: int) -> pl.DataFrame:
    row = {
        "cell": 0, "measure": "run", "link": "bottleneck", "direction": "forward",
        "offered_packets": 10, "delivered_packets": 7, "dropped_packets": 2, "queued_packets": 1,
        "offered_bytes": 5760, "delivered_bytes": 4032, "dropped_bytes": 1152, "queued_bytes": 576,
    }  # fmt: skip
    return pl.DataFrame([{**row, **changes}])


def test_conservation_over_a_whole_run() -> None:
    check_conservation(links())
    with pytest.raises(BrokenRunError, match="offered packets"):
        check_conservation(links(delivered_packets=8))
    with pytest.raises(BrokenRunError, match="offered bytes"):
        check_conservation(links(dropped_bytes=0))


def test_conservation_over_a_window_counts_what_was_queued_before() -> None:
    before = links(queued_packets=3, queued_bytes=1728, offered_packets=12, offered_bytes=6912)
    before = before.with_columns(pl.lit("warmup").alias("measure"))
    steady = links(offered_packets=7, offered_bytes=4032).with_columns(
        pl.lit("steady").alias("measure")
    )
    check_conservation(pl.concat([before, steady]))
    with pytest.raises(BrokenRunError, match="window steady"):
        check_conservation(pl.concat([before, steady.with_columns(pl.col("offered_packets") + 1)]))


def test_a_study_has_the_memory_that_it_needs() -> None:
    before, _ = ac.allow()
    with budget("12 GB"):
        assert ac.allow()[0] == 12e9
    assert ac.allow()[0] == before
    # A budget that is larger stays.
    with budget("1 MB"):
        assert ac.allow()[0] == before


def test_a_number_near_its_bound_is_shown_with_the_digits_that_tell_them_apart() -> None:
    above = dataclasses.replace(predicate(1.0), comparison=">", scale=1.0, unit="")
    # 1.0035 is above 1, which three digits do not show; 1 itself is not.
    assert above.judge([1.0035]).summary() == "1.004"
    assert above.judge([2.0, 1.0000004]).summary() == "2 of 2; worst 1.0000004 (1)"
    assert above.judge([2.0, 1.0]).summary() == "1 of 2; worst 1 (1)"
    # Percents: 10.04 of at most 10.
    assert predicate(0.1).judge([0.1004]).summary() == "10.04 %"


@pytest.mark.parametrize(
    ("call", "imported", "shown"),
    [
        ("figures.rates(traces, 0.1)", "from mine import figures", "figures.rates(traces, 0.1)"),
        ("pages.figures.times(t)", "from mine.pages import figures", "figures.times(t)"),
    ],
)
def test_a_figure_is_drawn_again_by_lines_of_its_module(
    call: str, imported: str, shown: str
) -> None:
    code = FigureSpec(lambda _: pytest.fail("not drawn"), (), ("t",), call).code("mine")
    assert (code.module, code.call) == (imported, shown)
