"""The paper's figures and tables, drawn from the study's tidy tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle

from ackclock.plots.style import COLOURS, SEQUENCE, figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, PALE = COLOURS["ink"], COLOURS["grey"], COLOURS["pale"]
BLUE, ORANGE, GREEN = COLOURS["blue"], COLOURS["orange"], COLOURS["green"]

SOURCES = {
    "published analytic": ("published “Ana.”", PALE, "D"),
    "published": ("published “Sim.”", GREY, "s"),
    "theory": ("our theory", ORANGE, "^"),
    "simulation": ("our simulation, 95 %", BLUE, "o"),
}


def diagram() -> Figure:
    """Draw figure 1: the path that the model describes."""
    with styled():
        made, axes = figure(1.95)
        axes.set_axis_off()
        axes.set(xlim=(0, 100), ylim=(2, 29))
        axes.set_aspect("equal")
        line: dict[str, Any] = {"color": INK, "linewidth": 1.2}
        arrow: dict[str, Any] = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.2}

        def box(x: float, text: str) -> None:
            axes.add_patch(
                FancyBboxPatch((x, 13), 13, 8, boxstyle="round,pad=0,rounding_size=1.2",
                               facecolor="#eef4fb", edgecolor=BLUE, linewidth=1.1)
            )  # fmt: skip
            axes.text(x + 6.5, 17, text, ha="center", va="center", fontweight="bold")

        box(1, "TCP source")
        box(86, "destination")
        axes.annotate("", (42, 17), (14, 17), arrowprops=arrow)
        axes.text(28, 18.6, "source link, delay τ₁", ha="center", fontsize=8)
        for i in range(7):
            axes.add_patch(
                Rectangle((42 + 2.2 * i, 14), 2.2, 6, facecolor="#fdf1e7" if i > 2 else "white",
                          edgecolor=ORANGE, linewidth=0.9)
            )  # fmt: skip
        axes.text(49.7, 21.3, "buffer of B packets", ha="center", fontsize=8)
        axes.add_patch(Circle((61, 17), 3.4, facecolor="#fdf1e7", edgecolor=ORANGE, linewidth=1.1))
        axes.text(61, 17, "μ", ha="center", va="center", fontweight="bold", fontsize=10)
        axes.annotate("", (86, 17), (64.4, 17), arrowprops=arrow)
        axes.text(75.2, 18.6, "delay τ₂", ha="center", fontsize=8)
        axes.annotate("", (42.2, 19), (33, 26), arrowprops={**arrow, "color": GREEN})
        axes.text(32.3, 26.4, "exogenous packets, λ", ha="right", color=GREEN, fontsize=8)
        axes.plot([92.5, 92.5, 7.5], [13, 6, 6], **line)
        axes.annotate("", (7.5, 13), (7.5, 6), arrowprops=arrow)
        axes.text(50, 7.4, "acknowledgments, delay τ₁ + τ₂", ha="center", fontsize=8)
        return made


def window(
    samples: pl.DataFrame, *, title: str = "", others: tuple[pl.DataFrame, str] | None = None
) -> Figure:
    """Draw W(t) and its threshold, from a table with a row a change; a second run below it."""
    with styled():
        both = [(samples, title)] + ([others] if others else [])
        made, axes = figure(2.1 * len(both), len(both), 1, squeeze=False, sharey=True)
        for (frame, name), panel in zip(both, axes[:, 0], strict=True):
            _window(panel, frame)
            if name:
                panel.set_title(name)
        axes[-1, 0].set_xlabel("time, s")
        return made


def _window(axes: Axes, frame: pl.DataFrame) -> None:
    time = frame["time_s"].to_numpy()
    cwnd = frame["cwnd_segments"].to_numpy()
    threshold = frame["ssthresh_segments"].cast(pl.Float64).to_numpy()
    axes.step(time, threshold, where="post", color=ORANGE, linewidth=0.9, label="threshold")
    axes.step(time, cwnd, where="post", color=BLUE, linewidth=1.2, label="window W(t)")
    below = cwnd < np.nan_to_num(threshold, nan=np.inf)
    axes.fill_between(time, 0, cwnd, where=below, step="post", color=BLUE, alpha=0.16, linewidth=0,
                      label="slow start")  # fmt: skip
    axes.set(ylabel="packets", ylim=(0, None))
    if time.size:
        axes.set_xlim(time[0], time[-1])
    axes.legend(loc="lower right", bbox_to_anchor=(1, 0.99), ncols=3, borderpad=0, borderaxespad=0)


def utilisation_by_delay(curves: pl.DataFrame) -> Figure:
    """Draw figure 4: what TCP uses of the free capacity, against the propagation delay."""
    return _utilisation(curves, "tau_service_times", "propagation delay τ, service times", None)


def utilisation_by_buffer(curves: pl.DataFrame) -> Figure:
    """Draw figure 5: the same against the buffer, and without the theorem's two extra packets."""
    return _utilisation(
        curves,
        "buffer_packets",
        "buffer B, packets",
        ("utilisation_without_overshoot", "with W max = W loss"),
    )


def _utilisation(
    curves: pl.DataFrame, along: str, label: str, other: tuple[str, str] | None
) -> Figure:
    with styled():
        made, (axes, near) = figure(2.75, 1, 2, width_ratios=(1.45, 1))
        colours = iter(SEQUENCE)
        drawn = curves.sort("lambda_over_mu", along).group_by("lambda_over_mu", maintain_order=True)
        for (share,), curve in drawn:
            colour = next(colours)
            for panel in (axes, near):
                panel.plot(curve[along], curve["utilisation"], color=colour)
                if other:
                    panel.plot(curve[along], curve[other[0]], color=colour, linewidth=0.9,
                               linestyle=(0, (3, 2)))  # fmt: skip
            axes.plot([], [], color=colour, label=f"λ/μ = {share:g}")
        for panel in (axes, near):
            panel.axhline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
            panel.set_xlabel(label)
        axes.set_ylabel("throughput / (μ − λ)")
        axes.set_title("the whole range")
        near.set_title("its beginning")
        start = float(curves[along].min())  # type: ignore[arg-type]
        edge = 20.0 if other else 30.0
        axes.set_xlim(start, float(curves[along].max()))  # type: ignore[arg-type]
        near.set_xlim(start, edge)
        shown = curves.filter(pl.col(along) <= edge)
        columns = ["utilisation", *([other[0]] if other else [])]
        low = min(float(shown[name].min()) for name in columns)  # type: ignore[arg-type]
        high = max(float(shown[name].max()) for name in columns)  # type: ignore[arg-type]
        near.set_ylim(low - 0.02, max(high, 1.0) + 0.01)
        if other:
            axes.plot([], [], color=GREY, label="theorem 3.1")
            axes.plot([], [], color=GREY, linewidth=0.9, linestyle=(0, (3, 2)), label=other[1])
        axes.legend(loc="lower right" if other else "upper right")
        return made


def table(cases: pl.DataFrame, published: pl.DataFrame, number: int) -> Figure:
    """Draw a table: throughput over what is free, and rtt over the published, case by case."""
    with styled():
        chosen = published.filter(pl.col("table") == number).sort("case")
        made, (left, right) = figure(0.6 + 0.31 * chosen.height + 0.5, 1, 2, sharey=True)
        free = (chosen["mu_pps"] - chosen["lambda_pps"]).to_numpy()
        places = np.arange(chosen.height)[::-1]
        base = chosen["published_simulated_rtt_s"].to_numpy()
        ours = cases.filter(pl.col("table") == number).sort("case")
        values: dict[str, tuple[np.ndarray, np.ndarray, Any, Any]] = {
            "published analytic": (
                chosen["published_analytic_thp_pps"].to_numpy() / free,
                chosen["published_analytic_rtt_s"].to_numpy(),
                None,
                None,
            )
        }
        for source in ("published", "theory", "simulation"):
            rows = ours.filter(pl.col("source") == source)
            ci = source == "simulation"
            values[source] = (
                rows["thp_pps"].to_numpy() / free,
                rows["rtt_s"].to_numpy(),
                rows["thp_ci_pps"].fill_null(0.0).to_numpy() / free if ci else None,
                rows["rtt_ci_s"].fill_null(0.0).to_numpy() if ci else None,
            )
        for offset, (source, (thp, rtt, thp_ci, rtt_ci)) in zip(
            (0.24, 0.08, -0.08, -0.24), values.items(), strict=True
        ):
            label, colour, marker = SOURCES[source]
            style: dict[str, Any] = {
                "linestyle": "none", "marker": marker, "color": colour, "markersize": 4.6,
                "elinewidth": 1.1, "capsize": 1.8,
            }  # fmt: skip
            left.errorbar(thp, places + offset, xerr=thp_ci, label=label, **style)
            right.errorbar(
                rtt / base, places + offset, xerr=None if rtt_ci is None else rtt_ci / base, **style
            )
        left.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        left.set_yticks(places, [f"{number}.{case}" for case in chosen["case"]])
        left.set(xlabel="throughput / (μ − λ)", ylabel="case", ylim=(-0.6, chosen.height - 0.4))
        right.axvspan(0.93, 1.07, color=PALE, alpha=0.35, linewidth=0)
        right.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        right.set_xlabel("round-trip time / published “Sim.”; shaded: 7 %")
        for panel in (left, right):
            panel.grid(visible=False, axis="y")
            for place in places[1::2]:
                panel.axhspan(place - 0.5, place + 0.5, color="#f5f7fa", linewidth=0, zorder=0)
        made.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=4)
        if number == 2 and float(left.get_xlim()[1]) > 3:
            left.set_xlim(0, None)
        return made


def priority(rates: pl.DataFrame) -> Figure:
    """Draw the exogenous output rate of a standing queue, in both phases of the window."""
    with styled():
        made, (left, right) = figure(2.9, 1, 2, sharey=True)
        cases = rates["case"].unique().sort().to_list()
        places = {case: len(cases) - 1 - i for i, case in enumerate(cases)}
        looks = {
            "congestion avoidance": (BLUE, "o", "in congestion avoidance"),
            "slow start": (ORANGE, "^", "in slow start"),
        }
        for phase, (colour, marker, label) in looks.items():
            rows = rates.filter(pl.col("phase") == phase)
            y = [places[case] for case in rows["case"]]
            left.plot(rows["exogenous_out_over_lambda"], y, linestyle="none", marker=marker,
                      color=colour, label=label)  # fmt: skip
            free = (rows["mu_pps"] - rows["lambda_pps"]).to_numpy()
            right.plot(rows["tcp_out_pps"].to_numpy() / free, y, linestyle="none", marker=marker,
                       color=colour)  # fmt: skip
            right.plot(rows["predicted_tcp_out_pps"].to_numpy() / free, y, linestyle="none",
                       marker="|", markersize=13, markeredgewidth=1.6, color=colour, alpha=0.65,
                       zorder=1)  # fmt: skip
        left.axvline(1, color=BLUE, linewidth=1.4, alpha=0.5)
        left.axvline(0.5, color=ORANGE, linewidth=1.4, alpha=0.5)
        left.set_yticks(list(places.values()), [f"1.{case}" for case in places])
        left.set(xlabel="exogenous output rate / λ", ylabel="case", xlim=(0, None))
        right.set_xlabel("TCP's output rate / (μ − λ)")
        right.plot([], [], linestyle="none", marker="|", markersize=13, markeredgewidth=1.6,
                   color=GREY, label="predicted")  # fmt: skip
        handles = left.get_legend_handles_labels()
        extra = right.get_legend_handles_labels()
        made.legend(
            handles[0] + extra[0], handles[1] + extra[1], loc="outside upper center", ncols=3
        )
        return made
