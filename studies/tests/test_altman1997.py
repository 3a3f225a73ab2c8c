"""The study altman1997: its published values, scenarios, predicates, figures and report."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from ackclock.plots.style import to_svg
from ackclock.studies import STUDIES
from ackclock.studies.framework.simulation import BrokenRunError
from ackclock_studies.altman1997 import analysis_map, figures, model, runs_bursts
from ackclock_studies.altman1997.analysis import Results
from ackclock_studies.altman1997.predicates import CLAIMS
from ackclock_studies.altman1997.published import cases
from ackclock_studies.altman1997.scenarios import (
    MAP_BUFFER_PACKETS,
    MAP_RANGES,
    Plan,
    Setting,
    of_seed,
    random_points,
)
from ackclock_studies.altman1997.study import FIGURES, reproduce

QUIET = Console(quiet=True)


# ------------------------------------------------------------------------------- published values


def test_the_published_cases_are_whole() -> None:
    found = cases()
    assert [case.label for case in found] == (
        [f"1.{i}" for i in range(1, 10)] + ["2.1", "2.2", "2.3"] + [f"3.{i}" for i in range(1, 10)]
    )
    for case in found:
        assert 0 < case.path.lambda_pps < case.path.mu_pps
        assert (case.exogenous == "poisson") == (case.table == 3)
    by_label = {case.label: case for case in found}
    for number in range(1, 10):
        periodic, poisson = by_label[f"1.{number}"], by_label[f"3.{number}"]
        assert periodic.path == poisson.path
        assert periodic.thp_analytic_pps == poisson.thp_analytic_pps
        assert periodic.rtt_analytic_s == poisson.rtt_analytic_s


def test_the_published_errors_follow_from_the_published_values() -> None:
    # Entries that do not, whatever the rounding: |analytic - simulated| / simulated.
    wrong_thp = {"1.1", "1.5", "1.9", "2.1", "2.2", "2.3"}
    wrong_rtt = {"3.4", "3.5", "3.6"}
    off_thp, off_rtt = set(), set()
    for case in cases():
        thp = 100 * abs(case.thp_analytic_pps / case.thp_simulated_pps - 1)
        rtt = 100 * abs(case.rtt_analytic_s / case.rtt_simulated_s - 1)
        if abs(thp - case.thp_error_percent) > 0.4:
            off_thp.add(case.label)
        if abs(rtt - case.rtt_error_percent) > 0.6:
            off_rtt.add(case.label)
    assert off_thp <= wrong_thp
    assert off_rtt <= wrong_rtt


def test_the_criterion_gives_the_published_number_of_slow_starts() -> None:
    for case in cases():
        if case.table == 1:
            two = case.path.beta <= case.path.critical_beta
            assert case.slow_starts_per_cycle == (2 if two else 1)


def test_the_exogenous_loss_that_a_published_value_needs() -> None:
    by_label = {case.label: case for case in cases()}
    assert by_label["2.2"].needed_exogenous_loss == pytest.approx(27.9 / 50)
    assert by_label["1.2"].needed_exogenous_loss == pytest.approx(3.6 / 40)
    assert by_label["1.1"].needed_exogenous_loss < 0


# -------------------------------------------------------------------------------------- scenarios


def test_a_case_as_a_scenario() -> None:
    case = cases()[0]
    scenario = of_seed(case.path, case.exogenous, 3, Plan(quick=False)).scenario().to_dict()
    source, bottleneck = scenario["topology"]["link"]
    assert source["rate"] == f"{300 * 576 * 8} bit/s"
    assert bottleneck["rate"] == f"{170 * 576 * 8} bit/s"
    assert (source["delay"], bottleneck["delay"]) == ("50 ms", "50 ms")
    assert bottleneck["queue"] == {
        "kind": "droptail",
        "limit": "5 packet",
        "counts_in_service": True,
    }
    assert scenario["cross_traffic"][0]["phase"] == 0.3
    assert scenario["seed"] == 3
    assert scenario["duration"] == "1500 s"
    assert [window["name"] for window in scenario["measure"]] == ["warmup", "steady"]


def test_sources_have_links_of_their_own() -> None:
    scenario = (
        dataclasses.replace(of_seed(cases()[0].path, "poisson", 0, Plan(quick=False)), sources=2)
        .scenario()
        .to_dict()
    )
    assert [link["name"] for link in scenario["topology"]["link"]] == [
        "source-1",
        "source-2",
        "bottleneck",
    ]
    assert [flow["from"] for flow in scenario["flow"]] == ["source-1", "source-2"]
    assert "phase" not in scenario["cross_traffic"][0]


def test_random_points_are_the_same_everywhere_and_in_their_ranges() -> None:
    points = random_points(300, 2)
    assert points[:100] == random_points(100, 2)
    first = points[0]
    assert (first.path.mu_pps, first.path.buffer_packets) == (94.1, 58)
    for point in points:
        path = point.path
        assert MAP_BUFFER_PACKETS[0] <= path.buffer_packets <= MAP_BUFFER_PACKETS[1]
        assert 39.9 <= path.mu_pps <= 200.1
        assert 0.019 <= path.lambda_pps / path.mu_pps <= 0.851
        assert 0.099 <= path.tau_s <= 0.801
        assert len(point.phases) == 2


def test_the_published_cases_lie_in_the_ranges_of_the_map() -> None:
    for case in cases():
        path = case.path
        values = {
            "mu_pps": path.mu_pps,
            "lambda_over_mu": path.lambda_pps / path.mu_pps,
            "tau_s": path.tau_s,
            "tau1_share": path.tau1_s / (path.tau1_s + path.tau2_s),
            "beta": path.beta,
            "bw_in_over_free": path.bw_in_pps / path.free_pps,
        }
        for name, value in values.items():
            low, high, _ = MAP_RANGES[name]
            assert low <= value <= high, (case.label, name)
        if case.table == 1:
            for name, (low, high) in analysis_map.PAPER_BOX.items():
                assert low <= values[name] <= high, (case.label, name)


# ----------------------------------------------------------------------------- bursts and cycles


def sawtooth(counts: list[int], threshold: float = 10.0) -> pl.DataFrame:
    """Return W(t) of cycles with so many slow starts each, and W a second step of one."""
    rows: list[tuple[float, float, float]] = []
    time = 0.0
    for count in counts:
        for number in range(count):
            climb = [1.0, 2.0, 4.0, 8.0] + ([] if number < count - 1 else [10.0, 12.0, 14.0, 16.0])
            for window in climb:
                rows.append((time, window, threshold))
                time += 1.0
    rows.append((time, 1.0, threshold))
    return pl.DataFrame(rows, schema=["time_s", "cwnd_segments", "ssthresh_segments"], orient="row")


def test_cycles_end_with_a_loss_in_congestion_avoidance() -> None:
    path = cases()[0].path
    lengths, slow_starts = runs_bursts.cycle_lengths(path, sawtooth([1, 2, 1, 3]), 0.0)
    assert slow_starts.tolist() == [2, 1, 3]
    assert lengths.tolist() == [12.0, 8.0, 16.0]


def test_the_recursion_converges_to_its_limit() -> None:
    path = cases()[1].path
    rates = runs_bursts.recursion(path, None, 12)
    assert rates[1] == 2 * path.mu_pps
    assert rates[-1] == pytest.approx(2 * path.mu_pps - path.lambda_pps)
    assert runs_bursts.recursion(path, 1.0, 40)[-1] == pytest.approx(
        2 * path.mu_pps - path.lambda_pps
    )


def test_output_rates_follow_packets_one_by_one() -> None:
    # A queue that never empties, every fourth packet exogenous, all of it in avoidance.
    path = dataclasses.replace(cases()[0].path, mu_pps=100.0, lambda_pps=25.0)
    setting = Setting(path=path, exogenous="periodic", seed=0, phase=0.0)
    step = np.arange(0, 20000) / 1000
    served = np.floor(step * 100 + 1e-9).astype(int)
    link = pl.DataFrame(
        {
            "time_s": step,
            "queue_packets": np.full(step.size, 4),
            "delivered_flow_packets": served - served // 4,
            "delivered_cross_packets": served // 4,
        }
    )
    flow = pl.DataFrame({"time_s": [0.0], "cwnd_segments": [20.0], "ssthresh_segments": [10.0]})
    found = runs_bursts.output_rates(setting, flow, link)
    row = found.row(0, named=True)
    assert row["phase"] == "congestion avoidance"
    share = row["exogenous_packets"] / (row["exogenous_packets"] + row["tcp_packets"])
    assert share * path.mu_pps == pytest.approx(path.lambda_pps, rel=0.01)
    assert found.row(1, named=True)["tcp_packets"] == 0


# ------------------------------------------------------------------------------------- the theory


def test_the_theorem_on_figure_four() -> None:
    # Values of an independent calculation, to three digits: tau = 2, B = 20.
    known = {0.05: 0.996, 0.2: 1.001, 0.4: 1.013, 0.6: 1.036}
    for share, value in known.items():
        assert model.utilisation(share, 2.0, 20.0) == pytest.approx(value, abs=6e-4)


# ------------------------------------------------------------------------------------- predicates


def synthetic(shift: dict[str, float] | None = None) -> Results:
    """Return results in which the published world is true, but for some shifts."""
    shift = shift or {}
    rows, table = [], []
    for case in cases():
        place = {"table": case.table, "case": case.case}
        path = case.path
        number = float(2 if path.beta <= path.critical_beta else 1)
        published = float(case.slow_starts_per_cycle) if case.slow_starts_per_cycle else None
        slow_starts = {"published": published, "theory": number, "simulation": published or number}
        rows += [
            {
                **place,
                "source": source,
                "thp_pps": case.thp_simulated_pps * (1 + shift.get(f"{source} thp", 0.0)),
                "rtt_s": case.rtt_simulated_s * (1 + shift.get(f"{source} rtt", 0.0)),
                "slow_starts_per_cycle": count,
                "exogenous_loss": 0.01,
            }
            for source, count in slow_starts.items()
        ]
        table.append(
            {
                **place,
                "lambda_pps": path.lambda_pps,
                "published_analytic_thp_pps": case.thp_analytic_pps,
                "theory_thp_pps": case.thp_analytic_pps,
                "published_analytic_rtt_s": case.rtt_analytic_s,
                "theory_rtt_s": case.rtt_analytic_s,
            }
        )
    losses = pl.DataFrame(
        [{"table": 1, "case": 2, "needed_exogenous_loss": 0.09, "measured_exogenous_loss": 0.0}]
    )
    variation = {"1.5": 0.02, "1.3": 0.02, "3.5": 0.02 + shift.get("poisson variation", 0.2)}
    peak = {"1.5": 0.95, "1.3": 0.95, "3.5": 0.3}
    periodicity = pl.DataFrame(
        [
            {"table": int(label[0]), "case": int(label[2]), "cycle_variation": value,
             "peak_autocorrelation": peak[label]}
            for label, value in variation.items()
        ]
    )  # fmt: skip
    cycles = pl.DataFrame(
        [{"table": 1, "case": 5, "slow_starts": 1}] * 10
        + [{"table": 1, "case": 3, "slow_starts": 2}] * 10
    )
    taus, shares = (2.0, 10.0, 100.0), (0.05, 0.3, 0.6)
    grid = [
        {"figure": "f4", "lambda_over_mu": share, "tau_service_times": tau, "buffer_packets": 20.0,
         "utilisation": 1.0 + 0.1 * share * (1 - tau / 40) - 0.001 * tau}
        for share in shares
        for tau in taus
    ] + [
        {"figure": "f5", "lambda_over_mu": share, "tau_service_times": 30.0,
         "buffer_packets": buffer, "utilisation": 1 - (0.28 + 0.05 * share) / buffer
         + shift.get("order", 0.0) * share}
        for share in shares
        for buffer in (1.0, 20.0, 100.0)
    ]  # fmt: skip
    theory_grid = pl.DataFrame(grid).with_columns(
        pl.col("utilisation").alias("utilisation_without_overshoot")
    )
    rates = pl.DataFrame(
        [
            {"table": 1, "case": case.case, "phase": phase,
             "exogenous_out_over_lambda": factor,
             "tcp_out_pps": case.path.mu_pps - factor * case.path.lambda_pps,
             "predicted_tcp_out_pps": case.path.mu_pps - target * case.path.lambda_pps}
            for case in cases()
            if case.table == 1
            for phase, factor, target in (
                ("congestion avoidance", 1.0, 1.0),
                ("slow start", 0.5 + shift.get("slow start share", 0.0), 0.5),
            )
        ]
    )  # fmt: skip
    points = pl.DataFrame(
        [
            {"point": i, "exogenous": kind, "beta": 0.4, "lambda_over_mu": 0.2,
             "bw_in_over_free": 2.0, "beta_over_critical": 1.2, "w_max_packets": 20.0,
             "valid": True, "reasons": "", "slow_starts_per_cycle": 1.0, "cycles": 40,
             "thp_error": 0.05 + shift.get("map thp", 0.0), "rtt_error": 0.01}
            for i in range(40)
            for kind in ("periodic", "poisson")
        ]
    )  # fmt: skip
    return Results(
        Plan(quick=True),
        {
            "cases": pl.DataFrame(rows, infer_schema_length=None),
            "published": pl.DataFrame(table),
            "exogenous_loss": losses,
            "periodicity": periodicity,
            "cycles": cycles,
            "theory_grid": theory_grid,
            "f4": theory_grid.filter(pl.col("figure") == "f4"),
            "f5": theory_grid.filter(pl.col("figure") == "f5"),
            "priority": rates,
            "map": points,
            "map_shares": analysis_map.map_shares(points),
            "map_regions": analysis_map.map_regions(points),
        },
        cases(),
    )


def verdict(name: str, results: Results) -> tuple[str, set[str]]:
    claim = next(claim for claim in CLAIMS if claim.id == name)
    judged = claim.judge(results)
    return judged.verdict, {part.predicate.id for part in judged.parts if not part.holds}


def test_every_published_statement_has_a_claim() -> None:
    names = [claim.id for claim in CLAIMS]
    assert len(names) == len(set(names))
    assert {
        "altman-t1", "altman-t1b", "altman-t2", "altman-t3", "altman-f2f3", "altman-f4",
        "altman-f5", "altman-f7", "altman-priority",
    } <= set(names)  # fmt: skip
    ids = [predicate.id for claim in CLAIMS for predicate in claim.predicates]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", [claim.id for claim in CLAIMS if claim.id != "altman-t2"])
def test_in_a_world_as_published_every_statement_holds(name: str) -> None:
    assert verdict(name, synthetic()) == ("reproduced", set())


@pytest.mark.parametrize(
    ("name", "shift", "failing"),
    [
        ("altman-t1", {"simulation thp": -0.2}, {"altman-t1/sim-thp", "altman-t1/theory-thp"}),
        ("altman-t1", {"theory rtt": 0.09}, {"altman-t1/theory-rtt"}),
        ("altman-t3", {"simulation rtt": 0.08},
         {"altman-t3/sim-rtt", "altman-t3/theory-rtt"}),
        ("altman-f5", {"order": 0.2}, {"altman-f5/order", "altman-f5/never-above-one"}),
        ("altman-f7", {"poisson variation": 0.0}, {"altman-f7/variation"}),
        ("altman-priority", {"slow start share": 0.6},
         {"altman-priority/more", "altman-priority/slow-start", "altman-priority/half"}),
        ("altman-map", {"map thp": 0.2}, {"altman-map/box-thp", "altman-map/valid-thp"}),
    ],
)  # fmt: skip
def test_a_predicate_notices(name: str, shift: dict[str, float], failing: set[str]) -> None:
    found, missed = verdict(name, synthetic(shift))
    assert found == "not reproduced"
    assert failing <= missed


def test_table_two_needs_a_mediocre_match() -> None:
    # Theory equal to simulation is not what table 2 shows.
    found, missed = verdict("altman-t2", synthetic())
    assert found == "not reproduced"
    assert missed == {"altman-t2/mediocre"}
    assert verdict("altman-t2", synthetic({"theory thp": 0.5})) == ("reproduced", set())


# ----------------------------------------------------------------------------------- the whole run


Whole = tuple[Path, int]
"""The folder of a report, and how often simulations were asked for."""


@pytest.fixture(scope="module")
def whole(
    tmp_path_factory: pytest.TempPathFactory,
    fake_core: Callable[[], Any],
    drawn_alone: Callable[..., Any],
) -> Whole:
    out = tmp_path_factory.mktemp("report")
    with fake_core() as core, drawn_alone(("f1", "f4")):
        reproduce(out, quick=True, threads=1, console=QUIET)
    return out, core.calls


@pytest.fixture(scope="module")
def report(whole: Whole) -> Path:
    return whole[0]


def files(out: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(out)): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != "cost.parquet"
    }


def expect_to_stand_alone(report: Path) -> None:
    page = (report / "index.html").read_text(encoding="utf-8")
    # The runs can be cited, with the digest of their parts.
    entry = re.search(r"@misc\{ackclock-study-altman1997-([0-9a-f]{8}),", page)
    assert entry is not None
    assert f"scenarios and rules {entry[1]}" in page
    assert "Quick version." in page
    assert not re.search(r'(src|href)="(?!#|data:|figures/)', page)
    assert "<script" not in page
    assert str(report) not in page
    assert page.count("<svg") == len(FIGURES)
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    for target in re.findall(r'(?:xlink:href|href)="#([^"]+)"', page):
        assert target in ids


def test_the_report_stands_alone(report: Path) -> None:
    expect_to_stand_alone(report)


def test_each_figure_has_its_files_and_a_program_that_draws_it_again(report: Path) -> None:
    for key in FIGURES:
        for end in ("svg", "pdf", "png", "py"):
            assert (report / "figures" / f"{key}.{end}").is_file()
    made = report / "again.svg"
    program = report / "figures" / "f4.py"
    done = subprocess.run(
        [sys.executable, "-P", program, made], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert made.read_bytes() == program.with_suffix(".svg").read_bytes()
    made.unlink()


@pytest.mark.slow
def test_the_report_stands_alone_with_a_figure_of_each_function(
    tmp_path: Path, fake_core: Callable[[], Any], drawn_alone: Callable[..., Any]
) -> None:
    with fake_core(), drawn_alone(set(FIGURES) - {"f3", "f6", "t2", "t3", "senders"}):
        reproduce(tmp_path, quick=True, threads=1, console=QUIET)
    expect_to_stand_alone(tmp_path)


def test_claims_for_programs(report: Path) -> None:
    claims = json.loads((report / "claims.json").read_text(encoding="utf-8"))
    assert [claim["id"] for claim in claims] == [claim.id for claim in CLAIMS]
    for claim in claims:
        assert set(claim) == {"id", "verdict", "published", "measured", "note"}
        assert claim["verdict"] in {"reproduced", "not reproduced", "under-specified"}
        assert claim["published"]
        assert claim["measured"]


def test_cases_for_programs(report: Path) -> None:
    frame = pl.read_parquet(report / "data" / "cases.parquet")
    assert frame.height == 21 * 3
    assert {"table", "case", "source", "thp_pps", "rtt_s", "thp_ci_pps", "rtt_ci_s",
            "slow_starts_per_cycle", "exogenous_loss"} <= set(frame.columns)  # fmt: skip
    assert set(frame["source"]) == {"published", "theory", "simulation"}
    seeds = pl.read_parquet(report / "data" / "cases_seeds.parquet")
    assert seeds.height == 21 * Plan(quick=True).seeds
    assert not seeds.select("table", "case", "variant", "seed").is_duplicated().any()


def test_an_interrupted_study_resumes_to_equal_bytes(
    whole: Whole, tmp_path: Path, fake_core: Callable[..., Any], drawn_alone: Callable[..., Any]
) -> None:
    report, calls = whole
    with fake_core(interrupt_at=3), pytest.raises(KeyboardInterrupt):
        reproduce(tmp_path, quick=True, threads=2, console=QUIET)
    assert len(list((tmp_path / "parts").glob("table-*"))) == 2
    assert not (tmp_path / "index.html").exists()
    assert not list(tmp_path.rglob(".*"))
    with fake_core() as core, drawn_alone(("f1", "f4")):
        reproduce(tmp_path, quick=True, threads=2, console=QUIET)
    assert core.calls == calls - 2
    first, second = files(report), files(tmp_path)
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


def test_one_figure_runs_only_what_it_needs(
    tmp_path: Path, fake_core: Callable[[], Any], drawn_alone: Callable[..., Any]
) -> None:
    with fake_core() as core:
        assert reproduce(tmp_path, quick=True, threads=1, console=QUIET, figure="f4") == []
    assert core.calls == 0
    assert (tmp_path / "f4.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "var(" not in (tmp_path / "f4.svg").read_text(encoding="utf-8")
    assert (tmp_path / "f4.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "f4.png").read_bytes().startswith(b"\x89PNG")
    with fake_core() as core, drawn_alone(()):
        reproduce(tmp_path, quick=True, threads=1, console=QUIET, figure="f2")
    assert core.calls == 1
    assert (tmp_path / "data" / "f2.parquet").exists()


def test_a_run_that_loses_packets_stops_the_study(
    tmp_path: Path, fake_core: Callable[..., Any]
) -> None:
    with fake_core(leak=1), pytest.raises(BrokenRunError, match="offered packets"):
        reproduce(tmp_path, quick=True, threads=1, console=QUIET)
    assert not list((tmp_path / "parts").glob("*")) if (tmp_path / "parts").exists() else True


def test_figures_are_the_same_bytes_and_named_apart() -> None:
    first = to_svg(figures.diagram(), "f1", title="Figure 1", description="The path & more")
    assert first == to_svg(figures.diagram(), "f1", title="Figure 1", description="The path & more")
    assert "The path &amp; more" in first
    assert all(name.startswith("f1-") for name in re.findall(r'\bid="([^"]+)"', first))
    assert "metadata" not in first


def test_the_study_is_registered_with_its_figures() -> None:
    assert STUDIES.get("altman1997").figures.keys() == FIGURES.keys() | {"linux"}


def test_no_error_is_no_region() -> None:
    regions = synthetic()["map_regions"]
    assert regions["region"].to_list() == ["everywhere"]
    assert not math.isnan(regions["both_within"][0])


def test_autocorrelation_of_a_periodic_series_returns_to_one() -> None:
    series = np.tile(np.arange(10.0), 50)
    found = runs_bursts.autocorrelation(series)
    assert found[0] == pytest.approx(1.0)
    assert found[10] == pytest.approx(1.0, abs=1e-6)
    assert found[5] < 0


def test_autocorrelation_of_noise_vanishes() -> None:
    # A linear congruential sequence: noise that is the same everywhere.
    state, values = 1, []
    for _ in range(4000):
        state = (1103515245 * state + 12345) % 2**31
        values.append(state / 2**31)
    assert np.abs(runs_bursts.autocorrelation(np.array(values))[5:200]).max() < 0.1
