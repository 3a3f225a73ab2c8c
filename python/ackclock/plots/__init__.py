"""Figures in the house's style. They are returned, and show themselves in a notebook.

Each function takes the tables of a run, as Polars frames; :class:`ackclock.Run` has methods that
give it the tables: ``run.plot_cwnd()`` is ``plots.windows(samples, events)``.
"""

from __future__ import annotations

from ackclock.base.extras import needed

with needed("plots need", "matplotlib", extra="plots"):
    from ackclock.plots.compared import pair_map, side_by_side, windows_beside
    from ackclock.plots.distributions import distribution, heat_map, sweep
    from ackclock.plots.panels import panels
    from ackclock.plots.path import path
    from ackclock.plots.series import playout, queues, round_trips, sequence, throughput, windows
    from ackclock.plots.style import (
        COLOURS,
        HUES,
        Picture,
        figure,
        save,
        styled,
        to_pdf,
        to_png,
        to_svg,
    )

__all__ = [
    "COLOURS",
    "HUES",
    "Picture",
    "distribution",
    "figure",
    "heat_map",
    "pair_map",
    "panels",
    "path",
    "playout",
    "queues",
    "round_trips",
    "save",
    "sequence",
    "side_by_side",
    "styled",
    "sweep",
    "throughput",
    "to_pdf",
    "to_png",
    "to_svg",
    "windows",
    "windows_beside",
]
