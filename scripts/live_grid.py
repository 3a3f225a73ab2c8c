#!/usr/bin/env python3
"""Measure the grid of docs/validation/live-kernel.md: the same paths simulated and live.

``live_grid.py run FILE`` appends one JSON line a run to FILE and goes on where it stopped;
``live_grid.py table FILE`` prints the page's table from it. Needs what `ackclock doctor` says live
runs need, and a quarter of an hour a repetition, more where runs are refused.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from statistics import fmean, median
from typing import Any

import ackclock as ac
from ackclock.base.estimates import estimate

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
    threshold = samples["ssthresh_segments"]
    left = next((n for n, value in enumerate(threshold) if value is not None), None)
    return {
        "goodput_bps": flow["goodput_bps"],
        "again": flow["segments_retransmitted"],
        "reductions": flow["congestion_events"],
        "timeouts": flow["timeouts"],
        "exit_s": None if left is None else samples["time_s"][left],
        "exit_segments": None if left is None else max(samples["cwnd_segments"][: left + 1]),
        "live": run.live,
    }


def run(file: Path) -> None:
    """Add the runs that FILE lacks."""
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    with file.open("a") as out:

        def add(cell: Cell, made: ac.Run) -> None:
            line = {"cell": list(cell), **outcome(made)}
            lines.append(line)
            print(json.dumps(line), file=out, flush=True)

        for cell in CELLS:
            if not any(line["live"] is None for line in of_cell(lines, cell)):
                add(cell, ac.simulate(scenario(cell)))
        # A repetition of all before the next of any, so that no cell has an hour to itself.
        for wanted in range(1, REPETITIONS + 1):
            for cell in CELLS:
                for _ in range(MOST_TRIES):
                    tries = [line["live"] for line in of_cell(lines, cell) if line["live"]]
                    valid = sum(live["valid"] for live in tries)
                    if valid >= wanted or len(tries) >= MOST_TRIES * REPETITIONS:
                        break
                    add(cell, ac.run_live(scenario(cell)))


def of_cell(lines: list[dict[str, Any]], cell: Cell) -> list[dict[str, Any]]:
    """Return the runs of a cell."""
    return [line for line in lines if line["cell"] == list(cell)]


def table(file: Path) -> None:
    """Print the page's table: means and 95 % intervals of the runs that are measurements."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    print(
        "| path | variant | goodput | live | apart | sent again | live | reductions | live "
        "| slow start ends at, s (segments) | live | runs |"
    )
    print("|" + " --- |" * 12)
    apart: list[float] = []
    for cell in CELLS:
        of = of_cell(lines, cell)
        simulated = next(line for line in of if line["live"] is None)
        real = [line for line in of if line["live"] and line["live"]["valid"]]
        rate, rtt, bdps, variant = cell

        def values(key: str, of: list[dict[str, Any]] = real) -> list[float]:
            return [line[key] for line in of if line[key] is not None]

        goodput = [value / 1e6 for value in values("goodput_bps")]
        apart.append((fmean(goodput) / simulated["goodput_bps"] * 1e6 - 1) * 100)
        print(
            f"| {rate} Mbit/s, {rtt} ms, {bdps:g} | `{variant}` "
            f"| {simulated['goodput_bps'] / 1e6:.3f} | {interval(goodput, 3)} "
            f"| {apart[-1]:+.2f} % | {simulated['again']} | {interval(values('again'), 0)} "
            f"| {simulated['reductions']} | {fmean(values('reductions')):.1f} "
            f"| {simulated['exit_s']:.3f} ({simulated['exit_segments']:.0f}) "
            f"| {interval(values('exit_s'), 3)} ({interval(values('exit_segments'), 0)}) "
            f"| {len(real)} |"
        )
    valid = [line["live"] for line in lines if line["live"] and line["live"]["valid"]]
    refused = [line["live"]["doubts"] for line in lines if line["live"] and line["live"]["doubts"]]
    still = sum(any("stood still" in doubt for doubt in doubts) for doubts in refused)
    late = [each["lateness"]["p99_s"] * 1e6 for each in valid]
    print(
        f"\n{len(valid)} measurements, {len(refused)} runs refused, {still} of them for a path "
        f"that stood still; goodput at most {max(map(abs, apart)):.2f} % apart; lateness p99: "
        f"median {median(late):.0f} us, most {max(late):.0f} us."
    )


def interval(values: list[float], digits: int) -> str:
    """Return the mean, and the half-width of its 95 % interval."""
    if not values:
        return "–"
    found = estimate(values)
    mean = f"{found.mean:.{digits}f}"
    return mean if found.ci is None else f"{mean} ± {found.ci:.{digits}f}"


if __name__ == "__main__":
    {"run": run, "table": table}[sys.argv[1]](Path(sys.argv[2]))
