"""Laws of one's own on real packets, in Ackclock's own end point."""

from __future__ import annotations

from typing import Any

import pytest

import ackclock as ac
from live_support import live, measured_live, path, untimed
from support import ROOT


@live
def test_a_law_in_python_runs_on_real_packets() -> None:
    ac.load_law("livepy", ROOT / "python/ackclock/examples/laws/reno.py")
    keys: dict[str, Any] = path()
    keys["flow"][0]["variant"] = "livepy"
    run = measured_live(ac.Scenario.from_dict(keys), sender="ackclock")
    (row,) = run.rows("flows")
    # As the kernel's own in test_live.py.
    assert 17.5e6 < row["goodput_bps"] < 19.307e6


@untimed
@live
def test_a_law_that_fails_ends_a_live_run() -> None:
    class Fails(ac.Growth):
        def on_ack(self, ack: Any) -> None:
            if ack.now_s > 0.5:
                raise ValueError("enough")
            self.cwnd_bytes += ack.newly_acked_bytes

        def on_congestion(self, congestion: Any) -> None:
            self.cwnd_bytes = 2 * congestion.mss_bytes

    ac.register_law("livefails", Fails)
    keys: dict[str, Any] = path(duration="20 s")
    keys["flow"][0]["variant"] = "livefails"
    with pytest.raises(ValueError, match="enough") as raised:
        ac.run_live(ac.Scenario.from_dict(keys), sender="ackclock")
    assert raised.value.__notes__[0].startswith("law `livefails`, on_ack at ")
