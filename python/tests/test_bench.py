"""The benchmark measures something, and ns-2 beside it."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

import ackclock as ac
from ackclock.base.errors import UnfinishedError
from ackclock.bench import against as bench_against, speed as bench
from ackclock.cli import app as cli
from support import Answer

QUICK = bench.Plan(duration_s=2.0, least_cpu_s=0.0, pairs=1, peers=False)

needs_ns2 = pytest.mark.skipif(shutil.which("ns") is None, reason="no `ns` (ns-2) on the PATH")


@pytest.mark.parametrize("name", ["W(100,1G)", "w( 100, 1g )", "100,1G"])
def test_a_workload_by_name(name: str) -> None:
    assert bench.workload(name) == bench.Workload("W(100,1G)", 100, 1_000_000_000)


def test_a_workload_that_is_none() -> None:
    with pytest.raises(ac.BadInput, match=r"W\(100,1G\)"):
        bench.workload("W(100,10G)")


def test_a_queue_that_is_none() -> None:
    with pytest.raises(ac.BadInput, match=r"^queue: `fqcodel` .*did you mean `fq_codel`\?"):
        bench.queue("fqcodel")


def test_what_is_measured() -> None:
    names = [of.name for of in bench.selected(None, ["codel", "droptail"])]
    assert names == ["W(100,1G) codel", "W(100,1G)"]
    assert [of.name for of in bench.selected(["short"], ["red"])] == ["short red"]
    assert [of.name for of in bench.selected(None, None)] == list(bench.DEFAULT_WORKLOADS)


@pytest.mark.parametrize("kind", bench.QUEUES)
def test_a_queue_beside_droptail(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "PAIRS_BESIDE_DROPTAIL", 1)
    of = bench.workload("W(100,1G)").behind(kind)
    plan = dataclasses.replace(QUICK, duration_s=0.5)
    result = bench.measure(of, "newreno+sack", plan)
    assert (result["workload"] == "W(100,1G)") == (kind == "droptail")
    assert result["queue"] == kind
    if kind == "droptail":
        assert result["droptail_ratio"] is None
        return
    assert result["droptail_ratio"] > 0
    assert any("behind drop-tail" in note for note in bench.notes([result], plan))


def test_a_measurement() -> None:
    cores = os.sched_getaffinity(0)
    result = bench.measure(bench.workload("W(1,100M)"), "newreno", QUICK)
    assert os.sched_getaffinity(0) == cores
    assert result["workload"] == "W(1,100M)"
    # 100 Mbit/s carry at most 8333.3 packets of 1500 bytes a second.
    assert 0 < result["delivered"] <= 2 * 8334
    assert 0 < result["utilisation"] <= 1
    assert result["packets_per_cpu_s"] * result["ns_per_packet"] == pytest.approx(1e9)
    assert result["events_per_packet"] > 1
    # The queue holds 833 packets of 64 bytes or so; importing the package takes 50 MB.
    assert 0 < result["peak_rss_bytes"] < 50e6
    assert result["peers"] == []


@pytest.mark.parametrize(
    ("program", "error", "said"),
    [
        (
            "import os; os.kill(os.getpid(), 9)",
            UnfinishedError,
            "a run was ended by SIGKILL, for want of memory\\?",
        ),
        (
            "import sys; print('internal error: 3 bit', file=sys.stderr); sys.exit(3)",
            UnfinishedError,
            "^internal error: 3 bit$",
        ),
        ("import sys; print('no `x`', file=sys.stderr); sys.exit(2)", ac.BadInput, "^no `x`$"),
    ],
)
def test_a_run_that_fails(
    monkeypatch: pytest.MonkeyPatch, program: str, error: type[Exception], said: str
) -> None:
    def child(_task: object, _least_cpu_s: float, _python: str) -> list[str]:
        return [sys.executable, "-c", program]

    monkeypatch.setattr(bench, "_child_command", child)
    with pytest.raises(error, match=said):
        bench.measure(bench.workload("W(1,100M)"), "newreno", QUICK)


def test_what_a_run_refuses_is_said_in_one_line() -> None:
    with pytest.raises(ac.BadInput, match=r"^flow\[0\]\.variant: unknown part `cubik`[^\n]*$"):
        bench.measure(bench.workload("W(1,100M)"), "cubik", QUICK)


def test_a_run_that_cannot_be_finished(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(*_args: object, **_options: object) -> NoReturn:
        raise UnfinishedError("internal error: 3 bit")

    monkeypatch.setattr(bench, "measure", measure)
    with pytest.raises(SystemExit) as left:
        cli.main(["bench", "--quick", "--workload", "W(1,100M)", "--variant", "newreno"])
    assert left.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1] == "ackclock: internal error: 3 bit"


def test_instructions_without_valgrind(monkeypatch: pytest.MonkeyPatch) -> None:
    def which(_name: str) -> None:
        return None

    monkeypatch.setattr(shutil, "which", which)
    plan = bench.Plan(0.5, 0.0, 1, peers=False, instructions=True)
    result = bench.measure(bench.workload("W(1,100M)"), "newreno", plan)
    assert result["instructions_per_packet"] is None
    assert any("valgrind is not installed" in note for note in bench.notes([result], plan))


def test_short_connections() -> None:
    plan = bench.Plan(2.0, 0.0, 1, peers=True, connections=300)
    result = bench.measure(bench.workload("short"), "newreno+sack", plan)
    # A client sends 7 packets of data, a SYN and an ACK at least, at most a FIN and an ACK more.
    assert 9 * 300 <= result["delivered"] <= 11 * 300
    assert result["connections_per_cpu_s"] > 0
    assert any("connections a second" in note for note in bench.notes([result], plan))


def test_web_traffic() -> None:
    plan = bench.Plan(2.0, 0.0, 1, peers=False, connections=50_000)
    result = bench.measure(bench.workload("packmime"), "newreno+sack", plan)
    # 1000 connections are expected; their number is a sum of gaps with a long memory.
    assert 500 < result["connections_per_cpu_s"] * result["cpu_s"] / result["runs"] < 2000
    assert 0 < result["utilisation"] < 1
    assert any("connections a second" in note for note in bench.notes([result], plan))


def test_web_traffic_has_one_queue() -> None:
    with pytest.raises(ac.BadInput, match=r"^queue: `red` is not possible with packmime"):
        bench.selected(["packmime"], ["red"])


def test_the_build_is_said() -> None:
    result = bench.measure(bench.workload("W(1,100M)"), "newreno", QUICK)
    assert result["build"] in {"dev", "wheel", "wheel without a profile", "unknown"}
    assert f"The build of ackclock: {result['build']}." in bench.notes([result], QUICK)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Return another command: in front of this interpreter, so that only its path differs."""
    folder = tmp_path / "venv" / "bin"
    folder.mkdir(parents=True)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    (folder / "ackclock").write_text(f"#!{python}\n", encoding="utf-8")
    return folder / "ackclock"


def test_the_interpreter_of_another_command(tmp_path: Path, other: Path) -> None:
    assert bench_against.interpreter(other) == str(other.parent / "python")
    # As pip writes it where the path is long, and with no Python beside it.
    lone = tmp_path / "ackclock"
    python = other.parent / "python"
    lone.write_text(f"#!/bin/sh\n'''exec' \"{python}\" \"$0\"\n", encoding="utf-8")
    assert bench_against.interpreter(lone) == str(python)


@pytest.mark.parametrize("text", [None, "#!/bin/sh\n", "#!/no/such/python\n"])
def test_a_command_that_is_none(tmp_path: Path, text: str | None) -> None:
    command = tmp_path / "ackclock"
    if text is not None:
        command.write_text(text, encoding="utf-8")
    with pytest.raises(ac.BadInput, match=r"^--against: "):
        bench_against.interpreter(command)


def test_pairs_in_turns(ackclock: Callable[..., Answer], other: Path) -> None:
    one = ("--workload", "W(1,100M)", "--variant", "newreno")
    answer = ackclock("bench", "--against", other, "--quick", *one, "--json")
    assert answer.code == 0, answer.err
    (result,) = json.loads(answer.out)
    assert result["same_result"]
    assert len(result["ratios"]) == bench_against.QUICK_PAIRS
    # It is one engine twice; how near to one it comes is the machine's.
    assert result["ratio"] == sorted(result["ratios"])[len(result["ratios"]) // 2] > 0


def test_a_slower_installation_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    def run_child(_of: object, _variant: str, _plan: object, python: str) -> dict[str, object]:
        order.append(python)
        # The median of 106/100, 104/100 and 120/100 is 1.06.
        ours = (106.0, 104.0, 120.0)[(len(order) - 1) // 2]
        time = 100.0 if python == "other" else ours
        return {"build": python, "ns_per_packet": time, "delivered": len(order), "dropped": 0}

    monkeypatch.setattr(bench, "run_child", run_child)
    plan = bench_against.plan(quick=True)
    result = bench_against.measure(bench.workload("short"), "bbr", plan, "other")
    us = sys.executable
    assert order == [us, "other", "other", us, us, "other"]
    assert result["ratios"] == pytest.approx([1.06, 1.04, 1.2])
    assert result["slower"]
    assert not result["same_result"]
    notes = bench_against.notes([result], plan)
    assert "More than 5% slower than the other: short bbr." in notes
    assert any("not of one kind" in note for note in notes)
    assert bench_against.as_table([result]).row_count == 1


def test_the_command(ackclock: Callable[..., Answer]) -> None:
    answer = ackclock(
        *("bench", "--quick", "--workload", "W(1,100M)", "--variant", "newreno", "--json")
    )
    assert answer.code == 0, answer.err
    (result,) = json.loads(answer.out)
    assert set(result) >= {
        *("workload", "variant", "packets_per_cpu_s", "ns_per_packet", "events_per_packet"),
        *("peak_rss_bytes", "utilisation", "dropped"),
    }


@needs_ns2
@pytest.mark.parametrize("variant", ["newreno", "reno", "tahoe"])
def test_ns2_beside_it(variant: str) -> None:
    plan = bench.Plan(duration_s=5.0, least_cpu_s=0.0, pairs=1, peers=True)
    result = bench.measure(bench.workload("W(1,100M)"), variant, plan)
    peer = next(peer for peer in result["peers"] if peer["name"] == "ns-2")
    assert 0 < peer["delivered"] <= 5 * 8334
    assert peer["ratio"] > 0
    assert bench.as_table([result]).row_count == 1 + len(result["peers"])


@needs_ns2
def test_a_sender_that_ns2_lacks() -> None:
    plan = bench.Plan(duration_s=0.5, least_cpu_s=0.0, pairs=1, peers=True)
    result = bench.measure(bench.workload("W(1,100M)"), "newreno+gobackn", plan)
    assert result["peers"] == []
    assert any("no peer has such a sender" in note for note in bench.notes([result], plan))
