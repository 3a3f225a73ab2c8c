"""Tables 1 to 3 and figures 2, 3, 6 and 7 with Tahoe in Linux's own TCP.

The kernel's windows are Tahoe's, by a law of ours in it; its recovery is Linux's. So it does not
go back N: it sends again what the scoreboard says is lost.
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
from ackclock_studies.altman1997.analysis import Results
from ackclock_studies.altman1997.runs import judged_parts
from ackclock_studies.altman1997.scenarios import PAYLOAD_BYTES, Plan

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.studies.framework.parts import Part

LOOKS = {
    "published": ("published simulation", COLOURS["grey"], "s"),
    "theory": ("closed form", COLOURS["orange"], "^"),
    OWN: ("simulated", COLOURS["blue"], "o"),
    ALIKE: ("simulated as Linux", COLOURS["pale"], "D"),
    REAL: ("Linux", COLOURS["green"], "v"),
}


@dataclass(frozen=True)
class Few(Plan):
    """The study's plan with fewer runs, and shorter ones: a guest takes a second for thirty."""

    @property
    def seeds(self) -> int:
        """Phases of a periodic exogenous stream, or seeds of a Poisson one, for each case."""
        return 1 if self.quick else 5

    @property
    def measured_s(self) -> float:
        """The time that is measured of each case."""
        return 300.0 if self.quick else 700.0

    @property
    def probe_s(self) -> float:
        """The time of a case that is recorded packet by packet."""
        return 100.0 if self.quick else 200.0

    @property
    def probe_seeds(self) -> int:
        """Runs of each case that are recorded packet by packet."""
        return 1 if self.quick else 2


def asked(scenario: ac.Scenario) -> ac.Scenario:
    """Return a scenario of the study for Linux's Tahoe: one segment first, an ACK a segment."""
    tcp = ac.Tcp(mss=f"{PAYLOAD_BYTES} B", initial_window=1, delayed_ack="off", min_rto="1 s")
    return replace(
        scenario, flows=[replace(flow, profile="linux", tcp=tcp) for flow in scenario.flows]
    )


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return what the paper's own statements are judged by."""
    return judged_parts(plan, threads)


def table(results: Mapping[str, Results]) -> pl.DataFrame:
    """Return a row a case and source: throughput, round trip, slow starts in a cycle."""
    columns = ("table", "case", "thp_pps", "thp_ci_pps", "rtt_s", "rtt_ci_s")
    more = ("slow_starts_per_cycle", "exogenous_loss")
    first = results[OWN]["cases"].filter(pl.col("source") != "simulation")
    return pl.concat(
        [
            first.select(pl.col("source"), *columns, *more),
            *(
                found["cases"]
                .filter(pl.col("source") == "simulation")
                .select(pl.lit(place).alias("source"), *columns, *more)
                for place, found in results.items()
            ),
        ]
    )


def draw(rows: pl.DataFrame) -> Figure:
    """Draw throughput and round trip of every case, published, by the closed form, and measured."""
    labels = rows.select(
        pl.format("{}.{}", "table", "case").alias("label")
    )["label"].unique(maintain_order=True).to_list()  # fmt: skip
    with styled():
        made, panels = figure(4.6, 2, 1, sharex=True)
        for n, (source, (label, colour, marker)) in enumerate(LOOKS.items()):
            here = rows.filter(pl.col("source") == source)
            places = [
                labels.index(f"{row['table']}.{row['case']}") + (n - 2) * 0.15
                for row in here.iter_rows(named=True)
            ]
            for panel, value, width in (
                (panels[0], "thp_pps", "thp_ci_pps"),
                (panels[1], "rtt_s", "rtt_ci_s"),
            ):
                panel.errorbar(
                    places, here[value], yerr=here[width].fill_null(0).to_numpy(), fmt=marker,
                    color=colour, markersize=3.5, label=label if panel is panels[0] else None,
                )  # fmt: skip
        panels[0].set(ylabel="throughput, packet/s", ylim=(0, None))
        panels[1].set(ylabel="round trip, s", ylim=(0, None), xlabel="table and case")
        panels[1].set_xticks(range(len(labels)), labels=labels, rotation=60)
        made.legend(loc="outside lower center", ncols=3)
        return made


LINUX: OnLinux[Plan, Results] = OnLinux(
    file=Path(__file__),
    plan=lambda quick: Few(quick=quick),
    parts=parts,
    asked=asked,
    claims=(
        *("altman-t1", "altman-t1b", "altman-t2", "altman-t3"),
        *("altman-f2f3", "altman-f7", "altman-priority"),
    ),
    not_asked={
        "altman-f4": "the figure is of the closed form alone",
        "altman-f5": "the figure is of the closed form alone",
        "altman-map": "random paths: the statement is of the closed form’s limits, which the "
        "simulation shows on 2,400 paths",
    },
    table=table,
    draw=draw,
    caption="Throughput and round trip of the cases of Tables 1 to 3: the published simulation, "
    "the closed form, the study’s Tahoe, a simulated Tahoe with Linux’s recovery, and Linux.",
    closed=("altman-t1/analytic-thp", "altman-t1/analytic-rtt", "altman-t1b/criterion"),
    also=(
        (
            "Linux’s recovery does not go back N: Tahoe’s window is one segment after a loss, and "
            "what the scoreboard calls lost is sent again, not all that was sent since. So does "
            "the simulated Tahoe under the profile of Linux, which says how much it matters."
        ),
    ),
)
