"""The study's figures, drawn from its tidy tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ackclock.plots.style import COLOURS, figure, styled
from ackclock_studies.laws.published import RESPONSE
from ackclock_studies.laws.scenarios import LAWS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, PALE = COLOURS["ink"], COLOURS["grey"], COLOURS["pale"]

SEQUENCE_6 = tuple(COLOURS[name] for name in ("ink", "blue", "orange", "green", "red", "purple"))

FAMILIES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "by loss": ("blue", "o", ("reno", "cubic", "highspeed", "scalable", "bic", "htcp", "hybla")),
    "by loss and delay": (
        "orange",
        "s",
        ("westwood", "veno", "yeah", "illinois", "compound"),
    ),
    "by delay": ("green", "^", ("cdg", "vegas", "nv", "copa")),
    "by delay, giving way": ("purple", "v", ("lp", "ledbat", "ledbatpp")),
    "by rate": ("red", "D", ("bbr1", "bbr", "c4")),
}
"""Colour and mark of each family of laws."""


def _look(law: str) -> tuple[str, str]:
    for colour, mark, members in FAMILIES.values():
        if law in members:
            return COLOURS[colour], mark
    return INK, "o"


def _end_labels(panel: Axes, ends: list[tuple[float, float, str, str]]) -> None:
    """Name curves at their right end, moved apart where they would overlap (a logarithmic axis)."""
    low, high = np.log(panel.get_ylim())
    gap = (high - low) / 24
    last = -np.inf
    for x, y, text, colour in sorted(ends, key=lambda each: each[1]):
        at = max(np.log(y), last + gap)
        last = at
        panel.annotate(text, (x, float(np.exp(at))), xytext=(4, 0), textcoords="offset points",
                       color=colour, fontsize="x-small", va="center")  # fmt: skip


def response(rows: pl.DataFrame, limit: float) -> Figure:
    """Draw mean windows over the loss rate, and those with a formula over it."""
    with styled():
        made, (whole, ratio) = figure(3.8, 1, 2, width_ratios=(1.5, 1))
        ends = []
        for (law,), curve in rows.sort("loss_rate").group_by("law", maintain_order=True):
            name = str(law)
            colour, mark = _look(name)
            whole.plot(curve["loss_rate"], curve["window_packets"], color=colour, marker=mark,
                       markersize=3.5, linewidth=0.9)  # fmt: skip
            ends.append((curve["loss_rate"][0], curve["window_packets"][0], LAWS[name], colour))
        whole.set(xscale="log", yscale="log", xlabel="loss rate p", ylabel="mean window, packets")
        whole.invert_xaxis()
        whole.margins(x=0.22)
        _end_labels(whole, ends)
        marks = ("o", "s", "^", "D", "v", "P")
        for law, colour, mark in zip(RESPONSE, SEQUENCE_6, marks, strict=True):
            curve = rows.filter(
                pl.col("law") == law, pl.col("loss_rate") <= RESPONSE[law][2] * 1.001
            ).sort("loss_rate")
            ratio.plot(curve["loss_rate"], curve["ratio"], color=colour, marker=mark,
                       markersize=4, linewidth=0.9, label=LAWS[law])  # fmt: skip
        ratio.axhspan(1 - limit, 1 + limit, color=PALE, alpha=0.35, linewidth=0)
        ratio.axhline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        ratio.set(xscale="log", xlabel="loss rate p", ylabel="simulation / formula")
        ratio.invert_xaxis()
        ratio.set_ylim(0.6, 1.25)
        ratio.legend(loc="lower left", ncols=2, fontsize="x-small")
        return made


def random(rows: pl.DataFrame) -> Figure:
    """Draw the part of the capacity that a flow has with random losses."""
    rates = sorted(rows["loss"].unique().to_list())
    with styled():
        made, panels = figure(4.4, 1, len(rates), sharey=True, squeeze=False)
        names = list(dict.fromkeys(rows["law"].to_list()))
        places = {law: len(names) - n for n, law in enumerate(names)}
        for panel, rate in zip(panels[0], rates, strict=True):
            here = rows.filter((pl.col("loss") - rate).abs() < 1e-12)
            for row in here.iter_rows(named=True):
                colour, mark = _look(row["law"])
                panel.errorbar(100 * row["share"], places[row["law"]],
                               xerr=100 * (row["share_ci"] or 0), color=colour, marker=mark,
                               markersize=4, capsize=2)  # fmt: skip
            panel.set(xlim=(0, 102), title=f"{100 * rate:g} % lost",
                      xlabel="% of the capacity")  # fmt: skip
        panels[0, 0].set_yticks(list(places.values()), [LAWS[law] for law in places])
        return made


def delay(rows: pl.DataFrame) -> Figure:
    """Draw the part of the capacity that a flow has alone, and the mean delay in the queue."""
    with styled():
        made, (left, right) = figure(4.6, 1, 2, sharey=True)
        shown = rows.with_columns(
            (100 * pl.col("share")).alias("percent"),
            (1e3 * pl.col("queue_delay_mean_s")).clip(0.1).alias("waited_ms"),
        )
        _bars(left, shown, "percent")
        left.set(xlabel="% of the capacity", xlim=(0, 102))
        _bars(right, shown, "waited_ms")
        right.set(xscale="log", xlabel="mean delay in the queue, ms", xlim=(0.5, None))
        return made


def sharing(rows: pl.DataFrame) -> Figure:
    """Draw a map of shares beside each other law, by buffer."""
    others = list(dict.fromkeys(rows["other"].to_list()))
    names = list(dict.fromkeys(rows["law"].to_list()))
    buffers = sorted(rows["buffer_bdp"].unique().to_list())
    titles = {other: f"beside {LAWS[other]}" for other in others}
    with styled():
        made, panels = figure(4.8, 1, len(others), sharey=True, squeeze=False)
        for panel, other in zip(panels[0], others, strict=True):
            grid = np.full((len(names), len(buffers)), np.nan)
            for row in rows.filter(pl.col("other") == other).iter_rows(named=True):
                grid[names.index(row["law"]), buffers.index(row["buffer_bdp"])] = row["share"]
            panel.imshow(grid, cmap="PuOr", vmin=0, vmax=1, aspect="auto")
            for y, x in np.ndindex(*grid.shape):
                value = grid[y, x]
                if np.isfinite(value):
                    strong = abs(value - 0.5) > 0.32
                    panel.text(x, y, f"{100 * value:.0f}", ha="center", va="center",
                               fontsize="x-small", color="white" if strong else INK)  # fmt: skip
            panel.set_xticks(range(len(buffers)), [f"{each:g}" for each in buffers])
            panel.set(xlabel="buffer, BDP", title=titles[other])
            panel.grid(visible=False)
        panels[0, 0].set_yticks(range(len(names)), [LAWS[law] for law in names])
        return made


def _bars(panel: Axes, rows: pl.DataFrame, column: str) -> None:
    places = np.arange(rows.height)[::-1]
    colours = [_look(law)[0] for law in rows["law"]]
    panel.barh(places, rows[column], 0.7, color=colours, zorder=2)
    if f"{column}_ci" in rows.columns:
        panel.errorbar(rows[column], places, xerr=rows[f"{column}_ci"].fill_null(0.0), color=INK,
                       linestyle="none", linewidth=0.8, capsize=1.5, zorder=3)  # fmt: skip
    panel.set_yticks(places, [LAWS[law] for law in rows["law"]])
    panel.grid(visible=False, axis="y")


def fairness(rows: pl.DataFrame) -> Figure:
    """Draw the fairness of two flows of one law, and the time to it."""
    with styled():
        made, (left, right) = figure(4.2, 1, 2, sharey=True)
        _bars(left, rows, "jain")
        left.set(xlabel="Jain’s index in the last minute", xlim=(0.45, 1.01))
        _bars(right, rows, "converged_s")
        right.set(xlabel="time of the late flow to its share, s", xlim=(0, None))
        return made


def rtt(rows: pl.DataFrame) -> Figure:
    """Draw the ratio of two flows' rates whose round-trip times differ by four."""
    with styled():
        made, panel = figure(4.2)
        _bars(panel, rows, "ratio")
        panel.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        panel.set(xscale="log", xlabel="rate of the flow of 40 ms over that of 160 ms")
        return made


def ramp(rows: pl.DataFrame, longest_s: float) -> Figure:
    """Draw the time to 90 % of a rate ten times as high; hollow: not reached."""
    with styled():
        made, panel = figure(4.2)
        took = rows.with_columns(pl.col("took_s").fill_null(longest_s).alias("shown_s"))
        _bars(panel, took, "shown_s")
        for patch, reached in zip(panel.patches, rows["took_s"].is_not_null(), strict=False):
            if not reached:
                patch.set(facecolor="none", edgecolor=GREY)
        panel.set(xscale="log", xlabel="time to 900 Mbit/s, s", xlim=(1, longest_s * 1.05))
        return made


def marks(growth: pl.DataFrame, slowdowns: pl.DataFrame) -> Figure:
    """Draw H-TCP's window after its only loss, and LEDBAT++'s over 35 s."""
    with styled():
        made, (left, right) = figure(2.8, 1, 2)
        here = growth.filter(pl.col("since_s") <= 6)
        left.plot(
            here["since_s"], here["window_packets"], color=COLOURS["blue"], label="simulation"
        )
        left.plot(here["since_s"], here["published_packets"], color=GREY, linestyle=(0, (3, 2)),
                  label="paper, from 1 s on")  # fmt: skip
        left.set(xlabel="time after the loss, s", ylabel="window, packets", title="H-TCP")
        left.legend(loc="upper left")
        right.step(slowdowns["time_s"], slowdowns["window_packets"], where="post",
                   color=COLOURS["purple"], linewidth=0.9)  # fmt: skip
        right.set(xlabel="time, s", title="LEDBAT++, 137 ms", ylim=(0, None))
        return made
