"""The study aqm: its scenarios, reductions and predicates."""

from __future__ import annotations

import dataclasses
from typing import Any

import polars as pl
import pytest

from ackclock.studies import STUDIES
from ackclock.studies.framework.simulation import simulate
from ackclock_studies.aqm import published, runs, scenarios
from ackclock_studies.aqm.analysis import Results, analyse
from ackclock_studies.aqm.predicates import CLAIMS
from ackclock_studies.aqm.scenarios import QUEUES, Member, Plan, Setting, flows_of
from ackclock_studies.aqm.study import FIGURES

PLAN = Plan(quick=True)
LONG = Setting("friendly", "droptail", "reno", (Member("long", "newreno"),), 12, 4)


def test_the_levels_by_hand() -> None:
    # 10 Mbit/s for 100 ms are 83 packets; path and buffer 166: 0.036 · 166 = 5.98, 0.081 · 166 =
    # 13.4, 0.114 · 166 = 18.9.
    assert [flows_of(level) for level in ("mild", "medium", "heavy")] == [6, 13, 19]
    # 0.76 · (6/166)² = 0.000993, what the RFC rounds to 0.1 %.
    assert published.loss_of(6, 166) == pytest.approx(9.93e-4, abs=1e-6)


def test_a_setting_as_a_scenario() -> None:
    setting = dataclasses.replace(LONG, load=0.75, every_s=4.0, voice=True)
    scenario = setting.scenario().to_dict()
    bottleneck, access = scenario["topology"]["link"]
    assert bottleneck["queue"]["limit"] == "83 packet"
    assert access["delay"] == "49000 us"
    # 7.5 Mbit/s in packets of 12,000 bits.
    assert scenario["cross_traffic"][0]["rate"] == "625 packet/s"
    assert [(event["at"], event["set"]["rate"]) for event in scenario["event"]] == [
        ("4000 ms", "10000000 bit/s"),
        ("8000 ms", "100000000 bit/s"),
    ]


def test_every_discipline_carries_every_case() -> None:
    settings = [
        dataclasses.replace(LONG, queue=queue, load=load, web=True, voice=True)
        for queue in QUEUES
        for load in (0.0, 1.2)
    ]
    tables = simulate([each.scenario() for each in settings], None)
    rows = runs._mix(tables, settings)  # noqa: SLF001
    assert rows["queue"].to_list() == [each.queue for each in settings]
    assert rows["utilisation"].min() > 0.5  # type: ignore[operator]
    # A buffer of 83 packets is 99.6 ms long.
    droptail = rows.filter(pl.col("queue") == "droptail")
    assert droptail["queue_delay_p99_s"].max() < 0.102  # type: ignore[operator]


def test_delays_at_the_low_rate_are_of_the_low_rate() -> None:
    setting = dataclasses.replace(LONG, case="20 s", every_s=4.0, duration_s=16, measure_from_s=4)
    (row,) = runs._phases(simulate([setting.scenario()], None), [setting]).iter_rows(named=True)  # noqa: SLF001
    # 83 packets of 1500 bytes take 99.6 ms at 10 Mbit/s.
    assert 0 < row["low_delay_mean_s"] <= row["low_delay_p95_s"] <= 0.0997


def over_seeds(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame(columns | {"seeds": [2] * len(columns["queue"])})


@pytest.mark.parametrize(("own", "verdict"), [(0.48, "reproduced"), (0.4, "not reproduced")])
def test_the_predicate_of_isolation_notices(own: float, verdict: str) -> None:
    (claim,) = (each for each in CLAIMS if each.id == "aqm-isolation")
    shares = [0.2 if queue in scenarios.ONE_LINE else own for queue in QUEUES]
    rows = over_seeds(queue=list(QUEUES), case=["0.75"] * len(QUEUES), share=shares)
    assert claim.judge(Results(PLAN, {"unresponsive": rows})).verdict == verdict


@pytest.mark.parametrize(("lost", "verdict"), [(1.5, "reproduced"), (3.0, "not reproduced")])
def test_the_predicate_of_levels_notices(lost: float, verdict: str) -> None:
    (claim,) = (each for each in CLAIMS if each.id == "aqm-levels")
    levels = list(published.LEVELS)
    formula = [published.loss_of(flows_of(level), 166) for level in levels]
    rows = over_seeds(queue=["droptail"] * 3, case=levels, formula_loss=formula,
                      drop_share=[lost * each for each in formula])  # fmt: skip
    assert claim.judge(Results(PLAN, {"levels": rows})).verdict == verdict


def test_every_setting_is_there_once() -> None:
    plan = Plan(quick=False)
    # Two senders behind each discipline, ten times.
    assert len(scenarios.friendly(plan)) == 2 * len(QUEUES) * 10
    assert set(scenarios.ONE_LINE) | set(scenarios.BY_FLOW) == set(QUEUES)


def test_the_study_is_registered_with_its_figures() -> None:
    assert set(STUDIES.get("aqm").figures) == set(FIGURES)
    assert not analyse(PLAN, {}).tables
