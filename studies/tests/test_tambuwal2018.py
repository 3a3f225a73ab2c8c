"""The study tambuwal2018: its scenarios, reductions, search and predicates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from rich.console import Console

from ackclock.studies import STUDIES
from ackclock.studies.framework.simulation import BrokenRunError, simulate
from ackclock_studies.tambuwal2018 import analysis, predicates, runs, study
from ackclock_studies.tambuwal2018.analysis import Results
from ackclock_studies.tambuwal2018.predicates import CLAIMS
from ackclock_studies.tambuwal2018.published import TABLE_2, TABLE_3
from ackclock_studies.tambuwal2018.scenarios import (
    BEST,
    LOADS,
    OTHERS,
    STANDARD,
    TSL,
    VARIANTS,
    Feedback,
    Plan,
    Setting,
)

QUIET = Console(quiet=True)
SMALL = Setting(STANDARD, 140.0, 2_000, seed=3)


# -------------------------------------------------------------------------------------- reductions


def _tables(**rows: list[dict[str, Any]]) -> Any:
    return SimpleNamespace(**{name: pl.DataFrame(each) for name, each in rows.items()})


def test_a_response_is_counted_as_the_paper_counts_it() -> None:
    """One SYN-ACK lost: (response − 1 s) / base round-trip time, of the first object alone."""
    connection = {
        "class": "web",
        "variant": "newreno+sack+iw3+tsl(3,16)",
        "base_rtt_s": 0.1,
        "lost_synack": 1,
        "lost_syn": 0,
        "synack_retransmits": 1,
        "outcome": "closed",
    }
    clean = connection | {"lost_synack": 0, "synack_retransmits": 0}
    # Opened in the warm-up; lost one; lost two; lost none and asked for two objects.
    far = connection | {"base_rtt_s": 1.2}
    opened = [(4, 73.0, far), (0, 59.0, connection), (1, 70.0, connection),
              (2, 71.0, connection | {"lost_synack": 2}), (3, 72.0, clean)]  # fmt: skip
    # The fifth has a round trip of 1.2 s, and lost the SYN-ACK that the timer sent for nothing.
    waits = {0: 1.1, 1: 1.1, 2: 3.1, 3: 0.1, 4: 1.2}
    connections = [
        each | {"connection": n, "opened_s": at, "established_s": at + waits[n]}
        for n, at, each in opened
    ]
    objects = [
        {"flow": "web", "connection": n, "object": k, "bytes": size, "requested_s": asked,
         "completed_s": done}
        for n, k, size, asked, done in (
            (0, 0, 500, 59.0, 60.3), (1, 0, 2_000, 70.0, 71.25), (2, 0, 2_000, 71.0, 74.5),
            (3, 0, 500, 72.0, 72.2), (3, 1, 700, 80.0, 80.1), (3, 2, 700, 90.0, None),
            (4, 0, 500, 73.0, 75.4),
        )
    ]  # fmt: skip
    links = [
        {"measure": measure, "direction": direction, "duration_s": 100.0,
         "delivered_bytes": 50_000_000, "dropped_packets": 30, "offered_packets": 1_000}
        for measure in ("run", "steady") for direction in ("forward", "reverse")
    ]  # fmt: skip
    samples = [
        {"time_s": 60.0 + n, "dropped_packets": dropped, "delivered_flow_packets": delivered,
         "queue_packets": queue}
        for n, (dropped, delivered, queue) in enumerate(
            ((5, 100, 2), (5, 180, 12), (15, 272, 10), (15, 282, 0))
        )
    ]  # fmt: skip
    row = runs.measure(
        _tables(connections=connections, objects=objects, links=links, link_samples=samples)
    )
    # (1.25 − 1)/0.1 = 2.5 round trips.
    assert row["lost_rtts"] == pytest.approx([2.5])
    assert row["synack_lost_response_rtt_mean"] == pytest.approx(2.5)
    assert (row["synack_lost_connections"], row["synack_lost_any"]) == (1, 3)
    # Everything that finished after the warm-up: 1.25, 3.5, 0.2, 0.1 and 2.4 s.
    assert row["connections"] == 4
    assert row["response_mean_s"] == pytest.approx((1.25 + 3.5 + 0.2 + 0.1 + 2.4) / 5)
    # 50 MB in 100 s are 4 Mbit/s of 10.
    assert row["utilisation"] == pytest.approx(0.4)
    assert row["plr"] == pytest.approx(0.03)
    # Offered: 80 + 10 and none dropped; 92 − 2 + 10 = 100 and 10 dropped; 10 − 10: nothing came.
    assert row["seconds_plr"] == pytest.approx([0.0, 0.1])
    assert row["plr_peak"] == pytest.approx(0.1)


def test_a_run_has_every_column_and_loses_syn_acks() -> None:
    row = runs.measure(simulate([SMALL.scenario()], 1))
    assert 1_500 < row["connections"] < 2_500
    assert row["synack_lost_connections"] > 10
    assert min(row["lost_rtts"]) > 2 - 1e-9
    assert set(analysis.RUN_COLUMNS) - {"variant", "load", "seed", "conn_rate_per_s"} <= set(row)
    assert set(runs.LISTS) <= set(row)


def test_all_variants_of_a_seed_meet_the_same_connections() -> None:
    def drawn(variant: Any) -> pl.DataFrame:
        tables = simulate([dataclasses.replace(SMALL, variant=variant).scenario()], 1)
        return tables.connections.sort("connection").select("connection", "opened_s", "base_rtt_s")

    standard = drawn(STANDARD)
    for other in (*VARIANTS[1:3], Feedback(0.03), {STANDARD: 0.5, BEST: 0.5}):
        assert drawn(other).equals(standard)


def test_a_mix_and_the_feedback_are_told_apart() -> None:
    half = dataclasses.replace(SMALL, variant={STANDARD: 0.5, BEST: 0.5})
    row = runs.measure(simulate([half.scenario()], 1))
    # 2000 draws: standard deviation 0.011.
    assert row["standard_share"] == pytest.approx(0.5, abs=0.06)
    assert row["lost_mean_rtts_tcp"] is not None
    assert row["lost_mean_rtts_tsl"] is not None


# ------------------------------------------------------------------------------------------ search


def test_the_search_finds_a_rate_on_a_curve_that_saturates() -> None:
    # 1 − exp(−rate/50) is 0.9 at 50 ln 10 = 115.13.
    for guess in (20.0, 57.0, 115.0, 300.0):
        tried = runs.search(lambda rate: 1 - math.exp(-rate / 50), 0.9, 0.002, guess)
        assert tried[-1][1] == pytest.approx(0.9, abs=0.002)
        assert tried[-1][0] == pytest.approx(115.13, abs=1.1)
        assert len(tried) <= 10


def test_a_search_that_cannot_end_says_so() -> None:
    with pytest.raises(BrokenRunError, match=r"no rate gives a utilisation of 0\.9"):
        runs.search(lambda _: 0.5, 0.9, 0.01, 50.0)


# --------------------------------------------------------------------------------------- staircase


def test_round_trips_are_those_of_slow_start() -> None:
    # From a window of 1: 1, 3, 7, 15, 31 segments after 2, 3, 4, 5, 6; of 3: 3, 9, 21, 45.
    assert [analysis.round_trips(n, 1) for n in (1, 2, 3, 4, 7, 8, 31)] == [2, 3, 3, 4, 4, 5, 6]
    assert [analysis.round_trips(n, 3) for n in (1, 3, 4, 9, 10, 21, 22)] == [2, 2, 3, 3, 4, 4, 5]


# -------------------------------------------------------------------------------------- predicates


def _results(value: Any) -> Results:
    """Return results in which ``value(column, load, variant, seed)`` is every number."""
    plan = Plan(quick=False)
    columns = ("plr", "throughput_bps", "lost_mean_rtts", "plr_peak")
    rows = [
        {"variant": variant, "load": load, "seed": seed}
        | {column: value(column, load, variant, seed) for column in columns}
        for variant in VARIANTS for load in LOADS for seed in plan.seeds
    ]  # fmt: skip
    return Results(plan, {"runs": pl.DataFrame(rows)})


def _judge(claim: str, predicate: str, results: Results) -> bool:
    parts = next(each for each in CLAIMS if each.id == claim).predicates
    return next(each for each in parts if each.id == predicate).judge(results).holds


def test_table_2_is_judged_by_the_cell() -> None:
    def plr(column: str, load: float, variant: str, seed: int) -> float:
        base = 0.01 * load * (1 + 0.1 * seed)
        short = next((key for key, name in TSL.items() if name == variant), None)
        if column != "plr" or short not in OTHERS or load not in TABLE_2:
            return base
        return base * (1 + TABLE_2[load][OTHERS.index(short)] / 100)

    results = _results(plr)
    assert _judge("tambuwal-t2", "cells", results)
    assert predicates.loss_increase_relative(results, 0.98, "3,16") == pytest.approx(6.745)

    def off(column: str, load: float, variant: str, seed: int) -> float:
        return plr(column, load, variant, seed) * (1.02 if variant == BEST else 1.0)

    worse = _results(off)
    assert not _judge("tambuwal-t2", "cells", worse)


def test_table_3_is_a_decrease() -> None:
    def bps(column: str, load: float, variant: str, seed: int) -> float:
        base = 1e7 * load + seed
        short = next((key for key, name in TSL.items() if name == variant), None)
        if column != "throughput_bps" or short not in OTHERS or load not in TABLE_3:
            return base
        return base * (1 - TABLE_3[load][OTHERS.index(short)] / 100)

    results = _results(bps)
    assert _judge("tambuwal-t3", "cells", results)
    assert _judge("tambuwal-f11", "most", results)
    assert predicates.throughput_decrease(results, 0.98, "3,1000") == pytest.approx(1.484)


def test_gains_are_differences_on_the_same_seed() -> None:
    # Seeds that differ by more than variants do: the interval of the difference is nothing.
    def value(_column: str, load: float, variant: str, seed: int) -> float:
        return 100 * seed + 10 * load - (13 if variant != STANDARD else 0)

    results = _results(value)
    over = results.difference("lost_mean_rtts", 0.9, BEST, STANDARD)
    assert (over.mean, over.ci) == (pytest.approx(-13), pytest.approx(0, abs=1e-9))
    assert _judge("tambuwal-f7", "high-least", results)
    assert not _judge("tambuwal-f7", "low-most", results)


def test_every_claim_has_a_predicate_and_every_figure_a_recipe() -> None:
    assert [claim.id for claim in CLAIMS] == [
        "tambuwal-f2f3", "tambuwal-f4", "tambuwal-f5", "tambuwal-f6", "tambuwal-f7", "tambuwal-t2",
        "tambuwal-t3", "tambuwal-f8f10", "tambuwal-f11", "tambuwal-f12",
    ]  # fmt: skip
    assert all(claim.predicates for claim in CLAIMS)
    assert set(STUDIES.get("tambuwal2018").figures) == set(study.FIGURES) | {"linux", "live"}


# ---------------------------------------------------------------------------------------- the study


@pytest.mark.slow
def test_the_study_runs_resumes_and_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, drawn_alone: Callable[..., Any]
) -> None:
    def few(_plan: Plan, _load: float) -> int:
        return 1_000

    def near(_plan: Plan, _load: float) -> float:
        return 0.3

    monkeypatch.setattr(Plan, "connections", few)
    monkeypatch.setattr(Plan, "mixed_connections", 300)
    monkeypatch.setattr(Plan, "beside_connections", 300)
    monkeypatch.setattr(Plan, "tolerance", near)
    with drawn_alone(("f2", "f4", "f7", "f12")):
        judged = study.reproduce(tmp_path, quick=True, threads=None, console=QUIET)
    assert [claim.id for claim in judged] == [claim.id for claim in CLAIMS]
    table = pl.read_parquet(tmp_path / "data" / "runs.parquet")
    assert table.columns[: len(analysis.RUN_COLUMNS)] == list(analysis.RUN_COLUMNS)
    assert table.height == 3 * len(VARIANTS) * 2
    assert set(table["variant"]) == set(VARIANTS)
    assert "claims.json" in {path.name for path in tmp_path.iterdir()}
    page = (tmp_path / "index.html").read_text()
    assert "2 seeds in place of 5" in page
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "parts").iterdir()}
    with drawn_alone(("f12",)):
        study.reproduce(tmp_path, quick=True, threads=None, console=QUIET, figure="f12")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "parts").iterdir()} == before
    assert (tmp_path / "f12.svg").is_file()
