"""Live runs of every application, on kernel sockets and on our own ends: those of a simulation."""

from __future__ import annotations

from typing import Any, Literal

import polars as pl
import pytest

import ackclock as ac
from live_support import measured, path, real

Ends = Literal["kernel", "ackclock"]

CBR = {"kind": "cbr", "rate": "1 Mbit/s", "message": "1000 B", "stop": "2.5 s"}


def with_app(app: dict[str, Any], **more: object) -> dict[str, Any]:
    """Return the path of the other tests with another application."""
    table: dict[str, Any] = path(**more)  # type: ignore[arg-type]
    table["flow"][0]["app"] = app
    return table


def delays(run: ac.Run) -> pl.Series:
    """Return how long each object took, from given to read."""
    objects = pl.DataFrame(run.objects)
    return (objects["completed_s"] - objects["requested_s"]).drop_nulls()


@real
@pytest.mark.parametrize("endpoint", ["kernel", "ackclock"])
def test_messages_come_at_the_rate_and_fall_silent(endpoint: Ends) -> None:
    table = with_app({**CBR, "idle": [{"at": "1 s", "for": "1 s"}]})
    # Less than a full segment would wait for the ACK of the last.
    table["flow"][0]["tcp"] = {"nagle": "off"}
    table["flow"][0]["endpoint"] = endpoint
    run = measured(ac.Scenario.from_dict(table))
    # 125 messages of 1000 bytes a second, at 0, 8, ... 992 ms and 2000, 2008, ... 2496 ms.
    assert run.objects.num_rows == 125 + 63
    given = pl.DataFrame(run.objects)["requested_s"]
    assert not ((given > 1.01) & (given < 1.99)).any()
    # 10 ms of delay and 1052 bytes at 20 Mbit/s, 0.42 ms; those of the handshake wait for it.
    assert 0.0104 <= delays(run).median() < 0.0125  # type: ignore[operator]
    assert run.live is not None
    assert (run.live["sender"], run.live["receiver"]) == (endpoint, endpoint)
    (row,) = run.flows.to_pylist()
    assert row["delivered_bytes"] == 188_000
    # There and back 20 ms, 0.42 ms of transmission and 0.02 ms of the ACK's; delayed ACKs answer
    # the last of two, and no path is shorter than itself.
    assert 0.0200 < row["path_rtt_mean_s"] < 0.0215


@real
@pytest.mark.parametrize(
    "app",
    [
        {"kind": "onoff", "rate": "2 Mbit/s", "message": "1000 B", "on": "200 ms", "off": "300 ms"},
        {"kind": "bursts", "size": "200 kB", "every": "1 s"},
        {"kind": "bulk", "size": "1 MB"},
    ],
    ids=["onoff", "bursts", "bulk"],
)
def test_objects_take_as_long_as_simulated(app: dict[str, Any]) -> None:
    scenario = ac.Scenario.from_dict(with_app(app))
    simulated, real = ac.simulate(scenario), measured(scenario)
    rows = [pl.DataFrame(run.objects) for run in (simulated, real)]
    # What is given at the run's last instant is not there live.
    count = rows[1].height
    assert rows[0].height - count in (0, 1)
    assert rows[1]["bytes"].to_list() == rows[0]["bytes"][:count].to_list()
    # The goal of an agreement in goodput, 3 %, of the median of times to deliver.
    medians = [delays(run).median() for run in (simulated, real)]
    assert medians[1] == pytest.approx(medians[0], rel=0.03)


def _film(buffer: str | None = None) -> dict[str, Any]:
    """Return 3 s of a film of 2 Mbit/s: 90 pictures of 8333 bytes."""
    app: dict[str, Any] = {"kind": "video", "pictures": [8333] * 90}
    return app if buffer is None else {**app, "buffer": buffer}


@real
@pytest.mark.parametrize(
    "ends", [("kernel", "kernel"), ("ackclock", "kernel"), ("kernel", "ackclock")]
)
def test_a_film_plays_from_a_socket(ends: tuple[Ends, Ends]) -> None:
    table = with_app(_film(), duration="6 s")
    run = measured(ac.Scenario.from_dict(table), sender=ends[0], receiver=ends[1])
    (video,) = run.videos.to_pylist()
    # 20 Mbit/s are ten times what it needs.
    assert (video["pictures"], video["shown"], video["discarded"]) == (90, 90, 0)
    assert video["taken_bytes"] == 90 * 8333
    assert video["finished_s"] > 3.0
    assert run.objects.to_pylist()[0]["bytes"] == 90 * 8333


def _web(**more: object) -> dict[str, Any]:
    """Return ten connections a second, each with two exchanges of 20 kB."""
    table: dict[str, Any] = path(**more)  # type: ignore[arg-type]
    table["flow"] = []
    app = {"kind": "request", "response": "20 kB", "exchanges": 2, "gap": "50 ms"}
    table["traffic"] = [
        {
            "name": "web",
            "variant": "cubic",
            "profile": "linux",
            "from": "r",
            "to": "s",
            "arrivals": {"kind": "periodic", "rate": "10 /s", "phase": 0.0},
            "app": app,
        }
    ]
    return table


@real
@pytest.mark.parametrize(
    "ends",
    [
        ("kernel", "kernel"),
        ("kernel", "ackclock"),
        ("ackclock", "kernel"),
        ("ackclock", "ackclock"),
    ],
)
def test_requests_are_answered(ends: tuple[Ends, Ends]) -> None:
    scenario = ac.Scenario.from_dict(_web())
    simulated = ac.simulate(scenario)
    real = measured(scenario, sender=ends[0], receiver=ends[1])
    rows = [pl.DataFrame(run.connections).sort("connection") for run in (simulated, real)]
    for column in ("connection", "opened_s", "bytes_to_server", "bytes_to_client"):
        # The last connections are still at it when the run ends.
        assert rows[1][column][:28].to_list() == rows[0][column][:28].to_list(), column
    assert set(rows[1]["outcome"][:28].cast(pl.String)) == {"closed"}
    # The handshake, the request's way and 20 kB at 20 Mbit/s: two round trips of 20 ms, and 8 ms.
    assert 0.045 < delays(real).median() < 0.075  # type: ignore[operator]
    # Medians, as one late wake-up moves a mean of 57.
    assert delays(real).median() == pytest.approx(delays(simulated).median(), rel=0.05)


@real
def test_a_lost_syn_ack_costs_a_second() -> None:
    table = _web(duration="2 s")
    table["traffic"][0]["arrivals"] = {"kind": "list", "at": ["0.01 s"]}
    table["topology"]["link"][0]["reverse"] = {"loss": 0.0}
    # The servers are at `s`, so that their packets go forward; the clients' SYN comes through.
    table["topology"]["link"][0]["loss"] = 1.0
    table["event"] = [
        {"at": "500 ms", "link": "path", "direction": "forward", "set": {"loss": 0.0}}
    ]
    run = measured(ac.Scenario.from_dict(table))
    (row,) = run.connections.to_pylist()
    assert (row["lost_syn"], row["lost_synack"]) == (0, 1)
    assert row["synack_retransmits"] >= 1
    # The initial timeout of a second (RFC 6298), and at most the timer's tick of the kernel later.
    assert 1.02 < row["established_s"] - row["opened_s"] < 1.06


@real
def test_a_probe_sees_our_own_sender() -> None:
    table = with_app({"kind": "bulk", "size": "1 MB"}, duration="1 s")
    table["probe"] = [{"flow": "bulk", "every": "change"}]
    scenario = ac.Scenario.from_dict(table)
    real = measured(scenario, sender="ackclock")
    samples = pl.DataFrame(real.flow_samples)
    first = samples.row(0, named=True)
    # Before the handshake a window of one segment is counted, and then ten (RFC 6928).
    assert max(samples["cwnd_segments"].head(20).to_list()) >= 10
    assert first["in_flight_segments"] == 0
    assert samples["srtt_s"].drop_nans().drop_nulls()[0] == pytest.approx(0.0201, abs=0.001)
    table["probe"] = [{"flow": "bulk", "every": "100 ms"}]
    every = pl.DataFrame(measured(ac.Scenario.from_dict(table), sender="ackclock").flow_samples)
    assert every["time_s"].round(6).to_list() == [n / 10 for n in range(11)]


@real
def test_requests_for_a_rate_pass_real_routers() -> None:
    """RFC 4782 in real bytes: a router that grants 2.56 Mbit/s lowers a request for 5.12."""
    table: dict[str, Any] = path(duration="1 s")
    admission = {"threshold": 1.0, "slot": "200 ms", "history": 2, "most": "2560 kbit/s"}
    link = {"delay": "5 ms", "quick_start": admission}
    table["topology"]["link"] = [
        {"name": "host", "from": "s", "to": "m", "rate": "1 Gbit/s", "delay": "1 ms"},
        {"name": "path", "from": "m", "to": "r", "rate": "10 Mbit/s", **link},
    ]
    table["flow"][0] |= {
        "variant": "newreno+sack+quickstart(5.12Mbps)",
        "profile": "rfc",
        "endpoint": "ackclock",
        "app": {"kind": "bulk", "size": "100 kB"},
    }
    scenario = ac.Scenario.from_dict(table)
    found = [
        [(row["step"], row["approved_bps"]) for row in run.quick_start.to_pylist()]
        for run in (ac.simulate(scenario), measured(scenario))
    ]
    assert found[1] == found[0]
    assert ("router_lowered", 2_560_000) in found[1]
    assert ("approved", 2_560_000) in found[1]


def test_what_traffic_cannot_do_live_is_refused() -> None:
    for change, key in (
        ({"app": {"kind": "browser", "constants": "surge-1998"}}, "traffic[0].app.kind"),
        ({"variant": "bbr"}, "traffic[0].variant"),
        ({"arrivals": {"kind": "poisson", "rate": "1000000 /s"}}, "traffic[0].arrivals"),
    ):
        table = _web()
        table["traffic"][0] |= change
        with pytest.raises(ac.BadInput) as error:
            ac.run_live(ac.Scenario.from_dict(table))
        assert key in str(error.value)
