"""The child process of ``ackclock bench``: it runs a workload and prints its measures as JSON.

``ackclock bench --against`` runs this file with another installation's interpreter, so that both
engines are measured by the same code. So this file imports nothing but the standard library and the
package ``ackclock`` of its interpreter, and uses what older versions of the package have, too.
"""

from __future__ import annotations

import contextlib
import json
import re
import resource
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import ackclock
from ackclock import _core

__all__: list[str] = []

#: Exit codes of a child without a result; its last line of standard error gives the reason.
EXIT_BAD_INPUT, EXIT_UNFINISHED = 2, 3


def _packmime(rate_bps: int, connections_per_s: float, duration_s: float, variant: str) -> Any:
    """Return a scenario of web traffic over one link with a buffer of 100 packets."""
    topology = {
        "kind": "graph",
        "link": [
            {
                "name": "bottleneck",
                "from": "servers",
                "to": "clients",
                "rate": f"{rate_bps} bit/s",
                "delay": "0 ms",
                "queue": {"kind": "droptail", "limit": "100 packet"},
            }
        ],
    }
    web = {
        "name": "web",
        "variant": variant,
        "profile": "ns2",
        "from": "clients",
        "to": "servers",
        "arrivals": {"kind": "packmime", "rate": f"{connections_per_s} /s"},
        "app": {"kind": "packmime", "http": "1.1"},
        "access": {"client": {"rate": "1 Gbit/s"}, "server": {"rate": "1 Gbit/s"}},
    }
    table = {"duration": f"{duration_s} s", "topology": topology, "traffic": [web]}
    return ackclock.Scenario.from_dict(table)


def _run_packmime(
    connections_per_s: float, rate_bps: int, duration_s: float, variant: str
) -> dict[str, Any]:
    run = ackclock.simulate(_packmime(rate_bps, connections_per_s, duration_s, variant))
    links = run.links.to_pylist()
    (row,) = [
        row
        for row in links
        if (row["measure"], row["link"], row["direction"]) == ("run", "bottleneck", "forward")
    ]
    if not 0 < row["utilisation"] <= 1:
        raise RuntimeError(f"a bottleneck busy for {row['utilisation']} of the time")
    return {
        "delivered_packets": row["delivered_packets"],
        "dropped_packets": row["dropped_packets"],
        "utilisation": row["utilisation"],
        # Builds of before 0.2 call it so; `bench --against` runs them, too.
        "events": getattr(run, "clock_events", None) or run.events,
        "connections": run.connections.num_rows,
    }


def _runner(task: Mapping[str, Any]) -> Any:
    if "connections_per_s" in task:
        return _run_packmime
    return _core.bench_short if "count" in task else _core.bench_dumbbell


def _child(task: Mapping[str, Any], least_cpu_s: float) -> dict[str, Any]:
    """Run a workload in this process until it has used so much CPU."""
    run = _runner(task)
    # Code is loaded as it is first called: 3 MB that no workload is to blame for.
    run(**_smallest(task))
    began_s = _user_cpu_s()
    cpu_s, runs, packets, events, connections, peak_bytes = 0.0, 0, 0, 0, 0, 0
    last: dict[str, Any] = {}
    while runs == 0 or cpu_s <= least_cpu_s:
        # Of each run what it takes: what the one before left with the allocator is none of its own.
        held_bytes = _status_bytes("VmRSS")
        # Forget the peak of what came before, such as importing.
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        last = run(**task)
        peak_bytes = max(peak_bytes, _status_bytes("VmHWM") - held_bytes)
        runs += 1
        packets += last["delivered_packets"]
        events += last["events"]
        connections += last["connections"]
        cpu_s = _user_cpu_s() - began_s
    # A run so short that no tick of the clock fell into it.
    cpu_s = max(cpu_s, 1e-6)
    return {
        "packets_per_cpu_s": packets / cpu_s,
        "connections_per_cpu_s": connections / cpu_s if connections else None,
        "ns_per_packet": 1e9 * cpu_s / packets,
        "events_per_packet": events / packets,
        "peak_rss_bytes": peak_bytes,
        "utilisation": last["utilisation"],
        "dropped": last["dropped_packets"],
        "delivered": last["delivered_packets"],
        "runs": runs,
        "cpu_s": cpu_s,
        "build": build(),
    }


def build() -> str:
    """Return the kind of build of the package in this process, ``unknown`` before 0.2."""
    asked = getattr(_core, "build", None)
    return "unknown" if asked is None else str(asked())


def _smallest(task: Mapping[str, Any]) -> dict[str, Any]:
    """Return a workload of the same kind and sender that takes next to nothing."""
    if "count" in task:
        return {**task, "count": 10}
    if "connections_per_s" in task:
        return {**task, "duration_s": 2.0}
    return {**task, "flows": 1, "rate_bps": 1_000_000, "duration_s": 2.0}


def _user_cpu_s() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def _status_bytes(key: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"^{key}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _main() -> NoReturn:
    _, task, least_cpu_s = sys.argv
    try:
        result = _child(json.loads(task), float(least_cpu_s))
    except (ackclock.BadInput, RuntimeError) as error:
        print(error, file=sys.stderr)
        sys.exit(EXIT_BAD_INPUT if isinstance(error, ackclock.BadInput) else EXIT_UNFINISHED)
    print(json.dumps(result))
    sys.exit(0)


if __name__ == "__main__":
    _main()
