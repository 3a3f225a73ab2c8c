"""Files of numbers that a scenario names, and flows that did not last."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import ackclock as ac
from support import Answer

LINK = """
duration = "{duration}"
[topology]
kind = "graph"
[[topology.link]]
name = "l"
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "20 ms"
"""


def test_a_file_and_a_list_give_the_same_run(tmp_path: Path) -> None:
    (tmp_path / "sizes.txt").write_text("0 0\n2000 0\n74000 50\n300000 100\n", encoding="ascii")
    (tmp_path / "rates.csv").write_text("time,rate\n10,12\n11,0\n12,6\n", encoding="ascii")
    text = (
        LINK.format(duration="5 s")
        + """
channel = {{ kind = "rates", {series} }}
[[traffic]]
name = "t"
from = "a"
to = "b"
variant = "cubic"
arrivals = {{ kind = "poisson", rate = "10 /s" }}
app = {{ kind = "bulk", size = {{ {sizes} }} }}
"""
    )
    named = tmp_path / "named.toml"
    named.write_text(
        text.format(
            series='series = "rates.csv", unit = "Mbit/s"',
            sizes='quantiles = "sizes.txt", unit = "B"',
        ),
        encoding="ascii",
    )
    run = ac.simulate(named)
    rates = ac.read_rates(tmp_path / "rates.csv", unit="Mbit/s")
    assert rates.series == (("0 s", "12 Mbit/s"), ("1 s", "0 Mbit/s"), ("2 s", "6 Mbit/s"))
    sizes = ac.read_quantiles(tmp_path / "sizes.txt", unit="B")
    scenario = ac.Scenario(
        ac.graph([ac.GraphLink("l", "a", "b", "10 Mbit/s", "20 ms", channel=rates)]),
        [],
        duration="5 s",
        traffic=[
            ac.Traffic(
                "t",
                variant="cubic",
                arrivals=ac.Poisson("10 /s"),
                app=ac.Upload(sizes),
                from_node="a",
                to_node="b",
            )
        ],
    )
    assert run.connections.equals(ac.simulate(scenario).connections)
    assert run.connections.num_rows > 20


def test_a_flow_that_was_given_up_is_named(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    # Linux gives a connection up after 15 timeouts, 924.6 s at least (tcp_retries2).
    path = tmp_path / "dead.toml"
    path.write_text(
        LINK.format(duration="30 min")
        + """
[[flow]]
name = "dead"
from = "a"
to = "b"
variant = "cubic"
profile = "linux"
[[event]]
at = "20 s"
link = "l"
set = { loss = 1.0 }
[[measure]]
name = "early"
from = "0 s"
for = "30 s"
[[measure]]
name = "before"
from = "0 s"
for = "10 s"
""",
        encoding="ascii",
    )
    run = ac.simulate(path)
    outcomes = {row["measure"]: row["outcome"] for row in run.rows("flows")}
    assert outcomes == {"run": "timed_out", "early": "open", "before": "open"}
    assert run.failures() == ["dead: given up, as its data were not acknowledged"]
    shown = ackclock("run", path)
    assert "timed out" in shown.out
    assert shown.err == f"ackclock: {run.failures_line()}\n"
    table = json.loads(ackclock("run", path, "--json").out)
    assert table["flows"][0]["outcome"] == "timed_out"


def test_a_flow_that_has_not_begun_says_so() -> None:
    link = ac.Link("10 Mbit/s", "10 ms")
    scenario = ac.Scenario(
        ac.dumbbell(bottleneck=link, access=link),
        [ac.Flow("newreno", start="2 s")],
        duration="3 s",
        measures=[ac.Measure("early", start="0 s", duration="1 s")],
    )
    run = ac.simulate(scenario)
    outcomes = {row["measure"]: row["outcome"] for row in run.rows("flows")}
    assert outcomes == {"run": "open", "early": "not_started"}
    assert run.failures_line() is None


def test_cross_traffic_alone_is_shown(tmp_path: Path, ackclock: Callable[..., Answer]) -> None:
    path = tmp_path / "cross.toml"
    path.write_text(
        LINK.format(duration="1 s")
        + """
[[cross_traffic]]
link = "l"
kind = "periodic"
rate = "100 packet/s"
size = "1250 B"
phase = 0.0
""",
        encoding="ascii",
    )
    # 100 packets a second of 10,000 bits: 1 of 10 Mbit/s.
    assert ac.simulate(path).rows("links")[0]["utilisation"] == pytest.approx(0.1, abs=0.002)
    shown = ackclock("run", path).out
    assert "source" in shown
    assert "goodput" not in shown
