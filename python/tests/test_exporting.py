"""Runs in the formats of other tools."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock as ac
from ackclock.cli.app import app
from ackclock.runs import identity
from ackclock.runs.exporting import export

RUN = CliRunner()


def lossy() -> ac.Run:
    """Return a run of 200 kB through a buffer of eight packets."""
    scenario = ac.Scenario(
        title="A short buffer",
        duration="3 s",
        topology=ac.path("5 Mbit/s", "40 ms", "8 packet"),
        flows=[ac.Flow("cubic", name="one flow", app=ac.Bulk("200 kB"))],
        probes=[ac.Probe(flow="one flow", every="change")],
    )
    return ac.run(scenario)


@pytest.fixture(scope="module")
def run() -> ac.Run:
    return lossy()


@pytest.fixture(scope="module")
def trace(run: ac.Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("qlog")
    (path,) = run.export(folder)
    assert path == folder / "one-flow.qlog"
    text = path.read_text(encoding="utf-8")
    # qvis looks for both within the first 1024 characters.
    assert '"qlog_version": "0.3"' in text[:1024]
    assert '"qlog_format": "JSON"' in text[:1024]
    (found,) = json.loads(text)["traces"]
    return found


def named(trace: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [event["data"] for event in trace["events"] if event["name"] == name]


def test_qlog_keeps_the_rules_of_qvis(trace: dict[str, Any]) -> None:
    times = [event["time"] for event in trace["events"]]
    assert times == sorted(times)
    sent = named(trace, "transport:packet_sent")
    numbers = [packet["header"]["packet_number"] for packet in sent]
    assert numbers == list(range(1, len(sent) + 1))
    assert all(packet["raw"]["length"] > 0 for packet in sent)
    acked = [
        number
        for ack in named(trace, "transport:packet_received")
        for low, high in ack["frames"][0]["acked_ranges"]
        for number in range(low, high + 1)
    ]
    # An ACK covers what was sent, and no packet twice.
    assert set(acked) <= set(numbers)
    assert len(acked) == len(set(acked))
    lost = [each["header"]["packet_number"] for each in named(trace, "recovery:packet_lost")]
    assert not set(lost) & set(acked)
    assert set(lost) | set(acked) == set(numbers)


def test_qlog_tells_what_the_run_did(run: ac.Run, trace: dict[str, Any]) -> None:
    (flow,) = run.rows("flows")
    sent = named(trace, "transport:packet_sent")
    # 200,000 bytes are 136 segments of 1460 and one of 1440.
    data = [packet["frames"][0] for packet in sent]
    assert {frame["offset"] for frame in data} == set(range(0, 200_000, 1460))
    assert max(frame["offset"] + frame["length"] for frame in data) == 200_000
    lost = named(trace, "recovery:packet_lost")
    assert len(lost) == flow["segments_retransmitted"] == len(sent) - 137
    windows = [each["congestion_window"] for each in named(trace, "recovery:metrics_updated")]
    # Ten segments of 1460 bytes at first.
    assert 14_600 in windows
    states = [each["new"] for each in named(trace, "recovery:congestion_state_updated")]
    assert "recovery" in states
    # A flow begins in slow start; 1460 bytes and the headers of IPv4 and TCP are a packet of 1500.
    assert states[0] == "slow_start"
    assert max(packet["raw"]["length"] for packet in sent) == 1500


def test_a_flent_file(run: ac.Run, tmp_path: Path) -> None:
    (path,) = run.export(tmp_path, ["flent"])
    assert path.name == "tcp_1up-1970-01-01.A-short-buffer.flent.gz"
    found = json.loads(gzip.decompress(path.read_bytes()))
    assert found["version"] == 4
    rates = found["results"]["TCP upload"]
    assert len(rates) == len(found["x_values"])
    # All of 200 kB were acknowledged: 1.6 Mbit in steps of 0.2 s.
    assert sum(rates) * 0.2 == pytest.approx(1.6, abs=1e-6)
    raw = found["raw_values"]["TCP upload"]
    assert {"t", "val", "tcp_cwnd", "tcp_rtt"} == set(raw[0])


def test_an_xplot_diagram(run: ac.Run, tmp_path: Path) -> None:
    (path,) = run.export(tmp_path, ["xplot"])
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["timeval double", "title", "one flow"]
    assert lines[-1] == "go"
    (flow,) = run.rows("flows")
    white = [line for line in lines if line.startswith("line") and line.endswith("white")]
    red = [line for line in lines if line.startswith("line") and line.endswith("red")]
    assert (len(white), len(red)) == (137, flow["segments_retransmitted"])


def test_equal_runs_leave_equal_files(run: ac.Run, tmp_path: Path) -> None:
    formats: list[Any] = ["qlog", "flent", "xplot"]
    first = run.export(tmp_path / "a", formats)
    second = lossy().export(tmp_path / "b", formats)
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_flows_of_like_names_have_files_of_their_own(tmp_path: Path) -> None:
    flows = [ac.Flow("reno", name=name, app=ac.Bulk("20 kB")) for name in ("a b", "a-b")]
    probes = [ac.Probe(flow=flow.name, every="change") for flow in flows]
    made = ac.run(
        ac.Scenario(
            duration="2 s", topology=ac.path("5 Mbit/s", "20 ms"), flows=flows, probes=probes
        )
    )
    assert [path.name for path in made.export(tmp_path)] == ["a-b.qlog", "a-b-2.qlog"]
    (file,) = made.export(tmp_path, ["flent"])
    found = json.loads(gzip.decompress(file.read_bytes()))
    assert found["metadata"]["NAME"] == "tcp_nup"
    assert {"TCP upload::1", "TCP upload::2", "TCP upload sum", "TCP upload avg"} == set(
        found["results"]
    )


def test_the_command_writes_what_the_method_does(tmp_path: Path, run: ac.Run) -> None:
    file = tmp_path / "run.toml"
    file.write_text(
        'title = "A short buffer"\nduration = "3 s"\n[topology]\nkind = "path"\n'
        'rate = "5 Mbit/s"\nrtt = "40 ms"\nbuffer = "8 packet"\n'
        '[[flow]]\nname = "one flow"\nvariant = "cubic"\n'
        'app = { kind = "bulk", size = "200 kB" }\n',
        encoding="utf-8",
    )
    done = RUN.invoke(app, ["export", str(file), str(tmp_path / "out"), "--as", "qlog,xplot"])
    assert done.exit_code == 0, done.output
    run.export(tmp_path / "other", ["qlog", "xplot"])
    for name in ("one-flow.qlog", "one-flow_tsg.xpl"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_what_cannot_be_written_is_one_line(tmp_path: Path, run: ac.Run) -> None:
    with pytest.raises(ac.BadInput, match="`pcap` is no format, expected one of qlog, flent"):
        run.export(tmp_path, ["pcap"])  # type: ignore[list-item]
    bare = ac.run(
        ac.Scenario(duration="1 s", topology=ac.path("5 Mbit/s", "20 ms"), flows=[ac.Flow("reno")])
    )
    with pytest.raises(ac.BadInput, match="no flow has samples"):
        bare.export(tmp_path)
    many = ac.simulate_many([run.scenario, run.scenario])
    with pytest.raises(ac.BadInput, match="expected one run, found many"):
        many.export(tmp_path)


def test_ss_tells_the_state_ten_times_a_second(run: ac.Run, tmp_path: Path) -> None:
    (file,) = run.export(tmp_path, ["ss"])
    assert file.name == "one-flow.ss.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    blocks = [lines[at : at + 3] for at in range(0, len(lines), 3)]
    times = [float(block[0].removeprefix("TIME ")) for block in blocks]
    assert times == [n / 10 for n in range(len(times))]
    assert {block[1] for block in blocks} == {"ESTAB one flow"}
    rows = run.rows("flow_samples")
    for time, block in zip(times, blocks, strict=True):
        row = [each for each in rows if each["time_s"] <= time + 1e-9][-1]
        variant, *words = block[2].split()
        known = dict(word.split(":") for word in words)
        assert variant == "cubic"
        assert known["bytes_acked"] == str(row["acked_bytes"])
        assert known["cwnd"] == f"{row['cwnd_segments']:.0f}"
        assert known["mss"] == "1460"
    assert int(known["total_retrans"]) == run.flows["segments_retransmitted"][0] > 0
    # No round trip was measured before the handshake is over.
    assert "rtt:" not in blocks[0][2]
    assert "ssthresh:" not in blocks[1][2]


@pytest.fixture(scope="module")
def bursts() -> ac.Run:
    """Return a run in which half of a window of 64 segments is lost at once."""
    scenario = ac.Scenario(
        duration="8 s",
        topology=ac.path("8 Mbit/s", "80 ms", "8 packet", loss="2 %"),
        flows=[ac.Flow("cubic+iw64", name="f", app=ac.Bulk())],
        probes=[ac.Probe(flow="f", every="change")],
    )
    return ac.run(scenario)


def test_every_retransmission_of_a_simulation_is_told(bursts: ac.Run, tmp_path: Path) -> None:
    run = bursts
    (flow,) = (row for row in run.rows("flows") if row["measure"] == "run")
    told: list[str] = []
    qlog, xplot = export(run, tmp_path, ["qlog", "xplot"], told.append)
    (found,) = json.loads(qlog.read_text(encoding="utf-8"))["traces"]
    assert len(named(found, "transport:packet_sent")) == flow["segments_sent"]
    lost = named(found, "recovery:packet_lost")
    assert len(lost) == flow["segments_retransmitted"] > 60
    red = [line for line in xplot.read_text(encoding="utf-8").splitlines()
           if line.startswith("line") and line.endswith("red")]  # fmt: skip
    assert len(red) == len(lost)
    assert told == []
    (key,) = identity.run_keys([run.scenario.to_json()])
    assert found["description"] == f"Ackclock {ac.__version__}, run {key}"


def test_what_samples_do_not_know_is_said(
    bursts: ac.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = bursts
    # A live run is known by its samples alone.
    monkeypatch.setattr("ackclock.runs.exporting._sends", lambda _run: None)
    told: list[str] = []
    (path,) = export(run, tmp_path, ["qlog"], told.append)
    (found,) = json.loads(path.read_text(encoding="utf-8"))["traces"]
    (flow,) = run.rows("flows")
    missing = flow["segments_retransmitted"] - len(named(found, "recovery:packet_lost"))
    assert missing > 0
    says = f"{missing} of {flow['segments_retransmitted']} retransmissions are missing"
    assert told[0].startswith(f"f: {says}")
    assert says in found["description"]
