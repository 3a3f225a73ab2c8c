"""Distributions, and what a sweep comes to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.ticker import FuncFormatter

from ackclock.base.estimates import estimate
from ackclock.base.shown import heading
from ackclock.plots.series import legend, plain_name
from ackclock.plots.style import COLOURS, HUES, Picture, figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "distribution",
    "draw_means",
    "heat_map",
    "is_number",
    "level_name",
    "levels_of",
    "name_levels",
    "percentile",
    "sweep",
]

_MOST_GROUPS = 8
_MOST_LETTERS = 90
"""More letters than this do not fit below an axis side by side."""

_MOST_FOLDED = 7
"""Names of more levels than this are not folded but turned, and cut to so many letters."""
_TURNED = 28

_BESIDE = 0.05
"""The distance of lines over levels that are no numbers, in levels."""

_MOST_CELLS = 150
"""More cells than this are not labelled with their numbers."""

_WIDE = 50.0
"""From this ratio of the largest to the median value on, the axis is logarithmic."""

_QUANTITY = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?) ?(\D*)")
_PREFIXES = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_BASES = ("bit/s", "B/s", "b/s", "s", "B")


def distribution(
    values: pl.DataFrame,
    *,
    value: str,
    by: str | None = None,
    label: str | None = None,
    title: str = "",
) -> Picture:
    """Draw the cumulative distribution of a column, with its median, 95th and 99th percentile.

    Parameters
    ----------
    values
        A table with a row a value.
    value
        The column.
    by
        A column of names: each has a line of its own; default: one line. Of more than eight names
        those with most rows are drawn.
    label
        The label of the axis; default: the column's name.
    title
        The title.
    """
    known = values.drop_nulls(value)
    groups: list[tuple[str, np.ndarray]] = []
    if by is None:
        groups.append(("", known[value].cast(pl.Float64).to_numpy()))
    else:
        counted = known.with_columns(pl.col(by).cast(pl.String)).group_by(by, maintain_order=True)
        named = [
            (level_name(name), of[value].cast(pl.Float64).to_numpy()) for (name,), of in counted
        ]
        groups += sorted(named, key=lambda group: -group[1].size)[:_MOST_GROUPS]
    with styled():
        made, axes = figure(2.7)
        everything = np.concatenate([found for _, found in groups] or [np.empty(0)])
        for place, (name, found) in enumerate(groups):
            if not found.size:
                continue
            ordered = np.sort(found)
            # Beyond the picture's dots more steps are not seen.
            chosen = np.unique(
                np.linspace(0, ordered.size - 1, min(ordered.size, 1500)).astype(int)
            )
            shares = (chosen + 1) / ordered.size
            axes.step(
                ordered[chosen], 100 * shares, where="post", color=HUES[place % len(HUES)], lw=1.3,
                label=f"{plain_name(name)} ({ordered.size:,})" if name else None,
            )  # fmt: skip
            _percentiles(axes, ordered, HUES[place % len(HUES)])
        if everything.size and everything.min() > 0:
            ratio = float(everything.max() / np.median(everything))
            if ratio > _WIDE:
                axes.set_xscale("log")
                axes.xaxis.set_major_formatter(FuncFormatter(_general))
        axes.set(ylabel="% at most", xlabel=label or heading(value), ylim=(0, 102))
        axes.set_title(title)
        legend(axes)
    return made


def _general(value: float, _place: int | None) -> str:
    return f"{value:g}"


def percentile(ordered: np.ndarray, share: int) -> float | None:
    """Return a percentile, between two values in proportion; None of too few values.

    It is the quantile that ``ackclock run`` prints (docs/reference/results.md).

    Of fewer than 20 values the 95th percentile would be the largest, of fewer than 100 the 99th.
    """
    if ordered.size * (100 - share) < 100:
        return None
    return float(np.percentile(ordered, share))


def _percentiles(axes: Axes, ordered: np.ndarray, colour: str) -> None:
    for share in (50, 95, 99):
        at = percentile(ordered, share)
        if at is not None:
            axes.plot(
                [at], [share], marker="o", ms=3.4, color=colour, mec="white", mew=0.5, ls="none"
            )


def heat_map(
    table: pl.DataFrame,
    *,
    x: str,
    y: str,
    value: str,
    label: str | None = None,
    title: str = "",
    factor: float = 1.0,
) -> Picture:
    """Draw a quantity over two others: a cell for each pair, dark where it is large.

    Parameters
    ----------
    table
        A table with a row a pair; of several rows of one pair the mean is drawn.
    x, y
        The columns that vary.
    value
        The column that is drawn.
    label
        Its name, with the unit; default: the column's.
    title
        The title.
    factor
        By how much a value is multiplied, as 1e-6 for Mbit/s of a column in bit/s.
    """
    across, up = levels_of(table, x), levels_of(table, y)
    means = table.group_by(x, y).agg(pl.col(value).cast(pl.Float64).mean())
    grid = np.full((len(up), len(across)), np.nan)
    for at_x, at_y, found in means.iter_rows():
        if found is not None:
            grid[up.index(at_y), across.index(at_x)] = found * factor
    with styled():
        made, axes = figure(max(1.2 + 0.32 * len(up), 2.2))
        mesh = axes.pcolormesh(grid, cmap="cividis_r", edgecolors="white", linewidth=0.6)
        axes.grid(visible=False)
        name_levels(axes, list(np.arange(len(across)) + 0.5), across)
        axes.set_yticks(np.arange(len(up)) + 0.5, [plain_name(level_name(each)) for each in up])
        axes.set(xlabel=heading(x), ylabel=heading(y))
        axes.set_title(title)
        made.colorbar(mesh, ax=axes, label=label or heading(value, factor), pad=0.01)
        if grid.size <= _MOST_CELLS and np.isfinite(grid).any():
            low, high = float(np.nanmin(grid)), float(np.nanmax(grid))
            for (row, column), found in np.ndenumerate(grid):
                if np.isfinite(found):
                    dark = high > low and (found - low) / (high - low) > 0.55
                    axes.text(
                        column + 0.5, row + 0.5, f"{found:.3g}", ha="center", va="center",
                        fontsize=7.0, color="white" if dark else COLOURS["ink"],
                    )  # fmt: skip
    return made


def sweep(
    table: pl.DataFrame,
    *,
    x: str,
    value: str,
    by: str | None = None,
    label: str | None = None,
    title: str = "",
    factor: float = 1.0,
    most: float | None = None,
) -> Picture:
    """Draw a quantity over another: the mean of each point with its 95 % interval, and every value.

    Parameters
    ----------
    table
        A table with a row a run.
    x
        The column that varies.
    value
        The column that is drawn.
    by
        A column of names: each has a line of its own, of more than eight the first eight; default:
        one line.
    label
        The name of the value, with its unit; default: the column's.
    title
        The title.
    factor
        By how much a value is multiplied.
    most
        The end of the axis at most, such as 100 of a share in percent; an interval may go beyond.
    """
    levels = levels_of(table, x)
    numeric = all(is_number(level) for level in levels)
    names: Sequence[Any] = [None] if by is None else levels_of(table, by)[:_MOST_GROUPS]
    with styled():
        made, axes = figure(2.7)
        bare = any(name is None or is_number(name) for name in names)
        for place, name in enumerate(names):
            of = table if by is None else table.filter(pl.col(by).eq_missing(pl.lit(name)))
            # Beside each other, so that lines which agree can be told apart.
            beside = 0.0 if numeric else (place - (len(names) - 1) / 2) * _BESIDE
            at = [level if numeric else levels.index(level) + beside for level in of[x].to_list()]
            found = of[value].cast(pl.Float64).to_numpy() * factor
            colour = HUES[place % len(HUES)]
            label_of = f"{by} {level_name(name)}" if bare else level_name(name)
            axes.plot(
                at, found, ls="none", marker="o", ms=2.6, color=colour, alpha=0.45, clip_on=False
            )
            draw_means(axes, at, found, colour, None if by is None else plain_name(label_of))
        if not numeric:
            name_levels(axes, range(len(levels)), levels)
            axes.set_xlim(-0.4, len(levels) - 0.6)
        axes.set(xlabel=heading(x), ylabel=label or heading(value, factor))
        low, high = _span(table[value], factor, axes.get_ylim()[1])
        axes.set_ylim(low, high if most is None else min(high, most))
        axes.set_title(title)
        legend(axes)
    return made


def _span(values: pl.Series, factor: float, top: float) -> tuple[float, float]:
    """Return the ends of an axis that begins at zero, with room above the largest value."""
    known = values.cast(pl.Float64).drop_nulls().to_numpy() * factor
    if not known.size:
        return 0.0, 1.0
    least, most = min(0.0, float(known.min())), max(0.0, float(known.max()))
    room = 0.05 * (most - least)
    return (least - room if least < 0 else 0.0), max(top, most + room) or 1.0


def draw_means(
    axes: Axes, at: Sequence[float], found: np.ndarray, colour: str, label: str | None
) -> None:
    """Draw a line through the means, and the interval of each mean of values that differ."""
    places = sorted({float(each) for each in at})
    spots = np.array([float(each) for each in at])
    estimates = [estimate(found[spots == place].tolist()) for place in places]
    means = np.array([each.mean for each in estimates])
    known = np.isfinite(means)
    axes.plot(np.array(places)[known], means[known], color=colour, lw=1.3, label=label)
    spans = np.array([each.ci or np.nan for each in estimates])
    known = np.isfinite(spans)
    axes.errorbar(
        np.array(places)[known], means[known], spans[known],
        color=colour, ls="none", elinewidth=1.0, capsize=2.5, capthick=1.0,
    )  # fmt: skip


def is_number(level: object) -> bool:
    """Return True of a number that is no truth value."""
    return isinstance(level, int | float) and not isinstance(level, bool)


def name_levels(axes: Axes, places: Sequence[float], levels: Sequence[Any]) -> None:
    """Write the names of levels below an axis: folded, or turned where they are many."""
    names = [plain_name(level_name(level)) for level in levels]
    room = min(_MOST_LETTERS // max(len(levels), 1), _TURNED)
    if len(levels) <= _MOST_FOLDED:
        axes.set_xticks(places, ["\n".join(_folded(name, room)) or name for name in names])
        return
    axes.set_xticks(
        places, [name if len(name) <= _TURNED else f"{name[: _TURNED - 1]}…" for name in names]
    )
    if max(map(len, names)) > room:
        axes.tick_params(axis="x", labelrotation=30)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _folded(name: str, room: int) -> list[str]:
    return wrap(name, max(room, 8), break_long_words=False, break_on_hyphens=False)


def levels_of(table: pl.DataFrame, column: str) -> list[Any]:
    """Return the values of a column: numbers and quantities in order, texts as they come.

    A missing value is a level of its own, the first.
    """
    values = table[column].unique(maintain_order=True).to_list()
    given = [value for value in values if value is not None]
    missing = [None] * (len(values) - len(given))
    if table[column].dtype.is_numeric():
        return missing + sorted(given)
    sizes = {value: _size(value) for value in given}
    if len({base for base, _ in sizes.values()}) > 1:
        return missing + given
    return missing + sorted(given, key=lambda value: sizes[value][1])


def _size(value: object) -> tuple[str, float]:
    """Return the base unit of a quantity such as ``10 Mbit/s``, and its number in that unit."""
    found = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return "", 0.0
    number, unit = float(found[1]), found[2]
    if unit[:1] in _PREFIXES and unit[1:] in _BASES:
        return unit[1:], number * _PREFIXES[unit[:1]]
    return unit, number


def level_name(value: object) -> str:
    """Return a level as text."""
    if value is None:
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)
