"""Laws of ours in the stock kernel: loaded, judged by those in Rust, and gone without a trace."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import ackclock as ac
from ackclock import _core
from live_support import PYTHON, live, path, untimed, with_python
from support import Answer, killed_in_the_end

COMMAND = Path(sys.executable).with_name("ackclock")
LACKS = json.loads(_core.kernel("needs"))
needed = pytest.mark.skipif(LACKS is not None, reason=f"live: {LACKS}")
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
DEFAULT = Path("/proc/sys/net/ipv4/tcp_congestion_control")


def ours() -> list[dict[str, Any]]:
    return json.loads(_core.kernel("status"))


def others() -> set[str]:
    """Return the names of laws that are none of ours: other tests load and remove ours."""
    return {name for name in available() if not name.startswith("ack_")}


def available() -> set[str]:
    return set(AVAILABLE.read_text("ascii").split())


def gone(names: set[str], within_s: float = 5.0) -> bool:
    """Say whether none of these laws is left; a killed process's go a little later."""
    until = time.monotonic() + within_s
    while {law["name"] for law in ours()} & names or available() & names:
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def asked(*words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [*more.pop("before", ()), str(COMMAND), "kernel", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


@needed
@untimed
@live
@pytest.mark.parametrize(
    "word",
    [
        *("tahoe", "compound", "ccp(1)", "ccpd(1,2000)", "playout"),
        *("highspeed", "scalable", "vegas"),
    ],
)
def test_a_law_in_the_kernel_keeps_to_the_one_in_rust(word: str) -> None:
    # 20 Mbit/s and 40 ms are 67 packets; a buffer of 30 makes every law lose some in 4 s.
    keys: dict[str, Any] = path(delay="19 ms", duration="4 s")
    (link,) = keys["topology"]["link"]
    link["queue"] = {"kind": "droptail", "limit": "30 packets"}
    keys["flow"][0]["variant"] = word
    before = others()
    run = ac.run_live(ac.Scenario.from_dict(keys))
    assert run.live is not None
    (law,) = run.live["kernel_laws"]
    assert law["word"].removesuffix("(linux)") == word
    assert law["name"].startswith("ack_")
    assert law["object"] in word
    assert len(law["hash"]) == 16
    assert law["instructions"] > 500
    assert law["log_bytes"] > 0
    assert law["judged_acks"] > 500
    assert law["reductions"] > 0
    assert law["apart_acks"] == 0
    (hosts,) = run.live["hosts"]
    assert hosts["congestion_control"] == law["name"]
    assert gone({law["name"]})
    assert others() == before


@needed
@untimed
@live
@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("reno+cwv", "reno(linux)+cwv"),
        ("cubic+cwv(rto=500ms)", "cubic(linux)+cwv(rto=500ms)"),
        ("cubic+iw3+newcwv", "cubic(linux)+iw3+newcwv"),
        ("vegas+newcwv", "vegas(linux)+newcwv"),
    ],
)
def test_an_idle_rule_in_the_kernel_keeps_to_the_one_in_rust(word: str, told: str) -> None:
    # 150 kB are 104 segments, at 80 ms three round trips or more; then silence of several timeouts
    # of 0.3 s.
    keys: dict[str, Any] = path(delay="38 ms", duration="9 s")
    (link,) = keys["topology"]["link"]
    link["queue"] = {"kind": "droptail", "limit": "40 packets"}
    link["loss"] = 0.01
    keys["flow"][0]["variant"] = word
    keys["flow"][0]["app"] = {"kind": "bursts", "size": "150 kB", "every": "1.1 s"}
    run = ac.run_live(ac.Scenario.from_dict(keys))
    assert run.live is not None
    (law,) = run.live["kernel_laws"]
    assert law["word"] == told
    assert law["object"].endswith("_linux") or law["object"] == "vegas"
    assert law["judged_acks"] > 300
    # Bursts and silences have records of their own.
    assert law["records"] > law["judged_acks"] + 50
    assert law["reductions"] > 0
    assert law["apart_acks"] == 0
    assert gone({law["name"]})


@needed
@untimed
@live
def test_a_probe_sees_the_window_of_a_law_in_the_kernel_after_each_ack() -> None:
    keys: dict[str, Any] = path(delay="20 ms", duration="2 s")
    keys["flow"][0]["variant"] = "tahoe+iw3"
    keys["probe"] = [{"flow": "bulk", "every": "change"}]
    run = ac.run_live(ac.Scenario.from_dict(keys))
    assert run.live is not None
    (law,) = run.live["kernel_laws"]
    samples = run.flow_samples.to_pylist()
    # Those that came after the run's end are no samples.
    assert 0 <= law["records"] - len(samples) < 20
    # Slow start from three segments: what each ACK delivers, until the window is full.
    windows = [sample["cwnd_segments"] for sample in samples[:5]]
    assert windows[0] == 3.0
    assert windows == sorted(windows)
    assert windows[1] > 3.0
    # Tahoe's avoidance adds parts of a segment, which the kernel's own window does not have.
    assert any(sample["cwnd_segments"] % 1 for sample in samples)
    acked = [sample["acked_bytes"] for sample in samples]
    assert acked == sorted(acked)
    (flow,) = run.flows.to_pylist()
    assert abs(acked[-1] * 8 / 2 - flow["goodput_bps"]) < 0.1 * flow["goodput_bps"]


@needed
@live
def test_silence_costs_window_in_the_kernel_as_rfc_2861_says() -> None:
    # 300 kB are 208 segments: at 80 ms five round trips from ten segments. Two seconds of silence
    # are seven timeouts of 0.28 s, and with RFC 2861 leave a segment or two: seven round trips
    # again, 0.56 s. RFC 7661 keeps the window, so that the second burst takes its time on the link
    # and a round trip, 0.12 + 0.08 s.
    keys: dict[str, Any] = path(delay="40 ms", duration="6 s")
    keys["flow"][0]["app"] = {"kind": "bursts", "size": "300 kB", "every": "2.5 s"}
    took = {}
    for word in ("reno+cwv", "reno+newcwv"):
        keys["flow"][0]["variant"] = word
        run = ac.run_live(ac.Scenario.from_dict(keys))
        second = run.objects.to_pylist()[1]
        took[word] = second["completed_s"] - second["requested_s"]
    # Between both, as a busy machine adds to either.
    assert took["reno+newcwv"] < 0.45 < took["reno+cwv"]


@needed
@untimed
@live
def test_tsl_in_the_kernel_sets_window_and_threshold_after_a_lost_syn_ack() -> None:
    keys = _lost_syn_ack("reno+tsl(3,16)")
    run = ac.run_live(ac.Scenario.from_dict(keys))
    assert run.live is not None
    (law,) = run.live["kernel_laws"]
    assert law["word"] == "reno(linux)+tsl(3,16)"
    assert law["apart_acks"] == 0
    (connection,) = run.connections.to_pylist()
    assert connection["lost_synack"] > 0
    # 24 segments from a window of three, 100 ms a round trip: 3 + 6 + 12 + 3 take four after the
    # handshake and the timer's second, where ten would take two.
    (response,) = run.objects.to_pylist()
    rtts = (response["completed_s"] - connection["opened_s"] - 1.0) / 0.1
    assert 4.6 < rtts < 5.6


def _lost_syn_ack(variant: str) -> dict[str, Any]:
    link = {
        "name": "path", "from": "client", "to": "server", "rate": "100 Mbit/s", "delay": "50 ms",
    }  # fmt: skip
    events = [
        {"at": at, "link": "path", "direction": "reverse", "set": {"loss": loss}}
        for at, loss in (("0 s", 1.0), ("0.5 s", 0.0))
    ]
    web = {
        "name": "web", "variant": variant, "profile": "linux", "from": "client", "to": "server",
        "arrivals": {"kind": "list", "at": ["0.01 s"]},
        "app": {"kind": "request", "response": f"{24 * 1448} B", "request": "100 B"},
    }  # fmt: skip
    return {
        "duration": "3 s",
        "topology": {"kind": "graph", "link": [link]},
        "event": events,
        "traffic": [web],
    }


@needed
@untimed
@live
def test_a_law_that_paces_heeds_the_rate_that_an_application_sets() -> None:
    """A film of 5.33 Mbit/s whose server sends at 1.25 times what is needed, on 20 Mbit/s.

    6.2 MB come in the simulation; 14.3 MB came where the law set its own rate alone.
    """
    film = ac.Video(size="40 MB", length="60 s", pace=1.25)
    scenario = ac.Scenario(
        ac.Path("20 Mbit/s", "20 ms", buffer="1 BDP"),
        [
            ac.Flow(
                "playout", name="a", profile="linux", app=film, tcp=ac.Tcp(receive_window="64 MB")
            )
        ],
        duration="6 s",
    )
    simulated, lived = (
        run.rows("flows")[0]["delivered_bytes"]
        for run in (ac.run(scenario), ac.run(scenario, on="live"))
    )
    assert lived == pytest.approx(simulated, rel=0.25)


@needed
@untimed
@live
def test_a_run_that_needs_no_law_of_ours_loads_none() -> None:
    run = ac.run_live(ac.Scenario.from_dict(path(duration="1 s")))
    assert run.live is not None
    assert run.live["kernel_laws"] == []


@needed
@untimed
@live
def test_a_recorder_sees_every_window_of_the_kernels_own_law() -> None:
    answer = asked("test", "reno", "cubic", "bbr1", "--seconds", "2", "--json")
    assert answer.returncode == 0, answer.stderr
    for trial in json.loads(answer.stdout):
        assert trial["law"]["records"] > 300
        assert trial["law"]["judged_acks"] is None


@needed
@untimed
@live
@pytest.mark.parametrize(
    ("word", "recorded"), [("reno", "reno"), ("cubic", "cubic"), ("bbr1", "bbr")]
)
def test_records_of_the_kernels_own_law_are_samples(word: str, recorded: str) -> None:
    # 20 Mbit/s for 2 s are 3,300 packets, an ACK for each second one.
    keys: dict[str, Any] = path(delay="20 ms", duration="2 s")
    keys["flow"][0]["variant"] = word
    keys["probe"] = [{"flow": "bulk", "every": "change"}]
    run = ac.run_live(ac.Scenario.from_dict(keys), records=True)
    assert run.live is not None
    (law,) = run.live["kernel_laws"]
    assert law["object"] == recorded
    assert law["judged_acks"] is None
    (hosts,) = run.live["hosts"]
    assert hosts["congestion_control"] == law["name"]
    samples = run.flow_samples.to_pylist()
    assert len(samples) > 500
    assert 0 <= law["records"] - len(samples) < 20
    # Slow start from ten segments: the window after the first ACK is larger than before it.
    assert samples[0]["cwnd_segments"] == 10.0
    assert samples[2]["cwnd_segments"] > 10.0
    assert gone({law["name"]})


@needed
@untimed
@live
def test_a_law_without_a_recorder_is_refused_by_name() -> None:
    keys: dict[str, Any] = path(duration="1 s")
    keys["flow"][0]["variant"] = "dctcp"
    if "dctcp" not in available():
        pytest.skip("live: this kernel has no law but those with recorders")
    with pytest.raises(ac.BadInput, match="there is no recorder of the kernel's `dctcp"):
        ac.run_live(ac.Scenario.from_dict(keys), records=True)


@needed
@untimed
@live
def test_laws_that_stay_are_loaded_and_removed_and_no_default_changes() -> None:
    default = DEFAULT.read_text("ascii")
    names = {"ack_ccpd_1_3999", "ack_ccp_0_125"}
    words = ["ccpd(1,3999)", "ccp(0.125)"]
    answer = asked("load", *words)
    try:
        assert answer.returncode == 0, answer.stderr
        assert names <= available()
        assert {law["name"] for law in ours() if not law["held"]} >= names
        again = asked("load", "ccp(0.25)", words[0])
        assert again.returncode == 2
        assert again.stderr.count("\n") == 1
        assert "ack_ccpd_1_3999" in again.stderr
        assert "ack_ccp_0_25" not in available(), "all are loaded or none"
    finally:
        removed = asked("unload", *words)
    assert removed.returncode == 0, removed.stderr
    assert gone(names)
    assert DEFAULT.read_text("ascii") == default
    assert asked("unload", words[0]).returncode == 2


@needed
@untimed
@live
def test_a_law_that_a_run_holds_names_its_process() -> None:
    before = {law["map"] for law in ours()}
    with (
        subprocess.Popen(
            [str(COMMAND), "kernel", "test", "ccp(0.875)", "--seconds", "30"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process,
        killed_in_the_end(process),
    ):

        def held() -> list[dict[str, Any]]:
            new = [law for law in ours() if law["map"] not in before and law["held"]]
            return [law for law in new if law["owner"] == process.pid]

        until = time.monotonic() + 30
        while not held():
            assert time.monotonic() < until
            time.sleep(0.02)
        (law,) = held()
        assert f"{law['name']}: held by the process {process.pid}\n" in asked("status").stdout
        process.send_signal(signal.SIGKILL)
        process.wait()
    # Nobody holds it any more, from the moment on in which the process has ended.
    assert [each["owner"] for each in ours() if each["map"] == law["map"]] in ([], [None])


@needed
@untimed
@live
def test_fifty_times_loaded_ten_of_them_killed_nothing_is_left() -> None:
    name, word = "ack_ccp_0_375", "ccp(0.375)"

    def mine() -> set[str]:
        """Return what of CCP is loaded: tests beside this one load other laws."""
        return {law["name"] for law in ours() if law["name"].startswith("ack_ccp")}

    for _ in range(40):
        _core.kernel("load", [word])
        assert name in available()
        _core.kernel("unload", [word])
        assert name not in available()
    draw = random.Random(7)  # noqa: S311
    before: set[str] = set()
    for n in range(10):
        # Half of them while they load to stay, half while a run holds a law.
        words = ["load", word] if n % 2 else ["test", "ccp(0.375)", "--seconds", "30"]
        before = mine()
        with (
            subprocess.Popen(
                [str(COMMAND), "kernel", *words],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            ) as process,
            killed_in_the_end(process),
        ):
            if n % 2:
                time.sleep(draw.uniform(0.0, 0.6))
            else:
                until = time.monotonic() + 10
                while not mine() - before:
                    assert time.monotonic() < until
                    time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        # A law that was loaded to stay is there whole or not at all.
        if name in available():
            _core.kernel("unload", [word])
        # Those of another test go with its run.
    assert gone(mine() - before, 30.0)


_QUICK_START = """
import json, sys
import ackclock as ac
scenario = ac.Scenario.from_dict(json.loads(sys.argv[1]))
ac.run_live(scenario, routers="xdp" if len(sys.argv) > 2 else None, records=len(sys.argv) > 2)
"""
PROGRAMS = {
    *("ends_out", "ends_in", "ends_socket", "jump_init", "jump_control"),
    *("router_xdp", "router_tc", "router_start", "router_advance"),
}


def _quick_start_keys(duration: str) -> dict[str, Any]:
    """Return a flow through two routers, of which the second is not the sender's own."""
    links = [
        {
            "name": name, "from": start, "to": end, "rate": "50 Mbit/s", "delay": "10 ms",
            "quick_start": {"threshold": 1.0}, "reverse": {"quick_start": "approve"},
        }
        for name, start, end in (("first", "a", "b"), ("second", "b", "c"))
    ]  # fmt: skip
    flow = {
        "name": "bulk", "variant": "cubic+quickstart(10.24Mbps)", "profile": "linux",
        "from": "a", "to": "c", "app": {"kind": "bulk"},
    }  # fmt: skip
    topology = {"kind": "graph", "link": links}
    return {"duration": duration, "topology": topology, "flow": [flow]}


def _programs_of_quick_start() -> set[int]:
    """Return the numbers of the kernel's programs that are Quick-Start's, whosever they are."""
    listed = subprocess.run(
        ["bpftool", "-j", "prog", "show"], capture_output=True, text=True, check=True
    )
    listed = json.loads(listed.stdout)
    return {program["id"] for program in listed if program.get("name") in PROGRAMS}


@needed
@untimed
@live
def test_ten_runs_with_quick_start_killed_leave_no_program() -> None:
    if shutil.which("bpftool") is None:
        pytest.skip("live: no bpftool to look at the kernel's programs with")
    keys = _quick_start_keys("30 s")
    draw = random.Random(11)  # noqa: S311
    for _ in range(10):
        before = _programs_of_quick_start()
        command = [sys.executable, "-c", _QUICK_START, json.dumps(keys), "routers"]
        with (
            subprocess.Popen(command, stderr=subprocess.DEVNULL) as process,
            killed_in_the_end(process),
        ):
            until = time.monotonic() + 20
            while not _programs_of_quick_start() - before:
                assert time.monotonic() < until
                time.sleep(0.02)
            own = _programs_of_quick_start() - before
            time.sleep(draw.uniform(0.0, 1.0))
            process.send_signal(signal.SIGKILL)
        until = time.monotonic() + 5
        while _programs_of_quick_start() & own:
            assert time.monotonic() < until
            time.sleep(0.05)


@needed
@untimed
@live
def test_everything_in_the_kernel_forty_times_loaded_leaves_nothing() -> None:
    # Laws to stay thirty times, and ten runs with Quick-Start's ends, its routers and a recorder.
    if shutil.which("bpftool") is None:
        pytest.skip("live: no bpftool to look at the kernel's programs with")
    words = [
        *("tahoe", "compound", "ccp(0.625)", "ccpd(1,3500)", "playout", "reno(linux)"),
        *("cubic(linux)+newcwv", "highspeed", "scalable", "vegas"),
    ]
    for _ in range(3):
        for word in words:
            (law,) = json.loads(_core.kernel("load", [word]))
            assert law["name"] in available()
            _core.kernel("unload", [word])
            assert law["name"] not in available()
    scenario = ac.Scenario.from_dict(_quick_start_keys("0.4 s"))
    for n in range(10):
        before = _programs_of_quick_start()
        laws = available()
        run = ac.run_live(scenario, routers=("xdp", "tc")[n % 2], records=True)
        assert run.live is not None
        assert [router["link"] for router in run.live["kernel_routers"]] == ["second"]
        (held,) = run.live["kernel_laws"]
        until = time.monotonic() + 5
        while _programs_of_quick_start() - before or held["name"] in available():
            assert time.monotonic() < until
            time.sleep(0.02)
        assert {law for law in available() - laws if law.startswith("ack_jump")} == set()


@needed
@untimed
@live
@pytest.mark.parametrize("hook", ["xdp", "tc"])
def test_a_router_in_the_kernel_leaves_the_rows_of_the_paths_own(
    hook: Literal["xdp", "tc"],
) -> None:
    scenario = ac.Scenario.from_dict(_quick_start_keys("1 s"))
    told = {}
    asked: tuple[Literal["ackclock", "xdp", "tc"] | None, ...] = (None, hook)
    run = None
    for routers in asked:
        run = ac.run_live(scenario, routers=routers)
        assert run.live is not None
        rows = run.quick_start.to_pylist()
        told[routers] = [
            [row[key] for key in ("step", "link", "direction", "asked_bps", "approved_bps")]
            for row in rows
        ]
    assert told[None] == told[hook]
    assert [step for step, *_ in told[hook]] == ["asked", "router_approved", "approved"]
    assert run is not None
    assert run.live is not None
    (router,) = run.live["kernel_routers"]
    assert (router["link"], router["direction"], router["hooks"]) == ("second", "forward", [hook])
    assert (router["requests"], router["approved"], router["denied"]) == (1, 1, 0)
    # 10.24 Mbit/s for most of a second are 700 packets, and slow start goes on.
    assert router["packets"] > 500


def test_routers_are_refused_in_one_line_where_there_can_be_none() -> None:
    scenario = ac.Scenario.from_dict(path(duration="1 s"))
    with pytest.raises(ac.BadInput, match="routers: unknown word `bpf`"):
        ac.run_live(scenario, routers="bpf")  # pyright: ignore[reportArgumentType]
    if LACKS is not None:
        with pytest.raises(ac.BadInput, match="routers: "):
            ac.run_live(scenario, routers="xdp")
        return
    with pytest.raises(ac.BadInput, match="routers: no packet meets a router with an admission"):
        ac.run_live(scenario, routers="xdp")
    with pytest.raises(ac.BadInput, match="expected `veth`"):
        ac.run_live(ac.Scenario.from_dict(_quick_start_keys("1 s")), routers="xdp", ports="tun")


@needed
@untimed
@live
def test_without_the_rights_quick_start_is_refused_in_a_line() -> None:
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("live: only root can give its rights up, by `setpriv`")
    keys: dict[str, Any] = path(duration="1 s")
    keys["flow"][0]["variant"] = "cubic+quickstart(10.24Mbps)"
    less = [setpriv, "--bounding-set=-perfmon,-sys_admin,-bpf", "--inh-caps=-all"]
    command = [*less, sys.executable, "-c", _QUICK_START, json.dumps(keys)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    last = answer.stderr.strip().splitlines()[-1]
    assert "flow[0].variant: the kernel knows no Quick-Start, and ours cannot be loaded" in last
    assert "CAP_BPF" in last
    # The routers and the records are refused as well, each by its name.
    for options, key in ('routers="xdp"', "routers: "), ("records=True", "flow[0].variant: "):
        keys["flow"][0]["variant"] = "cubic"
        code = _QUICK_START.replace(
            'routers="xdp" if len(sys.argv) > 2 else None, records=len(sys.argv) > 2', options
        )
        command = [*less, sys.executable, "-c", code, json.dumps(keys)]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        last = answer.stderr.strip().splitlines()[-1]
        assert key in last
        assert "CAP_BPF" in last


@live
def test_without_the_rights_there_is_one_line_and_nothing_changes() -> None:
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("live: only root can give its rights up, by `setpriv`")
    if LACKS is not None:
        pytest.skip(f"live: {LACKS}")
    before = others()
    less = [setpriv, "--bounding-set=-perfmon,-sys_admin", "--inh-caps=-all"]
    for words in (["load", "tahoe"], ["unload"], ["status"], ["test", "tahoe"]):
        answer = asked(*words, before=less)
        assert answer.returncode == 2, words
        assert answer.stdout == ""
        assert answer.stderr.count("\n") == 1
        assert "CAP_PERFMON" in answer.stderr
    answer = asked("load", "tahoe", before=["unshare", "-Ur"])
    assert answer.returncode == 2
    assert "user namespace" in answer.stderr
    assert others() == before


_AS_USER = """
import json, sys
import ackclock as ac
keys = json.loads(sys.argv[1])
print(json.dumps(ac.run_live(ac.Scenario.from_dict(keys), ports="veth").live))
"""


@needed
@untimed
@with_python
def test_an_ordinary_user_gets_a_law_that_root_has_loaded() -> None:
    setpriv = shutil.which("setpriv")
    if setpriv is None or os.geteuid() != 0:
        pytest.skip("live: only root can become another user, by `setpriv`")
    nobody = [setpriv, "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all"]
    apart = [*nobody, "unshare", "-Urn"]
    environment = {**os.environ, "PYTHONPATH": str(Path(ac.__file__).parents[1])}
    keys: dict[str, Any] = path(duration="1 s")
    keys["flow"][0]["variant"] = "ccp(0.75)"
    command = [*apart, PYTHON, "-c", _AS_USER, json.dumps(keys)]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd="/", env=environment, capture_output=True, text=True, check=False
        )

    tried = subprocess.run(
        [*apart, PYTHON, "-c", "import ackclock"],
        cwd="/", env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if tried.returncode != 0:
        pytest.skip(f"live: no ordinary user may run this package ({tried.stderr.strip()[-80:]})")
    alone = run()
    assert alone.returncode != 0
    said = "flow[0].variant: the kernel has no `ccp(0.75)`, and ours cannot be loaded"
    assert said in alone.stderr
    _core.kernel("load", ["ccp(0.75)"])
    try:
        answer = run()
        assert answer.returncode == 0, answer.stderr
        (law,) = json.loads(answer.stdout)["kernel_laws"]
        assert (law["name"], law["object"], law["records"]) == ("ack_ccp_0_75", None, 0)
    finally:
        _core.kernel("unload", ["ccp(0.75)"])


@needed
@untimed
@live
@pytest.mark.parametrize(
    ("hidden", "words"),
    [
        ("mount -t tmpfs none /sys/kernel/btf", "no /sys/kernel/btf/vmlinux"),
        (
            (
                "for file in $(ldconfig -p | sed -n 's/.*libelf.so.1 .*=> //p'); do "
                'mount --bind /dev/null "$(realpath "$file")"; done'
            ),
            "apt install libelf1",
        ),
    ],
)
def test_a_machine_that_lacks_something_is_told_so_and_unchanged(hidden: str, words: str) -> None:
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid() != 0 or shutil.which("ldconfig") is None:
        pytest.skip("live: only root can hide files, in a mount namespace")
    apart = [unshare, "-m", "sh", "-c", f'{hidden}; exec "$@"', "sh"]
    before = others()
    for request in (["load", "tahoe"], ["status"], ["test", "tahoe"]):
        answer = asked(*request, before=apart)
        assert answer.returncode == 2, request
        assert answer.stderr.count("\n") == 1
        assert words in answer.stderr
    listed = asked("list", before=apart)
    assert listed.returncode == 0
    assert words in listed.stdout
    # All but laws in the kernel works.
    assert subprocess.run([*apart, str(COMMAND), "variants"], check=False).returncode == 0
    assert others() == before


def test_what_is_lacking_is_told_in_one_line(ackclock: Callable[..., Answer]) -> None:
    answer = ackclock("kernel", "load", "bbr")
    assert answer.code == 2
    assert answer.err.count("\n") == 1
    assert "`tahoe`" in answer.err
    if LACKS is not None:
        # In a process of its own, as a user asks.
        there = asked("load", "tahoe")
        assert (there.returncode, there.stderr) == (2, f"ackclock: {LACKS}\n")
    # Words of no sender, and a name that is too long, are told whatever this machine lacks.
    for word, why in (
        ("ccp(0)", "does not take `0`"),
        ("ccp(1", "expected `)` at its end"),
        ("tahoe()", "does not take ``"),
        ("ccpd(1,1000000)", "names in the kernel have at most 15 letters"),
    ):
        answer = ackclock("kernel", "load", word)
        assert answer.code == 2
        assert answer.err.count("\n") == 1
        assert why in answer.err
    listed = ackclock("kernel", "list")
    assert listed.code == 0
    assert "tahoe" in listed.out
    assert sys.platform.startswith("linux") or "need Linux" in listed.out
