"""The study's figures, drawn from its tidy tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from ackclock.plots.style import COLOURS, figure, styled
from ackclock_studies.scharf2008.scenarios import (
    FLOOD_PER_S,
    HIGH_BPS,
    HISTORIES,
    LINK_BPS,
    LOW_BPS,
    RTTS_S,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, GREY, PALE = COLOURS["ink"], COLOURS["grey"], COLOURS["pale"]
BLUE, ORANGE, GREEN = COLOURS["blue"], COLOURS["orange"], COLOURS["green"]

_TITLE = {"newreno": "NewReno", "cubic": "CUBIC"}
_WAYS = (
    (0, "unchanged", "slow start", INK, "-"),
    (HIGH_BPS, "unchanged", "81.92 Mbit/s", BLUE, "-"),
    (HIGH_BPS, "approved", "81.92, threshold set", BLUE, (0, (3, 2))),
    (LOW_BPS, "unchanged", "5.12 Mbit/s", ORANGE, "-"),
    (LOW_BPS, "approved", "5.12, threshold set", ORANGE, (0, (3, 2))),
)


def rates(traces: pl.DataFrame, rtt_s: float) -> Figure:
    """Draw the rate at which a download arrives, over the time since its request."""
    with styled():
        made, panels = figure(3.0, 1, 2, sharey=True)
        for panel, growth in zip(panels, _TITLE, strict=True):
            for asked, rule, label, colour, dashes in _WAYS:
                rows = traces.filter(
                    pl.col("rtt_s") == rtt_s, pl.col("growth") == growth,
                    pl.col("asked_bps") == asked, pl.col("ssthresh_rule") == rule,
                    pl.col("since_request_s") <= 20 * rtt_s + 2,
                )  # fmt: skip
                panel.plot(
                    rows["since_request_s"], rows["rate_bps"] / 1e6, color=colour,
                    linestyle=dashes, linewidth=1.3, label=label,
                )  # fmt: skip
            panel.axhline(LINK_BPS / 1e6, color=PALE, linewidth=1.0, zorder=0)
            panel.set(title=_TITLE[growth], xlabel="time since the request, s")
        panels[0].set(ylabel="received, Mbit/s", ylim=(0, 108))
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=3)
        return made


def downloads(routers: pl.DataFrame, name: str, growth: str = "cubic") -> Figure:
    """Draw what each link carries in each slot, and what its router measures and approves."""
    rows = routers.filter(pl.col("figure") == name, pl.col("growth") == growth)
    with styled():
        made, panels = figure(5.8, 3, 1, sharex=True, sharey=True)
        titles = ("at the client", "behind router 1", "behind router 2")
        for panel, link, title in zip(panels, ("client", "first", "second"), titles, strict=True):
            carried = rows.filter(pl.col("what") == "carried", pl.col("link") == link)
            panel.step(
                carried["time_s"], carried["measured_bps"] / 1e6, where="pre", color=INK,
                linewidth=1.0, label="carried in a slot",
            )  # fmt: skip
            steps = rows.filter(
                pl.col("what") == "step", pl.col("link") == link, pl.col("asked_bps") > 0
            )
            granted = steps.filter(pl.col("approved_bps") > 0)
            refused = steps.filter(pl.col("approved_bps") == 0)
            panel.plot(
                granted["time_s"], granted["approved_bps"] / 1e6, "o", color=BLUE, markersize=5,
                label="approved",
            )  # fmt: skip
            panel.plot(
                refused["time_s"], refused["approved_bps"] / 1e6, "X", color=ORANGE, markersize=7,
                label="refused", zorder=5,
            )  # fmt: skip
            panel.set(
                ylabel="Mbit/s", title=title, ylim=(-6, 115), xlim=(0, 24 if name == "f8" else 16)
            )
        panels[-1].set(xlabel="time, s")
        handles, labels = panels[1].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=3)
        return made


def flood(rows: pl.DataFrame) -> Figure:
    """Draw the capacity granted a second over the length of a slot, and what theory says."""
    asked = FLOOD_PER_S * LOW_BPS / 1e6
    marks = {1: "o", 2: "s", 4: "^"}
    with styled():
        made, panel = figure(3.0)
        for history, colour in zip(HISTORIES, (BLUE, INK, ORANGE), strict=True):
            here = rows.filter(pl.col("history") == history).sort("slot_s")
            panel.plot(
                here["slot_s"], here["ceiling_bps_per_s"] / 1e6, color=colour, linewidth=0.9,
                linestyle=(0, (3, 2)),
            )  # fmt: skip
            panel.plot(
                here["slot_s"], here["granted_bps_per_s"] / 1e6, marks[history], color=colour,
                markersize=5, label=f"H = {history}",
            )  # fmt: skip
        panel.plot([], [], color=GREY, linestyle=(0, (3, 2)), linewidth=0.9, label="(q − u)/(D·H)")
        panel.axhline(asked, color=PALE, linewidth=1.0)
        panel.annotate("asked for", (0.98, asked), ha="right", va="bottom", fontsize=7, color=GREY,
                       xycoords=("axes fraction", "data"))  # fmt: skip
        panel.set(xscale="log", yscale="log", xlabel="slot D, s",
                  ylabel="granted a second, Mbit/s")  # fmt: skip
        panel.set_xticks([0.1, 0.2, 0.5, 1.0], ["0.1", "0.2", "0.5", "1"])
        panel.set_yticks([20, 50, 100, 200, 500, 1000], ["20", "50", "100", "200", "500", "1000"])
        panel.minorticks_off()
        panel.legend()
        return made


def speedup(rows: pl.DataFrame) -> Figure:
    """Draw the response time of slow start over that of Quick-Start and of ten segments."""
    looks = (
        ("quick-start", "unchanged", "Quick-Start", "o", "-"),
        ("quick-start", "approved", "Quick-Start, threshold set", "s", (0, (3, 2))),
        ("iw10", "unchanged", "first window of 10", "^", (0, (1, 1.5))),
    )
    with styled():
        made, panels = figure(3.2, 1, 2, sharey=True)
        titles = {"lossless": "no losses", "1 BDP": "buffer of 1 BDP"}
        for panel, (buffer, title) in zip(panels, titles.items(), strict=True):
            for rtt, colour in zip(RTTS_S, (BLUE, ORANGE), strict=True):
                for startup, rule, label, mark, dashes in looks:
                    here = rows.filter(
                        pl.col("rtt_s") == rtt, pl.col("growth") == "newreno",
                        pl.col("buffer") == buffer, pl.col("startup") == startup,
                        pl.col("ssthresh_rule") == rule,
                    ).sort("size_bytes")  # fmt: skip
                    panel.plot(
                        here["size_bytes"], here["speedup"], color=colour, marker=mark,
                        linestyle=dashes, markersize=3.6, linewidth=1.1,
                        label=f"{label}, {1000 * rtt:.0f} ms",
                    )  # fmt: skip
            panel.axhline(1, color=PALE, linewidth=1.0, zorder=0)
            panel.set(xscale="log", xlabel="size, bytes", title=title)
        panels[0].set(ylabel="slow start’s time over it", ylim=(0.8, None))
        handles, labels = panels[0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=7)
        return made


def times(router: pl.DataFrame) -> Figure:
    """Draw the share of small batches that cost a packet more than so much."""
    rows = router.filter(pl.col("quantile").is_not_null())
    with styled():
        made, panel = figure(3.0)
        for share, colour in zip((0.0, 0.01, 0.5), (INK, BLUE, ORANGE), strict=True):
            for kind, dashes in (("ignorant", (0, (3, 2))), ("lowering", "-")):
                here = rows.filter(
                    pl.col("router") == f"{kind} distribution", pl.col("share") == share
                ).sort("quantile")
                name = "original" if kind == "ignorant" else "with Quick-Start"
                panel.plot(
                    here["ns_per_packet"], 1 - here["quantile"], color=colour, linestyle=dashes,
                    linewidth=1.2, label=f"{name}, {100 * share:g} %",
                )  # fmt: skip
        most = float(rows.filter(pl.col("quantile") <= 0.99)["ns_per_packet"].max())  # type: ignore[arg-type]
        panel.set(xlabel="time a packet, ns (means of 32 packets)", xlim=(0, 1.3 * most),
                  yscale="log", ylabel="share of batches above")  # fmt: skip
        panel.legend(fontsize=7)
        return made
