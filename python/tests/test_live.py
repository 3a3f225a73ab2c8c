"""Live runs: real packets, the kernel's own TCP. They need root, or a user namespace."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ackclock as ac
from ackclock import _core
from live_support import live, measured_live, path, processes, untimed
from support import ROOT, killed_in_the_end

MBIT = 1e6
#: The time that a processor may take to wake, in us, by the requests of all processes (PM QoS).
LATENCY = Path("/dev/cpu_dma_latency")


@live
def test_a_bulk_flow_fills_the_link() -> None:
    run = measured_live(ac.Scenario.from_dict(path()))
    (row,) = run.flows.to_pylist()
    # 1448 bytes of payload in packets of 1500: 20 Mbit/s are 19.307 of goodput; slow start, the
    # handshake and what is on its way at the end take 1 to 5 % of three seconds.
    assert 18.0 * MBIT < row["goodput_bps"] < 19.307 * MBIT
    assert row["variant"] == "cubic"
    # There and back 20 ms, and then the queue.
    assert 0.020 <= row["established_s"] < 0.030
    assert 0.020 <= row["srtt_mean_s"] < 0.045
    assert run.live is not None
    assert run.live["hosts"][0]["congestion_control"] == "cubic"


@live
def test_the_tables_have_the_simulators_columns() -> None:
    scenario = ac.Scenario.from_dict(path(duration="1 s"))
    simulated, real = ac.simulate(scenario), ac.run_live(scenario)
    for table in ("flows", "links", "sources", "crossings", "flow_samples", "link_samples"):
        assert pa.table(getattr(real, table)).schema == pa.table(getattr(simulated, table)).schema
    assert simulated.live is None


@untimed
@live
def test_every_packet_on_a_link_is_accounted_for() -> None:
    loss = path(duration="2 s")
    loss["topology"]["link"][0]["loss"] = {"every": 100}  # type: ignore[index]
    run = ac.run_live(ac.Scenario.from_dict(loss))
    row = run.links.to_pylist()[0]
    assert row["offered_packets"] == sum(
        row[f"{what}_packets"] for what in ("delivered", "dropped", "queued")
    )
    # One in a hundred data packets, no more and no fewer.
    data = run.flows.to_pylist()[0]["arrived_packets"] + row["lost_packets"]
    assert abs(row["lost_packets"] - data / 100) <= 1 + row["queued_packets"] / 100 + 1
    assert run.flows.to_pylist()[0]["segments_retransmitted"] >= row["lost_packets"] - 2


@untimed
@live
def test_flipped_bits_reach_the_kernel_and_are_refused() -> None:
    table = path(duration="2 s")
    table["topology"]["link"][0]["corrupt"] = 0.01  # type: ignore[index]
    run = ac.run_live(ac.Scenario.from_dict(table))
    row = run.flows.to_pylist()[0]
    assert row["checksum_errors"] > 0
    # What the kernel took for whole would never be sent again.
    assert row["segments_retransmitted"] > 0


@untimed
@live
def test_a_sized_transfer_is_complete_to_the_byte() -> None:
    table = path(duration="3 s")
    table["flow"][0]["app"] = {"kind": "bulk", "size": "1 MB"}  # type: ignore[index]
    (row,) = ac.run_live(ac.Scenario.from_dict(table)).flows.to_pylist()
    assert row["delivered_bytes"] == 1_000_000
    # 1 MB at 19.3 Mbit/s are 0.41 s, and slow start some round trips more.
    assert 0.4 < row["completed_s"] < 1.5


@live
def test_a_pair_of_ethernet_devices_does_as_well() -> None:
    run = measured_live(ac.Scenario.from_dict(path()), ports="veth")
    assert run.live is not None
    assert run.live["ports"] == "veth"
    assert run.flows.to_pylist()[0]["goodput_bps"] > 18.0 * MBIT


@live
def test_settings_stay_in_the_namespaces() -> None:
    setting = Path("/proc/sys/net/ipv4/tcp_sack")
    before = setting.read_text()
    table = path(duration="300 ms")
    table["flow"][0]["tcp"] = {"sack": False}  # type: ignore[index]
    run = ac.run_live(ac.Scenario.from_dict(table))
    assert run.live is not None
    assert run.live["hosts"][0]["sysctls"]["net.ipv4.tcp_sack"] == "0"
    assert setting.read_text() == before


@live
def test_processors_are_kept_awake_while_a_run_lasts_where_that_may_be_asked() -> None:
    before = _left()
    run = ac.run_live(ac.Scenario.from_dict(path(duration="300 ms")))
    assert run.live is not None
    assert run.live["kept_awake"] is os.access(LATENCY, os.W_OK)
    assert _left() == before


@untimed
@live
def test_captures_of_both_sides(tmp_path: Path) -> None:
    run = ac.run_live(ac.Scenario.from_dict(path(duration="500 ms")), pcap=tmp_path)
    assert [capture.name for capture in run.captures] == [
        "bulk-sender.pcapng",
        "bulk-receiver.pcapng",
    ]
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("live: no tshark to read the captures with")
    syns = [
        subprocess.run(
            [tshark, "-r", capture, "-Y", "tcp.flags.syn == 1", "-T", "fields", "-e", "ip.src"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for capture in run.captures
    ]
    assert syns == [["10.0.0.1", "10.128.0.1"]] * 2


@live
def test_what_is_written_says_that_it_is_live(tmp_path: Path) -> None:
    run = ac.run_live(ac.Scenario.from_dict(path(duration="300 ms")))
    run.write(tmp_path)
    metadata = pq.read_metadata(tmp_path / "flows.parquet").metadata
    assert metadata[b"ackclock.substrate"] == b"live"
    assert json.loads((tmp_path / "live.json").read_text()) == run.live


def test_what_live_cannot_do_is_refused_before_anything_starts() -> None:
    for flow, words in (
        ({"variant": "bbr"}, ("flow[0].variant", "bbr", "cubic")),
        ({"profile": "rfc"}, ("flow[0].profile", "linux")),
        (
            {
                "app": {
                    "kind": "bursts",
                    "size": "100 kB",
                    "every": "1 s",
                    "quick_start": "5.12 Mbit/s",
                }
            },
            ("flow[0].app.quick_start", "Quick-Start", "ackclock"),
        ),
    ):
        table = path()
        table["flow"][0].update(flow)  # type: ignore[index]
        with pytest.raises(ac.BadInput) as error:
            ac.run_live(ac.Scenario.from_dict(table))
        assert all(word in str(error.value) for word in words)


def _left() -> dict[str, object]:
    """Return what live runs could leave behind on this machine."""
    names = Path("/run/netns")
    return {
        "wake_up": LATENCY.read_bytes() if os.access(LATENCY, os.R_OK) else b"",
        "devices": sorted(path.name for path in Path("/sys/class/net").iterdir()),
        "names": sorted(path.name for path in names.iterdir()) if names.is_dir() else [],
        "mounts": [
            line for line in Path("/proc/mounts").read_text().splitlines() if "nsfs" in line
        ],
        "settings": {
            name: Path("/proc/sys/net/ipv4", name).read_text()
            for name in ("tcp_sack", "tcp_rmem", "tcp_wmem", "tcp_ecn", "tcp_no_metrics_save")
        },
    }


_RUN = """
import sys
import ackclock as ac
ac.run_live(sys.argv[1])
"""


@live
def test_nothing_is_left_of_runs_that_are_killed(tmp_path: Path) -> None:
    """As many starts as ACKCLOCK_LIVE_STARTS says, a fifth of them killed at random moments."""
    starts = int(os.environ.get("ACKCLOCK_LIVE_STARTS", "10"))
    file = tmp_path / "short.json"
    file.write_text(json.dumps(path(duration="200 ms")))
    draw = random.Random(9)  # noqa: S311 - not a secret
    killed = set(draw.sample(range(starts), starts // 5))
    before = _left()
    for n in range(starts):
        command = [sys.executable, "-c", _RUN, str(file)]
        with (
            subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process,
            killed_in_the_end(process),
        ):
            if n in killed:
                # From the first lines of Python to the end of the run.
                time.sleep(draw.uniform(0.1, 1.2))
                process.send_signal(signal.SIGKILL)
            _, errors = process.communicate(timeout=60)
        if n not in killed:
            assert process.returncode == 0, errors
        # The kernel takes a moment to take a namespace down.
        deadline = time.monotonic() + 10
        while _left() != before and time.monotonic() < deadline:
            time.sleep(0.05)
        assert _left() == before
    assert processes(str(file)) == []


def _has_namespaces(process: int) -> bool:
    """Return whether the process holds network namespaces open."""
    for entry in Path(f"/proc/{process}/fd").iterdir():
        try:
            if str(entry.readlink()).startswith("net:"):
                return True
        except OSError:
            continue
    return False


@live
def test_an_interrupt_ends_a_run_at_once(tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    file.write_text(json.dumps(path(duration="60 s")))
    command = [sys.executable, "-m", "ackclock.cli", "run", str(file), "--on", "live"]
    with (
        subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process,
        killed_in_the_end(process),
    ):
        # From then on the run is the core's: on a busy machine Python alone takes seconds.
        deadline = time.monotonic() + 30
        while not _has_namespaces(process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        wish = LATENCY.read_bytes() if os.access(LATENCY, os.W_OK) else None
        process.send_signal(signal.SIGINT)
        # The run would take 60 s.
        _, errors = process.communicate(timeout=40)
    assert process.returncode == 130
    assert errors.strip().splitlines()[-1] == "ackclock: interrupted"
    assert wish in (None, bytes(4))


def test_a_comparison_has_a_row_a_metric() -> None:
    table = path(duration="5 s")
    found = ac.compare(ac.Scenario.from_dict(table), on=["sim"], repeat=2)
    rows = {row["metric"]: row["sim"] for row in found.rows()}
    # CUBIC leaves slow start on a path of 20 ms within its first round trips; the queue holds at
    # most 20 Mbit/s x 20 ms / 1500 B = 33 packets, and one in service.
    assert 0.04 < rows["slow_start_ends_s"].mean < 1.0
    assert 0.0 < rows["queue_mean_packets"].mean <= 34.0
    assert rows["srtt_mean_s"].mean > 0.020
    # Nothing in it is random: two seeds are one run, and one run has no interval.
    assert rows["goodput_bps"].ci is None
    assert found.as_json()["runs"] == {"sim": 1}


@live
def test_simulation_and_kernel_agree() -> None:
    try:
        found = ac.compare(ac.Scenario.from_dict(path(duration="6 s")), repeat=1)
    except ac.BadInput as error:
        pytest.skip(f"live: {error}")
    goodput = next(row for row in found.rows() if row["metric"] == "goodput_bps")
    # The agreement asked for is 3 %.
    assert goodput["live"].mean == pytest.approx(goodput["sim"].mean, rel=0.03)


def test_the_core_refuses_other_ports() -> None:
    scenario = ac.Scenario.from_dict(path())
    with pytest.raises(ac.BadInput, match="expected `tun` or `veth`"):
        _core.live(scenario.to_json(), None, "tap")


#: Our transport against the kernel: what differs from a plain path, and what must be seen of it.
INTEROP: dict[str, tuple[dict[str, object], dict[str, object], str | None]] = {
    "plain": ({}, {}, None),
    "1 % loss": ({"loss": 0.01}, {}, "lost_packets"),
    "5 % loss": ({"loss": 0.05}, {}, "lost_packets"),
    "reordering": ({"reorder": {"share": 0.02, "delay": "5 ms"}}, {}, "reordered_packets"),
    "copies": ({"duplicate": 0.02}, {}, "duplicated_packets"),
    "flipped bits": ({"corrupt": 0.01}, {}, "corrupted_packets"),
    "marks": (
        {"queue": {"kind": "droptail", "limit": "100 packet", "mark": "10 packet"}},
        {"ecn": "on"},
        "marked_packets",
    ),
    "no timestamps": ({"loss": 0.01}, {"timestamps": False}, "lost_packets"),
    "no SACK": ({"loss": 0.01}, {"sack": False}, "lost_packets"),
    "no window scaling": ({}, {"window_scaling": False}, None),
    "8 MB of window": ({}, {"receive_window": "8 MB"}, None),
}


@untimed
@live
@pytest.mark.parametrize("ends", [("ackclock", "kernel"), ("kernel", "ackclock")])
@pytest.mark.parametrize("case", INTEROP)
def test_our_transport_and_the_kernel_understand_each_other(
    case: str, ends: tuple[Literal["kernel", "ackclock"], Literal["kernel", "ackclock"]]
) -> None:
    link, tcp, seen = INTEROP[case]
    # With 5 % lost each way both senders come to about 1 Mbit/s.
    volume, duration = ("300 kB", "10 s") if case == "5 % loss" else ("1 MB", "3 s")
    table = path(duration=duration)
    table["topology"]["link"][0].update(link)  # type: ignore[index]
    app = {"kind": "bulk", "size": volume}
    table["flow"][0].update({"app": app, "tcp": tcp})  # type: ignore[index]
    run = ac.run_live(ac.Scenario.from_dict(table), sender=ends[0], receiver=ends[1])
    (row,) = run.flows.to_pylist()
    # Every byte in its place, as each end compares what it reads with the stream.
    assert row["delivered_bytes"] == (300_000 if case == "5 % loss" else 1_000_000)
    assert run.live is not None
    assert run.live["changed"] == 0
    assert row["completed_s"] is not None
    forward = run.links.to_pylist()[0]
    if seen is not None:
        assert forward[seen] > 0
    # Without a flipped bit our end finds every header and checksum of the kernel's as it should be.
    assert (run.live["malformed"] > 0) == (case == "flipped bits")


@untimed
@live
def test_any_sender_of_ours_meets_the_kernel() -> None:
    for variant in ("tahoe", "newreno+sack", "cubic+hystartpp", "bbr", "vegas"):
        table = path(duration="2 s")
        flow = {"variant": variant, "profile": "rfc", "app": {"kind": "bulk", "size": "500 kB"}}
        table["flow"][0].update(flow)  # type: ignore[index]
        run = ac.run_live(ac.Scenario.from_dict(table), sender="ackclock")
        assert run.flows.to_pylist()[0]["delivered_bytes"] == 500_000, variant
        assert run.live is not None
        assert run.live["changed"] == 0


@live
def test_our_sender_goes_silent_and_resumes_before_the_kernel() -> None:
    table = path(duration="3 s")
    idle = [{"at": "1 s", "for": "1 s"}]
    app = {"kind": "cbr", "rate": "1 Mbit/s", "message": "1000 B", "idle": idle, "stop": "2.5 s"}
    table["flow"][0]["app"] = app  # type: ignore[index]
    run = ac.run_live(ac.Scenario.from_dict(table), sender="ackclock")
    # 125 messages of 1000 bytes a second, for 1 s and for 0.5 s, one more or less at each end.
    assert abs(run.flows.to_pylist()[0]["delivered_bytes"] - 187_500) <= 2_000


@live
def test_an_ordinary_user_has_a_user_namespaces_path(common: Path) -> None:
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("live: only root can become another user, by `setpriv`")
    nobody = [setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all"]
    apart = [*nobody, "unshare", "-Urn"]
    tried = subprocess.run([*apart, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"live: ordinary users have no user namespaces ({tried.stderr.strip()})")
    # Where root's Python is root's alone, the system's may do with the same packages.
    packages = {"PYTHONPATH": str(Path(ac.__file__).parents[1])}
    for python, environment in ((sys.executable, {}), ("/usr/bin/python3", packages)):
        tried = subprocess.run(
            [*apart, python, "-c", "import ackclock.cli.app"],
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if tried.returncode == 0:
            break
    else:
        pytest.skip(
            f"live: no Python for ordinary users ({tried.stderr.strip().splitlines()[-1:]})"
        )
    file = common / "path.json"
    file.write_text(json.dumps(path(duration="2 s")))
    command = [*apart, python, "-m", "ackclock.cli", "run", str(file)]
    answer: dict[str, Any] = {}
    for _ in range(4):
        done = subprocess.run(
            [*command, "--on", "live", "--json"],
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout, done.stderr
        answer = json.loads(done.stdout)
        # Some systems let everybody open the device of TUN.
        tun = Path("/dev/net/tun")
        everybodys = tun.exists() and tun.stat().st_mode & 0o006 == 0o006
        assert answer["live"]["ports"] == ("tun" if everybodys else "veth")
        assert not answer["live"]["realtime"]
        if answer["live"]["valid"]:
            break
    else:
        pytest.skip(f"live: too busy for an ordinary thread: {answer['live']['doubts']}")
    # As for root: 20 Mbit/s are 19.307 of goodput, less start-up.
    assert answer["flows"][0]["goodput_bps"] > 17.0 * MBIT


@live
@pytest.mark.parametrize("network", ["ipv4", "ipv6"])
@pytest.mark.parametrize(
    ("sender", "receiver"), [("kernel", "kernel"), ("ackclock", "kernel"), ("kernel", "ackclock")]
)
def test_trains_of_segments_are_single_packets_on_the_path(
    network: str, sender: Literal["kernel", "ackclock"], receiver: Literal["kernel", "ackclock"]
) -> None:
    # Above 300 Mbit/s devices give and take several segments in one call. Losses, marks and flipped
    # bits are of single packets all the same: 20 MB are 13,813 segments of 1448 bytes, of which one
    # in 2000 is lost and one in 2000 damaged.
    table = path(rate="400 Mbit/s", delay="2 ms", duration="4 s")
    flow = table["flow"][0]  # type: ignore[index]
    flow |= {"network": network, "app": {"kind": "bulk", "size": "20 MB"}, "tcp": {"ecn": "on"}}
    table["topology"]["link"][0] |= {  # type: ignore[index]
        "loss": {"every": 2000},
        "corrupt": 0.0005,
        "queue": {"kind": "codel", "ecn": True},
        "reverse": {"corrupt": 0.0},
    }
    run = ac.run_live(ac.Scenario.from_dict(table), sender=sender, receiver=receiver)
    assert run.live is not None
    assert run.live["changed"] == 0
    assert run.live["strangers"] == 0
    (row,) = run.flows.to_pylist()
    # Our own end cannot read what was damaged.
    assert run.live["malformed"] == (row["checksum_errors"] if receiver == "ackclock" else 0)
    link = run.links.to_pylist()[0]
    assert row["delivered_bytes"] == 20_000_000
    assert row["completed_s"] is not None
    # Data packets, those sent again included; the last may be less than full.
    data = row["arrived_packets"] + link["lost_packets"]
    assert data >= 20_000_000 / 1448
    assert link["lost_packets"] == data // 2000
    # What the kernel took for whole would never be sent again.
    assert row["checksum_errors"] > 0
    assert row["segments_retransmitted"] >= row["checksum_errors"]
    assert link["offered_bytes"] / link["offered_packets"] > 1300


@live
def test_access_links_on_which_nothing_queues_do_not_make_a_run_doubtful() -> None:
    scenario = ac.Scenario(
        ac.dumbbell(
            bottleneck=ac.Link("400 Mbit/s", "4 ms", queue=ac.Queue("1 BDP")),
            access=ac.Link("2 Gbit/s", "0.5 ms"),
        ),
        [ac.Flow("cubic", profile="linux")],
        duration="3 s",
    )
    run = measured_live(scenario)
    assert run.live is not None
    assert [rate["link"] for rate in run.live["rates"]] == ["bottleneck"]
    simulated = ac.simulate(scenario).rows("flows")[0]
    row = run.rows("flows")[0]
    assert row["goodput_bps"] == pytest.approx(simulated["goodput_bps"], rel=0.03)
