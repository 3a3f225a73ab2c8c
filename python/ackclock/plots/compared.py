"""Columns of a comparison side by side: substrates, or senders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock.plots.series import MOST_FLOWS, legend, plain_name, thin
from ackclock.plots.style import COLOURS, HUES, Picture, figure, styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

__all__ = ["pair_map", "side_by_side", "windows_beside"]

_METRICS = 4
_MOST_COLUMNS = 6
"""Windows are drawn of this many; the bars of more columns lie, each beside its name."""
_MOST_LINES = 3
"""The most runs of a column that are drawn as lines; of more the range is drawn."""
_MOMENTS = 600
_LETTERS = 84
"""The letters of names that fit into a line above a figure, with a sample of each colour as 8."""
_ALL = "all flows, mean"


def side_by_side(values: pl.DataFrame, *, metrics: tuple[str, ...] = ()) -> Picture:
    """Draw metrics of flows, a group of bars a flow and a bar a column.

    Parameters
    ----------
    values
        A row a run, flow and metric: ``column``, ``run``, ``flow``, ``metric``, ``value``.
    metrics
        The metrics, at most four; default: the first. Of more than six flows the mean is drawn.
    """
    columns = _names(values, "column")
    chosen = list(metrics or _names(values, "metric"))[:_METRICS]
    flows = _names(values, "flow")
    if len(flows) > MOST_FLOWS:
        values = values.group_by("column", "run", "metric", maintain_order=True).agg(
            pl.col("value").mean(), pl.lit(_ALL).alias("flow")
        )
        flows = [_ALL]
    rows = max((len(chosen) + 1) // 2, 1)
    wide = min(len(chosen), 2) or 1
    many = len(columns) > _MOST_COLUMNS
    height = 0.6 + (0.08 + 0.08 * len(flows)) * len(columns) if many else 1.9
    with styled():
        made, axes = figure(0.5 + height * rows, rows, wide, squeeze=False, sharey=many)
        for place, metric in enumerate(chosen):
            panel: Axes = axes[place // wide][place % wide]
            of = values.filter(pl.col("metric") == metric)
            if many:
                _lying_bars(panel, of, flows, columns)
            else:
                _bars(panel, of, flows, columns)
            panel.set_title(metric)
        for panel in axes.flat[len(chosen) :]:
            panel.set_axis_off()
        handles, labels = axes[0][0].get_legend_handles_labels()
        if handles:
            made.legend(handles, labels, loc="outside upper right", ncols=_in_a_line(labels))
    return made


def pair_map(
    names: Sequence[str],
    values: Sequence[Sequence[float]],
    *,
    label: str,
    digits: int = 1,
    middle: float | None = None,
) -> Picture:
    """Draw a value of every sender beside every other: a row a sender, a column the one beside it.

    Parameters
    ----------
    names
        The senders.
    values
        A row a sender, a column a sender beside it; NaN is left blank.
    label
        The name of the value, with its unit.
    digits
        The decimals that are written.
    middle
        The value of an even division, as 50 of a share in %: colours go apart from it. Default:
        they go from the least to the largest.
    """
    grid = np.array(values, dtype=float)
    known = grid[np.isfinite(grid)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if middle is not None:
        low, high = 0.0, 2 * middle
    with styled():
        made, axes = figure(max(1.3 + 0.34 * len(names), 2.4))
        mesh = axes.imshow(
            grid, cmap="cividis_r" if middle is None else "PuOr", vmin=low, vmax=high, aspect="auto"
        )
        axes.grid(visible=False)
        axes.set_xticks(range(len(names)), [plain_name(name) for name in names])
        if len(names) > _MOST_COLUMNS:
            axes.tick_params(axis="x", rotation=60)
        axes.set_yticks(range(len(names)), [plain_name(name) for name in names])
        axes.set(xlabel="beside")
        made.colorbar(mesh, ax=axes, label=label, pad=0.01)
        for (row, column), found in np.ndenumerate(grid):
            if np.isfinite(found) and high > low:
                at = (found - low) / (high - low)
                strong = at > 0.6 if middle is None else abs(at - 0.5) > 0.32
                axes.text(column, row, f"{found:.{digits}f}", ha="center", va="center",
                          fontsize=7.0, color="white" if strong else COLOURS["ink"])  # fmt: skip
    return made


def _in_a_line(labels: list[str]) -> int:
    """Return the number of names that fit into a line above a figure."""
    longest = max(len(label) for label in labels)
    return max(min(len(labels), 6, _LETTERS // (longest + 8)), 1)


def _bars(panel: Axes, values: pl.DataFrame, flows: list[str], columns: list[str]) -> None:
    width = 0.8 / max(len(columns), 1)
    for n, column in enumerate(columns):
        found = [
            values.filter((pl.col("column") == column) & (pl.col("flow") == flow))["value"]
            for flow in flows
        ]
        at = np.arange(len(flows)) + (n - (len(columns) - 1) / 2) * width
        means = [float(np.mean(each.to_numpy())) if len(each) else np.nan for each in found]
        colour = HUES[n % len(HUES)]
        panel.bar(at, means, 0.92 * width, color=colour, alpha=0.8, label=plain_name(column))
        for x, each in zip(at, found, strict=True):
            if len(each) > 1:
                panel.plot(
                    np.full(len(each), x), each.to_numpy(),
                    ls="none", marker="o", ms=2.4, color=COLOURS["ink"], alpha=0.7,
                )  # fmt: skip
    panel.grid(visible=False, axis="x")
    panel.set_xticks(np.arange(len(flows)), [plain_name(flow) for flow in flows])


def _lying_bars(panel: Axes, values: pl.DataFrame, flows: list[str], columns: list[str]) -> None:
    """Draw a group of bars a column, from the top down, and a bar a flow."""
    height = 0.8 / max(len(flows), 1)
    for n, flow in enumerate(flows):
        of = values.filter(pl.col("flow") == flow)
        found = [of.filter(pl.col("column") == column)["value"].to_numpy() for column in columns]
        at = np.arange(len(columns)) + (n - (len(flows) - 1) / 2) * height
        means = [float(np.mean(each)) if len(each) else np.nan for each in found]
        panel.barh(
            at, means, 0.92 * height, color=HUES[n % len(HUES)], alpha=0.8,
            label=plain_name(flow) if len(flows) > 1 else None,
        )  # fmt: skip
        for y, each in zip(at, found, strict=True):
            if len(each) > 1:
                panel.plot(
                    each, np.full(len(each), y),
                    ls="none", marker="o", ms=2.4, color=COLOURS["ink"], alpha=0.7,
                )  # fmt: skip
    panel.grid(visible=False, axis="y")
    panel.set_yticks(np.arange(len(columns)), [plain_name(column) for column in columns])
    panel.set_ylim(len(columns) - 0.5, -0.5)


def windows_beside(
    windows: pl.DataFrame,
    queue: pl.DataFrame | None = None,
    theory: pl.DataFrame | None = None,
    *,
    link: str = "bottleneck",
) -> Picture:
    """Draw every flow's window and a link's queue over time, a colour a column, six at most.

    Parameters
    ----------
    windows
        ``column``, ``run``, ``flow``, ``time_s``, ``cwnd_segments``; the first run is in full
        colour. Of more than three runs of a column the range of all is pale, and no line each.
    queue
        ``column``, ``run``, ``time_s``, ``queue_packets``; default: no queue.
    theory
        ``column``, ``flow``, ``cwnd_mean_segments``: means that closed forms give, as lines.
    link
        The name of the link.
    """
    tables = [windows, *([theory] if theory is not None else [])]
    columns = list(dict.fromkeys(name for table in tables for name in _names(table, "column")))
    columns = columns[:_MOST_COLUMNS]
    flows = list(dict.fromkeys(name for table in tables for name in _names(table, "flow")))
    flows = flows[:MOST_FLOWS]
    rows = len(flows) + (queue is not None)
    with styled():
        made, axes = figure(0.4 + 1.7 * max(rows, 1), max(rows, 1), 1, sharex=True, squeeze=False)
        for place, column in enumerate(columns):
            style = {
                "color": HUES[place % len(HUES)],
                # Where they agree, a later line lies within the one before.
                "lw": max(2.4 - 0.8 * place, 0.9) if len(columns) > 1 else 1.2,
            }
            for row, flow in enumerate(flows):
                own = (pl.col("column") == column) & (pl.col("flow").cast(pl.String) == flow)
                _runs(axes[row][0], windows.filter(own), "cwnd_segments", column, style)
                if theory is not None:
                    for mean in theory.filter(own)["cwnd_mean_segments"].drop_nulls():
                        axes[row][0].axhline(mean, label=plain_name(column), ls="--", **style)
            if queue is not None:
                of = queue.filter(pl.col("column") == column)
                _runs(axes[-1][0], of, "queue_packets", column, style)
        for row, flow in enumerate(flows):
            # A name is shown as it is, whatever signs of a dollar it holds.
            axes[row][0].set_title(f"{flow}: congestion window", parse_math=False)
            axes[row][0].set(ylabel="segments", ylim=(0, None))
        handles, labels = axes[0][0].get_legend_handles_labels()
        if labels and _in_a_line(labels) < len(labels):
            made.legend(handles, labels, loc="outside upper right", ncols=_in_a_line(labels))
        else:
            legend(axes[0][0])
        if queue is not None:
            axes[-1][0].set_title(f"{link}: queue", parse_math=False)
            axes[-1][0].set(ylabel="packets", ylim=(0, None))
        axes[-1][0].set(xlabel="time (s)")
    return made


def _runs(panel: Axes, table: pl.DataFrame, column: str, label: str, style: dict[str, Any]) -> None:
    runs = [of for _, of in table.group_by("run", maintain_order=True)]
    for place, of in enumerate(runs if len(runs) <= _MOST_LINES else runs[:1]):
        times, values = thin(of, column)
        panel.step(
            times, values, where="post", alpha=1.0 if place == 0 else 0.35,
            label=plain_name(label) if place == 0 else None, **style,
        )  # fmt: skip
    if len(runs) > _MOST_LINES:
        times, least, most = _range(runs, column)
        panel.fill_between(
            times, least, most, step="post", color=style["color"], alpha=0.16, lw=0, zorder=0.5
        )


def _range(runs: list[pl.DataFrame], column: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return moments, and the least and most that a column had in any run at each of them."""
    begin = min(float(of["time_s"][0]) for of in runs)
    end = max(float(of["time_s"][-1]) for of in runs)
    moments = np.linspace(begin, end, _MOMENTS)
    found = np.full((len(runs), _MOMENTS), np.nan)
    for row, of in enumerate(runs):
        times = of["time_s"].to_numpy()
        values = of[column].cast(pl.Float64).fill_null(np.nan).to_numpy()
        at = np.searchsorted(times, moments, side="right") - 1
        known = (at >= 0) & (moments <= times[-1])
        found[row, known] = values[at[known]]
    some = np.isfinite(found).any(axis=0)
    moments, found = moments[some], found[:, some]
    return moments, np.nanmin(found, axis=0), np.nanmax(found, axis=0)


def _names(table: pl.DataFrame, column: str) -> list[str]:
    if column not in table.columns:
        return []
    return table[column].cast(pl.String).unique(maintain_order=True).to_list()
