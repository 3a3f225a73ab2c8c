"""A scenario is data: it runs no program unasked, and none with root's rights."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ackclock as ac
from ackclock import _core
from live_support import PYTHON, live, path, with_python
from support import Answer

_ROOT = pytest.mark.skipif(
    os.geteuid() != 0 or Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"],
    reason="live: only root of the machine can run programs as another user",
)

#: Says who it is and what it may, and ends once that is said.
WHO = """
import json, os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
sets = {name: status[name].strip() for name in ("CapPrm", "CapEff", "CapBnd", "NoNewPrivs")}
home = os.stat(os.environ["HOME"])
print(json.dumps({
    "ids": [os.getuid(), os.geteuid(), os.getgid(), os.getgroups()], "sets": sets,
    "home": [os.environ["HOME"], home.st_uid, home.st_mode & 0o777],
    "leaked": os.path.exists("/proc/self/fd/77"),
    "secret": "ACKCLOCK_TEST_SECRET" in os.environ,
}))
"""
LISTEN = "import socket, time; s = socket.create_server(('', 9)); time.sleep(9)"


def asks(**app: Any) -> dict[str, Any]:
    """Return a scenario of half a second whose flow is programs."""
    table: dict[str, Any] = path(duration="500 ms")
    table["flow"][0]["app"] = {"kind": "program", **app}
    return table


def who(**options: Any) -> dict[str, Any]:
    """Return what a program of a run says of itself."""
    table = asks(sender=[PYTHON, "-c", WHO], receiver=[PYTHON, "-c", LISTEN])
    table["duration"] = "2 s"
    run = ac.run_live(ac.Scenario.from_dict(table), allow_programs=True, **options)
    assert run.live is not None
    told: dict[str, Any] = run.live["programs"][0]["told"]
    return told


@pytest.mark.parametrize(
    "command", [("run", "--on", "live"), ("compare",), ("compare", "--on", "live")]
)
def test_a_file_says_what_it_would_run_and_runs_nothing(
    tmp_path: Path, ackclock: Callable[..., Answer], command: tuple[str, ...]
) -> None:
    made = tmp_path / "made"
    table = asks(
        sender=["sh", "-c", f"touch '{made}'\x1b[2J"],
        receiver=["nc", "-l", "{port}"],
        files={"conf": "é"},
    )
    file = tmp_path / "data.json"
    file.write_text(json.dumps(table))
    answer = ackclock(command[0], file, *command[1:])
    quoted = f"'touch '\\''{made}'\\''\\u{{1b}}[2J'"
    assert answer == Answer(
        2,
        "",
        f"ackclock: flow[0].app.sender: would run sh -c {quoted}\n"
        "ackclock: flow[0].app.receiver: would run nc -l {port}\n"
        # Two bytes in UTF-8.
        "ackclock: flow[0].app.files.conf: would write 2 bytes for them\n"
        "ackclock: the file would run programs on this machine; if you trust it, add "
        "--allow-programs\n",
    )
    assert not made.exists()


def test_python_runs_no_programs_unasked(tmp_path: Path) -> None:
    scenario = ac.Scenario.from_dict(
        asks(sender=["touch", str(tmp_path / "made")], receiver=["true"])
    )
    for call in (ac.run_live, lambda it: ac.compare(it, on=["live"], repeat=1)):
        with pytest.raises(ac.BadInput) as error:
            call(scenario)
        assert "\n" not in str(error.value)
        assert str(error.value).startswith(
            f"flow[0].app.sender: would run touch {tmp_path}/made, and 1 more; "
        )
        assert "allow_programs=True" in str(error.value)
    assert not (tmp_path / "made").exists()


def test_iperf3_asks_if_it_is_to_do_more_than_its_flow(tmp_path: Path) -> None:
    for options in (["--logfile", str(tmp_path / "log")], ["-F", "/etc/passwd"], ["--pidf=x"]):
        table = path()
        table["flow"][0]["app"] = {"kind": "iperf3", "options": options}  # type: ignore[index]
        with pytest.raises(ac.BadInput, match=r"flow\[0\].app.sender: would run iperf3 "):
            ac.run_live(ac.Scenario.from_dict(table))
    table["flow"][0]["app"] = {"kind": "iperf3", "options": ["-P", "2"]}  # type: ignore[index]
    assert _core.programs_asked(ac.Scenario.from_dict(table).to_json()) == []


@pytest.mark.parametrize("option", ["--allow-programs", "--as-root"])
def test_the_options_are_of_live_runs(
    small_file: Path, ackclock: Callable[..., Answer], option: str
) -> None:
    said = f"ackclock: {option}: stands alone, expected --on live beside it\n"
    assert ackclock("run", small_file, option) == Answer(2, "", said)


@_ROOT
@with_python
@pytest.mark.parametrize(
    ("called_by", "expected"),
    [
        # nobody, where nobody called sudo; a user and a group without an entry in /etc/passwd.
        ({}, (65534, 65534)),
        ({"SUDO_UID": "54321", "SUDO_GID": "54322"}, (54321, 54322)),
        ({"SUDO_UID": "0", "SUDO_GID": "0"}, (65534, 65534)),
    ],
)
def test_programs_are_an_ordinary_users_without_capabilities(
    monkeypatch: pytest.MonkeyPatch, called_by: dict[str, str], expected: tuple[int, int]
) -> None:
    for name in ("SUDO_UID", "SUDO_GID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in called_by.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ACKCLOCK_TEST_SECRET", "x")
    told = who()
    uid, gid = expected
    assert told["ids"] == [uid, uid, gid, []]
    none = "0" * 16
    assert told["sets"] == {"CapPrm": none, "CapEff": none, "CapBnd": none, "NoNewPrivs": "1"}
    folder, owner, mode = told["home"]
    assert (owner, mode) == (uid, 0o700)
    assert not Path(folder).exists()
    assert not told["secret"]


@_ROOT
@live
@pytest.mark.parametrize("as_root", [False, True])
def test_programs_get_no_file_that_the_caller_has_open(common: Path, *, as_root: bool) -> None:
    secret = common / "secret"
    secret.write_text("root's alone", encoding="utf-8")
    opened = os.open(secret, os.O_RDONLY)
    try:
        os.dup2(opened, 77, inheritable=True)
        assert not who(as_root=as_root)["leaked"]
    finally:
        os.close(77)
        os.close(opened)


@_ROOT
@live
def test_as_root_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "PYTHON", sys.executable)
    told = who(as_root=True)
    assert told["ids"][:3] == [0, 0, 0]
    assert told["sets"]["NoNewPrivs"] == "0"
    assert int(told["sets"]["CapEff"], 16) != 0


@_ROOT
@live
def test_a_program_that_its_user_may_not_run_is_told(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    scenario = ac.Scenario.from_dict(asks(receiver=[str(program)]))
    with pytest.raises(ac.BadInput) as error:
        ac.run_live(scenario, allow_programs=True)
    assert str(error.value) == (
        f"flow[0].app.receiver: user 65534, who runs the programs, may not run {program}; "
        "expected a program that every user may run, or --as-root"
    )


@_ROOT
@live
def test_root_of_a_namespace_of_its_own_runs_no_programs(tmp_path: Path) -> None:
    unshare = shutil.which("unshare")
    assert unshare is not None
    file = tmp_path / "data.json"
    file.write_text(json.dumps(asks(receiver=["true"], sender=["true"])))
    run = [sys.executable, "-m", "ackclock.cli", "run", str(file), "--on", "live"]
    answer = subprocess.run(
        [unshare, "-Urn", *run, "--allow-programs"], capture_output=True, text=True, check=False
    )
    if "unshare" in answer.stderr:
        pytest.skip(f"live: no user namespaces ({answer.stderr.strip()})")
    assert answer.returncode != 0
    assert "user namespace has no user but root; expected --as-root" in answer.stderr


@_ROOT
@live
def test_another_user_keeps_no_run_from_its_captures(common: Path) -> None:
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        pytest.skip("live: no `setpriv` to become another user with")
    victim = common / "victim"
    victim.write_text("whole")
    pcap = common / "pcap"
    plant = (
        f"mkdir -m 777 {pcap} && ln -s {victim} {pcap}/bulk-sender.pcapng && "
        f"mkfifo {pcap}/bulk-receiver.pcapng"
    )
    stranger = [setpriv, "--reuid", "54321", "--regid", "54321", "--clear-groups"]
    subprocess.run([*stranger, "sh", "-c", plant], check=True)
    ac.run_live(ac.Scenario.from_dict(path(duration="300 ms")), pcap=pcap)
    assert victim.read_text() == "whole"
    for name in ("bulk-sender.pcapng", "bulk-receiver.pcapng"):
        about = (pcap / name).lstat()
        assert stat.S_ISREG(about.st_mode)
        assert about.st_uid == 0
        # A section's block of pcapng begins so (draft-ietf-opsawg-pcapng, 4.1).
        assert (pcap / name).read_bytes()[:4] == b"\x0a\x0d\x0d\x0a"
    assert len(list(pcap.iterdir())) == 2


@pytest.mark.parametrize("planted", ["pipe", "link", "stranger"])
def test_a_cache_holds_what_this_user_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, planted: str
) -> None:
    monkeypatch.setenv("ACKCLOCK_CACHE", str(tmp_path))
    table: dict[str, Any] = path(duration="20 s")
    table["flow"] = []
    table["topology"] = {
        "kind": "dumbbell",
        "bottleneck": {"rate": "2 Mbit/s", "delay": "5 ms"},
        "access": {"rate": "1 Gbit/s", "delay": "1 ms"},
    }
    table["traffic"] = [
        {
            "name": "web",
            "variant": "newreno",
            "utilisation": {"target": 0.3, "within": 0.2},
            "arrivals": {"kind": "poisson", "rate": "4 /s"},
            "app": {"kind": "request", "response": "10 kB"},
        }
    ]
    scenario = ac.Scenario.from_dict(table)
    rows = ac.simulate(scenario).links.to_pylist()
    (kept,) = tmp_path.glob("rate-*.json")
    found = json.loads(kept.read_text())
    found["steps"].append([4000.0, 0.3])
    kept.unlink()
    if planted == "pipe":
        os.mkfifo(kept)
    elif planted == "link":
        (tmp_path / "other").write_text(json.dumps(found))
        kept.symlink_to(tmp_path / "other")
    else:
        if os.geteuid() != 0:
            pytest.skip("live: only root can plant another user's file")
        kept.write_text(json.dumps(found))
        os.chown(kept, 54321, 54321)
    assert ac.simulate(scenario).links.to_pylist() == rows
    assert stat.S_ISREG(kept.lstat().st_mode)
