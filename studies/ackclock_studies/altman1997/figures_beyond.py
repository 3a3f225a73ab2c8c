"""Figures that the paper could not draw: the map of the model's error, and the extras."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.ticker import NullLocator

from ackclock.plots.style import COLOURS, figure, styled
from ackclock_studies.altman1997.analysis_map import RTT_LIMIT, THP_LIMIT, in_paper_box
from ackclock_studies.altman1997.scenarios import FAST

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, GREY, PALE = COLOURS["ink"], COLOURS["grey"], COLOURS["pale"]
BLUE, ORANGE, GREEN = COLOURS["blue"], COLOURS["orange"], COLOURS["green"]

STEPS = ("#1f6f8b", "#8cc5c9", "#f3d9a4", "#e58a3c", "#a4161a")
"""Good to bad; the first two steps lie within the paper's bound."""

THP_EDGES = (0.0, 0.055, THP_LIMIT, 0.22, 0.44, 1e9)
RTT_EDGES = (0.0, 0.0375, RTT_LIMIT, 0.15, 0.3, 1e9)

AXES = {
    "beta": ("normalised buffer β", (0.08, 3.0), "log"),
    "lambda_over_mu": ("λ/μ", (0.02, 0.85), "linear"),
    "bw_in_over_free": ("source link / (μ − λ)", (0.4, 16.0), "log"),
}
PANELS = (
    ("beta", "lambda_over_mu", "bw_in_over_free", (1.1, np.inf), "source link ≥ 1.1 (μ − λ)"),
    ("bw_in_over_free", "lambda_over_mu", None, None, "all points"),
    ("beta", "bw_in_over_free", "lambda_over_mu", (0.0, 0.5), "λ/μ ≤ 0.5"),
)


def error_maps(points: pl.DataFrame, kind: str = "periodic", bins: int = 14) -> Figure:
    """Draw the median error of the model over β, λ/μ and the source link's rate."""
    with styled():
        made, axes = figure(5.2, 2, 3)
        chosen = points.filter(pl.col("exogenous") == kind)
        rows = (("thp_error", THP_EDGES, "throughput"), ("rtt_error", RTT_EDGES, "rtt"))
        for row, (column, edges, name) in enumerate(rows):
            meshes = [
                _map(axes[row, place], chosen, column, edges, panel, bins)
                for place, panel in enumerate(PANELS)
            ]
            bar = made.colorbar(
                meshes[-1], ax=list(axes[row]), pad=0.01, shrink=0.95, spacing="uniform"
            )
            bar.set_label(f"median |error| of {name}")
            bar.set_ticks(list(edges[1:-1]), labels=[f"{100 * edge:g} %" for edge in edges[1:-1]])
            bar.outline.set_linewidth(0.5)  # type: ignore[operator]
        for panel, place in zip(PANELS, axes[0], strict=True):
            place.set_title(panel[4], fontsize=8.5)
        return made


def _map(
    axes: Axes,
    points: pl.DataFrame,
    column: str,
    edges: tuple[float, ...],
    panel: tuple[str, str, str | None, tuple[float, float] | None, str],
    bins: int,
) -> Any:
    across, up, held, span, _ = panel
    if held is not None and span is not None:
        points = points.filter(pl.col(held).is_between(*span))
    x_edges, y_edges = _edges(across, bins), _edges(up, bins)
    x = np.digitize(points[across].to_numpy(), x_edges) - 1
    y = np.digitize(points[up].to_numpy(), y_edges) - 1
    error = points[column].abs().to_numpy()
    medians = np.full((bins, bins), np.nan)
    for i in range(bins):
        for j in range(bins):
            inside = error[(x == i) & (y == j)]
            if inside.size:
                medians[j, i] = np.median(inside)
    colours = ListedColormap(list(STEPS))
    norm = BoundaryNorm(edges, colours.N)
    mesh = axes.pcolormesh(
        x_edges, y_edges, np.ma.masked_invalid(medians), cmap=colours, norm=norm, rasterized=False,
        edgecolors="white", linewidth=0.3,
    )  # fmt: skip
    for name, setter in ((across, axes.set_xscale), (up, axes.set_yscale)):
        setter(AXES[name][2])
    axes.set(xlabel=AXES[across][0], ylabel=AXES[up][0], xlim=x_edges[[0, -1]],
             ylim=y_edges[[0, -1]])  # fmt: skip
    axes.grid(visible=False)
    for name, axis in ((across, axes.xaxis), (up, axes.yaxis)):
        if AXES[name][2] == "log":
            ticks = [0.1, 0.3, 1, 3] if name == "beta" else [0.5, 1, 2, 4, 8]
            axis.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
            axis.set_minor_locator(NullLocator())
    if across == "beta" and up == "lambda_over_mu":
        share = np.linspace(0.02, 0.85, 60)
        axes.plot(1 / (3 - share), share, color=INK, linewidth=1.1, linestyle=(0, (3, 2)))
    if "bw_in_over_free" in (across, up):
        line = axes.axvline if across == "bw_in_over_free" else axes.axhline
        line(1, color=INK, linewidth=1.1, linestyle=(0, (3, 2)))
    return mesh


def _edges(name: str, bins: int) -> np.ndarray:
    _, (low, high), scale = AXES[name]
    if scale == "log":
        return np.geomspace(low * 0.999, high * 1.001, bins + 1)
    return np.linspace(low - 1e-6, high + 1e-6, bins + 1)


def error_shares(points: pl.DataFrame) -> Figure:
    """Draw the share of points within an error: all, those called valid, and the paper's ranges."""
    with styled():
        made, axes = figure(2.7, 1, 2, sharey=True)
        groups = (
            ("all points", pl.lit(value=True), GREY, "-"),
            ("called valid by the model", pl.col("valid"), BLUE, "-"),
            ("in the ranges of table 1", in_paper_box(), ORANGE, "-"),
        )
        panels = (("thp_error", THP_LIMIT, "throughput"), ("rtt_error", RTT_LIMIT, "rtt"))
        for panel, (column, limit, name) in zip(axes, panels, strict=True):
            for label, condition, colour, _ in groups:
                for kind, style in (("periodic", "-"), ("poisson", (0, (3, 2)))):
                    chosen = points.filter(condition, pl.col("exogenous") == kind)
                    if chosen.height == 0:
                        continue
                    error = np.sort(100 * chosen[column].abs().to_numpy())
                    share = 100 * np.arange(1, error.size + 1) / error.size
                    name_it = f"{label} ({chosen.height})" if kind == "periodic" else None
                    panel.plot(error, share, color=colour, linestyle=style, label=name_it,
                               linewidth=1.4 if kind == "periodic" else 1.0)  # fmt: skip
            panel.axvline(100 * limit, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
            panel.set(xlim=(0, 400 * limit), ylim=(0, 101), xlabel=f"|error| of {name}, %")
        axes[0].set_ylabel("points within, %")
        axes[1].plot([], [], color=INK, linewidth=1, linestyle=(0, (3, 2)), label="Poisson")
        axes[1].legend(loc="lower right")
        return made


def fair(rows: pl.DataFrame, cases: pl.DataFrame) -> Figure:
    """Draw FIFO beside the fair queue, and the theory, which shares in proportion."""
    with styled():
        made, (left, right) = figure(4.6, 1, 2, sharey=True)
        labels = _labels(rows)
        places = {label: len(labels) - 1 - i for i, label in enumerate(labels)}
        theory = cases.filter(pl.col("source") == "theory")
        free = _by_label(rows, pl.col("mu_pps") - pl.col("lambda_pps"))
        looks = (("droptail", BLUE, "o", "FIFO"), ("fair", GREEN, "s", "fair by flow"))
        for queue, colour, marker, name in looks:
            chosen = rows.filter(pl.col("queue") == queue)
            keys = _row_labels(chosen)
            y = np.array([places[key] for key in keys]) + (0.15 if queue == "droptail" else -0.15)
            scale = np.array([free[key] for key in keys])
            style = _dots(colour, marker, 4.2)
            thp_ci = chosen["thp_ci_pps"].fill_null(0).to_numpy()
            left.errorbar(
                chosen["thp_pps"].to_numpy() / scale, y, xerr=thp_ci / scale, label=name, **style
            )
            right.errorbar(100 * chosen["exogenous_loss"].to_numpy(), y,
                           xerr=100 * chosen["exogenous_loss_ci"].fill_null(0).to_numpy(),
                           **style)  # fmt: skip
        keys = _row_labels(theory)
        left.plot(
            [value / free[key] for value, key in zip(theory["thp_pps"], keys, strict=True)],
            [places[key] for key in keys], linestyle="none", marker="|", markersize=11,
            markeredgewidth=1.6, color=ORANGE, label="our theory",
        )  # fmt: skip
        left.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        left.set_yticks(list(places.values()), list(places))
        left.set(xlabel="throughput / (μ − λ)", ylabel="case", ylim=(-0.7, len(labels) - 0.3))
        right.set(xlabel="exogenous packets lost, %", xlim=(0, None))
        _bands(left, right, places)
        made.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        return made


def _dots(colour: str, marker: str, size: float) -> dict[str, Any]:
    return {
        "linestyle": "none",
        "marker": marker,
        "color": colour,
        "markersize": size,
        "elinewidth": 1,
        "capsize": 1.5,
    }


def _bands(left: Axes, right: Axes, places: dict[str, int]) -> None:
    for panel in (left, right):
        panel.grid(visible=False, axis="y")
        for place in list(places.values())[1::2]:
            panel.axhspan(place - 0.5, place + 0.5, color="#f5f7fa", linewidth=0, zorder=0)


def _row_labels(frame: pl.DataFrame) -> list[str]:
    return [f"{table}.{case}" for table, case in frame.select("table", "case").iter_rows()]


def _labels(frame: pl.DataFrame) -> list[str]:
    return list(dict.fromkeys(_row_labels(frame.sort("table", "case"))))


def _by_label(frame: pl.DataFrame, value: pl.Expr) -> dict[str, float]:
    return dict(zip(_row_labels(frame), frame.select(value).to_series().to_list(), strict=True))


def varied(rows: pl.DataFrame, column: str, names: dict[Any, str]) -> Figure:
    """Draw throughput over what is free and the rtt, for each value of what was varied."""
    with styled():
        made, (left, right) = figure(3.4, 1, 2, sharey=True)
        labels = _labels(rows)
        places = {label: len(labels) - 1 - i for i, label in enumerate(labels)}
        free = _by_label(rows, pl.col("mu_pps") - pl.col("lambda_pps"))
        base = {
            key: rtt
            for key, rtt, value in zip(_row_labels(rows), rows["rtt_s"], rows[column], strict=True)
            if value == next(iter(names))
        }
        offsets = np.linspace(0.22, -0.22, len(names))
        looks = ((BLUE, "o"), (GREEN, "s"), (COLOURS["purple"], "D"))
        for (value, name), offset, (colour, marker) in zip(
            names.items(), offsets, looks, strict=False
        ):
            chosen = rows.filter(pl.col(column) == value)
            keys = _row_labels(chosen)
            y = np.array([places[key] for key in keys]) + offset
            scale = np.array([free[key] for key in keys])
            reference = np.array([base[key] for key in keys])
            style = _dots(colour, marker, 4.4)
            thp_ci = chosen["thp_ci_pps"].fill_null(0).to_numpy()
            left.errorbar(
                chosen["thp_pps"].to_numpy() / scale, y, xerr=thp_ci / scale, label=name, **style
            )
            right.errorbar(chosen["rtt_s"].to_numpy() / reference, y,
                           xerr=chosen["rtt_ci_s"].fill_null(0).to_numpy() / reference,
                           **style)  # fmt: skip
        left.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        right.axvline(1, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        left.set_yticks(list(places.values()), list(places))
        left.set(
            xlabel="throughput of all / (μ − λ)", ylabel="case", ylim=(-0.6, len(labels) - 0.4)
        )
        right.set_xlabel(f"rtt / rtt with {next(iter(names.values()))}")
        _bands(left, right, places)
        made.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=len(names))
        return made


def bursts(rows: pl.DataFrame) -> Figure:
    """Draw the bursts' rate in each round of slow start beside the recursion of section 4."""
    with styled():
        labels = _labels(rows)
        made, axes = figure(4.0, 2, 3, sharex=True, sharey=True, squeeze=False)
        for label, panel in zip(labels, axes.flat, strict=False):
            table, case = (int(part) for part in label.split("."))
            chosen = rows.filter(pl.col("table") == table, pl.col("case") == case)
            mu = chosen["mu_pps"][0]
            chosen = chosen.filter(pl.col("burst_rate_pps").is_not_null(), pl.col("bursts") >= 10)
            fast = chosen["bw_in_pps"] > 0.9 * FAST * mu
            for mask, colour, marker, name in (
                (fast, BLUE, "o", "simulated, unlimited source link"),
                (~fast, PALE, "s", "simulated, the case's source link"),
            ):
                own = chosen.filter(mask)
                panel.errorbar(own["round"], own["burst_rate_pps"] / mu, linestyle="none",
                               yerr=own["burst_rate_ci_pps"].fill_null(0) / mu, marker=marker,
                               color=colour if marker == "o" else GREY, markersize=4.2,
                               elinewidth=1, capsize=1.5, label=name)  # fmt: skip
            line = chosen.unique("round").sort("round").filter(pl.col("recursion_pps").is_finite())
            panel.plot(line["round"], line["recursion_pps"] / mu, color=ORANGE, linewidth=1.2,
                       label="recursion (27)", zorder=1)  # fmt: skip
            limit = chosen["limit_pps"][0] / mu if chosen.height else np.nan
            panel.axhline(limit, color=INK, linewidth=0.8, linestyle=(0, (1, 2)),
                          label="limit 2μ − λ")  # fmt: skip
            panel.set_title(f"case {label}", fontsize=8.5)
            panel.set(xlim=(2.5, 6.5), ylim=(0.8, 2.6), xticks=range(3, 7))
        for panel in axes[-1]:
            panel.set_xlabel("round n of slow start")
        for panel in axes[:, 0]:
            panel.set_ylabel("burst rate / μ")
        made.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return made


def inference(rows: pl.DataFrame) -> Figure:
    """Draw the exogenous rate as inferred from throughput and rtt, beside the true one."""
    with styled():
        made, axes = figure(4.4)
        labels = _labels(rows)
        places = {label: len(labels) - 1 - i for i, label in enumerate(labels)}
        rows = rows.sort("table", "case")
        y = np.array([places[label] for label in _row_labels(rows)])
        mu = rows["mu_pps"].to_numpy()
        low = rows["low_pps"].cast(pl.Float64).to_numpy() / mu
        high = rows["high_pps"].cast(pl.Float64).to_numpy() / mu
        known = (rows["outcome"] == "identified").to_numpy()
        axes.hlines(y[known], low[known], high[known], color=BLUE, linewidth=1.6)
        axes.hlines(y[~known], low[~known], high[~known], color=PALE, linewidth=1.6)
        estimate = rows["inferred_lambda_pps"].cast(pl.Float64).to_numpy() / mu
        axes.plot(estimate[known], y[known], linestyle="none", marker="o", color=BLUE,
                  label="inferred λ, with its interval")  # fmt: skip
        axes.plot(rows["lambda_pps"].to_numpy() / mu, y, linestyle="none", marker="|",
                  markersize=12, markeredgewidth=1.8, color=ORANGE, label="true λ")  # fmt: skip
        axes.plot([], [], color=PALE, linewidth=1.6, label="not identifiable")
        refused = rows.filter(pl.col("outcome") != "identified")
        for label, outcome in zip(_row_labels(refused), refused["outcome"], strict=True):
            axes.annotate(outcome.replace("_", " "), (0.93, places[label]), color=GREY, fontsize=8,
                          va="center", ha="right")  # fmt: skip
        axes.set_yticks(list(places.values()), list(places))
        axes.set(xlabel="λ/μ", ylabel="case", xlim=(0, 0.95), ylim=(-0.6, len(labels) - 0.4))
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=3)
        return made
