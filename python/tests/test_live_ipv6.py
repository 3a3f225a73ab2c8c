"""Live runs over IPv6: kernel and our own end points, routers, marks, pairs of Ethernet devices."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Literal

import pytest

import ackclock as ac
from live_support import live, measured, path, real, untimed
from test_live_wire import fields

Ends = Literal["kernel", "ackclock"]
ROLES: tuple[tuple[Ends, Ends], ...] = (
    ("kernel", "kernel"),
    ("ackclock", "kernel"),
    ("kernel", "ackclock"),
    ("ackclock", "ackclock"),
)

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="live: no tshark")

SENDER, RECEIVER = "fd00:0:0:1::1", "fd00:0:0:2::1"


def ipv6(**more: object) -> dict[str, Any]:
    """Return a scenario of one flow over one link, in IPv6."""
    table: dict[str, Any] = path(**more)  # type: ignore[arg-type]
    table["flow"][0]["network"] = "ipv6"
    return table


@real
@pytest.mark.parametrize("ends", ROLES)
def test_the_rate_of_the_link_is_reached(ends: tuple[Ends, Ends]) -> None:
    run = measured(ac.Scenario.from_dict(ipv6()), sender=ends[0], receiver=ends[1])
    (row,) = run.flows.to_pylist()
    # 1448 bytes of payload in packets of 1520 (1448 + 12 of timestamps + 20 + 40): 19.053 Mbit/s.
    assert 17.8e6 < row["goodput_bps"] < 19.053e6
    assert row["arrived_bytes"] == 1520 * row["arrived_packets"]
    assert run.live is not None
    assert (run.live["changed"], run.live["malformed"], run.live["strangers"]) == (0, 0, 0)


@real
def test_a_pair_of_ethernet_devices_does_as_well() -> None:
    run = measured(ac.Scenario.from_dict(ipv6()), ports="veth")
    assert run.live is not None
    assert (run.live["ports"], run.live["strangers"]) == ("veth", 0)
    assert 17.8e6 < run.flows.to_pylist()[0]["goodput_bps"] < 19.053e6


@untimed
@live
@needs_tshark
@pytest.mark.parametrize("ends", ROLES[:3])
def test_an_analyser_finds_no_fault(ends: tuple[Ends, Ends], tmp_path: Path) -> None:
    table = ipv6()
    # The first loss is the 200th packet's: slow start has sent 10 + 20 + 40 + 80 before, and the
    # path holds 34, so that the queue has been at its mark of 10.
    queue = {"kind": "droptail", "limit": "100 packet", "mark": "10 packet"}
    table["topology"]["link"][0].update(loss={"every": 200}, queue=queue)
    table["flow"][0].update(app={"kind": "bulk", "size": "1 MB"}, tcp={"ecn": "on"})
    scenario = ac.Scenario.from_dict(table)
    run = ac.run_live(scenario, sender=ends[0], receiver=ends[1], pcap=tmp_path)
    assert run.flows.to_pylist()[0]["delivered_bytes"] == 1_000_000
    for capture in run.captures:
        broken = "_ws.malformed || _ws.expert.severity == error"
        assert fields(capture, broken, "frame.number") == []
        assert {
            (source, destination)
            for source, destination in fields(capture, "frame", "ipv6.src", "ipv6.dst")
        } == {(SENDER, RECEIVER), (RECEIVER, SENDER)}
    # RFC 3168 section 5: CE is both bits of the ECN field, here of the traffic class.
    marked = fields(run.captures[1], "ipv6.tclass.ecn == 3", "frame.number")
    assert len(marked) == run.links.to_pylist()[0]["marked_packets"] > 0


@live
@needs_tshark
def test_a_rate_is_asked_for_in_the_hop_by_hop_header(tmp_path: Path) -> None:
    """RFC 4782 section 3.1: option 0x26; the router of 10 Mbit/s approves 5.12, N = 7."""
    table = ipv6(duration="1 s")
    table["topology"]["link"] = [
        {"name": "a", "from": "s", "to": "m", "rate": "100 Mbit/s", "delay": "5 ms"},
        {"name": "b", "from": "m", "to": "r", "rate": "10 Mbit/s", "delay": "5 ms"}
        | {"quick_start": {"threshold": 1.0, "slot": "1 s", "history": 2}},
    ]
    table["flow"][0].update(
        variant="newreno+sack+quickstart(81.92Mbps)",
        profile="rfc",
        endpoint="ackclock",
        app={"kind": "bulk", "size": "20 MB"},
    )
    run = ac.run_live(ac.Scenario.from_dict(table), pcap=tmp_path)
    steps = {row["step"]: row["approved_bps"] for row in run.quick_start.to_pylist()}
    assert steps["approved"] == 5_120_000
    sender, receiver = run.captures
    names = ("ipv6.hlim", "ipv6.opt.type", "ipv6.opt.qs_func", "ipv6.opt.qs_rate")
    asked = fields(sender, "ipv6.opt.qs_func == 0", *names)
    came = fields(receiver, "ipv6.opt.qs_func == 0", *names)
    # N = 11 is 81.92 Mbit/s. The router counts the hop limit down by one.
    assert [(row[2], row[3]) for row in asked] == [("0", "11")]
    assert [(row[2], row[3]) for row in came] == [("0", "7")]
    assert int(came[0][0]) == int(asked[0][0]) - 1
    assert all("0x26" in row[1] for row in asked + came)


@untimed
@live
def test_both_networks_share_a_link_and_probes_see_both() -> None:
    table = path(duration="2 s")
    flows = [
        {"name": name, "variant": "cubic", "profile": "linux", "from": "s", "to": "r"}
        | {"network": name}
        for name in ("ipv4", "ipv6")
    ]
    table.update(
        flow=flows,
        probe=[{"flow": name, "what": ["cwnd"], "every": "change"} for name in ("ipv4", "ipv6")],
    )
    run = ac.run_live(ac.Scenario.from_dict(table))
    rows = {row["flow"]: row for row in run.flows.to_pylist()}
    for name, size in (("ipv4", 1500), ("ipv6", 1520)):
        assert rows[name]["delivered_bytes"] > 200_000
        assert rows[name]["arrived_bytes"] <= size * rows[name]["arrived_packets"]
        assert rows[name]["srtt_mean_s"] > 0.02
    seen = run.flow_samples.to_pylist()
    assert {row["flow"] for row in seen if row["cwnd_segments"]} == {"ipv4", "ipv6"}


@untimed
@live
def test_requests_go_over_it() -> None:
    table = path(duration="2 s")
    del table["flow"]
    table["traffic"] = [
        {
            "name": "web",
            "variant": "cubic",
            "profile": "linux",
            "network": "ipv6",
            "from": "s",
            "to": "r",
            "arrivals": {"kind": "list", "at": ["0.1 s", "0.4 s", "0.7 s"]},
            "app": {"kind": "request", "response": "20 kB"},
        }
    ]
    run = ac.run_live(ac.Scenario.from_dict(table))
    connections = run.connections.to_pylist()
    assert [row["outcome"] for row in connections] == ["closed"] * 3
    assert [row["bytes_to_client"] for row in connections] == [20_000] * 3


def test_the_simulator_takes_the_key_and_counts_as_in_ipv4() -> None:
    other, same = (ac.simulate(ac.Scenario.from_dict(table)) for table in (ipv6(), path()))
    assert other.flows.to_pylist() == same.flows.to_pylist()


def test_other_networks_get_the_nearest_word() -> None:
    table = path()
    table["flow"][0]["network"] = "ipv5"  # type: ignore[index]
    with pytest.raises(ac.BadInput, match=r"flow\[0\]\.network.*ipv5.*ipv[46]"):
        ac.Scenario.from_dict(table)
