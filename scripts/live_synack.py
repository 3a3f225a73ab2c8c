#!/usr/bin/env python3
"""Measure who comes first after a lost SYN-ACK: the client's SYN or the kernel server's own timer.

``live_synack.py`` prints the table of docs/validation/live-kernel.md: of connections at random
moments, all of whose first SYN-ACK is lost, the share to which the server sends it again twice.
Both timers last a second, and expire at the steps of Linux's timer wheel. Needs root, and a kernel
of 250 Hz.
"""

from __future__ import annotations

import random
from typing import Any

import ackclock as ac

CONNECTIONS = 200
ONE_WAY_MS = (30, 40, 50, 60)
#: Eight jiffies of 4 ms: the step of the wheel for what lasts 63 to 503 jiffies.
STEP_MS = 32
RTO_MS = 1000


def scenario(one_way_ms: int) -> dict[str, Any]:
    """Return connections that open within half a second, in which every SYN-ACK is lost."""
    stream = random.Random(one_way_ms)  # noqa: S311 - nothing is secret
    opened = sorted(stream.uniform(0.1, 0.6) for _ in range(CONNECTIONS))
    return {
        "duration": "4 s",
        "topology": {
            "kind": "graph",
            "link": [
                {"name": "path", "from": "c", "to": "s", "rate": "1 Gbit/s"}
                | {"delay": f"{one_way_ms} ms"}
            ],
        },
        "traffic": [
            {
                "name": "web",
                "variant": "reno",
                "profile": "linux",
                "tcp": {"handshake_tick": f"{STEP_MS} ms"},
                "from": "c",
                "to": "s",
                "arrivals": {"kind": "list", "at": [f"{at:.6f} s" for at in opened]},
                "app": {"kind": "request", "request": "100 B", "response": "1 kB"},
            }
        ],
        "event": [
            {"at": at, "link": "path", "direction": "reverse", "set": {"loss": loss}}
            for at, loss in (("0 s", 1.0), ("0.9 s", 0.0))
        ],
    }


def expected(one_way_ms: float) -> float:
    """Return the share by arithmetic: moments are spread evenly over a step of the wheel."""
    twice, count = 0, 100_000
    for n in range(count):
        began = n * STEP_MS / count
        # A timer expires at the first step after it is due.
        client = ((began + RTO_MS) // STEP_MS + 1) * STEP_MS
        server = ((began + one_way_ms + RTO_MS) // STEP_MS + 1) * STEP_MS
        twice += server < client + one_way_ms
    return twice / count


def share(run: ac.Run) -> float:
    """Return how many of the connections got their SYN-ACK three times."""
    again = [row["synack_retransmits"] for row in run.connections.to_pylist()]
    if len(again) != CONNECTIONS or set(again) - {1, 2}:
        print(f"unexpected: {sorted(again)}")
    return sum(count == 2 for count in again) / len(again)


def main() -> None:
    """Print a row a path."""
    print("| one way, ms | twice, by arithmetic | simulated | live |")
    print("| --- | --- | --- | --- |")
    for one_way_ms in ONE_WAY_MS:
        made = ac.Scenario.from_dict(scenario(one_way_ms))
        simulated, real = share(ac.simulate(made)), share(ac.run_live(made))
        print(f"| {one_way_ms} | {expected(one_way_ms):.3f} | {simulated:.3f} | {real:.3f} |")


if __name__ == "__main__":
    main()
