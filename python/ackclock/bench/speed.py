"""The simulator's own speed, and beside it that of ns-2 and ns-3.

Workload W(N, C) is a dumbbell of N bulk flows over a bottleneck of C bit/s: 1500-byte packets, a
base round trip of 100 ms, a drop-tail buffer of one bandwidth-delay product, access links on both
sides, real links on the way back, starts 1 ms apart. The measure is data packets delivered across
the bottleneck per second of user CPU, everything counted: ACKs, all hops, timers. Behind another
queue, such as RED or CoDel, it is measured in turns with drop-tail.

The workload ``short`` is connections that come and go: 10 kB each, 10,000 a second as a Poisson
process on 1 Gbit/s with a base round trip of 20 ms. Its measure is connections per second of user
CPU.

The workload ``packmime`` is web traffic by PackMime-HTTP: 54 connections a second over
10 Mbit/s, with the tables of the run in Python. Its measure is connections per second of user
CPU, too.

Each workload runs in a child process of its own, on one core, repeated until it has used enough
CPU to be measured. Memory is the most that a run takes beyond what the child held before that
run, when a tiny workload had loaded all code and made what is made once. Every run is held
against what must be so (a link carries no more than its rate, what flows read came over it, no
packet is without account, every short connection has carried its 10 kB), so that a fast wrong
answer does not pass.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from rich.table import Table

from ackclock import _core
from ackclock._core import RouterBench
from ackclock.base.errors import BadInput, UnfinishedError
from ackclock.base.nearest import near
from ackclock.bench import child as bench_child, others as bench_peers
from ackclock.bench.child import EXIT_BAD_INPUT, EXIT_UNFINISHED, build
from ackclock.runs.api import schema

__all__ = [
    "AGAINST_WORKLOADS",
    "DEFAULT_VARIANTS",
    "DEFAULT_WORKLOADS",
    "QUEUES",
    "QUEUE_WORKLOADS",
    "WORKLOADS",
    "Plan",
    "RouterBench",
    "Workload",
    "as_table",
    "measure",
    "notes",
    "one_core",
    "queue",
    "run_child",
    "selected",
    "workload",
]

#: The senders that are measured if none is named.
DEFAULT_VARIANTS = ("newreno+sack", "cubic", "bbr")

#: The queues of the bottleneck that can be measured, and that which all are held against. CAKE has
#: no limit in packets, which the workloads set.
_DEFINITIONS: Mapping[str, Any] = cast("Mapping[str, Any]", schema()["$defs"])
QUEUES: tuple[str, ...] = tuple(
    kind
    for form in _DEFINITIONS["QueueSpec"]["oneOf"]
    if (kind := form["properties"]["kind"]["const"]) != "cake"
)
DROPTAIL = QUEUES[0]

#: A measurement beside drop-tail is repeated so often at least.
PAIRS_BESIDE_DROPTAIL = 3


@dataclass(frozen=True)
class Workload:
    """W(N, C), or short connections.

    Attributes
    ----------
    name
        Its name, such as ``"W(100,1G)"`` or ``"short"``.
    flows
        The number of flows, N; 0 for connections that come and go.
    rate_bps
        The rate of the bottleneck, C, in bit/s.
    queue
        The kind of the bottleneck's queue, in both directions.
    """

    name: str
    flows: int
    rate_bps: int
    queue: str = DROPTAIL

    def behind(self, queue: str) -> Workload:
        """Return the same with another queue."""
        name = self.name if queue == DROPTAIL else f"{self.name} {queue}"
        return replace(self, name=name, queue=queue)

    @property
    def is_bulk(self) -> bool:
        """True for W(N, C), false for connections that come and go."""
        return self.flows > 0


#: The workloads by name.
WORKLOADS = {
    each.name: each
    for each in (
        Workload("W(1,100M)", 1, 100_000_000),
        Workload("W(100,1G)", 100, 1_000_000_000),
        Workload("W(1000,1G)", 1000, 1_000_000_000),
        Workload("short", 0, 1_000_000_000),
        Workload("packmime", 0, 10_000_000),
        Workload("W(100000,100G)", 100_000, 100_000_000_000),
    )
}

#: The workloads that run if none is named.
DEFAULT_WORKLOADS = ("W(1,100M)", "W(100,1G)", "W(1000,1G)", "short")

#: The workloads that run beside another installation if none is named.
AGAINST_WORKLOADS = (*DEFAULT_WORKLOADS, "packmime")

#: The connections that arrive in a second of ``packmime``.
_PACKMIME_PER_S = 54.0

#: The workloads that run if queues are named and workloads are not.
QUEUE_WORKLOADS = ("W(100,1G)",)


@dataclass(frozen=True)
class Plan:
    """The amount of work.

    Attributes
    ----------
    duration_s
        Simulated time of a run, in s.
    least_cpu_s
        User CPU that a measurement lasts at least, in s.
    pairs
        The number of measurements of each workload; with peers, in turns with the peer.
    peers
        True if ns-2 and ns-3 run, too.
    instructions
        True if the instructions of a packet are counted, under valgrind.
    connections
        The number of short connections of a run; a run of ``packmime`` has about a fiftieth of it.
    """

    duration_s: float
    least_cpu_s: float
    pairs: int
    peers: bool
    instructions: bool = False
    connections: int = 1_000_000

    @classmethod
    def of(cls, *, quick: bool, peers: bool, instructions: bool = False) -> Plan:
        """Return the plan for what the command line says."""
        pairs = 1 if quick or not peers else 3
        if quick:
            return cls(10.0, 0.2, pairs, peers, instructions, connections=50_000)
        return cls(60.0, 2.0, pairs, peers, instructions)

    def task(self, of: Workload, variant: str) -> dict[str, Any]:
        """Return what a child is to run."""
        sender = {"variant": variant, "queue": of.queue}
        if of.name.startswith("packmime"):
            return {
                "connections_per_s": _PACKMIME_PER_S,
                "rate_bps": of.rate_bps,
                "duration_s": self.connections / 50 / _PACKMIME_PER_S,
                "variant": variant,
            }
        if not of.is_bulk:
            return {"count": self.connections, **sender}
        return {
            "flows": of.flows,
            "rate_bps": of.rate_bps,
            "duration_s": self.duration_s,
            **sender,
        }


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
    raise _unknown("workload", name, WORKLOADS)


def queue(name: str) -> str:
    """Return the kind of queue of that name.

    Raises
    ------
    BadInput
        There is no queue of that name.
    """
    if name in QUEUES:
        return name
    raise _unknown("queue", name, QUEUES)


def selected(
    workloads: Sequence[str] | None,
    queues: Sequence[str] | None,
    usual: Sequence[str] = DEFAULT_WORKLOADS,
) -> list[Workload]:
    """Return what is to be measured: each workload, or the usual ones, behind each queue.

    Raises
    ------
    BadInput
        There is no workload or no queue of a name, or a workload has no other queue.
    """
    names = workloads or (QUEUE_WORKLOADS if queues else usual)
    kinds = [queue(name) for name in queues or [DROPTAIL]]
    found = [workload(name).behind(kind) for name in names for kind in kinds]
    for each in found:
        if each.name.startswith("packmime") and each.queue != DROPTAIL:
            raise BadInput(f"queue: `{each.queue}` is not possible with packmime (droptail alone)")
    return found


def _unknown(what: str, name: str, known: Iterable[str]) -> BadInput:
    close = near(name, known)
    hint = f"did you mean `{close}`?" if close else f"one of {', '.join(known)}"
    return BadInput(f"{what}: `{name}` is not a {what} ({hint})")


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
        The amount of work.
    say
        Called with what is being done.

    Returns
    -------
    dict
        ``workload``, ``variant``, ``packets_per_cpu_s``, ``ns_per_packet``, ``events_per_packet``,
        ``peak_rss_bytes``, ``utilisation``, ``dropped``; of short connections also
        ``connections_per_cpu_s``; ``instructions_per_packet`` (or none); ``queue``, and
        ``droptail_ratio``, the time of a packet as a multiple of that behind drop-tail (none of
        drop-tail itself); and ``peers``: of each peer that can run it the same with the ``ratio``
        of speeds.

    Raises
    ------
    UnfinishedError
        A run ended before it was done, or its result cannot be right.
    """
    with one_core(), contextlib.ExitStack() as held:
        peers: list[bench_peers.Peer] = []
        if plan.peers and of.is_bulk and of.queue == DROPTAIL:
            say(f"{of.name}: the set-up of peers")
            canonical = _core.variant_name(variant)
            peers = bench_peers.ready(of.flows, of.rate_bps, canonical, plan.pairs, held)
        ours: list[dict[str, Any]] = []
        theirs: list[list[dict[str, Any]]] = [[] for _ in peers]
        beside: list[float] = []
        pairs = plan.pairs
        if of.queue != DROPTAIL:
            pairs = max(pairs, PAIRS_BESIDE_DROPTAIL)
        for pair in range(1, pairs + 1):
            say(f"{of.name} {variant}: ackclock, {pair} of {pairs}")
            ours.append(run_child(of, variant, plan))
            if of.queue != DROPTAIL:
                say(f"{of.name} {variant}: drop-tail, {pair} of {pairs}")
                droptail = run_child(replace(of, queue=DROPTAIL), variant, plan)
                beside.append(ours[-1]["ns_per_packet"] / droptail["ns_per_packet"])
            for peer, rows in zip(peers, theirs, strict=True):
                say(f"{of.name} {variant}: {peer.name}, {pair} of {pairs}")
                rows.append(peer.measure(plan.duration_s, plan.least_cpu_s))
        instructions = None
        if plan.instructions:
            say(f"{of.name} {variant}: instructions")
            instructions = _instructions(of, variant)
    return {
        "workload": of.name,
        "variant": variant,
        **_median(ours),
        "instructions_per_packet": instructions,
        "queue": of.queue,
        "droptail_ratio": statistics.median(beside) if beside else None,
        "peers": [_beside(peer, rows, ours) for peer, rows in zip(peers, theirs, strict=True)],
    }


def _beside(
    peer: bench_peers.Peer, theirs: Sequence[Mapping[str, Any]], ours: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what a peer did, and our speed over its, run by run."""
    ratios = [
        our["packets_per_cpu_s"] / their["packets_per_cpu_s"]
        for our, their in zip(ours, theirs, strict=True)
    ]
    return {
        "name": peer.name,
        "variant": peer.variant,
        **_median(theirs),
        "ratio": statistics.median(ratios),
        "ratios": ratios,
    }


def _median(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the row of median speed."""
    return dict(sorted(rows, key=lambda row: row["packets_per_cpu_s"])[len(rows) // 2])


@contextlib.contextmanager
def one_core() -> Generator[None]:
    """Bind this process, and the children that it starts, to one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def run_child(
    of: Workload, variant: str, plan: Plan, python: str = sys.executable
) -> dict[str, Any]:
    """Run one workload once in a process of its own; return what the child measured."""
    command = _child_command(plan.task(of, variant), plan.least_cpu_s, python)
    return json.loads(_finished(command).stdout)


def _finished(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a child to its end."""
    child = subprocess.run(command, capture_output=True, check=False, text=True)
    said = child.stderr.strip().rpartition("\n")[2]
    if child.returncode == EXIT_BAD_INPUT:
        raise BadInput(said)
    if child.returncode == EXIT_UNFINISHED:
        raise UnfinishedError(said)
    if child.returncode < 0:
        name = signal.Signals(-child.returncode).name
        out_of = ", for want of memory?" if name == "SIGKILL" else ""
        raise UnfinishedError(f"a run was ended by {name}{out_of}")
    child.check_returncode()
    return child


def _child_command(
    task: Mapping[str, Any], least_cpu_s: float, python: str = sys.executable
) -> list[str]:
    # By its path, so that an older installation is measured by this code, too. With `-P` it imports
    # the package of its interpreter, and not the one beside the file.
    return [python, "-P", str(Path(bench_child.__file__)), json.dumps(task), str(least_cpu_s)]


def _instructions(of: Workload, variant: str) -> float | None:
    """Return the instructions of a packet, all counted, or none without valgrind.

    Two runs of different length: what Python and the set-up take is in both.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return None
    counts: list[tuple[int, int]] = []
    for scale in (1, 2):
        plan = Plan(2.0 * scale, -1.0, 1, peers=False, connections=5000 * scale)
        callgrind = (valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null")
        child = _finished([*callgrind, *_child_command(plan.task(of, variant), 0.0)])
        collected = re.search(r"Collected\s*:\s*(\d+)", child.stderr)
        if collected is None:
            return None
        counts.append((int(collected[1]), json.loads(child.stdout)["delivered"]))
    (less, few), (more, many) = counts
    return (more - less) / (many - few)


def as_table(results: Sequence[Mapping[str, Any]]) -> Table:
    """Return what was measured as a table for a terminal."""
    table = Table(box=None, header_style="bold")
    for column in ("workload", "simulator", "sender"):
        table.add_column(column, no_wrap=True)
    for column in ("Mpacket/s", "ns/packet", "events", "MB", "used", "dropped", "ratio"):
        table.add_column(column, justify="right", no_wrap=True)
    for result in results:
        table.add_row(result["workload"], "ackclock", result["variant"], *_numbers(result), "")
        for peer in result["peers"]:
            ratio = f"{peer['ratio']:.1f}"
            table.add_row("", peer["name"], peer["variant"], *_numbers(peer), ratio)
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
    found = [columns, f"The build of ackclock: {build()}."]
    found += [
        f"{result['workload']} {result['variant']}: {result['connections_per_cpu_s']:,.0f} "
        "connections a second of user CPU."
        for result in results
        if result["connections_per_cpu_s"]
    ]
    found += [
        f"{result['workload']} {result['variant']}: {result['instructions_per_packet']:,.0f} "
        "instructions a packet."
        for result in results
        if result["instructions_per_packet"]
    ]
    found += [
        f"{result['workload']} {result['variant']}: a packet takes {result['droptail_ratio']:.2f} "
        f"times as long as behind drop-tail, the median of runs in turns."
        for result in results
        if result["droptail_ratio"]
    ]
    if plan.instructions and shutil.which("valgrind") is None:
        found.append("valgrind is not installed (apt install valgrind), so none are counted.")
    if plan.peers:
        found += bench_peers.missing()
        if any(result["peers"] for result in results):
            found.append(
                f"ratio: our speed over the peer's, median of {plan.pairs} runs in turns. Of peers "
                "set-up is not counted; of ns-2, packets are those acknowledged, of ns-3 those "
                "that the receivers read."
            )
        else:
            found.append("no peer has such a sender or workload, so nothing stands beside.")
    return found
