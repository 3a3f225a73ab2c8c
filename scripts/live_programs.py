#!/usr/bin/env python3
"""Set iperf3 beside our own bulk transfer, over the same live path.

``live_programs.py [SENDER...]`` runs each kernel sender (default: reno and cubic) for 10 s over
20 Mbit/s and 40 ms: our transfer, then iperf3 as the flow's programs. Prints goodput and what was
sent again: of our transfer, of iperf3 by its own account, and of iperf3 as counted by us.
"""

from __future__ import annotations

import sys
from typing import Any

import ackclock as ac

SECONDS = 10


def run(sender: str, app: dict[str, Any], seconds: float) -> ac.Run:
    """Run one flow of the kernel's over the path."""
    link = {"name": "path", "from": "s", "to": "r", "rate": "20 Mbit/s", "delay": "20 ms"}
    queue = {"kind": "droptail", "limit": "1 BDP"}
    flow = {"name": "bulk", "variant": sender, "profile": "linux", "from": "s", "to": "r"}
    scenario = {
        "duration": f"{seconds:g} s",
        "topology": {"kind": "graph", "link": [{**link, "queue": queue}]},
        "flow": [{**flow, "app": app}],
    }
    made = ac.run_live(ac.Scenario.from_dict(scenario))
    report = made.live or {}
    if not report["valid"]:
        print(f"{app['kind']}, {sender}: {'; '.join(report['doubts'])}", file=sys.stderr)
    return made


def main(senders: list[str]) -> None:
    """Print a row a sender."""
    print(
        "| sender | ours, Mbit/s | iperf3 | iperf3, counted by us | sent again | iperf3 | by us |"
    )
    print("|" + " --- |" * 7)
    for sender in senders:
        (ours,) = run(sender, {"kind": "bulk"}, SECONDS).flows.to_pylist()
        # It has a second less than the flow.
        other = run(sender, {"kind": "iperf3"}, SECONDS + 1)
        (counted,) = other.flows.to_pylist()
        told = (other.live or {})["programs"][0]["told"]
        rate = counted["delivered_bytes"] * 8 / told["seconds"]
        rates = " | ".join(
            f"{bps / 1e6:.3f}" for bps in (ours["goodput_bps"], told["goodput_bps"], rate)
        )
        again = " | ".join(str(row["segments_retransmitted"]) for row in (ours, told, counted))
        print(f"| `{sender}` | {rates} | {again} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["reno", "cubic"])
