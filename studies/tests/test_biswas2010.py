"""The study biswas2010: its scenarios, reductions, predicates and report."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from ackclock.base.estimates import t_975
from ackclock.studies import STUDIES
from ackclock.studies.framework.simulation import simulate
from ackclock_studies.biswas2010 import runs, scenarios
from ackclock_studies.biswas2010.analysis import Results, difference
from ackclock_studies.biswas2010.predicates import CLAIMS
from ackclock_studies.biswas2010.scenarios import CWV, STANDARD, Plan, Setting
from ackclock_studies.biswas2010.study import FIGURES, reproduce

QUIET = Console(quiet=True)

ALONE = Setting("homo", 1, (STANDARD,), "idle", 1.5, 0.1, 1)


def restarted(*settings: Setting) -> pl.DataFrame:
    return runs.restart(simulate([each.scenario() for each in settings], None), settings)


# --------------------------------------------------------------------------------------- scenarios


def test_the_path_is_that_of_the_paper() -> None:
    scenario = ALONE.scenario().to_dict()
    # 2 (100 + 2) ms, five of them; the change half way between 10.2 s and 11.5 s.
    assert ALONE.base_rtt_s == pytest.approx(0.204)
    assert scenario["measure"][0]["for"] == "5 RTT"
    assert scenario["event"][0]["at"] == "10.850000 s"
    assert scenario["event"][0]["set"] == {"rate": "2000000 bit/s", "queue": {"limit": "1.0 BDP"}}
    limited = dataclasses.replace(ALONE, mode="limited", period_s=5.0).scenario().to_dict()
    assert limited["measure"][0]["for"] == "10 RTT"
    assert limited["event"][0]["at"] == {"after": "restore"}


def test_mixed_flows_are_half_of_each() -> None:
    mixed = Setting("hetero", 25, (STANDARD, CWV), "idle", 1.5, 0.1, 1).scenario().to_dict()
    assert [(flow["variant"], flow["count"]) for flow in mixed["flow"]] == [
        (STANDARD, 12),
        (CWV, 13),
    ]


def test_every_setting_is_run_once() -> None:
    for plan in (Plan(quick=True), Plan(quick=False)):
        for settings in (
            scenarios.idle(plan),
            scenarios.long_path(plan),
            scenarios.limited(plan),
            scenarios.delays(plan),
            scenarios.choices(plan),
        ):
            assert len(set(settings)) == len(settings)


# -------------------------------------------------------------------------------------- reductions


def test_one_flow_alone_restarts_as_slow_start_does() -> None:
    # From one segment on the path of 2 Mbit/s: 1, 2, 4 and 8 packets arrive in the first four of
    # five round trips of 204 ms (each a little longer for its transmission), and of the fifth's 16,
    # 6 ms apart, those that arrive before its end. The application gives 45 in all.
    (row,) = restarted(ALONE).iter_rows(named=True)
    packets = row["rate_bps"] * 1.02 / 12_000
    assert 1 + 2 + 4 + 8 <= packets <= 1 + 2 + 4 + 8 + 16
    assert row["drop_rate"] == 0
    assert (row["n"], row["flows"], row["cwv_rto"], row["rival"]) == (1, 1, None, None)


def test_validation_without_a_change_loses_nothing() -> None:
    # 102 ms of the 1.02 s pass before the first packet arrives: (1.02 - 0.102) s / 22.8125 ms =
    # 40.2 packets after it if the window never holds one back.
    free = dataclasses.replace(
        ALONE, variants=("newreno+newcwv",), changed_bps=None, changed_delay_s=None
    )
    (row,) = restarted(free).iter_rows(named=True)
    assert row["rate_bps"] * 1.02 / 12_000 == pytest.approx(41, abs=1)


def test_mixed_rows_have_no_drop_rate_and_know_their_rivals() -> None:
    mixed = Setting(
        "hetero", 4, (STANDARD, "newreno+cwv(rto=500ms)"), "idle", 1.5, 0.1, 1
    )  # fmt: skip
    rows = restarted(mixed)
    assert rows["variant"].to_list() == [STANDARD, "newreno+cwv(rto=500ms)"]
    assert rows["cwv_rto"].to_list() == ["500 ms", "500 ms"]
    assert rows["rival"].to_list() == ["newreno+cwv(rto=500ms)", STANDARD]
    assert rows["drop_rate"].null_count() == 2
    assert rows["flows"].to_list() == [2, 2]


def test_delays_begin_with_the_first_message_after_the_silence() -> None:
    quiet = dataclasses.replace(ALONE, changed_bps=None, stop=True, tail_s=5.0)
    validated = dataclasses.replace(quiet, variants=("newreno+newcwv",))
    tables = simulate([quiet.scenario(), validated.scenario()], None)
    rows = runs.delay(tables, [quiet, validated])
    assert rows["missing"].sum() == 0
    first = rows.filter(pl.col("message") == 0)["message_delay_s"]
    # 1500 B over three links of 100 Mbit/s, 0.12 ms each, and 102 ms.
    assert first.to_list() == pytest.approx([0.10236, 0.10236], abs=1e-5)
    later = rows.filter(pl.col("message") == 5).sort("variant")
    free, held = later["message_delay_s"]
    # newCWV sends it at once; standard TCP's second and third message wait for the first's ACK.
    assert held == pytest.approx(0.10236, abs=1e-5) or free == pytest.approx(0.10236, abs=1e-5)
    assert max(free, held) > 0.2


# --------------------------------------------------------------------------------------- intervals


def test_paired_differences_use_each_seed() -> None:
    rows = pl.DataFrame(
        {
            "variant": ["a", "b"] * 3,
            "seed": [1, 1, 2, 2, 3, 3],
            "rate_bps": [3.0, 1.0, 5.0, 2.0, 7.0, 3.0],
        }
    )
    one, other = pl.col("variant") == "a", pl.col("variant") == "b"
    # 2, 3 and 4: mean 3, deviation 1, so t(2) / sqrt(3).
    paired = difference(rows, "rate_bps", one, other, paired=True)
    assert paired.mean == pytest.approx(3)
    assert paired.ci == pytest.approx(t_975(2) / 3**0.5)
    # Alone: deviations 2 and 1 add in squares.
    apart = difference(rows, "rate_bps", one, other, paired=False)
    assert apart.ci == pytest.approx(t_975(2) * (5 / 3) ** 0.5)


# ------------------------------------------------------------------------------- claims and report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, drawn_alone: Callable[..., Any]) -> Path:
    out = tmp_path_factory.mktemp("biswas2010")
    # Every part of the quick study, with fewer flows and segments of video; of the figures one of
    # each function.
    figures = ("f1", "f3", "f8", "silence", "choices", "trade", "video")
    with pytest.MonkeyPatch.context() as patch, drawn_alone(figures):
        patch.setattr(Plan, "flows", (4, 16))
        patch.setattr(scenarios, "DELAYED", 2)
        patch.setattr(scenarios, "CHOICE_FLOWS", (8,))
        patch.setattr(scenarios, "VIDEO_SEGMENTS", 5)
        reproduce(out, quick=True, threads=None, console=QUIET)
    return out


def tables_of(report: Path) -> dict[str, pl.DataFrame]:
    return {path.stem: pl.read_parquet(path) for path in (report / "data").glob("*.parquet")}


@pytest.mark.slow
def test_the_window_is_that_of_figure_1(report: Path) -> None:
    claims = {claim["id"]: claim for claim in json.loads((report / "claims.json").read_text())}
    assert claims["biswas-f1"]["verdict"] == "reproduced"
    measured = claims["biswas-f1"]["measured"]
    assert measured["standard_after_segments"] == 1
    # One RTO of 1 s in 1.5 s of silence: half.
    assert measured["cwv_after_segments"] == pytest.approx(measured["cwv_before_segments"] / 2)


@pytest.mark.slow
def test_a_predicate_notices(report: Path) -> None:
    tables = tables_of(report)
    (judged,) = (each for each in CLAIMS if each.id == "biswas-f3")
    cwv = pl.col("variant") == CWV
    loses = tables["idle"].with_columns(
        pl.when(cwv).then(pl.col("rate_bps") / 100).otherwise("rate_bps").alias("rate_bps")
    )
    plan = Plan(quick=True)
    assert all(part.holds for part in judged.judge(Results(plan, tables)).parts)
    worse = judged.judge(Results(plan, tables | {"idle": loses}))
    assert not any(part.holds for part in worse.parts)


@pytest.mark.slow
def test_the_data_files_have_what_was_asked_for(report: Path) -> None:
    tables = tables_of(report)
    asked = {"mix", "n", "variant", "cwv_rto", "delay_s", "seed", "rate_bps", "drop_rate"}
    for name, period in (("idle", "idle_s"), ("applimited", "period_s")):
        rows = tables[name]
        assert asked | {period} <= set(rows.columns)
        keys = ["mix", "n", "variant", "cwv_rto", period, "delay_s", "seed"]
        assert rows.height == rows.select(keys).n_unique()
        assert set(rows["cwv_rto"].unique()) == {"clamped", "500 ms", "unclamped", None}
        assert (rows["drop_rate"].is_null() == (rows["mix"] == "hetero")).all()
    assert {"idle_s", "variant", "message", "message_delay_s"} <= set(tables["delay"].columns)


@pytest.mark.slow
def test_the_report_stands_alone(report: Path) -> None:
    page = (report / "index.html").read_text(encoding="utf-8")
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    for key in FIGURES:
        assert f'id="{key}' in page
    for claim in CLAIMS:
        assert claim.id in page


@pytest.mark.slow
def test_a_figure_alone_has_the_same_data(
    report: Path, tmp_path: Path, drawn_alone: Callable[..., Any]
) -> None:
    with drawn_alone(("f1",)):
        reproduce(tmp_path, quick=True, threads=1, console=QUIET, figure="f1")
    alone = pl.read_parquet(tmp_path / "data" / "traces.parquet")
    assert alone.equals(pl.read_parquet(report / "data" / "traces.parquet"))


def test_the_study_is_registered_with_its_figures() -> None:
    assert set(STUDIES.get("biswas2010").figures) == set(FIGURES) | {"linux", "live"}
