"""Figures 2 and 4 to 11 with the senders of the paper, and ours, in Linux's own TCP.

Reno and CUBIC are the kernel's, Compound, CCP, CCPD and `playout` laws of ours in it. The server
that paces bounds its socket's rate, as it does the simulated sender's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import ackclock as ac
from ackclock.base.shown import seconds_of
from ackclock.plots.style import COLOURS, figure, styled
from ackclock.plots.thin import thinned
from ackclock.studies.framework.linux import ALIKE, OWN, REAL, OnLinux
from ackclock.studies.framework.simulation import simulated
from ackclock_studies.watanabe2013.analysis import SETTLED_FROM_S, Results, means
from ackclock_studies.watanabe2013.figures import METRICS, SPAN_S
from ackclock_studies.watanabe2013.published import PUBLISHED
from ackclock_studies.watanabe2013.runs import traced
from ackclock_studies.watanabe2013.runs_measures import measured
from ackclock_studies.watanabe2013.scenarios import BY_KEY, CASES, DEFAULT, MADE, Plan, Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.studies.framework.parts import Part

SENDERS = {
    **{name: f"{name}+iw3" for name in PUBLISHED},
    MADE: MADE,
}
"""The kernel's names: the recovery is Linux's, the first window is the study's."""

TRACED, SHAPE = "below", ("mean_packets", "range_packets", "settle_s")
"""The path of Figure 5, and what is told of the windows on it."""

ASKED = tuple(case for case in CASES if case.figure)

LOOKS = {
    OWN: ("simulated", COLOURS["blue"], "o"),
    ALIKE: ("simulated as Linux", COLOURS["orange"], "D"),
    REAL: ("Linux", COLOURS["green"], "v"),
}


@dataclass(frozen=True)
class Shorter(Plan):
    """The amount that a kernel can carry in an hour of two cores: a fifth of the film, four times.

    The whole film four times would take five hours: a second of it is a quarter of a second of a
    core, and there are seven senders on seven paths.
    """

    @property
    def trials(self) -> int:
        """Trials of each variant in each case."""
        return 1 if self.quick else 4

    @property
    def length_s(self) -> int:
        """The length of the video that is played."""
        return 24 if self.quick else 120


def asked(scenario: ac.Scenario) -> ac.Scenario:
    """Return a scenario of the study for Linux's senders, which ends soon after the film."""
    (flow,) = scenario.flows
    length_s = seconds_of(scenario.duration) / DEFAULT.patience
    law = flow.variant.partition("+")[0].removesuffix("(linux)")
    flow = replace(flow, variant=SENDERS[law], profile="linux")
    return replace(scenario, duration=f"{1.3 * length_s + 12:g} s", flows=[flow])


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return a part a case and trial, and one of the windows: each lasts minutes."""

    def trials(case: str, seed: int, probe: str = "") -> list[Trial]:
        return [
            Trial(BY_KEY[case], name, DEFAULT, seed, plan.length_s, probe)  # type: ignore[arg-type]
            for name in SENDERS
        ]

    return [
        simulated(threads, "traces", trials(TRACED, 1, "cwnd"), traced),
        *(
            simulated(threads, f"trials-{case.key}-{seed}", trials(case.key, seed), measured)
            for seed in range(1, plan.trials + 1)
            for case in ASKED
        ),
    ]


def table(results: Mapping[str, Results]) -> pl.DataFrame:
    """Return a row a case, sender and place: the three numbers; and its windows, a row a moment."""
    frames = []
    for place, found in results.items():
        shapes = found["shapes"].select(pl.lit(TRACED).alias("scenario"), "variant", *SHAPE)
        rows = means(found["details"], ("scenario", "variant"), tuple(METRICS))
        rows = rows.join(shapes, on=["scenario", "variant"], how="left", maintain_order="left")
        for (variant,), trace in found["traces"].group_by("variant", maintain_order=True):
            times, windows = (trace[name].to_numpy() for name in ("time_s", "window_packets"))
            times, windows = thinned(times, windows, SPAN_S)
            kept = {"variant": variant, "time_s": times, "window_packets": windows}
            rows = pl.concat([rows, pl.DataFrame(kept)], how="diagonal")
        frames.append(rows.select(pl.lit(place).alias("place"), pl.all()))
    return pl.concat(frames, how="diagonal")


def draw(rows: pl.DataFrame) -> Figure:
    """Draw the three numbers of each case and sender, and under them the windows of Figure 5."""
    numbers = rows.filter(pl.col("scenario").is_not_null())
    traces = rows.filter(pl.col("time_s").is_not_null())
    names = list(SENDERS)
    below = -(-len(PUBLISHED) // len(METRICS))
    with styled():
        made, panels = figure(1.25 * (len(ASKED) + below) + 0.6, len(ASKED) + below, len(METRICS))
        for line, case in zip(panels, ASKED, strict=False):
            here = numbers.filter(pl.col("scenario") == case.key)
            for panel, (metric, title) in zip(line, METRICS.items(), strict=True):
                for n, (place, (label, colour, marker)) in enumerate(LOOKS.items()):
                    seen = here.filter(pl.col("place") == place)
                    at = [names.index(name) + 0.22 * (n - 1) for name in seen["variant"]]
                    panel.errorbar(
                        at, seen[metric], yerr=seen[f"{metric}_sd"].fill_null(0.0),
                        color=colour, marker=marker, markersize=3.5, linewidth=0.9,
                        linestyle="none", label=label,
                    )  # fmt: skip
                highest = (here[metric] + here[f"{metric}_sd"]).max()
                panel.set_ylim(0, 1.15 * float(highest or 1))  # type: ignore[arg-type]
                panel.locator_params(axis="y", nbins=3)
                panel.set_xticks(range(len(names)), labels=[""] * len(names))
                if case is ASKED[0]:
                    panel.set_title(title)
                if case is ASKED[-1]:
                    panel.set_xticks(range(len(names)), labels=names, rotation=60, fontsize=6)
            label = f"Figure {case.figure}\n{case.label}".replace(", ", "\n")
            line[0].set_ylabel(label, fontsize=7)
        last = min(120.0, float(traces["time_s"].max()))  # type: ignore[arg-type]
        top = float(traces.filter(pl.col("time_s") > SETTLED_FROM_S)["window_packets"].max())  # type: ignore[arg-type]
        for panel, name in zip(panels[len(ASKED) :].flat, PUBLISHED, strict=True):
            for place, (_, colour, _) in LOOKS.items():
                trace = traces.filter(pl.col("variant") == name, pl.col("place") == place)
                panel.plot(trace["time_s"], trace["window_packets"], color=colour, linewidth=0.6)
            panel.set(xlim=(0, last), ylim=(0, 1.3 * top))
            panel.text(0.5, 0.88, name, transform=panel.transAxes, ha="center", fontsize=7)
        for line in panels[len(ASKED) :]:
            line[0].set_ylabel("window, segments\n(Figure 5)", fontsize=7)
        for panel in panels[-1]:
            panel.set_xlabel("time, s")
        handles, labels = panels[0][0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=3)
        return made


def _of_pairs(rows: pl.DataFrame) -> str:
    """Return what the packet pairs of a real receiver's ACKs make of CCPD's window."""
    told = []
    for place, (label, _, _) in LOOKS.items():
        here = rows.filter(pl.col("place") == place, pl.col("scenario") == TRACED)
        row = here.row(by_predicate=pl.col("variant") == "ccpd(1,2000)", named=True)
        told.append(
            f"{row['mean_packets']:.1f} segments in the mean over a range of "
            f"{row['range_packets']:.1f}, {row['retransmissions']:.0f} sent again ({label})"
        )
    return (
        "CCPD takes the path’s rate from pairs of packets, which the receiver’s ACKs make. On the "
        f"path of Figure 5 the window of ccpd(1,2000) is {'; '.join(told)}."
    )


def _of_ours(rows: pl.DataFrame) -> str:
    """Return what the sender made for video sends again, of what others do."""
    told = []
    for place, (label, _, _) in LOOKS.items():
        here = rows.filter(pl.col("place") == place, pl.col("scenario").is_not_null())
        sums = here.group_by("variant").agg(pl.col("discards", "retransmissions").sum())
        of = {row["variant"]: row for row in sums.iter_rows(named=True)}
        fewest = min((name for name in of if name != MADE), key=lambda n: of[n]["retransmissions"])
        told.append(
            f"{of[MADE]['retransmissions']:.0f} segments and discards {of[MADE]['discards']:.0f} "
            f"pictures, {fewest} {of[fewest]['retransmissions']:.0f} and "
            f"{of[fewest]['discards']:.0f} ({label})"
        )
    return (
        f"The sender made for video, whose server bounds the rate of its socket, sends again on "
        f"all {len(ASKED)} paths together {'; '.join(told)}: the second is the paper’s sender "
        "that sends least again."
    )


LINUX: OnLinux[Plan, Results] = OnLinux(
    file=Path(__file__),
    plan=lambda quick: Shorter(quick=quick),
    parts=parts,
    asked=asked,
    claims=(
        *("watanabe-f2", "watanabe-f4", "watanabe-f5", "watanabe-f6", "watanabe-f7"),
        *("watanabe-f8", "watanabe-f9", "watanabe-f10", "watanabe-f11", "watanabe-none-best"),
    ),
    not_asked={
        "watanabe-goal": "it names two senders of today beside the paper’s, and no kernel has the "
        "HyStart++ of one; the figure has the numbers of our sender",
    },
    table=table,
    draw=draw,
    caption="Discards, underflows and retransmissions of each sender on each path of the paper’s "
    "figures, means and deviations over trials: simulated with the study’s senders, simulated with "
    "Linux’s recovery, and Linux. Below, the windows of Figure 5.",
    also=(
        (
            "Reno and CUBIC are the kernel’s own; Compound, CCP, CCPD and the sender made for "
            "video are laws of ours in it. Every sender has Linux’s recovery (RACK, tail loss "
            "probes) where the study’s have SACK, and the paper’s first window of three segments. "
            "The server that paces gives its bound to the socket "
            "(<code>SO_MAX_PACING_RATE</code>)."
        ),
        _of_pairs,
        (
            "With delayed ACKs some pairs show too high a rate. Simulated as Linux, 30 s of the "
            "film are 83 to 1,470 segments of ccpd(1,2000) sent again over seven seeds, and 83 "
            "with an ACK for each segment."
        ),
        _of_ours,
    ),
)
