"""The way back of a link: with parts of its own, and without those of the way there."""

from __future__ import annotations

import polars as pl
import pytest

import ackclock as ac


def _links(reverse: ac.Reverse | None) -> dict[str, int]:
    """Return the packets dropped early in each direction, where a policer stands there."""
    topology = ac.path(
        "20 Mbit/s",
        "40 ms",
        queue=ac.Policer(rate="200 kbit/s", burst="3 kB"),
        reverse=reverse,
    )
    run = ac.simulate(ac.Scenario(topology=topology, flows=[ac.Flow("cubic")], duration="5 s"))
    links = pl.DataFrame(run.links)
    return dict(zip(links["direction"], links["dropped_early_packets"], strict=True))


def test_a_part_is_on_both_ways_unless_the_way_back_is_without_it() -> None:
    # The handshake and the first window's ACKs of 40 and 52 bytes fit into 3 kB; data does not.
    both, there = _links(None), _links(ac.Reverse(without=["queue"]))
    assert both["forward"] > 0
    assert there["forward"] > 0
    assert there["reverse"] == 0


def test_a_way_back_without_jitter_is_in_time() -> None:
    # 20 ms each way, 10 ms more by turns of a second: there alone 40 to 50 ms, both ways to 60.
    jitter = ac.Delays(delays_ms=[10], every="1 s")

    def rtt_ms(reverse: ac.Reverse | None) -> float:
        topology = ac.path("100 Mbit/s", "40 ms", jitter=jitter, reverse=reverse)
        app = ac.Cbr(rate="800 kbit/s", message="1000 B")
        flow = ac.Flow("newreno", app=app, tcp={"delayed_ack": "off"})
        run = ac.simulate(ac.Scenario(topology=topology, flows=[flow], duration="3 s"))
        return 1e3 * float(pl.DataFrame(run.flows)["path_rtt_mean_s"][0])

    # And 1500 and 40 bytes at 100 Mbit/s, 0.123 ms: Nagle's rule fills segments.
    assert rtt_ms(None) == pytest.approx(60.123, abs=0.001)
    assert rtt_ms(ac.Reverse(without=["jitter"])) == pytest.approx(50.123, abs=0.001)


@pytest.mark.parametrize(
    ("reverse", "why"),
    [
        ({"without": ["jitter", "jitter"]}, "stands twice"),
        ({"without": ["loss"], "loss": 0.1}, "the way back has a `loss`"),
        ({"without": ["jiter"]}, "jitter"),
        ({"delay": "1 ms"}, "half of `rtt` is the delay"),
        ({"aggregation": {"kind": "hold", "packets": 1}}, "expected at least 2"),
        ({"ack_thinning": {"every": 1}}, "with 1 every ACK passes"),
    ],
)
def test_a_way_back_that_makes_no_sense_is_refused(reverse: dict[str, object], why: str) -> None:
    table = {
        "duration": "1 s",
        "topology": {"kind": "path", "rate": "1 Mbit/s", "rtt": "10 ms", "reverse": reverse},
        "flow": [{"variant": "cubic"}],
    }
    with pytest.raises(ValueError, match="reverse") as refused:
        ac.simulate(ac.Scenario.from_dict(table))
    assert why in str(refused.value)
