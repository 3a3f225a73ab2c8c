"""Traffic classes from Python: what is written is read back, and what is wrong is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import ackclock as ac

TOPOLOGY = ac.dumbbell(
    bottleneck=ac.Link(rate="8 Mbit/s", delay="18 ms"),
    access=ac.Link(rate="80 Mbit/s", delay="1 ms"),
)
CLASS = ac.Traffic(
    name="web",
    variant="newreno+sack",
    arrivals=ac.At(["1 s", "2 s"]),
    app=ac.Request(response="10000 B", server_delay="5 ms"),
)


def scenario(traffic: ac.Traffic) -> ac.Scenario:
    return ac.Scenario(topology=TOPOLOGY, flows=(), duration="10 s", traffic=[traffic])


@pytest.mark.parametrize(
    "change",
    [
        {"variant": [ac.Share("cubic", 1.0), ac.Share("newreno", 3.0)]},
        {"variant": ac.Feedback("newreno", "cubic", 0.1)},
        {"arrivals": ac.Poisson("10 /s")},
        {"arrivals": ac.Periodic("10 /s", phase=0.5)},
        {"arrivals": ac.PackMimeArrivals("10 /s"), "app": ac.PackMime()},
        {"app": ac.Request(response="1000000 B", quick_start="5.12 Mbit/s")},
        {"app": ac.Browser(http="1.1+pipelining", keep_alive="5 s", think=ac.Exponential("1 s"))},
        {"app": ac.Browser("surge-1999", connections=2, embedded=ac.Uniform(0.0, 4.0), pages=3)},
        {"app": ac.Upload(ac.Pareto(1.2, "2000 B"))},
        {"app": ac.Upload(ac.Quantiles([(0.0, "1000 B"), (1.0, "3000 B")]))},
        {"app": ac.Upload(ac.Values(["1000 B", "2000 B"]))},
        {"app": ac.Request(ac.Lognormal("2000 B", 1.5), exchanges=ac.Uniform(1.0, 4.0))},
        {"app": ac.Request(ac.Weibull(0.6, "2000 B"), gap=ac.Exponential("1 s"))},
        {"access": ac.Access(client=ac.AccessLine(delay="10 ms", rate="1 Mbit/s", loss=0.1))},
        {"count": 5, "clients": "left", "start": "1 s", "stop": "2 s", "tcp": ac.Tcp(mss="1000 B")},
    ],
)
def test_what_is_written_is_read_back(change: dict[str, Any]) -> None:
    written = scenario(replace(CLASS, **change))
    assert written.check() == written


def test_pages_leave_rows() -> None:
    app = ac.Browser(size="1000 B", embedded=2, active_off="0 s", think="3 s", pages=2)
    run = ac.simulate(scenario(replace(CLASS, app=app)))
    pages = run.pages.to_pylist()
    assert sorted((row["user"], row["page"]) for row in pages) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert {(row["class"], row["objects"], row["bytes"]) for row in pages} == {("web", 3, 3000)}
    # A handshake and three round trips of 40 ms, and what the packets take.
    first = next(row for row in pages if (row["user"], row["page"]) == (0, 0))
    assert first["requested_s"] == 1.0
    assert 0.160 < first["completed_s"] - first["requested_s"] < 0.175
    assert first["base_completed_s"] < first["completed_s"]
    assert (first["connections"], first["connections_opened"]) == (1, 1)


def test_connections_leave_rows() -> None:
    run = ac.simulate(scenario(CLASS))
    connections, objects = run.connections.to_pylist(), run.objects.to_pylist()
    assert [row["opened_s"] for row in connections] == [1.0, 2.0]
    assert [row["outcome"] for row in connections] == ["closed", "closed"]
    assert {row["class"] for row in connections} == {"web"}
    assert {row["variant"] for row in connections} == {"newreno+sack"}
    assert [row["base_rtt_s"] for row in connections] == [0.04, 0.04]
    assert [(row["flow"], row["connection"], row["bytes"]) for row in objects] == [
        ("web", 0, 10_000),
        ("web", 1, 10_000),
    ]
    # A handshake and a response, two round trips at least, and the 5 ms that the server takes.
    assert all(row["completed_s"] - row["requested_s"] > 0.085 for row in objects)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"variant": "newrno"}, "traffic[0].variant: unknown part `newrno`"),
        ({"variant": []}, "traffic[0].variant: expected at least one variant"),
        ({"count": 0}, "traffic[0].count: expected at least 1"),
        ({"stop": "0 s"}, "traffic[0].stop: expected a moment after `start`"),
        ({"from_node": "a"}, "traffic[0].from: only a graph has nodes"),
        ({"app": ac.Upload(ac.Uniform("2 kB", "1 kB"))}, "traffic[0].app.size.uniform: expected"),
        ({"app": ac.Upload(ac.Values([]))}, "traffic[0].app.size.values: expected at least one"),
        ({"access": ac.Access(ac.AccessLine(loss=1.5))}, "traffic[0].access.client.loss: 1.5 is"),
        ({"arrivals": ac.Poisson("0 /s")}, "traffic[0].arrivals.rate: `0 /s` is not"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, Any], says: str) -> None:
    with pytest.raises(ac.BadInput) as refused:
        scenario(replace(CLASS, **change)).check()
    assert str(refused.value).startswith(says)


def test_a_capture_is_of_flows() -> None:
    with pytest.raises(ac.BadInput, match="leave out"):
        ac.simulate(scenario(CLASS), pcap="somewhere")
