"""Figures 1 and 3 to 11 and Table 3 with Linux's Reno, with RFC 2861 and RFC 7661 in the kernel.

A kernel knows no events of flows. So each flow is an entry of its own, whose silence begins at a
moment that is drawn here, and is measured from its end on.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

import ackclock as ac
from ackclock.base.shown import seconds_of
from ackclock.plots.style import COLOURS, figure, styled
from ackclock.studies.framework.linux import ALIKE, OWN, REAL, OnLinux
from ackclock.studies.framework.simulation import Tables, simulated
from ackclock_studies.biswas2010 import scenarios
from ackclock_studies.biswas2010.analysis import Results
from ackclock_studies.biswas2010.runs import delay, restart, trace
from ackclock_studies.biswas2010.scenarios import (
    CWV,
    INTERRUPT_S,
    LONG_S,
    NEWCWV,
    SHORT_S,
    STANDARD,
    Plan,
    Setting,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.studies.framework.parts import Part

KERNELS = {STANDARD: "reno", CWV: "reno+cwv", NEWCWV: "reno+newcwv"}
"""The kernel's name of a sender of the study's. The restart of its Reno is Linux's."""

MEASURE = "restart"
"""The study's window of time. Linux is asked for one a flow, whose name ends in the flow's."""

IDLES_S = (0.5, 1.5, 5.0)
"""The silences of the paper's statements on the short path."""

LIMITED_S = 5.0
"""The time for which flows are limited in Figures 9 to 11."""

COLUMNS = (
    *("mix", "n", "variant", "rival", "period_s", "delay_s", "rate_bps", "rate_bps_ci"),
    *("drop_rate", "drop_rate_ci", "timeouts", "seeds"),
)

LOOKS = {OWN: ("blue", "o"), ALIKE: ("orange", "D"), REAL: ("green", "v")}
NAMES = {STANDARD: "standard TCP", CWV: "CWV", NEWCWV: "newCWV"}


@dataclass(frozen=True)
class Few(Plan):
    """The study's plan with fewer seeds and no more silences than the statements speak of."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of every setting."""
        return (1,) if self.quick else (1, 2, 3, 4, 5)

    @property
    def flows(self) -> tuple[int, ...]:
        """The numbers of flows that share the path."""
        return (4, 16) if self.quick else scenarios.FLOWS

    @property
    def idles(self) -> tuple[float, ...]:
        """The lengths of the silence."""
        return IDLES_S

    @property
    def periods(self) -> tuple[float, ...]:
        """The times for which the flows are limited."""
        return (1.0, 5.0) if self.quick else scenarios.PERIODS_S


def asked(scenario: ac.Scenario) -> ac.Scenario:
    """Return a scenario of the study for Linux's senders: a flow an entry, at drawn moments."""
    draw = random.Random(scenario.seed)  # noqa: S311 - nothing is secret
    flows: list[ac.Flow] = []
    measures: list[ac.Measure] = []
    ends: list[float] = []
    (measure,) = scenario.measures
    for group in scenario.flows:
        source = cast("ac.Cbr", group.app)
        for n in range(group.count):
            name = group.name if group.count == 1 else f"{group.name}-{n + 1}"
            app, until = _fixed(source, draw.uniform(*INTERRUPT_S))
            flows.append(
                replace(
                    group, name=name, count=1, variant=KERNELS[group.variant], profile="linux",
                    app=app, tcp=replace(group.tcp, delayed_ack="off"),
                )
            )  # fmt: skip
            ends.append(until)
            measures.append(
                replace(measure, name=f"{MEASURE} {name}", start=f"{until:.6f} s", flow=name)
            )
    first = min(ends)
    return replace(
        scenario,
        flows=flows,
        measures=measures,
        events=[
            replace(event, at=f"{first:.6f} s") if isinstance(event.at, ac.After) else event
            for event in scenario.events
        ],
        probes=[replace(probe, flow=flows[0].name) for probe in scenario.probes],
    )


def _fixed(app: ac.Cbr, at_s: float) -> tuple[ac.Cbr, float]:
    """Return a source that is interrupted at a moment, and when that is over."""
    ends = [at_s + seconds_of(str(each.duration)) for each in (*app.idle, *app.limited)]
    at = f"{at_s:.6f} s"
    return replace(
        app,
        idle=[replace(each, at=at) for each in app.idle],
        limited=[replace(each, at=at) for each in app.limited],
    ), ends[0]


def _measured(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return what :func:`restart` does, of flows with one window each too."""
    name = pl.col("measure").cast(pl.String)
    own = pl.when(name.str.starts_with(MEASURE)).then(pl.lit(MEASURE)).otherwise(name)
    frames = {
        key: getattr(tables, key).with_columns(own.alias("measure"))
        for key in ("flows", "crossings")
    }
    return restart(tables.with_frames(**frames), settings)


def _traced(tables: Tables, settings: Sequence[Setting]) -> pl.DataFrame:
    """Return what :func:`trace` does, without a kernel's samples of a silence: all else sends."""
    rows = trace(tables, settings)
    silent = (pl.col("mode") == "idle") & (pl.col("time_s") > INTERRUPT_S[1])
    return rows.filter(~silent | (pl.col("in_flight_segments") > 0))


def parts(plan: Plan, threads: int | None) -> list[Part]:
    """Return what the paper's statements are judged by; not quick, with newCWV beside its senders.

    Seeds are parts of their own.
    """
    senders = {STANDARD, CWV} if plan.quick else set(KERNELS)
    settings = {
        "idle": scenarios.idle(plan),
        "long": scenarios.long_path(plan),
        "limited": [each for each in scenarios.limited(plan) if each.period_s == LIMITED_S],
    }
    made = [simulated(threads, "traces", scenarios.traces(plan), _traced)]
    for name, runs in settings.items():
        by_period: dict[float, list[Setting]] = {}
        for each in runs:
            if senders.issuperset(each.variants):
                by_period.setdefault(each.period_s, []).append(each)
        made += [
            simulated(threads, f"{name}-{period_s:g}-{seed}", these, _measured)
            for period_s, all_seeds in by_period.items()
            for seed in plan.seeds
            if (these := [each for each in all_seeds if each.seed == seed])
        ]
    delays = [
        each
        for each in scenarios.delays(plan)
        if each.changed_bps is None and each.variants[0] in (STANDARD, CWV)
    ]
    for seed in plan.seeds:
        these = [each for each in delays if each.seed == seed]
        made.append(simulated(threads, f"delay-{seed}", these, delay))
    return made


def table(results: Mapping[str, Results]) -> pl.DataFrame:
    """Return a row a place, case, number of flows and sender: received and dropped; and delays."""
    frames = []
    for place, found in results.items():
        for name, title in (("idle_means", "silent"), ("applimited_means", "limited")):
            of = (pl.lit(place).alias("place"), pl.lit(title).alias("case"))
            frames.append(found[name].select(*of, *COLUMNS))
        frames.append(
            found["delay_means"].select(
                pl.lit(place).alias("place"),
                pl.lit("delay").alias("case"),
                "variant",
                pl.col("idle_s").alias("period_s"),
                "first_delay_s",
                "first_delay_s_ci",
            )
        )
        for (variant,), trace_of in (
            found["traces"]
            .filter(pl.col("mode") == "idle")
            .group_by("variant", maintain_order=True)
        ):
            times, windows = pl.col("time_s"), pl.col("cwnd_segments")
            frames.append(
                trace_of.select(
                    pl.lit(place).alias("place"),
                    pl.lit("window").alias("case"),
                    pl.lit(variant).alias("variant"),
                    pl.lit(1.5).alias("period_s"),
                    windows.filter(times <= INTERRUPT_S[0]).last().alias("before_segments"),
                    windows.filter(times > INTERRUPT_S[1] + 1.0).first().alias("after_segments"),
                )
            )
    return pl.concat(frames, how="diagonal")


def draw(rows: pl.DataFrame) -> Figure:
    """Draw rates, drops and delays of standard TCP and CWV, simulated twice and on Linux."""
    panels_of = {
        "Figure 3: mixed, silent 1.5 s": ("silent", "hetero", 1.5, SHORT_S, "rate_bps"),
        "Figure 4: alike, silent 1.5 s": ("silent", "homo", 1.5, SHORT_S, "rate_bps"),
        "Figure 5: the same": ("silent", "homo", 1.5, SHORT_S, "drop_rate"),
        "Figure 6: 604 ms, silent 2 s": ("silent", "homo", 2.0, LONG_S, "rate_bps"),
        "Figure 7: the same": ("silent", "homo", 2.0, LONG_S, "drop_rate"),
        "Figure 8: 25 flows": ("delay", None, None, None, "first_delay_s"),
        "Figure 9: mixed, limited 5 s": ("limited", "hetero", LIMITED_S, SHORT_S, "rate_bps"),
        "Figure 10: alike, limited 5 s": ("limited", "homo", LIMITED_S, SHORT_S, "rate_bps"),
        "Figure 11: the same": ("limited", "homo", LIMITED_S, SHORT_S, "drop_rate"),
    }
    axes = {
        "rate_bps": ("received, kbit/s a flow", 1e-3),
        "drop_rate": ("dropped, %", 100),
        "first_delay_s": ("delay, ms", 1e3),
    }
    with styled():
        made, panels = figure(6.6, 3, 3)
        for panel, (title, (case, mix, period_s, delay_s, column)) in zip(
            panels.flat, panels_of.items(), strict=True
        ):
            here = rows.filter(pl.col("case") == case)
            if mix is not None:
                here = here.filter(
                    pl.col("mix") == mix,
                    pl.col("period_s") == period_s,
                    pl.col("delay_s") == delay_s,
                )
                if mix == "hetero":
                    others = pl.col("rival").is_in([STANDARD, CWV])
                    here = here.filter(others)
            label, scale = axes[column]
            along = "period_s" if case == "delay" else "n"
            for place, (colour, marker) in LOOKS.items():
                for variant, dash in ((STANDARD, "--"), (CWV, "-")):
                    seen = here.filter(pl.col("place") == place, pl.col("variant") == variant).sort(
                        along
                    )
                    panel.plot(
                        seen[along], seen[column].cast(pl.Float64) * scale, dash,
                        color=COLOURS[colour], marker=marker, markersize=3,
                        label=f"{NAMES[variant]}, {place}",
                    )  # fmt: skip
            panel.set(
                title=title, ylabel=label, xlabel="silence, s" if case == "delay" else "flows"
            )
            panel.set_ylim(bottom=0)
        handles, labels = panels[0][0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=3, handlelength=4)
        return made


def _of_windows(rows: pl.DataFrame) -> str:
    """Return what the windows of Figure 1 are before and after the silence, at each place."""
    told = []
    for place in LOOKS:
        here = rows.filter(pl.col("place") == place, pl.col("case") == "window")
        of = {row["variant"]: row for row in here.iter_rows(named=True)}
        words = [
            f"{NAMES[name]} {of[name]['before_segments']:.0f} and {of[name]['after_segments']:.0f}"
            for name in (STANDARD, CWV)
        ]
        told.append(f"{place} {', '.join(words)}")
    return (
        "Linux’s own restart is half of RFC 2861: it halves the window for each timeout of "
        "silence, down to the first window of three segments, and a window that is not full does "
        "not grow. So Linux has no standard TCP in the paper’s sense. Windows of one flow in "
        f"segments before and after 1.5 s of silence: {'; '.join(told)}."
    )


LINUX: OnLinux[Plan, Results] = OnLinux(
    file=Path(__file__),
    plan=lambda quick: Few(quick=quick),
    parts=parts,
    asked=asked,
    claims=(
        *("biswas-f1", "biswas-idle-short", "biswas-f3", "biswas-f4f5", "biswas-idle-long"),
        *("biswas-f6f7", "biswas-f8", "biswas-f9", "biswas-f10f11", "biswas-t3"),
    ),
    not_asked={},
    table=table,
    draw=draw,
    caption="Figures 3 to 11 with standard TCP and CWV: simulated with the study’s senders, "
    "simulated with Linux’s recovery and habits, and Linux, whose CWV is a law of ours in it.",
    also=(
        (
            "A kernel knows no events of flows. Linux is asked with a window of measurement for "
            "each flow, and with silences that begin at moments drawn from the seed, other ones "
            "than the study’s. The simulated sender with Linux’s habits has the same."
        ),
        _of_windows,
    ),
)
