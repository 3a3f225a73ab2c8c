"""Web traffic at 40, 90 and 98 % with Linux's own TCP at both ends, and TSL as a law of ours in it.

A connection's private line, its requests and its sizes are drawn as in the simulation, from the
same random numbers. The rates are those at which the study met its loads, and not searched for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import ackclock as ac
from ackclock.plots.style import COLOURS, figure, styled
from ackclock.studies.framework.linux import ALIKE, OWN, REAL, OnLinux
from ackclock.studies.framework.parts import Part
from ackclock.studies.framework.simulation import as_inputs
from ackclock_studies.tambuwal2018.analysis import Results
from ackclock_studies.tambuwal2018.runs import run_all
from ackclock_studies.tambuwal2018.scenarios import (
    BEST,
    LABELS,
    LONG_LOADS,
    MSS_BYTES,
    STANDARD,
    TSL,
    Plan,
    Setting,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RATES: Mapping[float, float] = {0.4: 54.8, 0.9: 125.0, 0.98: 138.7}
"""Connections a second by which the study's own search met the loads."""

SENDERS = {variant: f"reno+tsl({short})" for short, variant in TSL.items()}
"""The kernel's names: Reno with Linux's recovery."""

LOOKS = {
    OWN: ("simulated", COLOURS["blue"], "o"),
    ALIKE: ("simulated as Linux", COLOURS["orange"], "D"),
    REAL: ("Linux", COLOURS["green"], "v"),
}


@dataclass(frozen=True)
class Shorter(Plan):
    """The amount that a kernel can carry: one seed, at the loads of the figures.

    The warm-up alone is a minute of a core; quick is of the highest load, where most is lost.
    """

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seed."""
        return (1,)

    @property
    def loads(self) -> tuple[float, ...]:
        """The loads that the paper's figures show; quick, the last of them."""
        return LONG_LOADS[-1:] if self.quick else LONG_LOADS

    def connections(self, load: float) -> int:
        """Return how many connections a run opens after its warm-up, on average."""
        del load
        return 500 if self.quick else 20_000


def asked(scenario: ac.Scenario) -> ac.Scenario:
    """Return a scenario of the study for Linux's senders: an ACK a segment, no timestamps."""
    (web,) = scenario.traffic
    tcp = ac.Tcp(
        mss=f"{MSS_BYTES} B",
        initial_window=3,
        receive_window=f"{1000 * MSS_BYTES} B",
        delayed_ack="off",
        timestamps=False,
    )
    web = replace(web, variant=SENDERS[str(web.variant)], profile="linux", tcp=tcp)
    return replace(scenario, traffic=[web])


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return the runs of the paper's six variants, a part a load and seed."""

    def part(load: float, seed: int) -> Part:
        rate = RATES[load]
        settings = [Setting(each, rate, plan.connections(load), seed) for each in TSL.values()]
        keys = [
            {"variant": each, "load": load, "seed": seed, "conn_rate_per_s": rate}
            for each in TSL.values()
        ]
        return Part(
            f"runs-{100 * load:g}-{seed}",
            [as_inputs([each.scenario() for each in settings]), keys],
            len(settings),
            lambda advance: run_all(settings, keys, threads, advance),
        )

    return [part(load, seed) for seed in plan.seeds for load in plan.loads]


SHOWN = ("connections", "synack_lost_connections", "utilisation", "plr", "lost_mean_rtts",
         "lost_mean_s", "response_p50_s", "response_p99_s")  # fmt: skip


def table(results: Mapping[str, Results]) -> pl.DataFrame:
    """Return a row a place, variant and load; behind them one a connection that lost a SYN-ACK."""
    frames = []
    for place, found in results.items():
        where = pl.lit(place).alias("place")
        frames.append(found["runs"].select(where, "variant", "load", "seed", *SHOWN))
        lost = found["lost"].filter(pl.col("variant").is_in([STANDARD, BEST]))
        frames.append(lost.select(where, "variant", "load", "seed", "bytes", "rtts", "base_rtt_s"))
    return pl.concat(frames, how="diagonal_relaxed")


def draw(rows: pl.DataFrame) -> Figure:
    """Draw mean delays after a lost SYN-ACK, their distribution, and the loss rate, by load."""
    runs = rows.filter(pl.col("connections").is_not_null())
    lost = rows.filter(pl.col("rtts").is_not_null())
    loads = sorted(runs["load"].unique())
    names = [LABELS[variant] for variant in TSL.values()]
    with styled():
        made, panels = figure(6.6, 3, len(loads), squeeze=False)
        for column, load in enumerate(loads):
            means, spread, losses = panels[:, column]
            for n, (place, (label, colour, marker)) in enumerate(LOOKS.items()):
                here = runs.filter(pl.col("place") == place, pl.col("load") == load)
                at = [list(TSL.values()).index(name) + 0.2 * (n - 1) for name in here["variant"]]
                for panel, metric, scale in ((means, "lost_mean_rtts", 1), (losses, "plr", 100)):
                    panel.plot(at, scale * here[metric], marker=marker, markersize=3.5,
                               linestyle="none", color=colour, label=label)  # fmt: skip
                for variant, line in ((STANDARD, ":"), (BEST, "-")):
                    seen = lost.filter(pl.col("place") == place, pl.col("load") == load,
                                       pl.col("variant") == variant)["rtts"].sort()  # fmt: skip
                    share = np.arange(1, len(seen) + 1) / max(1, len(seen))
                    spread.step(seen, share, where="post", color=colour, linestyle=line)
            means.set(title=f"{100 * load:g} %", ylim=(0, None))
            spread.set(xscale="log", xlim=(1, 1000), ylim=(0, 1), xlabel="round trips")
            losses.set(ylim=(0, None))
            for panel in (means, losses):
                panel.set_xticks(range(len(names)), labels=names, rotation=60, fontsize=6)
        panels[0][0].set_ylabel("mean response after a\nlost SYN-ACK, round trips")
        panels[1][0].set_ylabel("share of them,\n1,2 dotted, 3,16 solid")
        panels[2][0].set_ylabel("loss, %")
        handles, labels = panels[0][0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=3)
        return made


def _of_counts(rows: pl.DataFrame) -> str:
    """Return how many connections a comparison rests on."""
    told = []
    for load in sorted(rows["load"].unique()):
        here = rows.filter(pl.col("load") == load, pl.col("variant") == STANDARD)
        counts = {
            place: here.filter(pl.col("place") == place)["synack_lost_connections"].sum()
            for place in LOOKS
        }
        told.append(f"{counts[OWN]}, {counts[ALIKE]} and {counts[REAL]} at {100 * load:g} %")
    return (
        "The statements are of connections that lost one SYN-ACK and no SYN. With standard TCP "
        f"there are {'; '.join(told)} (simulated, simulated as Linux, on Linux): the study itself "
        "has some hundred times as many. Where the simulations part from one another, chance may "
        "be why."
    )


LINUX: OnLinux[Plan, Results] = OnLinux(
    file=Path(__file__),
    plan=lambda quick: Shorter(quick=quick),
    parts=parts,
    asked=asked,
    claims=(
        *("tambuwal-f4", "tambuwal-f5", "tambuwal-f6", "tambuwal-f7"),
        *("tambuwal-t2", "tambuwal-t3", "tambuwal-f8f10", "tambuwal-f11"),
    ),
    not_asked={
        "tambuwal-f2f3": "the statement is of the traffic model alone, whatever the end points are",
        "tambuwal-f12": "a class of connections has one sender on real packets, and a mix has two",
    },
    table=table,
    draw=draw,
    caption="By load: the mean response of connections that lost a SYN-ACK, in round trips, "
    "without the timer’s second; the distribution of these with standard TCP and TSL 3,16; and "
    "the loss rate. Simulated, simulated with Linux’s recovery, and on Linux.",
    also=(
        (
            "Every connection has a private line, with the round-trip time that the simulation "
            "draws for it, and asks for what it asks there. TSL is a law of ours in the kernel."
        ),
        (
            "The kernel’s timers run in steps of up to 32 ms, so that its second after a lost "
            "SYN-ACK may be that much longer: a quarter of the lines have round trips below 29 ms."
        ),
        _of_counts,
    ),
)
