"""Senders behind a policer, over whole runs: goodput at the rate of the tokens, and losses."""

from __future__ import annotations

import polars as pl
import pytest

import ackclock as ac

#: The payload of a second of tokens, in Mbit/s of 20: 1460 of 1500 bytes.
FULL_MBPS = 19.47


def policed(
    variant: str, rtt: str, *, rate: str = "20 Mbit/s", burst: str = "30 kB", count: int = 1
) -> tuple[float, float]:
    """Return goodput in Mbit/s and the share of packets dropped in the last 30 of 60 s."""
    policer = ac.Policer(rate=rate, burst=burst)
    topology = ac.path("100 Mbit/s", rtt, queue=policer, reverse=ac.Reverse(without=["queue"]))
    flow = ac.Flow(variant, name="f", count=count)
    late = ac.Measure("late", "30 s")
    run = ac.simulate(
        ac.Scenario(flows=[flow], topology=topology, duration="60 s", measures=[late])
    )
    flows = pl.DataFrame(run.flows).filter(pl.col("measure") == "late")
    links = pl.DataFrame(run.links).filter(
        (pl.col("measure") == "late") & (pl.col("direction") == "forward")
    )
    (link,) = links.to_dicts()
    return flows["goodput_bps"].sum() / 1e6, link["dropped_packets"] / link["offered_packets"]


def test_cubic_falls_with_the_round_trip_where_four_flows_and_bbr_do_not() -> None:
    # A window loses where it exceeds the tokens of a round trip and the bucket. CUBIC keeps 0.7
    # of it, and needs the longer for the rest the larger it is, as it grows by the cube of time.
    near, middle, far = (policed("cubic+modern", rtt)[0] for rtt in ("10 ms", "40 ms", "160 ms"))
    assert near > 0.9 * FULL_MBPS
    assert middle < 0.4 * FULL_MBPS
    assert far < 0.15 * FULL_MBPS
    four, bbr = policed("cubic+modern", "40 ms", count=4)[0], policed("bbr", "40 ms")[0]
    assert min(four, bbr) > 0.9 * FULL_MBPS
    assert max(four, bbr) < FULL_MBPS
    # BBR's rate goes by what is delivered, and not by a window that a loss halves.
    assert policed("bbr", "160 ms")[0] > 0.85 * FULL_MBPS


@pytest.mark.parametrize("burst", ["15 kB", "50 kB"])
def test_bbr_settles_at_the_rate_of_the_tokens(burst: str) -> None:
    # Case 17 of the appendix of draft-ietf-ccwg-bbr-06: the rate of the tokens without excessive
    # continuous loss. Here from 90 % of it on (of 9.73 Mbit/s of payload at most), and no more
    # than the 2 % of its LossThresh.
    goodput, dropped = policed("bbr", "40 ms", rate="10 Mbit/s", burst=burst)
    assert 9.0 < goodput < 9.74
    assert dropped < 0.02
    # BBR of Linux has no bound by losses, and loses twice as much all the time.
    assert policed("bbr1", "40 ms", rate="10 Mbit/s", burst=burst)[1] > 0.03
