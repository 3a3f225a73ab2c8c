"""Figures 4 and 6 on real packets: the kernel's slow start and Quick-Start, and our end points'.

Around the kernel's own TCP programs of ours speak Quick-Start, as root; without them its rows are
the slow start that the paper compares with. Our end points speak the options in real bytes, and the
path's routers change them in place, by the arithmetic of the router in the kernel.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import ackclock as ac
from ackclock.plots.style import COLOURS, figure, styled
from ackclock.report.page import Prose
from ackclock.studies.framework.live import Live, SimAndLive, Trial, compared
from ackclock.studies.scharf2008.scenarios import (
    HIGH_BPS,
    LINK_BPS,
    LOW_BPS,
    RTTS_S,
    SLOT_S,
    download,
    path,
    quickstart,
    router,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.results import Run

LENGTH_S = 6.0
EARLY_S = 2.0
"""What came until then is compared: the time in which the ways to begin differ."""
PACKET_BITS = 12_000

WAYS = {
    "kernel, CUBIC": ("cubic+iw3", "linux", None),
    "kernel, 81.92 Mbit/s": ("cubic+iw3" + quickstart(HIGH_BPS, "unchanged"), "linux", None),
    "kernel, 5.12 Mbit/s": ("cubic+iw3" + quickstart(LOW_BPS, "unchanged"), "linux", None),
    "ours, slow start": ("newreno+sack", "rfc", "ackclock"),
    "ours, 81.92 Mbit/s": (
        "newreno+sack" + quickstart(HIGH_BPS, "unchanged"), "rfc", "ackclock",
    ),
    "ours, 5.12 Mbit/s": ("newreno+sack" + quickstart(LOW_BPS, "unchanged"), "rfc", "ackclock"),
}  # fmt: skip
"""Variant, profile and end point of each."""


def _scenario(way: str, rtt_s: float) -> ac.Scenario:
    variant, profile, endpoint = WAYS[way]
    return ac.Scenario(
        duration=f"{LENGTH_S:g} s",
        topology=path(rtt_s, first=router(SLOT_S), second=router(SLOT_S)),
        flows=[],
        traffic=[replace(download(variant, 20_000_000_000), profile=profile, endpoint=endpoint)],
        probes=[ac.Probe(link="client", every=f"{rtt_s:g} s")],
    )


QUICK_KERNEL = "+quickstart"
"""The part that the kernel has by programs of ours. They take rights: without, it is skipped."""


def _both(_: Path, scenario: ac.Scenario) -> SimAndLive:
    return SimAndLive(scenario, scenario)


def trials(quick: bool) -> list[Trial]:
    """Return the runs."""
    return [
        Trial(
            f"{way.replace(',', '').replace(' ', '-').replace('/', '')}-{1000 * rtt_s:g}",
            {"way": way, "rtt_ms": round(1000 * rtt_s)},
            _scenario(way, rtt_s),
            prepare=_both if QUICK_KERNEL in WAYS[way][0] and WAYS[way][1] == "linux" else None,
        )
        for rtt_s in (RTTS_S[:1] if quick else RTTS_S)
        for way in WAYS
    ]


def reduce(run: Run) -> pl.DataFrame:
    """Return the rate at which packets reach the client, by round trips since its request.

    ``approved_bps`` is what the end that asked was told, if it asked.
    """
    opened = pl.DataFrame(run.connections)["established_s"][0]
    steps = pl.DataFrame(run.quick_start).filter(pl.col("step").cast(pl.String) == "approved")
    approved = steps["approved_bps"][0] if steps.height else None
    samples = pl.DataFrame(run.link_samples).filter(
        pl.col("direction").cast(pl.String) == "forward"
    )
    samples = samples.sort("time_s")
    return (
        samples.with_columns(
            (pl.col("delivered_flow_packets").diff() * PACKET_BITS / pl.col("time_s").diff()).alias(
                "rate_bps"
            ),
            (pl.col("time_s") - opened).alias("since_request_s"),
        )
        .filter(pl.col("since_request_s") > 0, pl.col("rate_bps").is_not_null())
        .select(
            "since_request_s", "rate_bps", pl.lit(approved, dtype=pl.Int64).alias("approved_bps")
        )
    )


def draw(rows: pl.DataFrame) -> Figure:
    """Draw the rates over the time since the request."""
    colours = dict(zip(WAYS, ("green", "purple", "red", "ink", "blue", "orange"), strict=True))
    rtts = rows["rtt_ms"].unique().sort().to_list()
    with styled():
        made, panels = figure(3.1, 1, len(rtts), sharey=True, squeeze=False)
        for panel, rtt_ms in zip(panels[0], rtts, strict=True):
            for way, name in colours.items():
                for on in ("sim", "live"):
                    here = rows.filter(
                        pl.col("way") == way, pl.col("rtt_ms") == rtt_ms, pl.col("on") == on,
                        pl.col("number") == 0, pl.col("since_request_s") <= 20 * rtt_ms / 1e3 + 0.5,
                    )  # fmt: skip
                    panel.plot(
                        here["since_request_s"], here["rate_bps"] / 1e6, color=COLOURS[name],
                        linewidth=3.2 if on == "sim" else 1.0,
                        alpha=0.35 if on == "sim" else 1.0,
                        label=way if on == "live" else None,
                    )  # fmt: skip
            panel.axhline(LINK_BPS / 1e6, color=COLOURS["pale"], linewidth=1.0, zorder=0)
            panel.set(title=f"Round trip {rtt_ms} ms", xlabel="time since the request, s")
        panels[0][0].set(ylabel="received, Mbit/s", ylim=(0, 108))
        handles, labels = panels[0][0].get_legend_handles_labels()
        made.legend(handles, labels, loc="outside lower center", ncols=3)
        return made


def blocks(rows: pl.DataFrame) -> tuple[Prose | Any, ...]:
    """Return what the page says."""
    early = rows.filter(pl.col("since_request_s") <= EARLY_S)
    asked = rows.filter(pl.col("on") == "live").group_by("way", maintain_order=True)
    granted = ", ".join(
        f"{names[0]}: {here['approved_bps'][0] / 1e6:.2f} Mbit/s"
        for names, here in asked
        if here["approved_bps"][0] is not None
    )
    return (
        Prose(
            "The paths of Figures 4 and 6 with real packets in them. The kernel’s server begins "
            "with three segments and HyStart, or with what programs around it were approved; our "
            "end points speak RFC 4782 in real bytes, and both routers answer in the packets. "
            f"Approved live: {granted or 'nothing'}."
        ),
        compared(
            "live-rates",
            "Received in the first two seconds",
            "Means over the round trips of two seconds from the request on, in Mbit/s.",
            early,
            {"rtt_ms": "round trip, ms", "way": "begins with"},
            "rate_bps",
            lambda value: f"{value / 1e6:.2f}",
        ),
    )


LIVE = Live(
    file=Path(__file__),
    title="the beginning of a download",
    caption="Thick: simulated. Thin: on real packets, the kernel’s CUBIC with and without "
    "Quick-Start, and our own end points.",
    trials=trials,
    reduce=reduce,
    draw=draw,
    blocks=blocks,
)
