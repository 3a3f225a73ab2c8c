"""Live runs whose ends are programs of their own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from live_support import (
    PYTHON,
    in_guest,
    live,
    measured_live,
    path,
    processes,
    untimed,
    with_python,
)
from support import ROOT, killed_in_the_end

#: A program that asks a web server for a file, and says how much came.
FETCH = """
import json, sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=20) as answer:
    print(json.dumps({"bytes": len(answer.read())}))
"""


def with_program(app: dict[str, Any], **more: object) -> dict[str, Any]:
    """Return the path of the other tests with programs at its ends."""
    table: dict[str, Any] = path(**more)  # type: ignore[arg-type]
    table["flow"][0]["app"] = {"kind": "program", **app}
    return table


def web(folder: Path, volume: int) -> dict[str, Any]:
    """Return Python's web server with a file of so many bytes, and a client that asks for it."""
    (folder / "file").write_bytes(bytes(volume))
    (folder / "fetch.py").write_text(FETCH)
    serve = [PYTHON, "-m", "http.server", "{port}", "--bind", "{server}"]
    return {
        "sender": [*serve, "--directory", str(folder)],
        "receiver": [PYTHON, str(folder / "fetch.py"), "http://{server}:{port}/file"],
        "server": "sender",
        "port": 8080,
    }


@with_python
def test_a_web_server_and_a_client_fill_the_tables(common: Path) -> None:
    table = with_program(web(common, 1_000_000), duration="5 s")
    table["probe"] = [{"flow": "bulk", "what": ["cwnd"], "every": "50 ms"}]
    run = measured_live(ac.Scenario.from_dict(table), allow_programs=True)
    (row,) = run.flows.to_pylist()
    # The file, the head of the answer (a line and five fields: 150 to 300 bytes), and the FIN,
    # which counts as a byte.
    assert 1_000_100 <= row["delivered_bytes"] <= 1_000_500
    # 1448 bytes of payload a segment: 691 for the file, and one or two more for the head.
    assert row["segments_sent"] - row["segments_retransmitted"] in (691, 692, 693)
    assert 0.020 <= row["srtt_mean_s"] < 0.060
    assert max(run.flow_samples.to_pydict()["cwnd_segments"]) > 10
    assert run.live is not None
    server, client = run.live["programs"]
    assert (server["side"], client["side"]) == ("sender", "receiver")
    assert client["told"] == {"bytes": 1_000_000}
    assert client["exit_code"] == 0
    # It serves for ever: the run ends it.
    assert server["ended_s"] is None
    assert run.live["hosts"][0]["congestion_control"] == "cubic"


@untimed
@with_python
def test_losses_are_counted_of_whoever_sends(common: Path) -> None:
    table = with_program(web(common, 1_000_000), duration="5 s")
    table["topology"]["link"][0]["loss"] = {"every": 100}
    run = ac.run_live(ac.Scenario.from_dict(table), allow_programs=True)
    (row,) = run.flows.to_pylist()
    link = run.links.to_pylist()[0]
    # One in a hundred of 692 data packets and of what is sent again of them.
    assert link["lost_packets"] >= 6
    # The end of slow start may fill the queue too. Whatever is lost is sent again at least once,
    # and seldom more than once.
    gone = link["lost_packets"] + link["dropped_packets"]
    assert gone <= row["segments_retransmitted"] <= 2 * gone
    assert row["delivered_bytes"] >= 1_000_000


@live
def test_iperf3_and_we_count_the_same() -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("live: no iperf3 (apt install iperf3)")
    table = path(duration="6 s")
    table["flow"][0]["app"] = {"kind": "iperf3"}  # type: ignore[index]
    run = measured_live(ac.Scenario.from_dict(table))
    (row,) = run.flows.to_pylist()
    assert run.live is not None
    client, server = run.live["programs"]
    assert (client["exit_code"], server["exit_code"]) == (0, 0)
    told = client["told"]
    # Its other connection carries some kilobytes of JSON.
    assert 0 <= row["delivered_bytes"] - told["delivered_bytes"] < 20_000
    assert abs(row["segments_retransmitted"] - told["segments_retransmitted"]) <= 2
    # Five seconds for it, of the six; 19.307 Mbit/s of payload fit in, and slow start takes some.
    assert told["seconds"] == pytest.approx(5.0, abs=0.3)
    assert 17.5e6 < told["goodput_bps"] < 19.5e6


@untimed
@with_python
@pytest.mark.parametrize("sender", ["reno", "cubic"])
def test_a_programs_sender_is_the_variants(common: Path, sender: str) -> None:
    # Of a socket of its own: the kernel's word for its congestion control.
    code = (
        "import socket, sys\n"
        "s = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
        "print('{\"law\": \"%s\"}' % s.getsockopt(6, 13, 16).split(b'\\0')[0].decode())\n"
    )
    (common / "law.py").write_text(code)
    listen = "import socket, time; s = socket.create_server(('', 9)); s.accept(); time.sleep(9)"
    app = {
        "sender": [PYTHON, str(common / "law.py"), "{receiver}", "9"],
        "receiver": [PYTHON, "-c", listen],
    }
    table = with_program(app, duration="2 s")
    table["flow"][0]["variant"] = sender
    run = ac.run_live(ac.Scenario.from_dict(table), allow_programs=True)
    assert run.live is not None
    assert run.live["programs"][0]["told"] == {"law": sender}


@untimed
@with_python
def test_words_in_braces_and_files(common: Path) -> None:
    listen = "import socket, time; s = socket.create_server(('', {port})); time.sleep(9)"
    shell = (
        'printf \'{"said": "%s", "file": "%s"}\' '
        '"{sender} {server} {seconds} {flow} {congestion_control} ${HOME:+set}" '
        '"$(cat {folder}/note)"'
    )
    app = {
        "sender": ["sh", "-c", shell],
        "receiver": [PYTHON, "-c", listen],
        "port": 99,
        "files": {"note": "port {port}, {nothing}"},
    }
    table = with_program(app, duration="3 s")
    run = ac.run_live(
        ac.Scenario.from_dict(table), programs=common / "programs", allow_programs=True
    )
    assert run.live is not None
    told = run.live["programs"][0]["told"]
    # 3 s, less one for opening and closing.
    assert told["said"] == "10.0.0.1 10.128.0.1 2 bulk cubic set"
    assert told["file"] == "port 99, {nothing}"
    assert json.loads((common / "programs" / "bulk" / "sender.out").read_text()) == told


@with_python
def test_a_program_that_fails_makes_no_measurement() -> None:
    listen = "import socket, time; s = socket.create_server(('', 9)); time.sleep(9)"
    fail = "import sys; sys.exit('no such thing')"
    app = {"sender": [PYTHON, "-c", fail], "receiver": [PYTHON, "-c", listen]}
    run = ac.run_live(
        ac.Scenario.from_dict(with_program(app, duration="1500 ms")), allow_programs=True
    )
    assert run.live is not None
    assert not run.live["valid"]
    assert run.live["programs"][0]["exit_code"] == 1
    doubt = run.live["doubts"][-1]
    assert doubt.endswith("the sender of `bulk`, ended with code 1: no such thing"), doubt


@live
def test_a_server_that_does_not_listen_is_told() -> None:
    app = {"receiver": ["sh", "-c", "echo it rains >&2; exit 3"], "sender": ["true"]}
    with pytest.raises(ac.BadInput) as error:
        ac.run_live(ac.Scenario.from_dict(with_program(app)), allow_programs=True)
    assert str(error.value) == (
        "flow[0].app.receiver: `sh` ended with code 3 before it listened: it rains"
    )


def test_programs_that_are_not_there_are_told_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    table = path()
    table["flow"][0]["app"] = {"kind": "iperf3"}  # type: ignore[index]
    with pytest.raises(
        ac.BadInput, match=r"flow\[0\].app.sender: no program `iperf3`.*apt install"
    ):
        ac.run_live(ac.Scenario.from_dict(table), allow_programs=True)
    app = {"receiver": ["/nowhere/at-all"], "sender": ["true"]}
    with pytest.raises(ac.BadInput, match=r"no program `true`"):
        ac.run_live(ac.Scenario.from_dict(with_program(app)), allow_programs=True)


@pytest.mark.parametrize(
    ("app", "words"),
    [
        ({"sender": ["curl"]}, ("flow[0].app.receiver", "missing")),
        ({"sender": ["curl", "{receivers}"], "receiver": ["x"]}, ("app.sender[1]", "`{receiver}`")),
        ({"receiver": ["x"], "files": {"../a": ""}}, ("flow[0].app.files", "plain name")),
        ({"receiver": ["x"], "server": "client"}, ("flow[0].app.server", "sender", "receiver")),
    ],
)
def test_bad_programs_are_refused(app: dict[str, Any], words: tuple[str, ...]) -> None:
    with pytest.raises(ac.BadInput) as error:
        ac.Scenario.from_dict(with_program(app))
    assert all(word in str(error.value) for word in words), str(error.value)


@in_guest
def test_a_program_in_a_guest_does_the_same_each_time(tmp_path: Path) -> None:
    """Files in `{folder}` are the program's, whose user may not write into that of the run."""
    code = "import sys, time; open(sys.argv[1], 'w').write(repr(time.monotonic()))"
    app = {
        "kind": "program",
        "sender": ["/usr/bin/python3", "-c", code, "{folder}/left"],
        "receiver": ["/usr/bin/python3", "-m", "http.server", "{port}", "--bind", "{server}"],
    }
    table = path(duration="1 s")
    table["flow"][0]["app"] = app  # type: ignore[index]
    left = []
    for name in "ab":
        place = tmp_path / name
        scenario = ac.Scenario.from_dict(table)
        ac.run(scenario, on="linux", programs=place, allow_programs=True)
        left.append((place / "bulk" / "left").read_text(encoding="utf-8"))
    assert left[0] == left[1]
    # The run begins 2 s after the boot.
    assert 2 < float(left[0]) < 4


def test_iperf3_is_asked_for_nothing_that_is_no_flow() -> None:
    for option in ("-u", "-R", "--bidir", "-C"):
        table = path()
        table["flow"][0]["app"] = {"kind": "iperf3", "options": [option]}  # type: ignore[index]
        with pytest.raises(ac.BadInput, match=r"flow\[0\].app.options\[0\]"):
            ac.Scenario.from_dict(table)


def test_a_simulation_has_no_programs() -> None:
    app = ac.Iperf3(options=["-P", "2"])
    table = path()
    table["flow"][0]["app"] = app.to_dict()  # type: ignore[index]
    scenario = ac.Scenario.from_dict(table)
    assert scenario.flows[0].app == app
    with pytest.raises(ac.BadInput, match=r"flow\[0\].app.kind: .*live.*`bulk`, `cbr`"):
        ac.simulate(scenario)


def test_what_options_of_sockets_say_is_refused() -> None:
    table = with_program({"receiver": ["true"], "sender": ["true"]})
    for key, value in (("pacing", "linux"), ("nagle", "off")):
        table["flow"][0]["tcp"] = {key: value}
        with pytest.raises(ac.BadInput, match=rf"flow\[0\].tcp.{key}: an option of sockets"):
            ac.run_live(ac.Scenario.from_dict(table), allow_programs=True)
    with pytest.raises(ac.BadInput, match=r"flow\[0\].app.kind: a program's sockets"):
        ac.run_live(ac.Scenario.from_dict(with_program({"receiver": ["true"]})), sender="ackclock")


_RUN = """
import sys
import ackclock as ac
ac.run_live(sys.argv[1], allow_programs=True)
"""

#: A program that has another, which hears no signal and leaves its group.
_FAMILY = """
import os, signal, socket, sys, time
s = socket.create_server(('', 9))
if os.fork() == 0:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1] + '.' + str(os.getpid()), 'w').close()
time.sleep(60)
"""


@with_python
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_killed_leaves_no_program_behind(common: Path, how: signal.Signals) -> None:
    marker = common / "family"
    (common / "family.py").write_text(_FAMILY)
    server = [PYTHON, str(common / "family.py"), str(marker)]
    app = {"receiver": server, "sender": ["sleep", "60"]}
    file = common / "long.json"
    file.write_text(json.dumps(with_program(app, duration="60 s")))
    environment = {**os.environ, "TMPDIR": str(common)}
    command = [sys.executable, "-c", _RUN, str(file)]
    with (
        subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL) as process,
        killed_in_the_end(process),
    ):
        deadline = time.monotonic() + 30
        while len(list(common.glob("family.[0-9]*"))) < 2 and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.3)
        # Both of the family, the two processes above them, and the other program.
        assert len(processes(str(marker))) >= 2
        process.send_signal(how)
        process.wait(timeout=40)
    deadline = time.monotonic() + 10
    while processes(str(common)) and time.monotonic() < deadline:
        time.sleep(0.05)
    # Nor is any of the processes above them, which still have the command line of the run.
    assert processes(str(common)) == []
    if how == signal.SIGINT:
        assert list(common.glob("ackclock-programs-*")) == []
        return
    # What it wrote is removed by the next.
    assert len(list(common.glob("ackclock-programs-*"))) == 1
    listen = "import socket, time; s = socket.create_server(('', 9)); time.sleep(9)"
    short = with_program({"receiver": [PYTHON, "-c", listen]}, duration="200 ms")
    file.write_text(json.dumps(short))
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=60)
    assert list(common.glob("ackclock-programs-*")) == []
