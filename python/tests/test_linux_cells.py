"""The simulation held against a kernel in virtual time, on cells of ``scripts/linux_cells.py``."""

from __future__ import annotations

import pytest

import ackclock as ac
from ackclock.linux import kept
from live_support import KERNEL, in_guest, script

CELLS = script("linux_cells")
#: Those without chance, shorter than on the page; the others need several seeds.
SHORT = {
    cell.name: cell
    for cell in CELLS.cells()
    if not cell.random and cell.of in ("laws", "queues", "paths")
}


@in_guest
@pytest.mark.parametrize("name", SHORT)
def test_the_simulation_agrees_with_the_kernel(name: str) -> None:
    table = SHORT[name].scenario(kept.one(KERNEL).manifest.hz).to_dict()
    table["duration"] = "4 s"
    scenario = ac.Scenario.from_dict(table)
    sim, linux = (ac.run(scenario, **on) for on in ({}, {"on": "linux", "linux": KERNEL}))
    assert linux.live is not None
    assert linux.live["valid"]
    ours, theirs = (run.rows("flows")[0] for run in (sim, linux))
    # The bounds of issue and page: 3 % of goodput, and a quarter of what is sent again, or 20.
    assert ours["goodput_bps"] == pytest.approx(theirs["goodput_bps"], rel=0.03)
    again = theirs["segments_retransmitted"]
    assert abs(ours["segments_retransmitted"] - again) <= max(0.25 * again, 20)
