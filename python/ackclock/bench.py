"""The simulator's own speed, and beside it that of ns-2.

Workload W(N, C) is a dumbbell of N bulk flows over a bottleneck of C bit/s: 1500-byte packets, a
base round trip of 100 ms, a drop-tail buffer of one bandwidth-delay product, access links on both
sides, real links on the way back, starts 1 ms apart. The measure is data packets delivered across
the bottleneck per second of user CPU, everything counted: ACKs, all hops, timers.

Each workload runs in a child process of its own, on one core, repeated until it has used enough
CPU to be measured. Memory is the child's peak less what it held before the run.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NoReturn

from rich.table import Table

from ackclock import _core
from ackclock.errors import BadInput

__all__ = ["WORKLOADS", "Plan", "Workload", "as_table", "measure", "notes", "workload"]

_PACKET_BITS = 1500 * 8


@dataclass(frozen=True)
class Workload:
    """W(N, C).

    Attributes
    ----------
    name
        Its name, such as ``"W(100,1G)"``.
    flows
        The number of flows, N.
    rate_bps
        The rate of the bottleneck, C, in bit/s.
    """

    name: str
    flows: int
    rate_bps: int


#: The workloads by name.
WORKLOADS = {
    each.name: each
    for each in (
        Workload("W(1,100M)", 1, 100_000_000),
        Workload("W(100,1G)", 100, 1_000_000_000),
        Workload("W(1000,1G)", 1000, 1_000_000_000),
    )
}


@dataclass(frozen=True)
class Plan:
    """How much is run.

    Attributes
    ----------
    duration_s
        Simulated time of a run, in s.
    least_cpu_s
        User CPU that a measurement lasts at least, in s.
    pairs
        How often each workload is measured; with peers, in turns with the peer.
    peers
        Whether ns-2 runs too.
    """

    duration_s: float
    least_cpu_s: float
    pairs: int
    peers: bool

    @classmethod
    def of(cls, *, quick: bool, peers: bool) -> Plan:
        """Return the plan for what the command line says."""
        if quick:
            return cls(duration_s=10.0, least_cpu_s=0.2, pairs=1, peers=peers)
        return cls(duration_s=60.0, least_cpu_s=2.0, pairs=3 if peers else 1, peers=peers)


@dataclass(frozen=True)
class _Peer:
    """ns-2, ready to run one workload."""

    command: str
    agent: str
    script: Path
    set_up_cpu_s: float


def workload(name: str) -> Workload:
    """Return a workload by its name; blanks and case do not matter.

    Raises
    ------
    BadInput
        There is no workload of that name.
    """
    plain = re.sub(r"\s", "", name).lower()
    for each in WORKLOADS.values():
        if plain in (each.name.lower(), each.name.lower().strip("w()")):
            return each
    near = get_close_matches(name, WORKLOADS, n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"one of {', '.join(WORKLOADS)}"
    raise BadInput(f"workload: `{name}` is not a workload ({hint})")


def measure(
    of: Workload, variant: str, plan: Plan, *, say: Callable[[str], object] = lambda _text: None
) -> dict[str, Any]:
    """Measure one workload.

    Parameters
    ----------
    of
        The workload.
    variant
        The sender.
    plan
        How much is run.
    say
        Called with what is being done.

    Returns
    -------
    dict
        ``workload``, ``variant``, ``packets_per_cpu_s``, ``ns_per_packet``, ``events_per_packet``,
        ``peak_rss_bytes``, ``utilisation``, ``dropped``; and ``peer``: the same of ns-2 with the
        ``ratio`` of speeds, or none.
    """
    with _one_core(), as_file(files("ackclock") / "peers" / "ns2_dumbbell.tcl") as script:
        peer = None
        if plan.peers:
            say(f"{of.name}: ns-2's set-up")
            peer = _peer(of, variant, plan, script)
        ours: list[dict[str, Any]] = []
        theirs: list[dict[str, Any]] = []
        for pair in range(1, plan.pairs + 1):
            say(f"{of.name}: ackclock, {pair} of {plan.pairs}")
            ours.append(_run_child(of, variant, plan))
            if peer is not None:
                say(f"{of.name}: ns-2, {pair} of {plan.pairs}")
                theirs.append(_run_ns2(of, plan, peer))
    result = {"workload": of.name, "variant": variant, **_median(ours), "peer": None}
    if peer is not None:
        ratios = [
            our["packets_per_cpu_s"] / their["packets_per_cpu_s"]
            for our, their in zip(ours, theirs, strict=True)
        ]
        result["peer"] = {
            "name": "ns-2",
            "variant": f"Agent/{peer.agent}",
            **_median(theirs),
            "ratio": statistics.median(ratios),
            "ratios": ratios,
        }
    return result


def _median(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the row of median speed."""
    return dict(sorted(rows, key=lambda row: row["packets_per_cpu_s"])[len(rows) // 2])


@contextlib.contextmanager
def _one_core() -> Generator[None]:
    """Bind this process, and the children that it starts, to one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _run_child(of: Workload, variant: str, plan: Plan) -> dict[str, Any]:
    task = {
        "flows": of.flows,
        "rate_bps": of.rate_bps,
        "duration_s": plan.duration_s,
        "variant": variant,
    }
    child = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "ackclock.bench"),
            *("--child", json.dumps(task), str(plan.least_cpu_s)),
        ],
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(child.stdout)


def _child(task: Mapping[str, Any], least_cpu_s: float) -> dict[str, Any]:
    """Run a workload in this process until it has used so much CPU."""
    held_bytes = _status_bytes("VmRSS")
    # Forget the peak of what came before, such as importing.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    began_s = _user_cpu_s()
    cpu_s, runs, packets, events = 0.0, 0, 0, 0
    last: dict[str, Any] = {}
    while cpu_s <= least_cpu_s:
        last = _core.bench_dumbbell(**task)
        runs += 1
        packets += last["delivered_packets"]
        events += last["events"]
        cpu_s = _user_cpu_s() - began_s
    return {
        "packets_per_cpu_s": packets / cpu_s,
        "ns_per_packet": 1e9 * cpu_s / packets,
        "events_per_packet": events / packets,
        "peak_rss_bytes": max(_status_bytes("VmHWM") - held_bytes, 0),
        "utilisation": last["utilisation"],
        "dropped": last["dropped_packets"],
        "delivered": last["delivered_packets"],
        "runs": runs,
        "cpu_s": cpu_s,
    }


def _user_cpu_s() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def _status_bytes(key: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"^{key}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _peer(of: Workload, variant: str, plan: Plan, script: Path) -> _Peer | None:
    command = shutil.which("ns")
    agent = _ns2_agent(_core.variant_name(variant))
    if command is None or agent is None:
        return None
    arguments = [command, str(script), str(of.flows), str(of.rate_bps), "0", agent]
    set_ups = [_run_once(arguments)[1] for _ in range(plan.pairs)]
    return _Peer(command, agent, script, statistics.median(set_ups))


def _ns2_agent(variant: str) -> str | None:
    """Return the agent of ns-2 that is this sender, if one is."""
    return {
        "tahoe": "TCP",
        "reno": "TCP/Reno",
        "newreno": "TCP/Newreno",
        "reno+sack": "TCP/Sack1",
        "newreno+sack": "TCP/Sack1",
    }.get(variant)


def _run_ns2(of: Workload, plan: Plan, peer: _Peer) -> dict[str, Any]:
    arguments = [peer.command, str(peer.script), str(of.flows), str(of.rate_bps)]
    arguments += [str(plan.duration_s), peer.agent]
    cpu_s, runs, packets, peak_bytes = 0.0, 0, 0, 0
    delivered = sent = again = 0
    while cpu_s <= plan.least_cpu_s:
        answer, used_s = _run_once(arguments)
        delivered, sent, again, held_kb, peak_kb = map(int, answer.split())
        # Of a run so short that set-up drowns it, no less than a clock tick is believed.
        cpu_s += max(used_s - peer.set_up_cpu_s, 0.01)
        runs += 1
        packets += delivered
        peak_bytes = max(peak_bytes, 1024 * (peak_kb - held_kb))
    return {
        "packets_per_cpu_s": packets / cpu_s,
        "ns_per_packet": 1e9 * cpu_s / packets,
        "events_per_packet": None,
        "peak_rss_bytes": peak_bytes,
        "utilisation": delivered * _PACKET_BITS / (of.rate_bps * plan.duration_s),
        "dropped": None,
        "delivered": delivered,
        "sent": sent,
        "sent_again": again,
        "runs": runs,
        "cpu_s": cpu_s,
    }


def _run_once(arguments: Sequence[str]) -> tuple[str, float]:
    """Run a program; return its output, and its user CPU in s."""
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None  # noqa: S101 - it is a pipe
        answer = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"{arguments[0]} ended with the code {child.returncode}")
    return answer, used.ru_utime


def as_table(results: Sequence[Mapping[str, Any]]) -> Table:
    """Return what was measured as a table for a terminal."""
    table = Table(box=None, header_style="bold")
    for column in ("workload", "simulator", "sender"):
        table.add_column(column, no_wrap=True)
    for column in ("Mpacket/s", "ns/packet", "events", "MB", "used", "dropped", "ratio"):
        table.add_column(column, justify="right", no_wrap=True)
    for result in results:
        table.add_row(result["workload"], "ackclock", result["variant"], *_numbers(result), "")
        if peer := result["peer"]:
            ratio = f"{peer['ratio']:.1f}"
            sender = peer["variant"].removeprefix("Agent/")
            table.add_row("", peer["name"], sender, *_numbers(peer), ratio)
    return table


def _numbers(row: Mapping[str, Any]) -> tuple[str, ...]:
    events = row["events_per_packet"]
    dropped = row["dropped"]
    return (
        f"{row['packets_per_cpu_s'] / 1e6:.2f}",
        f"{row['ns_per_packet']:.0f}",
        "–" if events is None else f"{events:.1f}",
        f"{row['peak_rss_bytes'] / 1e6:.1f}",
        f"{row['utilisation']:.1%}",
        "–" if dropped is None else str(dropped),
    )


def notes(results: Sequence[Mapping[str, Any]], plan: Plan) -> list[str]:
    """Return what a reader of the table has to know."""
    columns = (
        f"{plan.duration_s:g} s simulated a run. Mpacket/s: millions of packets a second of user "
        "CPU, on one core; events: a packet; MB: the peak beyond what was held before the run; "
        "used: the share of the bottleneck."
    )
    found = [columns]
    if plan.peers and all(result["peer"] is None for result in results):
        if shutil.which("ns") is None:
            found.append("ns-2 is not installed (apt install ns2), so nothing stands beside.")
        else:
            found.append("ns-2 has no such sender, so nothing stands beside.")
    elif plan.peers:
        found.append(
            f"ratio: our speed over ns-2's, median of {plan.pairs} runs in turns. Of ns-2, set-up "
            "is not counted, and packets are those acknowledged."
        )
    return found


def _main() -> NoReturn:
    _, flag, task, least_cpu_s = sys.argv
    if flag != "--child":
        raise SystemExit("this module is the child of `ackclock bench`")
    print(json.dumps(_child(json.loads(task), float(least_cpu_s))))
    sys.exit(0)


if __name__ == "__main__":
    _main()
