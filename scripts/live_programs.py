#!/usr/bin/env python3
"""Set iperf3 beside our own bulk transfer, over the same live path.

``live_programs.py [SENDER...]`` runs each kernel sender (default: reno and cubic) for 10 s over
20 Mbit/s and 40 ms: our transfer, then iperf3 within the namespaces of a run that has nothing else
to do. Prints goodput and what was sent again, by both accounts. Needs root, `nsenter` and `iperf3`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import ackclock as ac
from live_delay import space_of

SECONDS = 10


def scenario(sender: str, app: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Return the path, with one flow of the kernel's."""
    link = {"name": "path", "from": "s", "to": "r", "rate": "20 Mbit/s", "delay": "20 ms"}
    queue = {"kind": "droptail", "limit": "1 BDP"}
    flow = {"name": "bulk", "variant": sender, "profile": "linux", "from": "s", "to": "r"}
    return {
        "duration": f"{seconds:g} s",
        "topology": {"kind": "graph", "link": [{**link, "queue": queue}]},
        "flow": [{**flow, "app": app}],
    }


def ours(sender: str) -> tuple[float, int]:
    """Return goodput, in Mbit/s, and segments sent again of our own transfer."""
    run = ac.run_live(ac.Scenario.from_dict(scenario(sender, {"kind": "bulk"}, SECONDS)))
    (row,) = run.flows.to_pylist()
    return row["goodput_bps"] / 1e6, row["segments_retransmitted"]


def iperf3(sender: str) -> tuple[float, int]:
    """Return the same by iperf3's account: goodput at its receiver."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "path.json")
        idle = {"kind": "bulk", "size": "1 B"}
        file.write_text(json.dumps(scenario(sender, idle, SECONDS + 6)))
        command = [sys.executable, "-m", "ackclock.cli", "run", str(file), "--on", "live", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            deadline, spaces = time.monotonic() + 10, (None, None)
            while None in spaces and time.monotonic() < deadline:
                time.sleep(0.2)
                spaces = (space_of(run.pid, "10.0.0.1"), space_of(run.pid, "10.128.0.1"))
            inside = [["nsenter", f"--net={space}"] for space in spaces]
            # By the route, so that the socket is born with it: an algorithm that is changed later
            # keeps the pacing of the machine's default.
            route = ["ip", "route", "change", "10.128.0.0/9", "dev", "ackclock0"]
            subprocess.run([*inside[0], *route, "congctl", sender], check=True)
            serve = [*inside[1], "iperf3", "-s", "-1", "-B", "10.128.0.1"]
            with subprocess.Popen(serve, stdout=subprocess.DEVNULL) as server:
                time.sleep(0.5)
                client = [*inside[0], "iperf3", "-c", "10.128.0.1", "-t", str(SECONDS), "-J"]
                told = subprocess.run(client, capture_output=True, text=True, check=False).stdout
                # It serves one client, and ends.
                server.wait(timeout=10)
            run.communicate(timeout=60)
    end = json.loads(told)["end"]
    return end["sum_received"]["bits_per_second"] / 1e6, end["sum_sent"]["retransmits"]


def main(senders: list[str]) -> None:
    """Print a row a sender."""
    print("| sender | ours, Mbit/s | iperf3, Mbit/s | sent again | by iperf3 |")
    print("|" + " --- |" * 5)
    for sender in senders:
        (own, again), (other, told) = ours(sender), iperf3(sender)
        print(f"| `{sender}` | {own:.3f} | {other:.3f} | {again} | {told} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["reno", "cubic"])
