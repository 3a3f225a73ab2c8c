"""Cells on real packets: one at a time, with the columns of simulated ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from sweeps.plans import plan

LIVE: dict[str, Any] = {
    "duration": "2 s",
    "topology": {"kind": "path", "rate": "10 Mbit/s", "rtt": "20 ms"},
    "flow": [{"name": "a", "variant": "cubic", "profile": "linux"}],
}


@pytest.mark.live
def test_live_cells_are_measured_one_after_another(tmp_path: Path) -> None:
    axes = {"rtt": ["20 ms", "40 ms"]}
    found = ac.sweep(plan(scenario=LIVE, on="live", axes=axes, seeds=1, keep=["flows"]), tmp_path)
    assert found.frame["status"].to_list() == ["ok", "ok"]
    # CUBIC fills most of 10 Mbit/s within two seconds.
    assert all(5e6 < rate < 10e6 for rate in found.frame["goodput_bps"])
    assert found.table("flows")["cell"].to_list() == [0, 1]


def test_a_live_run_that_is_refused_may_be_tried_again(tmp_path: Path) -> None:
    # A profile that the kernel is not of is refused on any machine, before anything is sent.
    base = {**LIVE, "flow": [{"name": "a", "variant": "cubic", "profile": "rfc"}]}
    found = ac.sweep(plan(scenario=base, on="live", axes={}, seeds=1), tmp_path)
    assert found.frame["status"].to_list() == ["failed"]
    assert "profile" in found.frame["reason"][0]
