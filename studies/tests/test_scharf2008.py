"""The study scharf2008: its scenarios, tables and predicates."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

import ackclock as ac
from ackclock.bench.speed import RouterBench
from ackclock.studies.framework.simulation import BrokenRunError, simulate
from ackclock_studies.scharf2008 import runs, scenarios
from ackclock_studies.scharf2008.abuse import runs as runs_abuse, scenarios as scenarios_abuse
from ackclock_studies.scharf2008.analysis import RESPONSE, full, speedups
from ackclock_studies.scharf2008.pages import (
    analysis as analysis_pages,
    predicates as predicates_pages,
    runs as runs_pages,
    scenarios as scenarios_pages,
)
from ackclock_studies.scharf2008.predicates import CLAIMS
from ackclock_studies.scharf2008.scenarios import Attack, Plan, Transfer


def _responses(*transfers: Transfer) -> pl.DataFrame:
    return runs.response(
        simulate([t.scenario() for t in transfers], 2),
        transfers,
    )


def test_response_times_are_those_of_arithmetic() -> None:
    """1 kB is one segment: a round trip. 10 kB are 7, two windows of 3 and 6: two round trips.

    With Quick-Start all 7 leave at 81.92 Mbit/s in the first: 6 · 12,000 / 81.92e6 s = 0.9 ms more
    than a round trip. Packets take up to 0.3 ms to cross the path.
    """
    rows = _responses(
        Transfer(0.1, 1_000, "newreno", "lossless", "slow-start", "unchanged"),
        Transfer(0.1, 10_000, "newreno", "lossless", "slow-start", "unchanged"),
        Transfer(0.1, 10_000, "newreno", "lossless", "quick-start", "unchanged"),
    )
    assert rows["response_s"].to_list() == pytest.approx([0.1, 0.2, 0.1009], abs=1.2e-3)
    quick = speedups(rows.select(RESPONSE)).filter(pl.col("startup") == "quick-start")
    assert quick["speedup"][0] == pytest.approx(2.0, rel=0.02)


def test_a_transfer_that_does_not_end_stops_the_study() -> None:
    transfer = Transfer(0.1, 1_000, "newreno", "lossless", "slow-start", "unchanged")
    tables = simulate([transfer.scenario()], 1)
    with pytest.raises(BrokenRunError):
        runs.response(tables, [transfer, transfer])


def test_the_grants_of_figures_7_and_8() -> None:
    """81.92 three times; with cross-traffic 40.96, 81.92, and 81.92 that router 2 refuses."""
    cases = [("f7", "cubic"), ("f8", "cubic")]
    texts = [scenarios.downloads(cross=figure == "f8", growth=growth) for figure, growth in cases]
    rows = runs.decisions(simulate(texts, 2), cases)
    steps = rows.filter(pl.col("what") == "step").sort("time_s")

    def granted(figure: str, link: str) -> list[int]:
        here = steps.filter(pl.col("figure") == figure, pl.col("link") == link)
        return here["approved_bps"].to_list()

    assert granted("f7", "first") == granted("f7", "second") == [81_920_000] * 3
    assert granted("f8", "first") == [40_960_000, 81_920_000, 81_920_000]
    assert granted("f8", "second") == [40_960_000, 81_920_000, 0]


def test_a_flood_is_granted_the_ceiling() -> None:
    """D = 0.2 s, H = 2: about 100/0.4 = 250 Mbit/s a second."""
    tables = simulate([scenarios.flood(0.2, 2, 8.0)], 1)
    row = runs.granted(tables, [(0.2, 2)], 8.0).row(0, named=True)
    assert row["granted_bps_per_s"] == pytest.approx(250e6, rel=0.01)
    assert row["ceiling_bps_per_s"] == pytest.approx(250e6, rel=0.01)


def test_who_takes_no_part_is_seen_by_the_ttl_and_who_lies_by_the_nonce() -> None:
    settings = [Attack("no part", 1, 1), *(Attack("receiver", 3, seed) for seed in range(20))]
    tables = simulate([s.scenario() for s in settings], 2)
    rows = runs.concluded(tables, settings)
    assert rows["concluded"][0] == "ttl_mismatch"
    # 4^-3 each: more than three of twenty have a probability of 1e-4.
    assert (rows["concluded"][1:] == "nonce_mismatch").sum() >= 17


def test_a_rate_is_full_at_the_first_round_trip_that_has_it() -> None:
    traces = pl.DataFrame(
        {
            "rtt_s": [0.1] * 4, "growth": ["cubic"] * 4, "asked_bps": [0] * 4,
            "ssthresh_rule": ["unchanged"] * 4,
            "since_request_s": [0.1, 0.2, 0.3, 5.0], "rate_bps": [0.0, 50e6, 96e6, 100e6],
        }
    )  # fmt: skip
    row = full(traces).row(0, named=True)
    assert row["full_s"] == 0.3
    assert row["early_bps"] == pytest.approx((0 + 50e6 + 96e6) / 3)
    assert row["at_once_bps"] == 96e6


def test_claims_and_plans() -> None:
    assert [claim.id for claim in (*CLAIMS, predicates_pages.CLAIM)] == [
        "scharf-f4f6", "scharf-f7", "scharf-f8", "scharf-f9", "scharf-f10", "scharf-t2",
        "scharf-f11", "scharf-t1",
    ]  # fmt: skip
    quick, whole = Plan(quick=True), Plan(quick=False)
    assert quick.trials < whole.trials
    assert quick.long_s < whole.long_s


def test_the_page_of_one_object_takes_the_round_trips_that_it_needs() -> None:
    """A page of 1 kB on a new connection: handshake and request, two round trips of 200 ms.

    One more for each way to ask for the embedded object: a new connection two, a persistent one
    one. Packets take up to 0.4 ms to cross the path.
    """
    hours = [
        scenarios_pages.Hour(scenarios_pages.MAIN, "small", http, "slow-start", 1, 60.0)
        for http in scenarios_pages.HTTPS
    ]
    wholes: list[ac.Scenario] = []
    for hour in hours:
        whole = hour.scenario()
        (users,) = whole.traffic
        app = replace(users.app, size="1000 B", embedded=1, think="1 s")
        wholes.append(replace(whole, traffic=[replace(users, app=app)]))
    rows = runs_pages.page_times(simulate(wholes, 2), hours)
    assert rows["page_s"].to_list() == pytest.approx([0.8, 0.6, 0.6], abs=3e-3)
    assert rows["connections_per_page"].to_list() == pytest.approx([2, 1, 1])
    assert rows["asked"].to_list() == [0, 0, 0]


def test_table_1_is_of_the_same_pages_with_both_senders() -> None:
    """Two seeds: page times 1.0 and 1.2 s against 0.5 and 0.8 s; ratios 2 and 1.5.

    Their mean is 1.75, half the width of the interval 12.706 · 0.25 = 3.18.
    """
    rows = pl.DataFrame(
        {
            "reading": ["r"] * 4, "model": ["small"] * 4, "http": ["1.1"] * 4, "seed": [1, 2, 1, 2],
            "startup": ["slow-start"] * 2 + ["quick-start"] * 2, "page_s": [1.0, 1.2, 0.5, 0.8],
            "pages": [10] * 4, "asked": [0, 0, 7, 8], "approved": [0, 0, 7, 8],
            "objects_per_page": [2.0] * 4, "bytes_per_object": [9.0] * 4,
            "connections_per_page": [1.0] * 4,
        }
    )  # fmt: skip
    row = analysis_pages.summary(rows).row(0, named=True)
    assert (row["slow_s"], row["quick_s"]) == (pytest.approx(1.1), pytest.approx(0.65))
    assert (row["speedup"], row["speedup_ci"]) == (1.75, pytest.approx(12.7062 * 0.25))
    assert row["asked"] == 15


@pytest.mark.parametrize("kind", ["ignorant", "lowering", "admitting"])
def test_a_router_of_the_bench_forwards_everything(kind: str) -> None:
    bench: Any = RouterBench(kind, 0.5, 1_000_000, 100, 1)
    assert bench.run(5000) == 5000
    assert not math.isnan(bench.run(1))


def test_an_unknown_router_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown router"):
        RouterBench("deaf", 0.5, 1, 1, 1)


def test_a_flood_takes_what_the_honest_ask_for() -> None:
    """200 requests a second for 5.12 Mbit/s keep 100 Mbit/s reserved: 81.92 is never free.

    Alone a response of 1 MB takes a round trip and 1 MB at 81.92 Mbit/s, 0.1 s each.
    """
    settings = [
        scenarios_abuse.Abuse(case, "D 0.2 s, H 2", "quick-start", 1) for case in ("quiet", "flood")
    ]
    tables = simulate([s.scenario() for s in settings], 2)
    alone, flooded = runs_abuse.outcomes(tables, settings).iter_rows(named=True)
    assert (alone["whole"], flooded["whole"]) == (1.0, 0.0)
    assert alone["response_s"] == pytest.approx(0.2, abs=0.01)
    assert flooded["response_s"] > 2 * alone["response_s"]
    assert alone["downloads"] == flooded["downloads"] >= 20
