"""The study response: its scenarios, models, predicates and report."""

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

import ackclock as ac
from ackclock.studies import STUDIES
from ackclock.studies.framework.simulation import BrokenRunError, simulate
from ackclock_studies.response import model, published, runs, scenarios
from ackclock_studies.response.analysis import Results, analyse
from ackclock_studies.response.predicates import CLAIMS
from ackclock_studies.response.scenarios import PERIODS, RTTS_MS, Plan, Setting
from ackclock_studies.response.study import FIGURES, reproduce

QUIET = Console(quiet=True)

#: One loss in 1000 packets at 100 ms, where both laws keep Reno's window: RFC 9438 table 1 has 38.
RENO = Setting("reno+rack", "periodic", 100, 1_000, 38.0, warm_up=20, measured=20)
CUBIC = dataclasses.replace(RENO, variant="cubic")


def measured(*settings: Setting) -> pl.DataFrame:
    tables = simulate([setting.scenario() for setting in settings], None)
    return runs.measure(tables, settings)


# ---------------------------------------------------------------------------------------- formulas


def test_the_formulas_are_those_of_the_rfc() -> None:
    windows = published.formulas()
    assert len(windows) == 2 * len(RTTS_MS) * len(PERIODS)
    # RFC 9438 section 5.1, tables 1 (0.1 s) and 2 (0.01 s): Reno and CUBIC with C = 0.4.
    assert [round(windows["reno", 100, n]) for n in (1_000, 10_000, 100_000)] == [38, 120, 379]
    assert [round(windows["cubic", 100, n]) for n in (1_000, 10_000, 100_000)] == [38, 187, 1054]
    assert [round(windows["cubic", 10, n]) for n in (1_000, 10_000, 100_000)] == [38, 120, 379]


def test_the_model_of_padhye_is_that_of_the_core() -> None:
    questions = [
        {"loss_rate": p, "rtt_s": rtt_s, "t_rto_s": t_rto_s}
        for p in (1e-5, 1e-3, 1e-2, 0.3)
        for rtt_s, t_rto_s in ((0.01, 1.0), (0.2, 0.2))
    ]
    for asked in questions:
        answer = ac.theory.response(**asked)
        ours = model.rate_pps(asked["loss_rate"], asked["rtt_s"], asked["t_rto_s"])
        assert ours == pytest.approx(answer.pftk_pps, rel=1e-9)


def test_the_share_of_timeouts_has_its_place_in_the_model() -> None:
    # p = 0.01: E = 1 + sqrt(8 · 0.99/0.03 + 1) = 17.28; E/2 + 1 = 9.64 rounds of 0.1 s; 99 + 17.28
    # packets. Without a timeout 116.28/0.964 = 120.6; if every loss ends in one of 1 s, with
    # f = 1.0102: 117.29/(0.964 + 1.0102/0.99) = 59.1.
    assert model.rate_pps(0.01, 0.1, 1.0, 0.0) == pytest.approx(120.6, abs=0.1)
    assert model.rate_pps(0.01, 0.1, 1.0, 1.0) == pytest.approx(59.1, abs=0.1)
    # q³ = 0.970299, q^14.28 = 0.8663, q^17.28 = 0.8406:
    # 0.029701 (1 + 0.970299 · 0.1337)/0.1594 = 0.2105.
    assert model.timeout_share(0.01, 17.28) == pytest.approx(0.2105, abs=1e-4)
    assert model.timeout_share(0.01, 3) == 1


# --------------------------------------------------------------------------------------- scenarios


def test_a_setting_as_a_scenario() -> None:
    scenario = RENO.scenario().to_dict()
    (link,) = scenario["topology"]["link"]
    # Half of 100 ms; the first loss at twice the formula's 38 packets.
    assert (link["delay"], link["reverse"]) == ("50000 us", {"loss": 0})
    assert link["loss"] == {"every": 1000, "first": 76}
    # 40 losses of 1000 packets at 38 a round trip: 40 · 26.3158 round trips of 0.1 s.
    assert scenario["duration"] == "105263158 us"
    assert scenario["measure"][1] == {"name": "steady", "from": "52631579 us"}
    assert scenario["flow"][0]["tcp"]["delayed_ack"] == "off"
    at_random = dataclasses.replace(RENO, losses="random").scenario().to_dict()
    assert at_random["topology"]["link"][0]["loss"] == 0.001


def test_every_setting_is_there_once() -> None:
    plan = Plan(quick=False)
    windows = published.formulas()
    for period in plan.periods:
        found = scenarios.periodic(plan, period, windows)
        assert {(each.variant, each.rtt_ms) for each in found} == {
            (variant, rtt_ms) for variant in ("reno+rack", "cubic") for rtt_ms in RTTS_MS
        }
        assert len(found) == 8
    found = scenarios.random(plan, 100, windows)
    # Three senders on one path, Reno on seven more; ten seeds each.
    assert len({(e.variant, e.rtt_ms, e.min_rto_ms) for e in found}) == 10
    assert len({(e.variant, e.rtt_ms, e.min_rto_ms, e.seed) for e in found}) == len(found) == 100


# -------------------------------------------------------------------------------------------- runs


def test_both_laws_keep_the_window_of_the_rfc() -> None:
    rows = measured(RENO, CUBIC)
    for row in rows.iter_rows(named=True):
        assert row["window_packets"] == pytest.approx(38, rel=0.1)
        assert row["window_by_goodput_packets"] == pytest.approx(38, rel=0.1)
        assert row["rtt_s"] == pytest.approx(0.1, rel=1e-3)
        assert row["timeouts"] == 0
        assert row["congestion_events"] == pytest.approx(20, abs=3)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        # 4 Mbit/s are 333 packets/s, fewer than 38 a round trip of 0.1 s.
        ("RATE", "4 Mbit/s", "waited"),
        ("RECEIVE_WINDOW_BYTES", 60_000, "receive window"),
    ],
)
def test_a_run_that_something_else_holds_back_stops_the_study(
    name: str, value: object, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scenarios, name, value)
    if hasattr(runs, name):
        monkeypatch.setattr(runs, name, value)
    with pytest.raises(BrokenRunError, match=reason):
        measured(RENO)


def test_losses_that_are_not_one_in_every_so_many_stop_the_study() -> None:
    tables = simulate([RENO.scenario()], None)
    with pytest.raises(BrokenRunError, match="every so many"):
        runs.measure(tables, [dataclasses.replace(RENO, period=900)])


# -------------------------------------------------------------------------------- claims and report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, drawn_alone: Callable[..., Any]) -> Path:
    out = tmp_path_factory.mktemp("response")
    with pytest.MonkeyPatch.context() as patch, drawn_alone(None):
        patch.setattr(Plan, "seeds", 2)
        reproduce(out, quick=True, threads=None, console=QUIET)
    return out


def tables_of(report: Path) -> dict[str, pl.DataFrame]:
    return {path.stem: pl.read_parquet(path) for path in (report / "data").glob("*.parquet")}


@pytest.mark.slow
def test_the_windows_are_the_formulas_in_the_quick_study(report: Path) -> None:
    claims = {claim["id"]: claim for claim in json.loads((report / "claims.json").read_text())}
    assert claims["response-reno"]["verdict"] == "reproduced"
    assert claims["response-cubic"]["verdict"] == "reproduced"
    assert claims["response-cubic"]["published"]["100 ms, 1 in 10000"] == 187.4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "column", "rows"),
    [
        ("response-reno", "ratio", pl.col("law") == "reno"),
        ("response-cubic", "ratio_by_goodput", pl.col("law") == "cubic"),
        ("response-pftk", "ratio_pftk", pl.col("rtt_ms") == 100),
    ],
)
def test_a_predicate_notices(claim: str, column: str, rows: pl.Expr, report: Path) -> None:
    tables = tables_of(report)
    name = "random" if "pftk" in claim else "periodic"
    whole = tables | {name: tables[name].with_columns(pl.lit(1.0).alias(column))}
    worse = {name: whole[name].with_columns(pl.when(rows).then(1.2).otherwise(1.0).alias(column))}
    (judged,) = (each for each in CLAIMS if each.id == claim)
    assert judged.judge(Results(Plan(quick=True), whole)).verdict == "reproduced"
    assert judged.judge(Results(Plan(quick=True), whole | worse)).verdict == "not reproduced"


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
    with drawn_alone(("cycles",)):
        reproduce(tmp_path, quick=True, threads=1, console=QUIET, figure="cycles")
    assert (tmp_path / "cycles.svg").stat().st_size > 10_000
    for name in ("traces", "approach"):
        alone = pl.read_parquet(tmp_path / "data" / f"{name}.parquet")
        assert alone.equals(pl.read_parquet(report / "data" / f"{name}.parquet"))


def test_the_study_is_registered_with_its_figures() -> None:
    assert set(STUDIES.get("response").figures) == set(FIGURES)


def test_nothing_is_analysed_of_no_parts() -> None:
    assert not analyse(Plan(quick=True), {}).tables
