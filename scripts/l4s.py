#!/usr/bin/env python3
"""Measure Prague at the coupled dual queue: docs/guides/l4s.md.

``l4s.py coupling`` holds p_C against (p_CL/2)^2 in 20 settings, ``l4s.py delay`` gives the delay of
L4S packets beside a CUBIC flow, and ``l4s.py winners`` compares pairs of flows with the table that
heistp/l4s-tests published of 2020's Prague, without independence of round trips.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import ackclock as ac
from ackclock import _core

STEP_S, FRAME_S = 1e-3, 1500 * 8 / 40e6


def scenario(
    rate_mbps: float,
    flows: Sequence[tuple[str, float]],
    *,
    duration_s: float = 60.0,
    steady_s: float = 20.0,
    seed: int = 1,
    **queue: Any,
) -> ac.Scenario:
    """Return flows, each a variant and its round trip in ms, behind one dual queue."""
    links: list[dict[str, Any]] = [
        {
            "name": "bottleneck",
            "from": "left",
            "to": "right",
            "rate": f"{rate_mbps} Mbit/s",
            "delay": "0.1 ms",
            "queue": {"kind": "dualpi2", **queue},
        }
    ]
    senders = []
    for number, (variant, rtt_ms) in enumerate(flows):
        side = {"rate": "10 Gbit/s", "delay": f"{(rtt_ms / 2 - 0.1) / 2:.4f} ms"}
        for name, ends in (("in", (f"s{number}", "left")), ("out", ("right", f"r{number}"))):
            links.append({"name": f"{name}{number}", "from": ends[0], "to": ends[1], **side})
        senders.append(
            {
                "name": f"flow{number}",
                "variant": variant,
                "from": f"s{number}",
                "to": f"r{number}",
                "start": f"{number * 0.1:.1f} s",
                "tcp": {"ecn": "on"},
            }
        )
    table = {
        "duration": f"{duration_s} s",
        "seed": seed,
        "topology": {"kind": "graph", "link": links},
        "flow": senders,
        "measure": [{"name": "steady", "from": f"{steady_s} s"}],
    }
    return ac.Scenario.from_dict(table)


def steady(run: ac.Run, table: str, cell: int) -> list[dict[str, Any]]:
    """Return the rows of the steady window of a cell."""
    rows = run.rows(table)
    return [row for row in rows if row["measure"] == "steady" and row["cell"] == cell]


def forward(run: ac.Run, cell: int) -> dict[str, Any]:
    """Return the row of the bottleneck."""
    rows = steady(run, "links", cell)
    return next(row for row in rows if (row["link"], row["direction"]) == ("bottleneck", "forward"))


#: Rate in Mbit/s, and the loads of Classic and L4S packets over it: beyond 1, what is too much of
#: Classic is dropped, which is a constant probability.
SETTINGS = [
    (rate, classic, l4s)
    for rate in (10, 40, 100, 200)
    for classic, l4s in ((0.93, 0.1), (0.95, 0.1), (1.0, 0.1), (1.05, 0.1), (0.75, 0.4))
]
PACKETS, BYTES = 300_000, 1500


def coupling() -> None:
    """Print p_C over (p_CL/2)^2, as packets of constant loads were dropped and marked."""
    print("| Mbit/s | Classic, L4S load | L4S marked | Classic dropped | p_C/(p_CL/2)^2 |")
    print("|" + " --- |" * 5)
    worst = 1.0
    for rate, classic, l4s in SETTINGS:
        draw = random.Random(f"{rate} {classic}")  # noqa: S311 Not for secrets.
        frame_ns = BYTES * 8e3 / rate
        last = PACKETS / (classic + l4s) * frame_ns
        packets: list[tuple[int, int, int]] = []
        for flow, load in ((0, classic), (1, l4s)):
            at = 0.0
            while (at := at + frame_ns / load * draw.uniform(0.5, 1.5)) < last:
                packets.append((round(at), flow, BYTES))
        packets.sort()
        asked = {"rate": f"{rate} Mbit/s", "queue": {"kind": "dualpi2", "step": "unlimited"},
                 "l4s": [1], "packets": packets}  # fmt: skip
        fates: list[tuple[tuple[int, int] | None, bool]]
        fates = json.loads(_core.departures(json.dumps(asked)))
        settled = [
            (flow, went is None, marked)
            for (at, flow, _), (went, marked) in zip(packets, fates, strict=True)
            # The controller has found its probability, and what comes late may not have left.
            if last * 0.1 < at < last * 0.98
        ]
        dropped = fmean(lost for flow, lost, _ in settled if flow == 0)
        marked = fmean(struck for flow, _, struck in settled if flow == 1)
        ratio = dropped / (marked / 2) ** 2
        worst = max(worst, ratio, 1 / ratio)
        print(f"| {rate} | {classic:.2f}, {l4s:.2f} | {marked:.4f} | {dropped:.4f} | {ratio:.3f} |")
    print(f"\nat most {worst - 1:.1%} apart")


def delay() -> None:
    """Print the delay of L4S packets of Prague beside CUBIC at 40 Mbit/s and 20 ms."""
    pairs = [("prague", "cubic"), ("prague(rttdependent)", "cubic"), ("prague", "prague")]
    run = ac.simulate_many(scenario(40, [(a, 20), (b, 20)]) for a, b in pairs)
    for cell, pair in enumerate(pairs):
        row, flows = forward(run, cell), steady(run, "flows", cell)
        rates = ", ".join(f"{flow['goodput_bps'] / 1e6:.2f}" for flow in flows)
        p99 = row["l4s_queue_delay_p99_s"]
        told = "within" if p99 <= STEP_S + FRAME_S else "beyond"
        classic = row["classic_queue_delay_mean_s"] or 0.0
        print(f"{' beside '.join(pair)}: {rates} Mbit/s, L4S p99 {p99 * 1e3:.3f} ms ({told} step"
              f" + frame), Classic mean {classic * 1e3:.2f} ms, p_CL"
              f" {row['l4s_probability_mean']:.4f}, link {row['utilisation']:.3f}")  # fmt: skip


#: heistp/l4s-tests, scenario 1, dualpi2: pairs of flows (c: CUBIC, p: Prague; ms) and their Mbit/s.
PUBLISHED = {
    50: """c10/p10 12.65/34.57 p10/c10 34.09/13.04 c10/c10 23.11/24.18 p10/p10 23.51/22.75
        p20/c10 28.40/18.84 c20/p10 9.21/37.86 p20/p10 15.84/30.77 c20/c10 20.61/26.76
        c20/p20 14.94/32.39 p20/p20 23.50/23.36 p20/c20 31.85/15.51 c20/c20 24.80/22.67
        c80/p20 6.43/40.69 p80/p20 5.80/41.48 p80/c20 22.43/24.89 c80/c20 14.75/32.73
        c80/p80 17.85/29.58 p80/c80 29.92/17.48 c80/c80 23.88/23.47 p80/p80 23.45/23.60
        c160/p10 4.87/41.67 p160/p10 1.56/45.46 p160/c10 10.13/37.28 c160/c10 10.74/36.50""",
    10: """c10/p10 2.93/6.22 p10/p10 4.31/4.27 p10/c10 6.25/2.93 c10/c10 4.82/4.47
        c20/c10 3.52/5.75 p20/p10 2.48/6.17 c20/p10 2.28/6.87 p20/c10 5.00/4.22
        p20/p20 4.33/4.43 c20/c20 4.58/4.75 c20/p20 3.28/5.93 p20/c20 6.01/3.23
        c80/c20 2.71/6.56 p80/c20 3.64/5.67 c80/p20 1.22/7.88 p80/p20 1.61/7.36
        c80/c80 4.26/4.97 c80/p80 3.48/5.90 p80/p80 4.57/4.70 p80/c80 5.94/3.42
        c160/c10 1.21/8.04 c160/p10 1.18/7.89 p160/c10 1.22/8.10 p160/p10 0.20/8.66""",
}  # fmt: skip
LAWS = {"c": "cubic", "p": "prague(rttdependent)"}
#: Two flows of which neither has more than this share are even: these cells have no winner.
EVEN = 0.53


def cells() -> Iterable[tuple[int, str, tuple[float, float]]]:
    """Yield the rate, the pair and the published rates of each cell."""
    for rate, text in PUBLISHED.items():
        words = text.split()
        for pair, rates in zip(words[::2], words[1::2], strict=True):
            one, other = rates.split("/")
            yield rate, pair, (float(one), float(other))


def winner(rates: Sequence[float]) -> str:
    """Return which of two flows has more, or that they are even."""
    first = rates[0] / sum(rates)
    return "even" if 1 - EVEN <= first <= EVEN else "first" if first > EVEN else "second"


def winners() -> None:
    """Print who wins in each cell of l4s-tests' first scenario, there and here."""
    wanted = list(cells())
    run = ac.simulate_many(
        scenario(
            rate,
            [(LAWS[end[0]], float(end[1:])) for end in pair.split("/")],
            duration_s=120.0,
            steady_s=58.0,
        )
        for rate, pair, _ in wanted
    )
    same = decided = 0
    print("| Mbit/s | pair | published | here | winner |")
    print("|" + " --- |" * 5)
    for cell, (rate, pair, published) in enumerate(wanted):
        rates = [flow["goodput_bps"] / 1e6 for flow in steady(run, "flows", cell)]
        theirs, ours = winner(published), winner(rates)
        decided += theirs != "even"
        same += theirs != "even" and theirs == ours
        said = theirs if theirs == ours else f"{theirs}, here {ours}"
        print(f"| {rate} | {pair} | {published[0]:.2f}/{published[1]:.2f} |"
              f" {rates[0]:.2f}/{rates[1]:.2f} | {said} |")  # fmt: skip
    print(f"\nthe same winner in {same} of {decided} cells that have one")


def main() -> None:
    """Print one part."""
    parts = {"coupling": coupling, "delay": delay, "winners": winners}
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("part", choices=parts)
    parts[parser.parse_args().part]()


if __name__ == "__main__":
    main()
