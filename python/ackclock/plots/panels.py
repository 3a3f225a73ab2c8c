"""Small multiples: lines over a setting, in a panel each of another one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from ackclock.base.shown import heading
from ackclock.plots.distributions import draw_means, is_number, level_name, levels_of, name_levels
from ackclock.plots.series import plain_name
from ackclock.plots.style import HUES, WIDTH_IN, Picture, figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["panels"]

_MOST_PANELS = 12
_MOST_LINES = 8
_ACROSS = 3
"""Panels beside each other."""

_MOST_TICKS = 5
"""The most settings that each have a mark on a logarithmic axis; of more the powers of ten do."""

_LETTER_IN = 0.075
"""The width of a digit below an axis, and of the gap between two numbers, in inches."""

_WIDE = 15.0
"""From this ratio of the largest to the least setting on, the axis is logarithmic."""


def panels(
    table: pl.DataFrame,
    *,
    x: str,
    value: str,
    by: str | None = None,
    panel: str | None = None,
    label: str | None = None,
    title: str = "",
    factor: float = 1.0,
) -> Picture:
    """Draw the means of a value over a setting with 95 % intervals, in a panel each of another.

    Parameters
    ----------
    table
        A table with a row a run.
    x
        The column that varies along the axis, which is logarithmic where it spans far.
    value
        The column that is drawn.
    by
        A column of names: each has a line of its own, of more than eight the first eight.
    panel
        A column of names: each has a panel of its own, of more than twelve the first twelve;
        default: one panel.
    label
        The name of the value, with its unit; default: the column's.
    title
        The title.
    factor
        By how much a value is multiplied.
    """
    chosen: list[Any] = [None] if panel is None else levels_of(table, panel)[:_MOST_PANELS]
    wide = min(len(chosen), _ACROSS)
    rows = -(-len(chosen) // wide)
    names: list[Any] = [None] if by is None else levels_of(table, by)[:_MOST_LINES]
    with styled():
        made, axes = figure(0.5 + 2.1 * rows, rows, wide, squeeze=False, sharey=True, sharex=True)
        for place, name in enumerate(chosen):
            of = table if panel is None else table.filter(pl.col(panel).eq_missing(pl.lit(name)))
            one: Axes = axes[place // wide][place % wide]
            _lines(one, table, of, x, value, by, names, factor)
            if panel is not None:
                words = (
                    f"{plain_name(panel)} {level_name(name)}"
                    if is_number(name)
                    else level_name(name)
                )
                one.set_title(plain_name(words), parse_math=False)
            elif title:
                one.set_title(title)
        for place in range(len(chosen), rows * wide):
            axes[place // wide][place % wide].set_visible(False)
        for row in axes:
            row[0].set(ylabel=label or heading(value, factor))
        for one in axes[-1]:
            one.set(xlabel=heading(x))
        low = min(0.0, float(table[value].cast(pl.Float64).min() or 0.0) * factor)  # type: ignore[arg-type]
        axes[0][0].set_ylim(low, None)
        handles, labels = axes[0][0].get_legend_handles_labels()
        if labels:
            made.legend(handles, labels, loc="outside upper right", ncols=min(len(labels), 6))
        if title and panel is not None:
            made.suptitle(title)
    return made


def _lines(
    one: Axes,
    table: pl.DataFrame,
    of: pl.DataFrame,
    x: str,
    value: str,
    by: str | None,
    names: list[Any],
    factor: float,
) -> None:
    known = levels_of(table, x)
    numeric = all(is_number(level) for level in known)
    for place, name in enumerate(names):
        mine = of if by is None else of.filter(pl.col(by).eq_missing(pl.lit(name)))
        mine = mine.drop_nulls(value)
        if mine.is_empty():
            continue
        at = [level if numeric else known.index(level) for level in mine[x].to_list()]
        found = mine[value].cast(pl.Float64).to_numpy() * factor
        words = f"{by} {level_name(name)}" if is_number(name) else level_name(name)
        draw_means(
            one, at, np.asarray(found), HUES[place % len(HUES)],
            None if by is None else plain_name(words),
        )  # fmt: skip
    if not numeric:
        name_levels(one, range(len(known)), known)
    elif min(known) > 0 and max(known) / min(known) > _WIDE:
        one.set_xscale("log")
        if len(known) <= _MOST_TICKS:
            one.set_xticks(_apart(known, one))
            one.minorticks_off()
        one.xaxis.set_major_formatter(lambda number, _place: f"{number:g}")


def _apart(known: Sequence[float], one: Axes) -> list[float]:
    """Return the settings whose numbers stand apart on a logarithmic axis, the last among them."""
    inches = one.get_position().width * WIDTH_IN / math.log(max(known) / min(known))
    kept: list[float] = []
    for level in sorted(known, reverse=True):
        if kept:
            letters = (len(f"{level:g}") + len(f"{kept[-1]:g}")) / 2 + 1
            if math.log(kept[-1] / level) * inches < letters * _LETTER_IN:
                continue
        kept.append(level)
    return kept[::-1]
