#!/usr/bin/env python3
"""Measure reordering for docs/validation/reordering.md: the same paths simulated and live.

``live_reorder.py run FILE`` appends one JSON line a live run to FILE and goes on where it stopped;
``live_reorder.py table FILE`` simulates the same settings and prints the page's table;
``live_reorder.py figure FILE SVG`` draws simulations of all recoveries over share and delay, and
the kernel's runs beside them. Needs what `ackclock doctor` says live runs need, and six minutes a
repetition, more where runs are refused.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import matplotlib as mpl
import matplotlib.pyplot as plt

import ackclock as ac
from ackclock.base.estimates import Estimate, estimate

REPETITIONS = 5
MOST_TRIES = 3
SIMULATIONS = 30
SECONDS = 20
RATE = 20
RTT_MS = 100


class Setting(NamedTuple):
    """Which share of the data packets is late, by how much, and who sends them."""

    share: float
    late_ms: float
    variant: str
    timestamps: bool


SETTINGS = [
    Setting(0.1, 40, "cubic", True),
    Setting(0.1, 200, "cubic", True),
    Setting(1, 1, "cubic", True),
    Setting(1, 10, "cubic", True),
    Setting(1, 40, "cubic", True),
    Setting(1, 100, "cubic", True),
    Setting(1, 200, "cubic", True),
    Setting(10, 1, "cubic", True),
    Setting(10, 10, "cubic", True),
    Setting(10, 40, "cubic", True),
    Setting(10, 100, "cubic", True),
    Setting(1, 40, "reno", True),
    Setting(10, 10, "reno", True),
    Setting(0.1, 40, "cubic", False),
    Setting(1, 40, "cubic", False),
    Setting(10, 10, "cubic", False),
    Setting(1, 40, "reno", False),
]


def scenario(
    setting: Setting, seed: int = 1, profile: str = "linux", **probe: str
) -> dict[str, Any]:
    """Return a path with a buffer of one bandwidth-delay product, and the flow of a setting."""
    buffer = round(RATE * 1e6 * RTT_MS / 1e3 / 8)
    # The way back has the reordering of the way there unless it is said otherwise.
    none = {"share": 0.0, "delay": "1 ms"}
    link = {
        "name": "path",
        "from": "sender",
        "to": "receiver",
        "rate": f"{RATE} Mbit/s",
        "delay": f"{RTT_MS / 2:g} ms",
        "queue": {"kind": "droptail", "limit": f"{buffer} B"},
        "reorder": {"share": setting.share / 100, "delay": f"{setting.late_ms:g} ms"},
        "reverse": {"rate": "1 Gbit/s", "reorder": none},
    }
    flow = {
        "name": "bulk",
        "variant": setting.variant,
        "profile": profile,
        "from": "sender",
        "to": "receiver",
        "tcp": {"timestamps": setting.timestamps},
    }
    return {
        "seed": seed,
        "duration": f"{SECONDS} s",
        "topology": {"kind": "graph", "link": [link]},
        "flow": [flow],
        **({"probe": [{"flow": "bulk", **probe}]} if probe else {}),
    }


def outcomes(run: ac.Run) -> list[dict[str, Any]]:
    """Return what the page tells of each run."""
    flows, links = run.flows.to_pylist(), run.links.to_pylist()
    there = [link for link in links if link["direction"] == "forward"]
    return [
        {
            "goodput": flow["goodput_bps"] / 1e6,
            "again": flow["segments_retransmitted"],
            # Nothing but a full queue loses a packet here.
            "needless": max(0, flow["segments_retransmitted"] - link["dropped_packets"]),
            "reductions": flow["congestion_events"],
            "timeouts": flow["timeouts"],
        }
        for flow, link in zip(flows, there, strict=True)
    ]


def simulated(settings: list[Setting], seeds: int, **of: Any) -> list[list[dict[str, Any]]]:
    """Return the outcomes of each setting's simulations."""
    made = [
        ac.Scenario.from_dict(scenario(setting, seed + 1, **of))
        for setting in settings
        for seed in range(seeds)
    ]
    found = outcomes(ac.simulate_many(made))
    return [found[at : at + seeds] for at in range(0, len(found), seeds)]


def read(file: Path) -> list[dict[str, Any]]:
    """Return the runs of FILE."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def of_setting(lines: list[dict[str, Any]], setting: Setting) -> list[dict[str, Any]]:
    """Return the runs of a setting."""
    return [line for line in lines if line["setting"] == list(setting)]


def measured(lines: list[dict[str, Any]], setting: Setting) -> list[dict[str, Any]]:
    """Return those of a setting that are measurements."""
    return [line for line in of_setting(lines, setting) if line["live"]["valid"]]


def run(file: Path) -> None:
    """Add the live runs that FILE lacks, each with a seed of its own."""
    lines = read(file)
    with file.open("a") as out:
        # A repetition of all before the next of any, so that no setting has an hour to itself.
        for wanted in range(1, REPETITIONS + 1):
            for setting in SETTINGS:
                for _ in range(MOST_TRIES):
                    tries = of_setting(lines, setting)
                    if (
                        len(measured(lines, setting)) >= wanted
                        or len(tries) >= MOST_TRIES * REPETITIONS
                    ):
                        break
                    seed = len(tries) + 1
                    made = ac.run_live(ac.Scenario.from_dict(scenario(setting, seed)))
                    (found,) = outcomes(made)
                    line = {"setting": list(setting), "seed": seed, **found, "live": made.live}
                    lines.append(line)
                    print(json.dumps(line), file=out, flush=True)


def spread(runs: list[dict[str, Any]], key: str) -> Estimate:
    """Return the mean of a column, and the half-width of its 95 % interval."""
    return estimate([run[key] for run in runs])


def cell(found: Estimate, digits: int) -> str:
    """Return a mean with its interval, as the table has it."""
    mean = f"{found.mean:.{digits}f}"
    return mean if found.ci is None else f"{mean} ± {found.ci:.{digits}f}"


def table(file: Path) -> None:
    """Print the page's table."""
    lines = read(file)
    print(
        "| late | variant | timestamps | goodput | live | apart | needless | live | apart "
        "| reductions | live | runs |"
    )
    print("|" + " --- |" * 12)
    for setting, ours in zip(SETTINGS, simulated(SETTINGS, SIMULATIONS), strict=True):
        live = measured(lines, setting)
        if not live:
            continue
        row = [
            f"{setting.share:g} %, {setting.late_ms:g} ms",
            f"`{setting.variant}`",
            "yes" if setting.timestamps else "no",
        ]
        for key, digits in (("goodput", 2), ("needless", 1)):
            model, real = spread(ours, key), spread(live, key)
            apart = f"{(model.mean / real.mean - 1) * 100:+.0f} %" if real.mean else "–"
            row += [cell(model, digits), cell(real, digits), apart]
        row += [cell(spread(of, "reductions"), 1) for of in (ours, live)]
        print("| " + " | ".join([*row, str(len(live))]) + " |")


RECOVERIES = ("gobackn", "fastrecovery", "partialack", "sack", "prr", "rack")
SHARES = (0.1, 0.3, 1, 3, 10)
DELAYS = (1, 3, 10, 40, 100, 200)


def figure(file: Path, image: Path) -> None:
    """Draw goodput over share and delay, of all recoveries and both profiles."""
    mpl.rcParams["svg.hashsalt"] = "ackclock"
    lines = read(file)
    fig, axes = plt.subplots(2, 2, figsize=(10, 7), sharey=True, layout="constrained")
    for row, profile in zip(axes, ("linux", "rfc"), strict=True):
        for axis, over in zip(row, ("share", "delay"), strict=True):
            at = SHARES if over == "share" else DELAYS
            points = [(x, 40) if over == "share" else (1, x) for x in at]
            for recovery in RECOVERIES:
                settings = [Setting(*point, f"cubic+{recovery}", True) for point in points]
                found = simulated(settings, 8, profile=profile)
                axis.plot(
                    at, [fmean(o["goodput"] for o in of) for of in found], "-", label=recovery
                )
            if profile == "linux":
                for x, point in zip(at, points, strict=True):
                    live = measured(lines, Setting(*point, "cubic", True))
                    if live:
                        of = spread(live, "goodput")
                        axis.errorbar(
                            x,
                            of.mean,
                            0 if of.ci is None or math.isnan(of.ci) else of.ci,
                            fmt="ko",
                            capsize=3,
                        )
            axis.set_xscale("log")
            axis.set_ylim(0, 20)
            axis.grid(alpha=0.3)
            axis.set_title(f"{profile}, {'40 ms late' if over == 'share' else '1 % late'}")
            axis.set_xlabel("share of packets late, %" if over == "share" else "late by, ms")
        row[0].set_ylabel("goodput, Mbit/s")
    axes[0, 0].legend(fontsize="small")
    fig.savefig(image, metadata={"Date": None})


if __name__ == "__main__":
    action, *files = sys.argv[1:]
    {"run": run, "table": table, "figure": figure}[action](*map(Path, files))
