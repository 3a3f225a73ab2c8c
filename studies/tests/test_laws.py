"""The study laws: its formulas, scenarios, reductions and predicates."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from ackclock.studies import STUDIES
from ackclock.studies.framework.simulation import BrokenRunError, Tables, simulate
from ackclock_studies.laws import published, runs, scenarios
from ackclock_studies.laws.analysis import Results, analyse, slowdown_starts
from ackclock_studies.laws.predicates import CLAIMS
from ackclock_studies.laws.scenarios import BY_LOSS, LAWS, Plan, Response, Shared
from ackclock_studies.laws.study import FIGURES

PLAN = Plan(quick=True)
RENO = Response("reno", 1_000, 40, first=76)


def test_the_formulas_by_hand() -> None:
    # (1 - 1/8) and 1.01: ln 0.875 = -0.13353, ln 1.01 = 0.00995; 13.42.
    recovery = published.SCALABLE_RECOVERY_RTTS
    assert recovery == pytest.approx(13.42, abs=0.005)
    # Reno: sqrt(3/2) = 1.2247; Illinois: sqrt(10 · 0.9375 · 8) = sqrt(75) = 8.660; Veno: sqrt(4.5).
    at = 1e-4
    assert published.additive(1, 1 / 2)(at) == pytest.approx(122.47, abs=0.01)
    assert published.additive(10, 1 / 8)(at) == pytest.approx(866.0, abs=0.1)
    assert published.additive(1, 1 / 5)(at) == pytest.approx(212.1, abs=0.1)
    # Compound: 1 - 2^-1.25 = 0.57955, 0.15625/0.57955 = 0.26961, 2696.1^0.8 = 555.6; its fourth
    # root 4.855, times 1 - 2^-0.25 = 0.15910, over 1/32: 24.72 round trips; 10,000 packets in them:
    # 404.6.
    assert published.compound(at) == pytest.approx(404.6, abs=0.3)
    # RFC 3649 table 1: 263 segments at 10^-4 (0.12 · 10^3.34 = 262.5).
    assert published.RESPONSE["highspeed"][1](at) == pytest.approx(262.5, abs=0.1)
    # Two seconds beyond the first: 2 + 20 + 8/12 = 22.667 in a round trip of 1 s.
    assert published.htcp_gain(3, 1) == pytest.approx(22.667, abs=1e-3)


def test_a_flow_on_an_empty_path_as_a_scenario() -> None:
    scenario = RENO.scenario().to_dict()
    (link,) = scenario["topology"]["link"]
    assert (link["rate"], link["delay"]) == ("10 Gbit/s", "50000 us")
    assert link["loss"] == {"every": 1000, "first": 76}
    (flow,) = scenario["flow"]
    # 40 losses of 1000 packets of 1460 bytes.
    assert flow["app"]["size"] == "58400000 B"
    assert flow["variant"] == "reno+rack+iw10"


def test_flows_that_share_as_a_scenario() -> None:
    shared = Shared("rtt", "reno", (("reno", 40, 0.0), ("reno", 160, 0.0)), 100, 1.0, 100, 10, 5)
    scenario = shared.scenario().to_dict()
    bottleneck, short, long = scenario["topology"]["link"]
    # 100 Mbit/s for 100 ms are 833.3 packets of 1500 bytes.
    assert bottleneck["queue"]["limit"] == "833 packet"
    # One way of 40 ms is 20 ms, of which 1 ms is the bottleneck's.
    assert (short["delay"], long["delay"]) == ("19000 us", "79000 us")
    other = dataclasses.replace(shared, seed=2).scenario().to_dict()
    assert [flow["start"] for flow in scenario["flow"]] != [flow["start"] for flow in other["flow"]]


def test_every_law_is_a_sender() -> None:
    settings = [
        Shared("delay", law, ((law, 40, 0.0),), 20, 1.0, 40, 3, 1) for law in LAWS
    ]  # fmt: skip
    tables = simulate([each.scenario() for each in settings], None)
    found = runs._flows(tables, settings)  # noqa: SLF001
    assert found["law"].to_list() == list(LAWS)
    assert found["goodput_bps"].min() > 1e6  # type: ignore[operator]


def test_reno_keeps_its_window() -> None:
    tables = simulate([RENO.scenario()], None)
    (row,) = runs._windows(tables, [RENO]).iter_rows(named=True)  # noqa: SLF001
    # RFC 9438 table 1: 38 packets at 10^-3; 1000/38 are 26 round trips.
    assert row["window_packets"] == pytest.approx(38, rel=0.1)
    assert row["cycle_rtts"] == pytest.approx(26, rel=0.1)


def test_a_run_that_the_receiver_holds_back_stops_the_study() -> None:
    held = dataclasses.replace(RENO, receive_window_bytes=60_000)
    with pytest.raises(BrokenRunError, match="receive window"):
        runs._windows(simulate([held.scenario()], None), [held])  # noqa: SLF001


def test_a_quick_study_passes_its_own_guards() -> None:
    # The smallest of Hybla's runs, in which the packets of slow start weigh most.
    settings = [each for each in scenarios.hybla(PLAN) if each.period == 1_000]
    tables = simulate([each.scenario() for each in settings], None)
    found = runs._windows(tables, settings)  # noqa: SLF001
    assert found["rtt_ms"].to_list() == [25, 100, 300, 600]


def samples(rates: dict[str, list[float]], every_s: float) -> Tables:
    """Return tables in which flows deliver at these rates, in bytes a sample."""
    rows = []
    for flow, steps in rates.items():
        acked = 0
        for n, step in enumerate(steps):
            acked += int(step)
            rows.append({"cell": 0, "time_s": n * every_s, "flow": flow, "cwnd_segments": 1.0,
                         "acked_bytes": acked})  # fmt: skip
    return cast("Tables", SimpleNamespace(flow_samples=pl.DataFrame(rows)))


def test_rates_are_of_what_was_acknowledged_between_samples() -> None:
    tables = samples({"flow1": [0, 1000, 500], "flow2": [0, 0, 250]}, 0.5)
    found = runs._rates(tables)  # noqa: SLF001
    # 1000 bytes in half a second are 16 kbit/s.
    assert found["rate_bps"].to_list() == [16_000.0, 8_000.0, 0.0, 4_000.0]


def test_slowdowns_are_counted_where_they_begin() -> None:
    windows = [2, 4, 8, 2, 2, 4, 8, 16, 2, 8, 2]
    rows = pl.DataFrame({"time_s": [5.0 * n for n in range(len(windows))],
                         "window_packets": [float(each) for each in windows]})  # fmt: skip
    # The first window of the run is no slowdown; those at 15, 40 and 50 s are, and the last comes
    # 35 s after the first.
    assert slowdown_starts(rows) == [0.0, 25.0]


@pytest.mark.parametrize("law", ["reno", "highspeed", "scalable", "illinois", "veno", "compound"])
def test_a_predicate_notices(law: str) -> None:
    (claim,) = (each for each in CLAIMS if each.id == f"laws-{law}-response")

    def judged(ratio: float) -> Any:
        rows = {"law": [law], "period": [10_000], "loss_rate": [1e-4], "ratio": [ratio],
                "window_packets": [100.0 * ratio], "formula_packets": [100.0]}  # fmt: skip
        return claim.judge(Results(PLAN, {"response": pl.DataFrame(rows)})).verdict

    assert judged(1.1) == "reproduced"
    assert judged(0.8) == "not reproduced"


def test_every_setting_is_there_once() -> None:
    plan = Plan(quick=False)
    assert len(runs.parts(plan, None)) == len({part.name for part in runs.parts(plan, None)})
    assert [each.law for each in scenarios.response(plan, 100, dict.fromkeys(BY_LOSS, 10.0))] == [
        *BY_LOSS
    ]
    # Every law beside CUBIC behind three buffers, five times.
    assert len(scenarios.beside(plan, "cubic")) == len(LAWS) * 3 * 5


def test_the_study_is_registered_with_its_figures() -> None:
    assert set(STUDIES.get("laws").figures) == set(FIGURES)
    assert not analyse(PLAN, {}).tables
