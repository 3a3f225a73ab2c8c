"""The figures beyond the paper's, drawn from tidy tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from ackclock.plots.style import COLOURS, figure, styled
from ackclock_studies.watanabe2013.figures import COLOUR, MARKER
from ackclock_studies.watanabe2013.published import PUBLISHED
from ackclock_studies.watanabe2013.scenarios import ALTERNATIVES, BY_KEY, CASES, DEFAULT, VARIANTS
from ackclock_studies.watanabe2013.scenarios_beyond import (
    ADAPTATIONS,
    RESIZED_CASES,
    RESIZED_VARIANTS,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILM_MBPS = 5.2436
"""The film's mean rate."""


def _line(panel: Any, rows: pl.DataFrame, x: str, metric: str, variant: str, **look: Any) -> None:
    """Draw means with intervals over ``x``, in the look of a variant."""
    ordered = rows.sort(x)
    style: dict[str, Any] = {
        "color": COLOUR[variant],
        "marker": MARKER[variant],
        "markersize": 3.4,
        "linewidth": 1.1,
        "elinewidth": 0.7,
        "label": variant,
        **look,
    }
    spread = [value or 0.0 for value in ordered[f"{metric}_ci"].to_list()]
    panel.errorbar(ordered[x].to_list(), ordered[metric].to_list(), spread, **style)


def _legend(made: Figure, panel: Any, columns: int = 5) -> None:
    handles, labels = panel.get_legend_handles_labels()
    made.legend(handles, labels, loc="outside lower center", ncols=columns)


def _swept(
    means: pl.DataFrame,
    x: str,
    rows: Mapping[str, pl.Expr],
    metrics: Mapping[str, str],
    label: str,
    scale: float = 1.0,
) -> tuple[Figure, Any]:
    """Draw a grid of means over ``x``: a row a selection, a column a metric."""
    means = means.with_columns((pl.col(x) * scale).alias("x"))
    made, panels = figure(2.1 * len(rows) + 0.9, len(rows), len(metrics), sharex=True)
    for at, (line, (name, chosen)) in enumerate(zip(panels, rows.items(), strict=True)):
        for panel, (metric, words) in zip(line, metrics.items(), strict=True):
            for variant in VARIANTS:
                here = means.filter(chosen, pl.col("variant") == variant)
                _line(panel, here, "x", metric, variant)
            panel.set_ylim(bottom=0)
            if at == 0:
                panel.set_title(words)
            if at == len(rows) - 1:
                panel.set_xlabel(label)
        line[0].set_ylabel(name)
    _legend(made, panels[0, 0])
    return made, panels


SWEPT = {
    "discards": "pictures discarded",
    "stall_s": "stood still, s",
    "retransmissions": "segments retransmitted",
}


def rates(means: pl.DataFrame) -> Figure:
    """Draw the numbers over the path's rate, without and with random losses."""
    rows = {"no random loss": pl.col("loss_rate") == 0, "0.01 % lost": pl.col("loss_rate") > 0}
    with styled():
        made, panels = _swept(means, "rate_bps", rows, SWEPT, "rate of the path, Mbit/s", 1e-6)
        for panel in panels.flat:
            panel.axvline(FILM_MBPS, color=COLOURS["pale"], linewidth=0.8, zorder=0)
        return made


def queues(means: pl.DataFrame) -> Figure:
    """Draw the numbers over the buffer of the path."""
    cases = means["scenario"].unique(maintain_order=True)
    rows = {BY_KEY[case].label.replace(", ", "\n", 1): pl.col("scenario") == case for case in cases}
    with styled():
        made, panels = _swept(means, "buffer_products", rows, SWEPT, "buffer, products at 100 ms")
        for panel in panels.flat:
            panel.set_xscale("log", base=2)
            panel.xaxis.set_major_formatter("{x:g}")
        return made


def streams(means: pl.DataFrame) -> Figure:
    """Draw what a video has over the number of videos on the path."""
    metrics = {
        "discards": "pictures discarded",
        "worst_stall_s": "worst video stood still, s",
        "retransmissions": "segments retransmitted",
        "fairness": "Jain’s index of waiting",
    }
    with styled():
        made, panels = figure(4.8, 2, 2, sharex=True)
        for panel, (metric, words) in zip(panels.flat, metrics.items(), strict=True):
            for variant in VARIANTS:
                _line(panel, means.filter(pl.col("variant") == variant), "videos", metric, variant)
            panel.set_title(words)
            panel.set_xscale("log", base=2)
            panel.xaxis.set_major_formatter("{x:g}")
            if metric == "retransmissions":
                panel.set_yscale("symlog", linthresh=10)
            panel.set_ylim(bottom=0)
        for panel in panels[-1]:
            panel.set_xlabel("videos on the path")
        _legend(made, panels[0, 0])
        return made


def rivals(means: pl.DataFrame) -> Figure:
    """Draw what four videos of each sender have beside four of CUBIC's, and what those have."""
    with styled():
        made, panels = figure(3.1, 1, 2, sharey=True)
        metrics = {"stall_s": "stood still, s", "discards": "pictures discarded"}
        for panel, (metric, words) in zip(panels, metrics.items(), strict=True):
            for at, variant in enumerate(VARIANTS):
                here = means.filter(pl.col("first") == variant)
                for own in (True, False):
                    if variant == "cubic" and not own:
                        continue
                    kind = variant if own else "cubic"
                    row = here.row(by_predicate=pl.col("variant") == kind, named=True)
                    panel.errorbar(
                        row[metric],
                        at + (-0.12 if own else 0.12),
                        xerr=row[f"{metric}_ci"] or 0.0,
                        color=COLOUR[variant] if own else COLOURS["blue"],
                        marker="o" if own else "x",
                        markersize=4,
                        linewidth=0.9,
                    )
            panel.set_xlabel(words)
            panel.grid(visible=False, axis="y")
            panel.set_xlim(left=0)
        panels[0].set_yticks(range(len(VARIANTS)), VARIANTS)
        panels[0].set_ylim(len(VARIANTS) - 0.5, -0.5)
        return made


def resized(means: pl.DataFrame, summary: pl.DataFrame) -> Figure:
    """Draw waits and discards over the bound of a playout buffer that follows the path."""
    fixed = summary.filter(pl.col("choice") == DEFAULT.key)
    with styled():
        made, panels = figure(4.4, 2, len(RESIZED_CASES), sharex=True, sharey="row")
        for at, case in enumerate(RESIZED_CASES):
            for variant in RESIZED_VARIANTS:
                same = (pl.col("scenario") == case) & (pl.col("variant") == variant)
                here = means.filter(same).with_columns((pl.col("most_bytes") / 1e6).alias("x"))
                before = fixed.filter(same).with_columns(pl.lit(0.656).alias("x"))
                columns = [
                    "x",
                    *(
                        f"{metric}{suffix}"
                        for metric in ("startup_s", "stall_s", "discards")
                        for suffix in ("", "_ci")
                    ),
                ]
                rows = pl.concat([before.select(columns), here.select(columns)], how="vertical")
                _line(panels[0, at], rows, "x", "stall_s", variant)
                _line(
                    panels[0, at], rows, "x", "startup_s", variant,
                    linestyle="dashed", label=f"{variant}, start-up",
                )  # fmt: skip
                _line(panels[1, at], rows, "x", "discards", variant)
            panels[0, at].set_title(BY_KEY[case].label.replace(", ", "\n", 1))
            panels[1, at].set_xscale("log", base=2)
            panels[1, at].xaxis.set_major_formatter("{x:.3g}")
            panels[1, at].set_xticks([0.656, 4, 16, 64], ["0.656", "4", "16", "64"])
            panels[1, at].minorticks_off()
            panels[1, at].set_xlabel("at most, MB")
        panels[0, 0].set_ylabel("s: stood still,\nstart-up (dashed)")
        panels[1, 0].set_ylabel("pictures discarded")
        for line in panels:
            line[0].set_ylim(bottom=0)
        _legend(made, panels[1, 0])
        return made


def segmented(means: pl.DataFrame) -> Figure:
    """Draw rates of the film in segments, a column a rule of adaptation."""
    metrics = {
        "mean_rate_bps": ("mean rate shown, Mbit/s", 1e-6),
        "switches": ("changes of the rate", 1),
    }
    with styled():
        made, panels = figure(4.6, len(metrics), len(ADAPTATIONS), sharex=True, sharey="row")
        for place, (metric, (words, scale)) in enumerate(metrics.items()):
            line = panels[place]
            for panel, adapt in zip(line, ADAPTATIONS, strict=True):
                for n, variant in enumerate(VARIANTS):
                    rows = means.filter(pl.col("adapt") == adapt, pl.col("variant") == variant)
                    by_case = {row["scenario"]: row for row in rows.iter_rows(named=True)}
                    ordered = [by_case[case.key] for case in CASES]
                    offset = (n - (len(VARIANTS) - 1) / 2) * 0.08
                    panel.errorbar(
                        [at + offset for at in range(len(CASES))],
                        [scale * row[metric] for row in ordered],
                        [scale * (row[f"{metric}_ci"] or 0.0) for row in ordered],
                        color=COLOUR[variant],
                        marker=MARKER[variant],
                        markersize=3.2,
                        linewidth=0,
                        elinewidth=0.7,
                        label=variant,
                    )
                panel.grid(visible=False, axis="x")
                if place == 0:
                    panel.set_title(f"by {adapt}")
            line[0].set_ylabel(words)
            # Both panels are drawn: the rows share their axis.
            line[0].set_ylim(bottom=0)
        for panel in panels[-1]:
            panel.set_xticks(range(len(CASES)), [case.key for case in CASES], rotation=35)
        _legend(made, panels[0, 0])
        return made


def wifi_choices(summary: pl.DataFrame) -> Figure:
    """Draw what the paper's senders lose over WiFi under each choice that it leaves open."""
    choices = [DEFAULT, *ALTERNATIVES]
    metrics = {"packets_lost": "packets lost", "discards": "pictures discarded"}
    with styled():
        made, panels = figure(2.9, 1, 2, sharey=True)
        for panel, (metric, words) in zip(panels, metrics.items(), strict=True):
            for at, choice in enumerate(choices):
                _dots(panel, summary, choice.key, metric, at, PUBLISHED)
            panel.set_xlabel(words)
            panel.grid(visible=False, axis="y")
            panel.set_xscale("symlog", linthresh=1)
            panel.set_xlim(left=-0.2)
        panels[0].set_yticks(range(len(choices)), [choice.key for choice in choices])
        panels[0].set_ylim(len(choices) - 0.5, -0.5)
        _legend(made, panels[0], 6)
        return made


def _dots(
    panel: Any, summary: pl.DataFrame, choice: str, metric: str, at: int, names: Sequence[str]
) -> None:
    for n, variant in enumerate(names):
        row = summary.row(
            by_predicate=(pl.col("choice") == choice)
            & (pl.col("scenario") == "wifi")
            & (pl.col("variant") == variant),
            named=True,
        )
        panel.errorbar(
            row[metric],
            at + (n - (len(names) - 1) / 2) * 0.11,
            xerr=row[f"{metric}_ci"] or 0.0,
            color=COLOUR[variant],
            marker=MARKER[variant],
            markersize=3.6,
            linewidth=0,
            elinewidth=0.8,
            label=variant if at == 0 else None,
        )
