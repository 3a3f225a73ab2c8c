"""The suite ``tcpeval``: its loads and its delays by hand, and that its traffic has them."""

from __future__ import annotations

import math
from dataclasses import replace

import polars as pl
import pytest

import ackclock as ac
from ackclock.suites import SUITES
from ackclock_studies.suites.tcpeval.network import (
    CENTRE,
    EDGES_LEFT,
    EDGES_RIGHT,
    centre_rtt_s,
    everywhere,
    mean_bytes,
    scenario,
)
from ackclock_studies.suites.tcpeval.suite import PLACES

ACCESS = next(place.centre for place in PLACES if place.key == "access")


def test_the_round_trips_are_those_of_the_draft() -> None:
    centre = replace(ACCESS, delay_s=0.0)
    found = [1e3 * centre_rtt_s(centre, left, right) for left in range(3) for right in range(3)]
    assert found == pytest.approx([4, 74, 150, 28, 98, 174, 54, 124, 200])
    assert (len(EDGES_LEFT), len(EDGES_RIGHT)) == (3, 3)


def test_the_arrivals_make_the_load() -> None:
    # Three exchanges of 3 kB · e² = 22.17 kB are 66.5 kB.
    assert mean_bytes() == pytest.approx(66_501, rel=1e-4)
    classes = everywhere("cubic", ACCESS, 0.6)
    # Nine pairs, two ways, two sizes of packets.
    assert len(classes) == 36

    def offered_bps(way: str) -> float:
        rates = (each.arrivals.rate for each in classes if each.name.startswith(way))  # type: ignore[union-attr]
        return 8 * mean_bytes() * math.fsum(float(rate.removesuffix(" /s")) for rate in rates)

    # 60 % of 100 Mbit/s, and half of that the other way.
    assert offered_bps("down") == pytest.approx(60e6)
    assert offered_bps("up") == pytest.approx(30e6)


def test_an_uncongested_link_carries_the_load() -> None:
    wide = replace(ACCESS, rate_bps=1e9, edge_bps=1e9)
    web = everywhere("cubic", ACCESS, 0.6)
    run = ac.simulate(scenario("wide", wide, web, seed=1, warm_up_s=20.0, test_s=60.0))
    links = pl.DataFrame(run.links).filter(pl.col("link") == CENTRE, pl.col("measure") == "suite")
    carried = dict(zip(links["direction"], links["delivered_bytes"], strict=True))
    # 60 and 30 Mbit/s for 60 s are 450 and 225 MB; headers of 40 in 1500 and 536 bytes, and ACKs,
    # come on top. Of 20,000 answers the mean is known within 7.3 / 141 = 5 %, as their deviation
    # is sqrt(e⁴ - 1) = 7.3 means.
    assert carried["forward"] == pytest.approx(475e6, rel=0.15)
    assert carried["reverse"] == pytest.approx(240e6, rel=0.2)


def test_all_scenarios_of_the_draft_have_cases() -> None:
    keys = [case.key for case in SUITES.get("tcpeval").cases(False)]
    for place in ("datacentre", "access", "oceanic", "satellite", "wlan", "dialup"):
        # Three loads, two directions, three metrics.
        assert sum(key.startswith(f"{place}-") for key in keys) == 18
    for test in ("tradeoff", "ramp-up", "transient", "impact", "fairness", "parking-lot"):
        assert any(key.startswith(test) for key in keys), test
