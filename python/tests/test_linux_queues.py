"""Our queues held against those of a kernel in virtual time: ``scripts/linux_queues.py``."""

from __future__ import annotations

import pytest

from ackclock.base.errors import BadInput
from ackclock.linux import kept, queueing
from live_support import KERNEL, in_guest, script

QUEUES = script("linux_queues")
#: The packets that one queue alone may drop or mark: neighbours, where a drop is due within the
#: 0.4 us by which the kernel's departures are late.
NEIGHBOURS = 20
EXACT = {
    case.name: case for case in QUEUES.CASES if case.name.startswith(("tbf", "codel", "fq_codel"))
}


@in_guest
@pytest.mark.parametrize("name", EXACT)
def test_packets_fare_as_in_the_kernel(name: str) -> None:
    found = QUEUES.held(kept.one(KERNEL), EXACT[name])
    assert found.acted[0] == pytest.approx(found.acted[1], abs=2)
    assert found.acted[1] > 400
    assert found.apart <= NEIGHBOURS
    assert found.alike > 0.99


@in_guest
def test_a_command_that_tc_refuses_is_told() -> None:
    with pytest.raises(BadInput, match="`tc qdisc add dev out root codell`: "):
        queueing.departures(kept.one(KERNEL), ["qdisc add dev out root codell"], [])
