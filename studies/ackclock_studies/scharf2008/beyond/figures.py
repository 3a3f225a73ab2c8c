"""Figures of the other ways to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ackclock.plots.style import COLOURS, figure, styled
from ackclock_studies.scharf2008.beyond.scenarios import STARTUPS
from ackclock_studies.scharf2008.pages.scenarios import HTTPS, MODELS
from ackclock_studies.scharf2008.scenarios import LINK_BPS, RTTS_S

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOOKS = {
    "slow-start": ("slow start, 3 segments", COLOURS["grey"], "-", "o"),
    "iw10": ("slow start, 10 segments", COLOURS["grey"], (0, (1, 1.5)), "s"),
    "quick-start": ("Quick-Start", COLOURS["blue"], "-", "o"),
    "jump-start": ("Jump Start", COLOURS["red"], "-", "^"),
    "careful-resume": ("Careful Resume", COLOURS["green"], "-", "D"),
    "stale-resume": ("Careful Resume, stale", COLOURS["green"], (0, (3, 2)), "d"),
    "rcp": ("RCP", COLOURS["orange"], "-", "v"),
    "xcp": ("XCP", COLOURS["purple"], "-", "P"),
}
TITLES = {"lossless": "no losses", "1 BDP": "buffer of 1 BDP"}


def begins(rows: pl.DataFrame) -> Figure:
    """Draw the rate at which a download arrives, over the time since its request."""
    with styled():
        made, panels = figure(3.3, 1, 2, sharey=True)
        for panel, rtt in zip(panels, RTTS_S, strict=True):
            for startup in STARTUPS:
                label, colour, dashes, _ = LOOKS[startup]
                here = rows.filter(
                    pl.col("rtt_s") == rtt, pl.col("startup") == startup,
                    pl.col("since_request_s") <= 20 * rtt,
                )  # fmt: skip
                panel.plot(
                    here["since_request_s"], here["rate_bps"] / 1e6, color=colour,
                    linestyle=dashes, linewidth=1.3, label=label,
                )  # fmt: skip
            panel.axhline(LINK_BPS / 1e6, color=COLOURS["pale"], linewidth=1.0, zorder=0)
            panel.set(title=f"{1000 * rtt:.0f} ms", xlabel="time since the request, s")
        panels[0].set(ylabel="received, Mbit/s", ylim=(0, 108))
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7)
        return made


def compared(rows: pl.DataFrame, rtt_s: float = RTTS_S[0]) -> Figure:
    """Draw the response time of slow start over that of each way to begin, over the size."""
    with styled():
        made, panels = figure(3.3, 1, 2, sharey=True)
        for panel, (buffer, title) in zip(panels, TITLES.items(), strict=True):
            for startup in STARTUPS[1:]:
                label, colour, dashes, mark = LOOKS[startup]
                here = rows.filter(
                    pl.col("rtt_s") == rtt_s, pl.col("buffer") == buffer,
                    pl.col("startup") == startup,
                ).sort("size_bytes")  # fmt: skip
                panel.plot(
                    here["size_bytes"], here["speedup"], color=colour, marker=mark,
                    linestyle=dashes, markersize=3.6, linewidth=1.1, label=label,
                )  # fmt: skip
            panel.axhline(1, color=COLOURS["pale"], linewidth=1.0, zorder=0)
            panel.set(xscale="log", xlabel="size, bytes", title=title)
        panels[0].set(ylabel="slow start’s time over it", ylim=(0, None))
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7)
        return made


def harm(rows: pl.DataFrame) -> Figure:
    """Draw a download's response beside others against what those suffer, at the largest size."""
    panels_of = (
        ("load", "dropped", 100, "more of the load dropped, %", "a load of 50 Mbit/s"),
        ("flows", "lost_share", 100, "less for the others, %", "four NewReno flows"),
    )
    with styled():
        made, panels = figure(3.6, 1, 2)
        for panel, (others, column, scale, label, title) in zip(panels, panels_of, strict=True):
            here = rows.filter(pl.col("others") == others)
            here = here.filter(pl.col("size_bytes") == here["size_bytes"].max())
            for row in here.iter_rows(named=True):
                name, colour, _, mark = LOOKS[row["startup"]]
                if row["response_s"] is None:
                    continue
                panel.errorbar(
                    row["response_s"], scale * row[column],
                    xerr=row["response_s_ci"], yerr=scale * (row[f"{column}_ci"] or 0.0),
                    color=colour, marker=mark, markersize=5, linewidth=0.9, label=name,
                    markerfacecolor="white" if row["startup"] in ("iw10", "stale-resume")
                    else colour,
                )  # fmt: skip
            panel.axhline(0, color=COLOURS["pale"], linewidth=1.0, zorder=0)
            panel.set(xlabel="response time, s", ylabel=label, title=title, xlim=(0, None))
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7)
        return made


def waits(rows: pl.DataFrame) -> Figure:
    """Draw page times over slow start's, by kind of page."""
    kinds = [(model, http) for model in MODELS for http in HTTPS]
    with styled():
        made, panel = figure(3.2)
        for shift, startup in enumerate(STARTUPS[1:]):
            label, colour, _, mark = LOOKS[startup]
            for place, (model, http) in enumerate(kinds):
                row = rows.filter(
                    pl.col("model") == model, pl.col("http") == http,
                    pl.col("startup") == startup,
                ).row(0, named=True)  # fmt: skip
                panel.errorbar(
                    place + (shift - 3) * 0.1, row["share"], yerr=row["share_ci"], color=colour,
                    marker=mark, markersize=4.5, linewidth=0.9,
                    label=label if place == 0 else None,
                    markerfacecolor="white" if startup in ("iw10", "stale-resume") else colour,
                )  # fmt: skip
        panel.axhline(1, color=COLOURS["pale"], linewidth=1.0, zorder=0)
        names = [f"{model}\nHTTP/{http}".replace("+", "\n+ ") for model, http in kinds]
        panel.set_xticks(range(len(kinds)), names)
        panel.set(ylabel="page time over slow start’s", ylim=(0, None))
        handles, labels = panel.get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=7)
        return made
