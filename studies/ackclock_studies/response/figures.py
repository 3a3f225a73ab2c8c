"""The study's figures, drawn from its tidy tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from ackclock.plots.style import COLOURS, SEQUENCE, figure, styled
from ackclock_studies.response.scenarios import RTTS_MS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, PALE = COLOURS["ink"], COLOURS["grey"], COLOURS["pale"]
BLUE, ORANGE, GREEN = COLOURS["blue"], COLOURS["orange"], COLOURS["green"]

BY_RTT = dict(zip(RTTS_MS, SEQUENCE, strict=True))
MARKERS = dict(zip(RTTS_MS, ("o", "s", "^", "D"), strict=True))


def windows(rows: pl.DataFrame, limit: float) -> Figure:
    """Draw mean windows over the loss rate, measured and by formula, and the ratio of the two."""
    with styled():
        made, panels = figure(4.1, 2, 2, width_ratios=(1.35, 1), sharex=True)
        whole = _merged(made, panels)
        for (law, rtt_ms), curve in rows.sort("loss_rate").group_by(
            "law", "rtt_ms", maintain_order=True
        ):
            colour = INK if law == "reno" else BY_RTT[int(rtt_ms)]  # type: ignore[call-overload]
            style: dict[str, Any] = {
                "color": colour,
                "marker": MARKERS[int(rtt_ms)],  # type: ignore[call-overload]
                "linestyle": "none",
                "markersize": 4.2,
            }
            if law == "cubic":
                whole.plot(curve["loss_rate"], curve["formula_packets"], color=colour)
                whole.plot(curve["loss_rate"], curve["window_packets"], **style)
                whole.plot([], [], **style, label=f"CUBIC, {rtt_ms} ms")
            ratio = panels[0 if law == "reno" else 1, 1]
            ratio.plot(curve["loss_rate"], curve["ratio"], color=colour, linewidth=0.8)
            ratio.plot(curve["loss_rate"], curve["ratio"], **style)
        reno = rows.filter(pl.col("law") == "reno", pl.col("rtt_ms") == max(RTTS_MS)).sort(
            "loss_rate"
        )
        whole.plot(reno["loss_rate"], reno["formula_packets"], color=INK)
        whole.plot(reno["loss_rate"], reno["window_packets"], color=INK, marker="x",
                   linestyle="none", markersize=5)  # fmt: skip
        whole.plot([], [], color=INK, marker="x", label="Reno, 10 to 200 ms")
        whole.set(xscale="log", yscale="log", ylabel="mean window, packets",
                  title="lines: formula; marks: simulation")  # fmt: skip
        whole.set_xlabel("loss rate p")
        whole.legend(loc="upper right")
        for panel, name in zip(panels[:, 1], ("Reno", "CUBIC"), strict=True):
            _band(panel, limit)
            panel.set(xscale="log", ylabel="simulation / formula", ylim=(0.84, 1.16), title=name)
        panels[1, 1].set_xlabel("loss rate p")
        return made


def _merged(made: Figure, panels: Any) -> Axes:
    """Return one panel in place of the two of the left column."""
    grid = panels[0, 0].get_gridspec()
    for panel in panels[:, 0]:
        panel.remove()
    merged: Axes = made.add_subplot(grid[:, 0])
    return merged


def _band(panel: Axes, limit: float) -> None:
    panel.axhspan(1 - limit, 1 + limit, color=PALE, alpha=0.35, linewidth=0)
    panel.axhline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))


def random(rows: pl.DataFrame, limit: float, rtt_ms: int, min_rto_ms: int) -> Figure:
    """Draw rates with random losses over the models', and what the share of timeouts explains."""
    with styled():
        made, (left, right) = figure(3.0, 1, 2, sharey=True)
        looks = (
            ("reno", "ratio_pftk", "Reno / PFTK", INK, "o"),
            ("reno+rack", "ratio_pftk", "Reno with RACK-TLP / PFTK", BLUE, "s"),
            ("cubic", "ratio_law", "CUBIC / its response function", ORANGE, "^"),
        )
        here = rows.filter(pl.col("rtt_ms") == rtt_ms, pl.col("min_rto_ms") == min_rto_ms)
        for shift, (variant, name, label, colour, marker) in zip((0.94, 1, 1.06), looks,
                                                                strict=True):  # fmt: skip
            curve = here.filter(pl.col("variant") == variant).sort("loss_rate")
            left.errorbar(
                curve["loss_rate"] * shift, curve[name],
                yerr=curve[f"{name}_ci"].fill_null(0.0), color=colour, marker=marker,
                linewidth=0.9, capsize=2, label=label,
            )  # fmt: skip
        left.set(xscale="log", xlabel="loss rate p", ylabel="simulation / model",
                 title=f"{rtt_ms} ms, timeout at least {min_rto_ms} ms")  # fmt: skip
        left.legend(loc="upper right")
        reno = rows.filter(pl.col("variant") == "reno").with_columns(
            (pl.col("rto_mean_s") / pl.col("rtt_s")).alias("timeout_rtts")
        )
        periods = reno["period"].unique().sort().to_list()
        for period, colour in zip(periods, SEQUENCE, strict=False):
            curve = reno.filter(pl.col("period") == period).sort("timeout_rtts")
            x = curve["timeout_rtts"]
            right.plot(x, curve["ratio_pftk"], color=colour, marker="o", linewidth=0.9,
                       label=f"p = 1/{period:,}".replace(",", " "))  # fmt: skip
            right.plot(x, curve["ratio_pftk_share"], color=colour, marker="o", linewidth=0.9,
                       linestyle=(0, (3, 2)), markerfacecolor="white")  # fmt: skip
        right.plot([], [], color=GREY, marker="o", linestyle=(0, (3, 2)), markerfacecolor="white",
                   label="with the measured\nshare of timeouts")  # fmt: skip
        right.set(xscale="log", xlabel="timeout / round-trip time",
                  title="Reno / PFTK on every path")  # fmt: skip
        right.legend(loc="upper left")
        for panel in (left, right):
            _band(panel, limit)
        return made


def cycles(traces: pl.DataFrame, approach: pl.DataFrame, limit: float) -> Figure:
    """Draw the window over a few losses, and its mean from different beginnings on."""
    with styled():
        made, (left, right) = figure(2.8, 1, 2, width_ratios=(1.35, 1))
        ends = traces.group_by("law", maintain_order=True).agg(pl.col("time_s").max())["time_s"]
        for law, name, colour in (("cubic", "CUBIC", BLUE), ("reno", "Reno", ORANGE)):
            curve = traces.filter(pl.col("law") == law)
            left.step(curve["time_s"], curve["window_packets"], where="post", color=colour,
                      linewidth=1.2, label=name)  # fmt: skip
            left.axhline(curve["formula_packets"][0], color=colour, linewidth=0.9,
                         linestyle=(0, (3, 2)))  # fmt: skip
        row = traces.row(0, named=True)
        left.set(xlabel="time, s", ylabel="window, packets", ylim=(0, None),
                 xlim=(0, ends.min()),
                 title=f"{row['rtt_ms']} ms, one loss in {row['period']}")  # fmt: skip
        left.plot([], [], color=GREY, linewidth=0.9, linestyle=(0, (3, 2)), label="formula")
        left.legend(loc="lower right", ncols=3)
        for (start,), colour in zip(
            approach.select("start").unique().sort("start").iter_rows(), SEQUENCE, strict=True
        ):
            curve = approach.filter(pl.col("start") == start)
            right.plot(curve["losses"], curve["window_packets"] / curve["formula_packets"],
                       color=colour, label=f"{start:g}")  # fmt: skip
        losses = approach["losses"].unique().sort()
        right.plot(losses, 1 - 0.84 / losses.sqrt(), color=GREY, linewidth=0.9,
                   linestyle=(0, (3, 2)), label="1 − 0.84/√n")  # fmt: skip
        _band(right, limit)
        right.set(xscale="log", xlabel="losses n", ylabel="mean window / formula",
                  title="CUBIC, by its window at the first loss", ylim=(0.8, 1.3))  # fmt: skip
        right.legend(loc="upper right", title="over the formula’s", ncols=2)
        return made
