"""The study scharf2008 beyond the paper: other ways to begin."""

from __future__ import annotations

import polars as pl
import pytest

from ackclock.studies.framework.simulation import simulate
from ackclock_studies.scharf2008.beyond import (
    analysis as analysis_beyond,
    runs as runs_beyond,
    scenarios as scenarios_beyond,
)
from ackclock_studies.scharf2008.beyond.predicates import EXPECTED
from ackclock_studies.scharf2008.beyond.scenarios import Alone, Beside
from ackclock_studies.scharf2008.scenarios import Plan


def test_response_times_are_those_of_arithmetic() -> None:
    """300 kB, 100 ms there and back, buffers without losses, 206 segments of 1460 bytes.

    Jump Start paces them over 100 ms, so that the last comes 205/206 of that after the first: 199.5
    ms. RCP offers 95 Mbit/s: 209 packets, 20 bytes of payload being the header's, the last 208 ·
    12,000/95e6 = 26.3 ms after the first. Careful Resume sends ten, and a round trip later half of
    833 segments, 416, in a round trip: ACKs let out 18 more, the other 178 are 178 · 100/416 =
    42.8 ms. Packets take up to 0.3 ms to cross the path, and ACKs as long.
    """
    ways = ("jump-start", "rcp", "careful-resume")
    settings = [Alone(0.1, 300_000, "lossless", startup) for startup in ways]
    rows = runs_beyond.responses(
        simulate([s.scenario() for s in settings], 2),
        settings,
    )
    assert rows["response_s"].to_list() == pytest.approx([0.1995, 0.1263, 0.2428], abs=2.5e-3)
    assert rows["growth"].to_list() == ["newreno", "rcp", "newreno"]


def test_a_saved_window_is_the_path_s_product() -> None:
    """100 Mbit/s times 100 ms are 10 Mbit, 833.3 packets of 12,000 bits."""
    assert scenarios_beyond.variant("careful-resume", 0.1).endswith("+resume(833,100ms)")
    assert scenarios_beyond.variant("stale-resume", 0.2).endswith("+resume(6668,200ms)")


def test_every_way_to_begin_can_be_run_beside_others() -> None:
    names = ("none", *scenarios_beyond.STARTUPS)
    for others in ("load", "flows"):
        for startup in names:
            scenario = Beside(others, startup, 300_000, 1).scenario()
            assert bool(scenario.traffic) == (startup != "none")
            assert scenario.cross_traffic[0].kind == "poisson"
    quick, whole = (
        scenarios_beyond.beside(Plan(quick=True)),
        scenarios_beyond.beside(Plan(quick=False)),
    )
    assert len(quick) < len(whole)
    assert {s.startup for s in whole} == set(names)


def test_harm_is_against_the_same_seed_without_a_download() -> None:
    """80 in place of 100 Mbit/s and 90 in place of 120: 20 and 25 % less, 22.5 ± 12.706 · 2.5.

    Half the range is the standard error of two values, and 12.706 Student's t of one degree.
    """
    rows = pl.DataFrame(
        {
            "others": ["flows"] * 4,
            "startup": ["none", "none", "rcp", "rcp"],
            "size_bytes": [None, None, 1000, 1000],
            "seed": [1, 2, 1, 2],
            "flows_goodput_bps": [100e6, 120e6, 80e6, 90e6],
            "flows_again": [5, 0, 7, 4],
            "flows_timeouts": [0, 0, 0, 0],
            "cross_offered": [1000, 1000, 1000, 1000],
            "cross_dropped": [10, 0, 10, 0],
            "response_s": [None, None, 1.0, None],
        }
    )
    row = analysis_beyond.harm(rows).row(0, named=True)
    assert row["lost_share"] == pytest.approx(0.225)
    assert row["lost_share_ci"] == pytest.approx(12.706 * 0.025, rel=1e-3)
    assert (row["again"], row["dropped"]) == (3.0, 0.0)
    assert (row["response_s"], row["response_s_ci"], row["ended"], row["runs"]) == (1.0, None, 1, 2)


def test_speed_up_is_against_newreno_s_slow_start() -> None:
    columns = ("rtt_s", "size_bytes", "growth", "buffer", "startup", "ssthresh_rule", "response_s")
    rows = pl.DataFrame(
        [
            (0.1, 1000, "newreno", "1 BDP", "slow-start", "unchanged", 0.6),
            (0.1, 1000, "cubic", "1 BDP", "slow-start", "unchanged", 0.9),
            (0.1, 1000, "xcp", "1 BDP", "xcp", "unchanged", 0.3),
            (0.1, 1000, "newreno", "1 BDP", "quick-start", "approved", 0.2),
        ],
        schema=columns,
        orient="row",
    )
    found = analysis_beyond.compared(rows)
    assert dict(zip(found["startup"], found["speedup"], strict=True)) == {
        "slow-start": 1.0, "xcp": pytest.approx(2.0),
    }  # fmt: skip


def test_what_is_expected_has_names_of_its_own() -> None:
    assert len({predicate.id for predicate in EXPECTED}) == len(EXPECTED)
