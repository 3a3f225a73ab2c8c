"""The study's figures, drawn from its tidy tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock.plots.style import COLOURS, figure, styled
from ackclock_studies.aqm.analysis import CAPACITY_BPS
from ackclock_studies.aqm.scenarios import BY_FLOW, QUEUES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY = COLOURS["ink"], COLOURS["grey"]
HUES = {
    "droptail": "ink",
    "red": "grey",
    "codel": "blue",
    "cobalt": "sky",
    "pie": "orange",
    "fair": "ink",
    "drr": "purple",
    "sfq": "grey",
    "fq_codel": "blue",
    "fq_cobalt": "sky",
    "fq_pie": "orange",
    "cake": "green",
}
"""Colours of the disciplines; those with a queue for each flow share that of their one-queue form,
and are dashed where lines are drawn."""


def _colour(queue: str) -> str:
    return COLOURS[HUES[queue]]


def _dashes(queue: str) -> str | tuple[int, tuple[float, float]]:
    return (0, (3, 1.5)) if queue in BY_FLOW else "-"


def _grouped(panel: Axes, rows: pl.DataFrame, column: str, scale: float = 1.0) -> None:
    """Draw horizontal bars, a group a queue and a bar a case, with 95 % intervals."""
    names = [name for name in QUEUES if name in rows["queue"].to_list()]
    cases = list(dict.fromkeys(rows["case"].to_list()))
    height = 0.8 / len(cases)
    shades = np.linspace(1.0, 0.4, len(cases))
    for n, case in enumerate(cases):
        here = rows.filter(pl.col("case") == case)
        found = {row["queue"]: row for row in here.iter_rows(named=True)}
        places = np.arange(len(names))[::-1] + (len(cases) / 2 - n - 0.5) * height
        values = [scale * (found[name][column] or 0.0) for name in names]
        errors = [scale * (found[name][f"{column}_ci"] or 0.0) for name in names]
        colours = [_colour(name) for name in names]
        panel.barh(places, values, height * 0.9, color=colours, alpha=shades[n], zorder=2)
        panel.errorbar(values, places, xerr=errors, color=INK, linestyle="none", linewidth=0.7,
                       capsize=1.5, zorder=3)  # fmt: skip
        if len(cases) > 1:
            panel.barh([0], [0], color=GREY, alpha=shades[n], label=case)
    panel.set_yticks(np.arange(len(names))[::-1], [QUEUES[name][0] for name in names])
    panel.grid(visible=False, axis="y")


def _legend(made: Figure, panel: Axes) -> None:
    lines, names = panel.get_legend_handles_labels()
    if names:
        made.legend(lines, names, loc="outside lower center", ncols=min(len(names), 6))


def tradeoff(rows: pl.DataFrame, seconds: pl.DataFrame) -> Figure:
    """Draw the delay against the goodput of one flow, and the delay over time."""
    with styled():
        made, panels = figure(3.4, 1, 2, width_ratios=(1, 1.3))
        for row in rows.iter_rows(named=True):
            mark = "o" if row["case"] == "reno" else "s"
            panels[0].errorbar(
                100 * row["goodput_bps"] / CAPACITY_BPS, 1e3 * row["queue_delay_mean_s"],
                xerr=100 * (row["goodput_bps_ci"] or 0) / CAPACITY_BPS,
                yerr=1e3 * (row["queue_delay_mean_s_ci"] or 0),
                color=_colour(row["queue"]), marker=mark,
            )  # fmt: skip
        panels[0].set(yscale="log", xlabel="% of the capacity", ylabel="mean delay, ms")
        panels[0].invert_yaxis()
        panels[0].plot([], [], color=GREY, marker="o", linestyle="none", label="Reno")
        panels[0].plot([], [], color=GREY, marker="s", linestyle="none", label="CUBIC")
        panels[0].legend(loc="lower left", fontsize="x-small")
        here = seconds.filter(pl.col("case") == "reno")
        for name in QUEUES:
            curve = here.filter(pl.col("queue") == name).sort("second")
            panels[1].plot(curve["second"], 1e3 * curve["delay_s"], color=_colour(name),
                           linestyle=_dashes(name), linewidth=0.9,
                           label=QUEUES[name][0])  # fmt: skip
        panels[1].set(xlabel="time, s", ylabel="delay, ms", title="Reno, first seed")
        _legend(made, panels[1])
        return made


def short(rows: pl.DataFrame) -> Figure:
    """Draw the mean completion of short flows."""
    with styled():
        made, panel = figure(4.6)
        _grouped(panel, rows, "completion_mean_s", 1e3)
        panel.set(xlabel="mean completion of 10 to 100 packets, ms")
        _legend(made, panel)
        return made


def unresponsive(rows: pl.DataFrame) -> Figure:
    """Draw the part of the capacity that a flow keeps, by the load of the others."""
    with styled():
        made, panel = figure(4.6)
        _grouped(panel, rows, "share", 100)
        panel.axvline(50, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)))
        panel.set(xlabel="% of the capacity that Reno has, by the load of the others")
        _legend(made, panel)
        return made


def rtt(rows: pl.DataFrame) -> Figure:
    """Draw the ratio of shares over the second flow's round-trip time."""
    with styled():
        made, panel = figure(4.6)
        for name in QUEUES:
            curve = rows.filter(pl.col("queue") == name).with_columns(
                pl.col("case").cast(pl.Float64).alias("ms")
            ).sort("ms")  # fmt: skip
            panel.errorbar(
                curve["ms"], curve["ratio"], yerr=curve["ratio_ci"].fill_null(0.0),
                color=_colour(name), marker="o" if name in BY_FLOW else "s", markersize=4,
                linestyle=_dashes(name), capsize=2, linewidth=0.9, label=QUEUES[name][0],
            )  # fmt: skip
        panel.axhline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        panel.set(xscale="log", yscale="log", xlabel="round-trip time of the second flow, ms",
                  ylabel="its rate over the first’s")  # fmt: skip
        _legend(made, panel)
        return made


def levels(rows: pl.DataFrame) -> Figure:
    """Draw delay and loss at three levels of congestion."""
    with styled():
        made, panels = figure(5.0, 1, 2, sharey=True)
        _grouped(panels[0], rows, "queue_delay_mean_s", 1e3)
        panels[0].set(xlabel="mean delay, ms")
        _grouped(panels[1], rows, "drop_share", 100)
        panels[1].set(xlabel="packets dropped, %")
        _legend(made, panels[0])
        return made


def capacity(rows: pl.DataFrame) -> Figure:
    """Draw the delay while the rate is low, and how much of the mean rate is used."""
    with styled():
        made, panels = figure(5.0, 1, 2, sharey=True)
        _grouped(panels[0], rows, "low_delay_p95_s", 1e3)
        panels[0].set(xlabel="95 % of the delay at the low rate, ms", xscale="symlog")
        _grouped(panels[1], rows, "used", 100)
        panels[1].set(xlabel="goodput over the mean capacity, %")
        _legend(made, panels[0])
        return made


def scavenger(rows: pl.DataFrame) -> Figure:
    """Draw LEDBAT's share beside Reno."""
    with styled():
        made, panel = figure(3.4)
        _grouped(panel, rows, "share", 100)
        panel.set(xlabel="LEDBAT’s share beside Reno, %")
        return made


def mix(rows: pl.DataFrame) -> Figure:
    """Draw responses of the web and losses of the voice, by what else there is."""
    with styled():
        made, panels = figure(5.4, 1, 2, sharey=True)
        _grouped(panels[0], rows, "response_mean_s", 1e3)
        panels[0].set(xlabel="mean response of 20 kB, ms")
        _grouped(panels[1], rows, "voice_lost", 100)
        panels[1].set(xlabel="voice packets lost, %")
        _legend(made, panels[0])
        return made
