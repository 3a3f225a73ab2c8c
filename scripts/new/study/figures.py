"""Figures of the study, drawn from its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ackclock.plots.style import COLOURS, figure, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def utilisation(rows: pl.DataFrame) -> Figure:
    """Draw the utilisation over the buffer."""
    with styled():
        made, panel = figure(2.6)
        panel.plot(rows["buffer_bdp"], rows["utilisation"], color=COLOURS["blue"], marker="o")
        panel.set(xlabel="buffer, BDP", ylabel="utilisation", ylim=(0, 1.05))
        return made
