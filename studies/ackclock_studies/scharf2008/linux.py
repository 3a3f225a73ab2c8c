"""Figures 4, 6 to 8 and 10 with Linux's slow start and, by our end points, Quick-Start in a guest.

Linux has no Quick-Start. What asks for a rate speaks by our own end points, whose packets go
through the kernel's devices and the path's routers; what does not ask is the kernel's own TCP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import ackclock as ac
from ackclock.plots.style import COLOURS, figure, styled
from ackclock.studies.framework.linux import ALIKE, OWN, REAL, OnLinux
from ackclock.studies.framework.simulation import simulated
from ackclock_studies.scharf2008 import scenarios
from ackclock_studies.scharf2008.analysis import Results
from ackclock_studies.scharf2008.runs import decisions, response, routed, trace
from ackclock_studies.scharf2008.scenarios import GROWTHS, TCP, Plan, Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.studies.framework.parts import Part

KERNELS = {"newreno+sack": "reno", "cubic+sack+standard": "cubic"}
"""The kernel's name of a sender of the study's. Its CUBIC has HyStart."""
ASKS = "+quickstart"
SHORT_S = 5.0
"""The length of the traces that take the link at once or within a second or two: 4 s are judged."""
LARGEST_QUICK = 30_000_000
"""The largest response if quick: a guest takes 20 s of a core for 100 MB."""
LOOKS = {OWN: ("blue", "o"), ALIKE: ("orange", "D"), REAL: ("green", "v")}


@dataclass(frozen=True)
class Few(Plan):
    """The study's plan with shorter traces."""

    @property
    def long_s(self) -> float:
        """The time for which the slowest rates of Figures 4 and 6 are watched."""
        return 60.0 if self.quick else 120.0


@dataclass(frozen=True)
class Routed:
    """The three downloads of Figure 7 or 8."""

    figure: str
    growth: str

    def scenario(self) -> ac.Scenario:
        """Return the run as a scenario."""
        return scenarios.downloads(cross=self.figure == "f8", growth=self.growth)


def asked(scenario: ac.Scenario) -> ac.Scenario:
    """Return a scenario of the study: with the kernel's sender where nothing is asked for."""
    return replace(scenario, traffic=[_sender(each) for each in scenario.traffic or ()])


def _sender(traffic: ac.Traffic) -> ac.Traffic:
    variant = str(traffic.variant)
    if ASKS in variant:
        return replace(traffic, endpoint="ackclock")
    tcp = replace(traffic.tcp or TCP, min_rto=None)
    return replace(traffic, variant=KERNELS[variant], profile="linux", tcp=tcp)


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return the runs of Figures 4 and 6, 7 and 8, and 10; quick: the last of NewReno alone."""
    growths = ("newreno",) if plan.quick else tuple(GROWTHS)
    largest = LARGEST_QUICK if plan.quick else max(scenarios.SIZES)
    transfers = [
        each
        for each in scenarios.transfers()
        if each.growth in growths
        and each.startup != "iw10"
        and each.size_bytes <= largest
        and (each.buffer, each.ssthresh_rule) == ("lossless", "unchanged")
    ]
    traces = [
        replace(
            each, length_s=plan.long_s if _is_slow(each) and each.growth in growths else SHORT_S
        )
        for each in scenarios.traces(plan)
    ]
    routes = [Routed(*each) for each in routed()]
    return [
        simulated(threads, "response", transfers, response),
        simulated(threads, "traces", traces, trace),
        simulated(
            threads, "routers", routes,
            lambda tables, runs: decisions(tables, [(run.figure, run.growth) for run in runs]),
        ),
    ]  # fmt: skip


def _is_slow(each: Trace) -> bool:
    """Return True for the request that ends slow start early, with Reno for minutes."""
    return (each.rate_bps, each.ssthresh_rule) == (scenarios.LOW_BPS, "approved")


def table(results: Mapping[str, Results]) -> pl.DataFrame:
    """Return a row a transfer of Figure 10 and place: its response time and speed-up."""
    return pl.concat(
        found["speedup"].select(pl.lit(place).alias("on"), pl.all())
        for place, found in results.items()
    )


def draw(rows: pl.DataFrame) -> Figure:
    """Draw Figure 10 at each place: the speed-up over the size of the response."""
    rows = rows.filter(pl.col("startup") == "quick-start", pl.col("growth") == "newreno")
    with styled():
        made, panels = figure(3.0, 1, 2, sharey=True)
        for panel, rtt_s in zip(panels, scenarios.RTTS_S, strict=True):
            for place, (colour, marker) in LOOKS.items():
                here = rows.filter(pl.col("rtt_s") == rtt_s, pl.col("on") == place)
                panel.plot(
                    here["size_bytes"], here["speedup"], marker=marker, markersize=3.5,
                    color=COLOURS[colour], label=place,
                )  # fmt: skip
            panel.set(
                xscale="log", xlabel="size of the response, B", title=f"Round trip {rtt_s:g} s"
            )
        panels[0].set(ylabel="slow start’s time over Quick-Start’s", ylim=(0, None))
        made.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return made


LINUX: OnLinux[Plan, Results] = OnLinux(
    file=Path(__file__),
    plan=lambda quick: Few(quick=quick),
    parts=parts,
    asked=asked,
    claims=("scharf-f4f6", "scharf-f7", "scharf-f8", "scharf-f10"),
    not_asked={
        "scharf-f9": "routers alone are judged, by packets that no kernel sends",
        "scharf-t2": "a router’s cost: measured on the stock kernel, by the study’s live part",
        "scharf-f11": "a router’s cost: measured on the stock kernel, by the study’s live part",
        "scharf-t1": "a browser’s connections are no application of the kernel’s sockets yet",
    },
    table=table,
    draw=draw,
    caption="Figure 10 three times: how many times as long a response takes with slow start as "
    "with Quick-Start. On Linux slow start is the kernel’s, Quick-Start our end points’.",
    also=(
        (
            "Linux has no Quick-Start: connections that ask for a rate are our own end points’ in "
            "the guest, those that do not are the kernel’s, with its first window of three "
            "segments and, of CUBIC, with HyStart, which the paper’s Linux did not have."
        ),
    ),
)
