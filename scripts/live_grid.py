#!/usr/bin/env python3
"""Measure the grid of docs/validation/live-kernel.md: the same paths simulated and live.

``live_grid.py run FILE`` appends one JSON line a run to FILE and goes on where it stopped;
``live_grid.py table FILE`` prints the page's table from it. The path polls. Needs what
`ackclock doctor` says live runs need, and a quarter of an hour a repetition on a quiet machine.
"""

from __future__ import annotations

import json
import math
import sys
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

import ackclock as ac

REPETITIONS = 3
MOST_TRIES = 3
DURATION = "30 s"

#: Rate in Mbit/s, round trip in ms, buffer in bandwidth-delay products, sender.
CELLS = list(product((20, 100), (40, 100), (0.5, 1, 2), ("reno", "cubic")))

Cell = tuple[int, int, float, str]


def scenario(cell: Cell) -> ac.Scenario:
    """Return the path and the flow of a cell; ACKs pass 1 Gbit/s."""
    rate, rtt, bdps, variant = cell
    buffer = round(rate * 1e6 * rtt / 1e3 / 8 * bdps)
    link = {
        "name": "path",
        "from": "sender",
        "to": "receiver",
        "rate": f"{rate} Mbit/s",
        "delay": f"{rtt / 2:g} ms",
        "queue": {"kind": "droptail", "limit": f"{buffer} B"},
        "reverse": {"rate": "1 Gbit/s"},
    }
    flow = {"name": "bulk", "variant": variant, "profile": "linux"}
    return ac.Scenario.from_dict(
        {
            "duration": DURATION,
            "topology": {"kind": "graph", "link": [link]},
            "flow": [{**flow, "from": "sender", "to": "receiver"}],
            "probe": [{"flow": "bulk", "every": "change"}],
        }
    )


def outcome(run: ac.Run) -> dict[str, Any]:
    """Return what the page tells of a run."""
    (flow,) = run.flows.to_pylist()
    samples = run.flow_samples
    threshold = samples["ssthresh_segments"].to_pylist()
    left = next((n for n, value in enumerate(threshold) if value is not None), None)
    return {
        "goodput_bps": flow["goodput_bps"],
        "again": flow["segments_retransmitted"],
        "reductions": flow["congestion_events"],
        "timeouts": flow["timeouts"],
        "exit_s": None if left is None else samples["time_s"][left].as_py(),
        "exit_segments": None
        if left is None
        else max(samples["cwnd_segments"].to_pylist()[: left + 1]),
        "live": run.live,
    }


def run(file: Path) -> None:
    """Add the runs that FILE lacks."""
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    with file.open("a") as out:
        for number in range(REPETITIONS + 1):
            for cell in CELLS:
                known = [line for line in lines if line["cell"] == list(cell)]
                if number == 0:
                    if not any(line["live"] is None for line in known):
                        found = outcome(ac.simulate(scenario(cell)))
                        print(json.dumps({"cell": cell, **found}), file=out, flush=True)
                    continue
                tries = [line for line in known if line["live"] and line["number"] == number]
                for _ in range(0 if tries else MOST_TRIES):
                    found = outcome(ac.run_live(scenario(cell), busy=True))
                    line = {"cell": cell, "number": number, **found}
                    print(json.dumps(line), file=out, flush=True)
                    if found["live"]["valid"]:
                        break


def table(file: Path) -> None:
    """Print the page's table: medians of the live runs that are measurements."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    print(
        "| path | variant | goodput | live | apart | sent again | live | reductions | live "
        "| slow start ends at, s (segments) | live | runs |"
    )
    print("|" + " --- |" * 12)
    for cell in CELLS:
        of = [line for line in lines if line["cell"] == list(cell)]
        simulated = next(line for line in of if line["live"] is None)
        real = [line for line in of if line["live"] and line["live"]["valid"]]
        rate, rtt, bdps, variant = cell

        def middle(key: str, of: list[dict[str, Any]] = real) -> float:
            values = [line[key] for line in of if line[key] is not None]
            return median(values) if values else math.nan

        apart = (middle("goodput_bps") / simulated["goodput_bps"] - 1) * 100
        print(
            f"| {rate} Mbit/s, {rtt} ms, {bdps:g} | `{variant}` "
            f"| {simulated['goodput_bps'] / 1e6:.3f} | {middle('goodput_bps') / 1e6:.3f} "
            f"| {apart:+.2f} % | {simulated['again']} | {middle('again'):.0f} "
            f"| {simulated['reductions']} | {middle('reductions'):.0f} "
            f"| {simulated['exit_s']:.3f} ({simulated['exit_segments']:.0f}) "
            f"| {middle('exit_s'):.3f} ({middle('exit_segments'):.0f}) | {len(real)} |"
        )
    valid = [line["live"] for line in lines if line["live"] and line["live"]["valid"]]
    refused = sum(1 for line in lines if line["live"] and not line["live"]["valid"])
    late = [each["lateness"]["p99_s"] * 1e6 for each in valid]
    print(
        f"\n{len(valid)} measurements, {refused} runs refused; lateness p99: median "
        f"{median(late):.0f} us, most {max(late):.0f} us."
    )


if __name__ == "__main__":
    {"run": run, "table": table}[sys.argv[1]](Path(sys.argv[2]))
