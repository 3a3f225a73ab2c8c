"""The study's figures, drawn from its tidy tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock.base.estimates import estimate
from ackclock.plots.style import COLOURS, figure, styled
from ackclock.studies.framework.reduce import mean_of
from ackclock_studies.tambuwal2018.scenarios import (
    BEST,
    HIGH_RTT_S,
    LABELS,
    RFC6928,
    STANDARD,
    THRESHOLD,
    TSL,
    VARIANTS,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, PALE = COLOURS["ink"], COLOURS["grey"], COLOURS["pale"]

LOOKS: Mapping[str, dict[str, Any]] = {
    STANDARD: {"color": INK, "linestyle": "-", "marker": "o"},
    TSL["1,16"]: {"color": COLOURS["sky"], "linestyle": "-", "marker": "s"},
    TSL["1,1000"]: {"color": COLOURS["blue"], "linestyle": (0, (4, 1.5)), "marker": "s"},
    TSL["3,2"]: {"color": COLOURS["green"], "linestyle": (0, (1, 1)), "marker": "^"},
    BEST: {"color": COLOURS["orange"], "linestyle": "-", "marker": "^"},
    TSL["3,1000"]: {"color": COLOURS["red"], "linestyle": (0, (4, 1.5)), "marker": "^"},
    RFC6928: {"color": COLOURS["purple"], "linestyle": (0, (3, 1, 1, 1)), "marker": "D"},
}
"""Windows of one are cool, windows of three warm; thresholds of 1000 are dashed."""

FEEDBACK = {"color": GREY, "linestyle": (0, (1, 1)), "marker": "x"}
BYTES_1_50 = (1_000, 50_000)
POINTS = 2_500
SHOWN_S = 600
"""How much of a run is shown second by second."""


def _line(variant: str, **more: Any) -> dict[str, Any]:
    look = LOOKS[variant]
    return {"color": look["color"], "linestyle": look["linestyle"], "label": LABELS[variant],
            **more}  # fmt: skip


def _at(rows: pl.DataFrame, load: float, variant: str | None = None) -> pl.DataFrame:
    here = rows.filter((pl.col("load") - load).abs() < 1e-9)
    return here if variant is None else here.filter(pl.col("variant") == variant)


def _ccdf(panel: Axes, values: np.ndarray, **style: Any) -> None:
    """Draw the share of values above x, as far as ten of them go."""
    values = np.sort(values)
    if values.size < 20:
        return
    above = 1 - np.arange(values.size) / values.size
    kept = np.unique(np.geomspace(1, values.size - 9, 400).astype(int)) - 1
    kept = np.unique(np.concatenate([kept, values.size - 1 - kept[kept < values.size - 10]]))
    kept = kept[kept <= values.size - 10]
    panel.plot(values[kept], above[kept], **style)


def _legend(made: Figure, panel: Axes) -> None:
    """Name the lines of a panel below the figure, where they hide nothing."""
    lines, names = panel.get_legend_handles_labels()
    made.legend(lines, names, loc="outside lower center", ncols=len(names) if len(names) < 5 else 4)


def marginals(curves: pl.DataFrame) -> Figure:
    """Draw the distributions of sizes and round-trip times: drawn, and ns-2's generators."""
    with styled():
        made, (sizes, rtts) = figure(2.7, 1, 2, sharey=True)
        names = (
            ("request_bytes"[:-6], "requests", COLOURS["blue"]),
            ("response_download", "downloads", COLOURS["orange"]),
            ("response_cache_validation", "cache validations", COLOURS["green"]),
        )
        for quantity, label, colour in names:
            curve = curves.filter(pl.col("quantity") == quantity).sort("p")
            sizes.plot(curve["reference"], curve["p"], color=PALE, linewidth=4)
            sizes.plot(curve["drawn"], curve["p"], color=colour, label=label)
        sizes.set(xscale="log", xlabel="bytes", ylabel="share of draws below", ylim=(0, 1),
                  title="sizes")  # fmt: skip
        sizes.legend(loc="lower right")
        for quantity, label, colour in (
            ("rtt_client_part", "client’s part", COLOURS["sky"]),
            ("rtt_server_part", "server’s part", COLOURS["green"]),
            ("rtt", "round-trip time", INK),
        ):
            curve = curves.filter(pl.col("quantity") == quantity).sort("p")
            if curve["reference"].null_count() == 0:
                rtts.plot(curve["reference"], curve["p"], color=PALE, linewidth=4)
            rtts.plot(curve["drawn"], curve["p"], color=colour, label=label)
        rtts.axvline(1000 * HIGH_RTT_S, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)))
        rtts.set(xscale="log", xlabel="ms", title="delays", xlim=(0.5, 5000))
        rtts.plot([], [], color=PALE, linewidth=4, label="ns-2.35")
        rtts.legend(loc="lower right")
        return made


def _scatter(panel: Axes, lost: pl.DataFrame, variants: Sequence[str], y: str) -> None:
    for variant in variants:
        mine = lost.filter(pl.col("variant") == variant)
        if mine.height > POINTS:
            mine = mine.sample(POINTS, seed=1)
        panel.plot(mine["bytes"] / 1000, mine[y], linestyle="none", marker=".", markersize=2,
                   color=LOOKS[variant]["color"], alpha=0.5, label=LABELS[variant],
                   rasterized=False)  # fmt: skip


def short(lost: pl.DataFrame) -> Figure:
    """Draw responses over object sizes at 40 %, and their distribution."""
    with styled():
        made, (left, right) = figure(3.3, 1, 2)
        here = _at(lost, 0.4).filter(pl.col("bytes").is_between(*BYTES_1_50))
        _scatter(left, here, (STANDARD, BEST), "rtts")
        left.set(xlabel="object, kB", ylabel="response, base round-trip times", yscale="log",
                 ylim=(1.5, 300), xlim=(0, 50), title="each connection")  # fmt: skip
        left.legend(loc="upper right", markerscale=4)
        for variant in VARIANTS:
            _ccdf(right, here.filter(pl.col("variant") == variant)["rtts"].to_numpy(),
                  **_line(variant))  # fmt: skip
        right.set(xscale="log", yscale="log", xlim=(1.8, 1000), xlabel="base round-trip times",
                  ylabel="share of responses above", title="1 to 50 kB")  # fmt: skip
        _legend(made, right)
        return made


def high_rtt(lost: pl.DataFrame) -> Figure:
    """Draw the responses of connections with long round-trip times, in seconds."""
    with styled():
        made, (left, right) = figure(3.0, 1, 2)
        here = _at(lost, 0.4).filter(pl.col("base_rtt_s") > HIGH_RTT_S).with_columns(
            (pl.col("rtts") * pl.col("base_rtt_s")).alias("waited_s")
        )  # fmt: skip
        for variant in (STANDARD, BEST):
            mine = here.filter(pl.col("variant") == variant)
            if mine.height > POINTS:
                mine = mine.sample(POINTS, seed=1)
            left.plot(mine["base_rtt_s"] * 1e3, mine["waited_s"], linestyle="none", marker=".",
                      markersize=2, color=LOOKS[variant]["color"], alpha=0.5,
                      label=LABELS[variant])  # fmt: skip
        left.set(xscale="log", yscale="log", xlabel="base round-trip time, ms",
                 ylabel="response less 1 s, s", title="each connection")  # fmt: skip
        left.legend(loc="upper left", markerscale=4)
        for variant in VARIANTS:
            _ccdf(right, here.filter(pl.col("variant") == variant)["waited_s"].to_numpy(),
                  **_line(variant))  # fmt: skip
        right.set(xscale="log", yscale="log", xlabel="response less 1 s, s",
                  ylabel="share of responses above", title="above 50 ms")  # fmt: skip
        _legend(made, right)
        return made


def congested(lost: pl.DataFrame) -> Figure:
    """Draw the distribution of responses at 90 and 98 %."""
    with styled():
        made, panels = figure(3.0, 1, 2, sharey=True)
        for panel, load in zip(panels, (0.9, 0.98), strict=True):
            here = _at(lost, load).filter(pl.col("bytes").is_between(*BYTES_1_50))
            for variant in VARIANTS:
                _ccdf(panel, here.filter(pl.col("variant") == variant)["rtts"].to_numpy(),
                      **_line(variant))  # fmt: skip
            panel.set(xscale="log", yscale="log", xlim=(1.8, 3000),
                      xlabel="base round-trip times", title=f"{100 * load:g} %")  # fmt: skip
        panels[0].set_ylabel("share of responses above")
        _legend(made, panels[0])
        return made


def _bars(
    panel: Axes, rows: pl.DataFrame, column: str, scale: float, feedback: pl.DataFrame | None
) -> None:
    """Draw means over the seeds with their intervals, the variants beside one another by load."""
    loads = sorted(rows["load"].unique().to_list())
    extra = 0 if feedback is None else 1
    width = 0.8 / (len(VARIANTS) + extra)
    groups = [(variant, _line(variant), rows.filter(pl.col("variant") == variant))
              for variant in VARIANTS]  # fmt: skip
    if feedback is not None:
        ours = feedback.filter((pl.col("threshold") - THRESHOLD).abs() < 1e-9)
        groups.append(("feedback", {"color": GREY, "label": "TSL 3,16 with feedback"}, ours))
    for place, (_, look, mine) in enumerate(groups):
        over = [estimate(_at(mine, load)[column].drop_nulls().to_list()) for load in loads]
        x = np.arange(len(loads)) + (place - (len(groups) - 1) / 2) * width
        panel.bar(x, [scale * each.mean for each in over], width * 0.9, color=look["color"],
                  label=look["label"], zorder=2)  # fmt: skip
        panel.errorbar(x, [scale * each.mean for each in over],
                       yerr=[scale * (each.ci or 0) for each in over], color=GREY,
                       linestyle="none", linewidth=0.8, capsize=1.5, zorder=3)  # fmt: skip
    # With two seeds an interval is thirteen times the standard error: the means are what is drawn.
    most = max(scale * float(each or 0) for each in rows.group_by("load", "variant").agg(
        mean_of(pl.col(column)))[column])  # fmt: skip
    panel.set_ylim(0, 1.45 * most)
    panel.set_xticks(np.arange(len(loads)), [f"{100 * load:g} %" for load in loads])
    panel.grid(visible=False, axis="x")
    panel.set_xlabel("utilisation with TCP (1,2)")


def averages(runs: pl.DataFrame, feedback: pl.DataFrame) -> Figure:
    """Draw average responses after SYN-ACK loss by load."""
    with styled():
        made, panel = figure(3.0)
        _bars(panel, runs, "lost_mean_rtts", 1, feedback)
        panel.set(ylabel="mean response, base round-trip times")
        panel.legend(loc="upper left", ncols=2)
        return made


def loss_rates(runs: pl.DataFrame, feedback: pl.DataFrame) -> Figure:
    """Draw average loss rates by load."""
    with styled():
        made, panel = figure(3.0)
        _bars(panel, runs, "plr", 100, feedback)
        panel.set(ylabel="packets lost, %")
        panel.legend(loc="upper left", ncols=2)
        return made


def throughput(runs: pl.DataFrame) -> Figure:
    """Draw average throughput by load."""
    with styled():
        made, panel = figure(2.6)
        _bars(panel, runs, "throughput_bps", 1e-6, None)
        panel.set(ylabel="throughput, Mbit/s", ylim=(0, 14))
        panel.legend(loc="upper left", ncols=4)
        return made


def seconds(rows: pl.DataFrame) -> Figure:
    """Draw the share lost in each second of the first seed, at 40 and 90 %."""
    with styled():
        made, panels = figure(3.2, 2, 2, sharey=True, sharex="col")
        first = rows["seed"].min()
        rows = rows.filter(pl.col("second") < SHOWN_S)
        for column, load in enumerate((0.4, 0.9)):
            for line, variant in enumerate((STANDARD, BEST)):
                panel = panels[line, column]
                mine = _at(rows, load, variant).filter(pl.col("seed") == first).sort("second")
                panel.vlines(mine["second"], 0, 100 * mine["plr"], linewidth=0.7,
                             color=LOOKS[variant]["color"])  # fmt: skip
                panel.set(title=f"{LABELS[variant]}, {100 * load:g} %", ylim=(0, None),
                          xlim=(0, mine["second"].max()))  # fmt: skip
        for panel in panels[:, 0]:
            panel.set_ylabel("lost, %")
        for panel in panels[1]:
            panel.set_xlabel("second after the warm-up")
        return made


def second_tails(rows: pl.DataFrame) -> Figure:
    """Draw the distribution of the share lost in a second, at three loads."""
    with styled():
        made, panels = figure(2.7, 1, 3, sharey=True)
        for panel, load in zip(panels, (0.4, 0.9, 0.98), strict=True):
            for variant in VARIANTS:
                _ccdf(panel, 100 * _at(rows, load, variant)["plr"].to_numpy(), **_line(variant))
            panel.set(yscale="log", xlabel="lost in a second, %", title=f"{100 * load:g} %",
                      xlim=(0, None))  # fmt: skip
        panels[0].set_ylabel("share of seconds above")
        _legend(made, panels[0])
        return made


def mixed(rows: pl.DataFrame) -> Figure:
    """Draw the mean responses of both protocols over the share of TSL."""
    with styled():
        made, panels = figure(2.7, 1, 2)
        for panel, column, label in (
            (panels[0], "lost_mean_rtts", "after SYN-ACK loss, base round-trip times"),
            (panels[1], "short_all_mean_s", "objects of 1 to 50 kB, s"),
        ):
            for protocol, variant in (("tcp", STANDARD), ("tsl", BEST)):
                points = [
                    (share, estimate(group[f"{column}_{protocol}"].drop_nulls().to_list()))
                    for (share,), group in rows.sort("share").group_by("share", maintain_order=True)
                ]
                points = [(100 * float(share), each) for share, each in points if each.n]  # type: ignore[arg-type]
                panel.errorbar(
                    [share for share, _ in points], [each.mean for _, each in points],
                    yerr=[each.ci or 0 for _, each in points], capsize=2, linewidth=1.2,
                    marker=LOOKS[variant]["marker"], color=LOOKS[variant]["color"],
                    label=LABELS[variant],
                )  # fmt: skip
            panel.set(xlabel="connections with TSL 3,16, %", ylabel="mean response")
            panel.set_title(label)
        panels[0].legend()
        return made


def middlebox(rows: pl.DataFrame) -> Figure:
    """Draw what each variant makes of SYN-ACKs that a middlebox takes."""
    with styled():
        made, (left, right) = figure(2.6, 1, 2, sharey=True)
        names = [LABELS[variant] for variant in VARIANTS]
        places = np.arange(len(VARIANTS))[::-1]
        for panel, column, label in (
            (left, "lost_mean_rtts", "base round-trip times"),
            (right, "high_p99_s", "s"),
        ):
            over = [
                estimate(rows.filter(pl.col("variant") == variant)[column].drop_nulls().to_list())
                for variant in VARIANTS
            ]
            panel.barh(places, [each.mean for each in over], 0.7,
                       color=[LOOKS[each]["color"] for each in VARIANTS], zorder=2)  # fmt: skip
            panel.errorbar([each.mean for each in over], places,
                           xerr=[each.ci or 0 for each in over], color=GREY, linestyle="none",
                           capsize=2, linewidth=0.8, zorder=3)  # fmt: skip
            panel.set_xlabel(label)
            panel.grid(visible=False, axis="y")
        left.set_yticks(places, names)
        left.set_title("mean response after SYN-ACK loss")
        right.set_title("99th percentile, above 50 ms")
        return made
