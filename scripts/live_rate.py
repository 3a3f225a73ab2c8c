#!/usr/bin/env python3
"""Measure the rates of docs/validation/live-kernel.md: a bulk flow of the kernel's over fast links.

``live_rate.py FILE [RUNS]`` appends one JSON line a run to FILE, each of 8 s and of packets of 1500
bytes, and prints the page's table. Needs root.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import ackclock as ac

RATES_MBIT = (20, 100, 1000, 1050, 1200)
#: Payload and size of a packet with timestamps.
PAYLOAD, PACKET = 1448, 1500


def scenario(rate_mbit: int) -> dict[str, Any]:
    """Return one flow over a link of this rate and 1 ms, seen from its second second on."""
    link = {"name": "path", "from": "s", "to": "r", "rate": f"{rate_mbit} Mbit/s", "delay": "1 ms"}
    return {
        "duration": "8 s",
        "topology": {
            "kind": "graph",
            "link": [link | {"queue": {"kind": "droptail", "limit": "1000 packet"}}],
        },
        "flow": [{"name": "bulk", "variant": "cubic", "profile": "linux", "from": "s", "to": "r"}],
        "measure": [{"name": "steady", "from": "1 s"}],
    }


def measure(rate_mbit: int, *, busy: bool) -> dict[str, Any]:
    """Return what one run came to."""
    run = ac.run_live(ac.Scenario.from_dict(scenario(rate_mbit)), busy=busy)
    (row,) = (row for row in run.flows.to_pylist() if row["measure"] == "steady")
    return {
        "rate_mbit": rate_mbit,
        "busy": busy,
        "load": os.getloadavg()[0],
        "goodput_bps": row["goodput_bps"],
        "live": run.live,
    }


def table(lines: list[dict[str, Any]]) -> None:
    """Print a row a run."""
    print(
        "| link, Mbit/s | path | load | goodput, Mbit/s | of its share | a measurement | processor "
        "| late: p50, us | p99 | most |"
    )
    print("|" + " --- |" * 10)
    for line in lines:
        live, share = line["live"], line["rate_mbit"] * 1e6 * PAYLOAD / PACKET
        late = {key: live["lateness"][f"{key}_s"] * 1e6 for key in ("p50", "p99", "max")}
        print(
            f"| {line['rate_mbit']} | {'polls' if line['busy'] else 'sleeps'} | {line['load']:.1f} "
            f"| {line['goodput_bps'] / 1e6:.2f} | {line['goodput_bps'] / share:.4f} "
            f"| {'yes' if live['valid'] else '; '.join(live['doubts'])} | {live['awake']:.2f} "
            f"| {late['p50']:.0f} | {late['p99']:.0f} | {late['max']:.0f} |"
        )


def main(file: Path, count: int) -> None:
    """Add ``count`` runs of each rate, and print all."""
    with file.open("a") as out:
        for _ in range(count):
            for rate in RATES_MBIT:
                for busy in (False, True):
                    print(json.dumps(measure(rate, busy=busy)), file=out, flush=True)
    table([json.loads(line) for line in file.read_text().splitlines()])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
