"""Other simulators on the workloads of the benchmark: ns-2 and ns-3, where they are installed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from ackclock.base.writing import copy_file

__all__ = ["Peer", "missing", "ready"]

_PACKET_BITS = 1500 * 8

_NS2_AGENTS = {
    "tahoe": "TCP",
    "reno": "TCP/Reno",
    "newreno": "TCP/Newreno",
    "reno+sack": "TCP/Sack1",
    "newreno+sack": "TCP/Sack1",
}

#: The congestion controls of ns-3 by our names; its recovery is by SACK or not, and PRR always.
_NS3_TYPES = {
    "newreno": ("ns3::TcpNewReno", "0"),
    "newreno+sack": ("ns3::TcpNewReno", "1"),
    "cubic": ("ns3::TcpCubic", "1"),
    "bbr": ("ns3::TcpBbr", "1"),
}

#: The modules of ns-3 that the program takes.
_NS3_MODULES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")


@dataclass(frozen=True)
class Peer:
    """A simulator, ready to run one workload.

    Attributes
    ----------
    name
        Its name.
    variant
        Its own name of the sender.
    command
        The program, and its arguments up to the rate.
    agent
        The arguments after the duration.
    rate_bps
        The rate of the bottleneck.
    set_up_cpu_s
        The user CPU of a run of no duration.
    """

    name: str
    variant: str
    command: tuple[str, ...]
    agent: tuple[str, ...]
    rate_bps: int
    set_up_cpu_s: float

    def measure(self, duration_s: float, least_cpu_s: float) -> dict[str, Any]:
        """Run until so much user CPU is used; return what ``ackclock bench`` does of a run."""
        cpu_s, runs, packets, peak_bytes = 0.0, 0, 0, 0
        delivered = 0
        more: dict[str, int] = {}
        while runs == 0 or cpu_s <= least_cpu_s:
            answer, used_s = _run_once((*self.command, str(duration_s), *self.agent))
            delivered, *rest, held_kb, peak_kb = map(int, answer.split())
            more = dict(zip(("sent", "sent_again"), rest, strict=False))
            # Of a run so short that set-up drowns it, no less than a clock tick is believed.
            cpu_s += max(used_s - self.set_up_cpu_s, 0.01)
            runs += 1
            packets += delivered
            peak_bytes = max(peak_bytes, 1024 * (peak_kb - held_kb))
        return {
            "packets_per_cpu_s": packets / cpu_s,
            "ns_per_packet": 1e9 * cpu_s / packets,
            "events_per_packet": None,
            "peak_rss_bytes": peak_bytes,
            "utilisation": delivered * _PACKET_BITS / (self.rate_bps * duration_s),
            "dropped": None,
            "delivered": delivered,
            **more,
            "runs": runs,
            "cpu_s": cpu_s,
        }


def ready(
    flows: int, rate_bps: int, variant: str, set_ups: int, held: contextlib.ExitStack
) -> list[Peer]:
    """Return the peers that can run W(flows, rate) with a sender, given by its canonical name."""
    found: list[Peer] = []
    workload = (str(flows), str(rate_bps))
    if (ns2 := shutil.which("ns")) and (agent := _NS2_AGENTS.get(variant)):
        script = held.enter_context(as_file(files("ackclock.bench") / "peers" / "ns2_dumbbell.tcl"))
        found.append(_peer("ns-2", agent, (ns2, str(script), *workload), (agent,), set_ups))
    if (typed := _NS3_TYPES.get(variant)) and (ns3 := _ns3_program()):
        kind, sack = typed
        name = kind.removeprefix("ns3::") + (" SACK" if sack == "1" else "")
        found.append(_peer("ns-3", name, (str(ns3), *workload), (kind, sack), set_ups))
    return found


def missing() -> list[str]:
    """Return what to install for the peers that are not there."""
    found: list[str] = []
    if shutil.which("ns") is None:
        found.append("ns-2 is not installed (apt install ns2).")
    if _ns3_flags() is None:
        found.append("ns-3 or a C++ compiler is not installed (apt install libns3-dev g++).")
    return found


def _peer(
    name: str, variant: str, command: tuple[str, ...], agent: tuple[str, ...], set_ups: int
) -> Peer:
    cpu_s = statistics.median(_run_once((*command, "0", *agent))[1] for _ in range(set_ups))
    return Peer(name, variant, command, agent, int(command[-1]), cpu_s)


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


def _ns3_flags() -> list[str] | None:
    """Return what a compiler needs to link with ns-3, if both are installed."""
    if shutil.which("g++") is None or shutil.which("pkg-config") is None:
        return None
    asked = subprocess.run(
        ["pkg-config", "--cflags", "--libs", *(f"ns3-{module}" for module in _NS3_MODULES)],
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode != 0:
        return None
    # Not the libraries that ns-3's own were built with: their headers need not be installed.
    wanted = ("-I", "-L", "-D", "-pthread")
    return [flag for flag in asked.stdout.split() if flag.startswith(wanted) or "ns3" in flag]


def _ns3_program() -> Path | None:
    """Return the program that runs a workload on ns-3, compiled if it was not yet."""
    flags = _ns3_flags()
    if flags is None:
        return None
    source = (files("ackclock.bench") / "peers" / "ns3_dumbbell.cc").read_text(encoding="utf-8")
    key = hashlib.sha256("\n".join([source, *flags]).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ackclock"
    program = cache / f"ns3_dumbbell-{key}"
    if program.exists():
        return program
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch, "ns3_dumbbell")
        subprocess.run(
            ["g++", "-O3", "-x", "c++", "-", "-x", "none", "-o", str(made), *flags],
            input=source,
            text=True,
            check=True,
        )
        copy_file(made, program, make_folder=True)
    return program
