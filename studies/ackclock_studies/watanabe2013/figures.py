"""The study's figures, drawn from its tidy tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ackclock.plots.style import COLOURS, figure, styled
from ackclock.plots.thin import thinned
from ackclock_studies.watanabe2013.scenarios import BY_KEY, CASES, DEFAULT, FIGURE_2, MADE, VARIANTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPAN_S = 1.0
"""Two dots of a picture: thinner than a line."""

METRICS = {
    "discards": "pictures discarded",
    "underflows": "underflows",
    "retransmissions": "segments retransmitted",
}

COLOUR = {
    "reno": COLOURS["ink"],
    "cubic": COLOURS["blue"],
    "compound": COLOURS["sky"],
    "ccp(1)": COLOURS["green"],
    "ccpd(1,2000)": COLOURS["orange"],
    "ccpd(1,4000)": COLOURS["red"],
    "bbr": COLOURS["purple"],
    "cubic+hystartpp": COLOURS["grey"],
    MADE: COLOURS["pink"],
}

MARKER = {
    "reno": "o",
    "cubic": "s",
    "compound": "^",
    "ccp(1)": "v",
    "ccpd(1,2000)": "<",
    "ccpd(1,4000)": ">",
    "bbr": "P",
    "cubic+hystartpp": "x",
    MADE: "D",
}


def bars(summary: pl.DataFrame) -> Figure:
    """Draw the means of the three numbers and their deviations, a row a case, as the paper does."""
    rows = summary.filter(pl.col("choice") == DEFAULT.key)
    with styled():
        made, panels = figure(1.15 * len(CASES) + 0.9, len(CASES), len(METRICS))
        for line, case in zip(panels, CASES, strict=True):
            here = rows.filter(pl.col("scenario") == case.key)
            for panel, (metric, name) in zip(line, METRICS.items(), strict=True):
                found = [
                    here.row(by_predicate=pl.col("variant") == variant, named=True)
                    for variant in VARIANTS
                ]
                # Lines and not rectangles: a tenth of the picture's size.
                means = [row[metric] for row in found]
                low = [max(row[metric] - row[f"{metric}_sd"], 0.0) for row in found]
                high = [row[metric] + row[f"{metric}_sd"] for row in found]
                places = range(len(VARIANTS))
                panel.vlines(places, 0, means, colors=list(COLOUR.values()), linewidth=7)
                panel.vlines(places, low, high, colors=COLOURS["ink"], linewidth=0.9)
                panel.set_xlim(-0.7, len(VARIANTS) - 0.3)
                panel.set_xticks([])
                panel.grid(visible=False, axis="x")
                panel.set_ylim(bottom=0)
                panel.locator_params(axis="y", nbins=3)
                if max(high) == 0:
                    panel.set_ylim(0, 1)
                    panel.set_yticks([0])
                    panel.text(0.5, 0.2, "none", transform=panel.transAxes, ha="center")
                if case is CASES[0]:
                    panel.set_title(name)
            number = f"Figure {case.figure}\n" if case.figure else ""
            line[0].set_ylabel(number + case.label.replace(", ", "\n"), fontsize=7)
        handles = [
            panels[0, 0].bar(0, 0, color=COLOUR[variant], label=variant) for variant in VARIANTS
        ]
        made.legend(handles=handles, loc="outside lower center", ncols=5)
        return made


def windows(traces: pl.DataFrame) -> Figure:
    """Draw the windows of figure 5, a panel a variant."""
    with styled():
        made, panels = figure(5.2, 3, len(VARIANTS) // 3, sharex=True, sharey=True)
        for panel, variant in zip(panels.flat, VARIANTS, strict=True):
            trace = traces.filter(pl.col("variant") == variant)
            times, packets = trace["time_s"].to_numpy(), trace["window_packets"].to_numpy()
            panel.plot(*thinned(times, packets, SPAN_S), color=COLOUR[variant], linewidth=0.7)
            panel.set_title(variant)
        tops = traces.filter(pl.col("time_s") > 20)["window_packets"]
        panels[0, 0].set_ylim(0, 1.3 * float(tops.max()))  # type: ignore[arg-type]
        panels[0, 0].set_xlim(0, 120)
        for line in panels:
            line[0].set_ylabel("window, segments")
        for panel in panels[-1]:
            panel.set_xlabel("time, s")
        return made


def buffers(samples: pl.DataFrame) -> Figure:
    """Draw figure 2: what the playout buffer holds, a panel a case of the mean rate."""
    with styled():
        made, panels = figure(2.5, 1, len(FIGURE_2), sharex=True, sharey=True)
        for panel, (name, case) in zip(panels, FIGURE_2.items(), strict=True):
            here = samples.filter(pl.col("scenario") == case)
            times, held = here["time_s"].to_numpy(), here["playout_s"].to_numpy()
            panel.plot(*thinned(times, held, SPAN_S), color=COLOURS["blue"], linewidth=0.8)
            panel.set_title(f"{name}\n{BY_KEY[case].rate_bps / 1e6:g} Mbit/s")
            panel.set_xlabel("time, s")
        panels[0].set_xlim(0, 120)
        panels[0].set_ylim(bottom=0)
        panels[0].set_ylabel("play in the buffer, s")
        return made


def ranks(summary: pl.DataFrame) -> Figure:
    """Draw by how much each variant discards more, and stands still longer, than the best one."""
    rows = summary.filter(pl.col("choice") == DEFAULT.key)
    with styled():
        made, panels = figure(4.8, 1, 2, sharey=True)
        for panel, (metric, name) in zip(
            panels, (("discards", "discards more than the best"),
                     ("stall_s", "seconds longer still than the best")),
            strict=True,
        ):  # fmt: skip
            for at, case in enumerate(CASES):
                here = rows.filter(pl.col("scenario") == case.key)
                best = float(here[metric].min())  # type: ignore[arg-type]
                for n, variant in enumerate(VARIANTS):
                    row = here.row(by_predicate=pl.col("variant") == variant, named=True)
                    offset = (n - (len(VARIANTS) - 1) / 2) * 0.09
                    panel.errorbar(
                        row[metric] - best, at + offset, xerr=row[f"{metric}_ci"] or 0.0,
                        color=COLOUR[variant], marker="o", markersize=3.2, linewidth=0.9,
                        label=variant if at == 0 else None, linestyle="none",
                    )  # fmt: skip
                if at:
                    panel.axhline(at - 0.5, color=COLOURS["pale"], linewidth=0.6)
            panel.grid(visible=False, axis="y")
            panel.set_xlabel(name)
        panels[0].set_yticks(
            range(len(CASES)), [case.label.replace(", ", "\n", 1) for case in CASES]
        )
        panels[0].set_ylim(len(CASES) - 0.5, -0.5)
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=5)
        return made
