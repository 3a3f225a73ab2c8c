"""The figure of Table I."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ackclock.plots.style import COLOURS, figure, styled
from ackclock_studies.scharf2008.pages.scenarios import (
    HTTPS,
    MAIN,
    MODELS,
)
from ackclock_studies.scharf2008.published import TABLE_1

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLE = {"small": "small pages (SURGE)", "large": "objects of 250 kB on average"}
_TICKS = ("HTTP/1.0", "HTTP/1.1", "pipelining")


def page_times(table: pl.DataFrame) -> Figure:
    """Draw the page times of each reading beside the published ones."""
    looks = (
        ("slow_s", "slow start", COLOURS["ink"], -0.09, 0),
        ("quick_s", "Quick-Start", COLOURS["blue"], 0.09, 1),
    )
    with styled():
        made, panels = figure(3.2, 1, 2)
        for panel, model in zip(panels, MODELS, strict=True):
            rows = table.filter(pl.col("reading") == MAIN.name, pl.col("model") == model)
            for column, label, colour, aside, which in looks:
                places = [n + aside for n in range(len(HTTPS))]
                published = [TABLE_1[model, http][which] for http in HTTPS]
                panel.plot(
                    places, published, "_", color=colour, markersize=13, markeredgewidth=1.6,
                    label=f"{label}, published",
                )  # fmt: skip
                panel.errorbar(
                    places, rows[column], yerr=rows[f"{column}_ci"].fill_null(0.0), fmt="o",
                    color=colour, markersize=4.5, elinewidth=1.0, label=f"{label}, here",
                )  # fmt: skip
            panel.set(title=_TITLE[model], ylim=(0, None), xlim=(-0.5, len(HTTPS) - 0.5))
            panel.set_xticks(range(len(HTTPS)), _TICKS)
        panels[0].set(ylabel="mean page time, s")
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7)
        return made
