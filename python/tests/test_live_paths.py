"""Live runs behind shapers and queues of flows, and with ACKs in bundles: those of a simulation."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import ackclock as ac
from live_support import measured, path, real

#: Parts of the link, by a name.
PARTS: dict[str, dict[str, Any]] = {
    "cake": {"queue": {"kind": "cake", "bandwidth": "18 Mbit/s", "link_layer": "ethernet"}},
    "fq_pie": {"queue": {"kind": "fq_pie", "limit": "200 packet"}},
    "hold": {"reverse": {"aggregation": {"kind": "hold", "packets": 16, "time": "8 ms"}}},
    "ampdu": {"aggregation": {"kind": "ampdu", "access": "300 us"}},
    "grants": {"reverse": {"aggregation": {"kind": "grants"}, "without": ["queue"]}},
    "thinning": {"reverse": {"ack_thinning": {"every": 4, "within": "5 ms"}}},
}


@real
@pytest.mark.parametrize("part", list(PARTS))
def test_a_part_of_the_link_is_the_same_live(part: str) -> None:
    table: dict[str, Any] = path(duration="4 s")
    table["topology"]["link"][0].update(PARTS[part])
    table["measure"] = [{"name": "late", "from": "1 s", "acks": True}]
    scenario = ac.Scenario.from_dict(table)
    runs = ac.simulate(scenario), measured(scenario, sender="ackclock", receiver="ackclock")
    rows = [pl.DataFrame(run.flows).filter(pl.col("measure") == "late") for run in runs]
    simulated, real = (row.row(0, named=True) for row in rows)
    # The goal of an agreement in goodput.
    assert real["goodput_bps"] == pytest.approx(simulated["goodput_bps"], rel=0.03)
    # Real receivers acknowledge together what arrives at once, or while they had no turn.
    if part == "ampdu":
        assert real["bytes_per_ack"] > simulated["bytes_per_ack"]
        return
    assert real["bytes_per_ack"] == pytest.approx(simulated["bytes_per_ack"], rel=0.25)
    # One packet in a hundred may be 500 us late in a run that is a measurement, and so may its ACK.
    assert real["ack_gap_p99_s"] == pytest.approx(simulated["ack_gap_p99_s"], rel=0.25, abs=5e-4)
