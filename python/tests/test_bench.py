"""The benchmark measures something, and ns-2 beside it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from typing import NoReturn

import pytest

import ackclock as ac
from ackclock import bench, cli
from ackclock.errors import UnfinishedError
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
def test_a_queue_beside_droptail(kind: str) -> None:
    of = bench.workload("W(100,1G)").behind(kind)
    result = bench.measure(of, "newreno+sack", QUICK)
    assert (result["workload"] == "W(100,1G)") == (kind == "droptail")
    assert result["queue"] == kind
    if kind == "droptail":
        assert result["droptail_ratio"] is None
        return
    assert result["droptail_ratio"] > 0
    assert any("behind drop-tail" in note for note in bench.notes([result], QUICK))


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
    def child(_task: object, _least_cpu_s: float) -> list[str]:
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
