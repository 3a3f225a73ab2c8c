"""Figures 4, 6, 7, 8 and a page of Table I on real packets: the kernel's TCP and our end points.

Around the kernel's own TCP programs of ours speak Quick-Start, as root, and its requests meet the
routers in the kernel, as XDP and as tc; without them its rows are the slow start that the paper
compares with. Our end points speak the options in real bytes, and the path's routers change them in
place, by the same arithmetic.

The three downloads of Figures 7 and 8 are one connection, as in the paper. A page has two objects,
the commonest number of SURGE's, of the large pages' mean size: on one connection with HTTP/1.1, one
after the other on a connection each with HTTP/1.0.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import ackclock as ac
from ackclock.plots.style import COLOURS, figure, styled
from ackclock.report.page import Cell, Prose, Sheet
from ackclock.studies.framework.live import KEY, Live, SimAndLive, Trial, compared
from ackclock_studies.scharf2008.predicates_live import (
    DOWNLOADS,
    PAGES,
    PREDICATES,
    TRACES,
)
from ackclock_studies.scharf2008.scenarios import (
    HIGH_BPS,
    LINK_BPS,
    LOW_BPS,
    RTTS_S,
    SLOT_S,
    cross_traffic,
    download,
    path,
    quickstart,
    router,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.runs.run import Run

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


AT_S, GAP_S, COUNT, SIZE_BYTES, LONG_S = 1.0, 5.0, 3, 10_000_000, 24.0
"""The three downloads of Figures 7 and 8."""
PAGE_EVERY_S, PAGE_COUNT, OBJECT_BYTES, OBJECTS = 4.0, 6, 250_000, 2
HTTP = {"HTTP/1.0": (2, 1), "HTTP/1.1": (1, 2)}
"""Connections of a page, and objects of each."""
"""Pages of Table I: four seconds are longer than any of them."""


def _downloads(way: str, *, cross: bool) -> ac.Scenario:
    variant, profile, endpoint = WAYS[way]
    # As in the paper the threshold becomes the approved window, and silence costs window.
    variant = variant.replace(")", ",approved)") + ("" if profile == "linux" else "+cwv")
    asked = download(variant, SIZE_BYTES, at_s=(AT_S,), exchanges=COUNT, gap_s=GAP_S)
    return ac.Scenario(
        duration=f"{LONG_S:g} s",
        topology=path(RTTS_S[0], first=router(SLOT_S), second=router(SLOT_S)),
        flows=[],
        traffic=[replace(asked, profile=profile, endpoint=endpoint)],
        cross_traffic=cross_traffic() if cross else [],
    )


def _pages(way: str, case: str) -> ac.Scenario:
    variant, profile, endpoint = WAYS[way]
    connections, objects = HTTP[case]
    at_s = [1 + PAGE_EVERY_S / connections * n for n in range(connections * PAGE_COUNT)]
    asked = download(variant, OBJECT_BYTES, at_s=at_s, exchanges=objects)
    return ac.Scenario(
        duration=f"{1 + PAGE_EVERY_S * PAGE_COUNT:g} s",
        topology=path(RTTS_S[1]),
        flows=[],
        traffic=[replace(asked, profile=profile, endpoint=endpoint)],
    )


QUICK_KERNEL = "+quickstart"
"""The part that the kernel has by programs of ours. They take rights: without, it is skipped."""


def _both(_: Path, scenario: ac.Scenario) -> SimAndLive:
    return SimAndLive(scenario, scenario)


def _trial(kind: str, way: str, name: str, scenario: ac.Scenario, rtt_s: float) -> Trial:
    variant, profile, _ = WAYS[way]
    by_programs = QUICK_KERNEL in variant and profile == "linux"
    word = way.replace(",", "").replace(" ", "-").replace("/", "")
    return Trial(
        f"{name.replace('/', '')}-{word}-{1000 * rtt_s:g}",
        {"kind": kind, "case": name, "way": way, "rtt_ms": round(1000 * rtt_s)},
        scenario,
        prepare=_both if by_programs else None,
        # A page's routers approve in a word, and keep no rates.
        routers="xdp" if by_programs and kind != PAGES else None,
    )


def trials(quick: bool) -> list[Trial]:
    """Return the runs."""
    high, low = "81.92 Mbit/s", "5.12 Mbit/s"
    begins = [
        _trial(TRACES, way, "begins", _scenario(way, rtt_s), rtt_s)
        for rtt_s in (RTTS_S[:1] if quick else RTTS_S)
        for way in WAYS
    ]
    downloads = [
        _trial(
            DOWNLOADS, f"{who}, {high}", f"Figure {8 if cross else 7}",
            _downloads(f"{who}, {high}", cross=cross), RTTS_S[0],
        )
        for cross in (False, True)
        for who in ("kernel", "ours")
    ]  # fmt: skip
    pages = [
        _trial(PAGES, way, case, _pages(way, case), RTTS_S[1])
        for case in HTTP
        for way in ("kernel, CUBIC", f"kernel, {low}", "ours, slow start", f"ours, {low}")
    ]  # fmt: skip
    return begins + (downloads[2:3] if quick else downloads + pages)


SCHEMA = {
    "since_request_s": pl.Float64,
    "rate_bps": pl.Float64,
    "request": pl.Int64,
    "approved_bps": pl.Int64,
    "took_s": pl.Float64,
}
"""A row is a sample of a rate, a download or a page: its number, what was approved, its time."""


def reduce(run: Run) -> pl.DataFrame:
    """Return the rate at which packets reach the client, or a row a download or a page.

    ``approved_bps`` is what the end that asked was told, if it asked: zero if it was denied.
    """
    steps = pl.DataFrame(run.quick_start).with_columns(pl.col("step").cast(pl.String))
    told = steps.filter(pl.col("step") == "approved")
    approved = dict(zip(told["connection"], told["approved_bps"], strict=True))
    samples = pl.DataFrame(run.link_samples)
    if samples.height == 0:
        connections = pl.DataFrame(run.connections)
        return _downloads_of(run, steps) if connections.height == 1 else _pages_of(run)
    opened = pl.DataFrame(run.connections)["established_s"][0]
    samples = samples.filter(pl.col("direction").cast(pl.String) == "forward").sort("time_s")
    return (
        samples.with_columns(
            (pl.col("delivered_flow_packets").diff() * PACKET_BITS / pl.col("time_s").diff()).alias(
                "rate_bps"
            ),
            (pl.col("time_s") - opened).alias("since_request_s"),
            pl.lit(0).alias("request"),
            pl.lit(approved.get(0)).alias("approved_bps"),
            pl.lit(None).alias("took_s"),
        )
        .filter(pl.col("since_request_s") > 0, pl.col("rate_bps").is_not_null())
        .select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())
    )


ASKING = ("approved", "not_needed", "unanswered", "ttl_mismatch", "nonce_mismatch", "rate_too_high")
"""The steps that end a request."""


def _row(number: int, approved_bps: int | None, took_s: float | None) -> dict[str, Any]:
    return {
        "since_request_s": None, "rate_bps": None,
        "request": number, "approved_bps": approved_bps, "took_s": took_s,
    }  # fmt: skip


def _downloads_of(run: Run, steps: pl.DataFrame) -> pl.DataFrame:
    """Return a row a download, and the answer to the request that fell into it."""
    answers = [
        (row["time_s"], row["approved_bps"] if row["step"] in ASKING[:2] else 0)
        for row in steps.filter(pl.col("step").is_in(ASKING)).iter_rows(named=True)
    ]
    rows = []
    for number, row in enumerate(pl.DataFrame(run.objects).sort("object").iter_rows(named=True)):
        done_s = row["completed_s"]
        until_s = float("inf") if done_s is None else done_s
        own = [rate for at_s, rate in answers if row["requested_s"] <= at_s <= until_s]
        took_s = None if done_s is None else done_s - row["requested_s"]
        rows.append(_row(number, own[0] if own else None, took_s))
    return pl.DataFrame(rows, schema=SCHEMA)


def _pages_of(run: Run) -> pl.DataFrame:
    """Return a row a page: from the opening to the last byte, over all of its connections."""
    ends = pl.DataFrame(run.objects).group_by("connection").agg(pl.col("completed_s").max())
    there = pl.DataFrame(run.connections).select("connection", "opened_s")
    took = there.join(ends, on="connection", how="left").sort("connection")
    times = (took["completed_s"] - took["opened_s"]).to_list()
    connections = len(times) // PAGE_COUNT
    pages = [times[n : n + connections] for n in range(0, len(times), connections)]
    rows = [
        _row(number, None, None if None in page else sum(page)) for number, page in enumerate(pages)
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def draw(rows: pl.DataFrame) -> Figure:
    """Draw the rates over the time since the request."""
    rows = rows.filter(pl.col("kind") == TRACES)
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
    traces = rows.filter(pl.col("kind") == TRACES)
    downloads = rows.filter(pl.col("kind") == DOWNLOADS)
    pages = rows.filter(pl.col("kind") == PAGES)
    early = traces.filter(pl.col("since_request_s") <= EARLY_S)
    asked = traces.filter(pl.col("on") == "live").group_by("way", maintain_order=True)
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
            f"Approved live: {granted or 'nothing'}. After a jump the kernel goes on with its own "
            "slow start and HyStart, where RFC 4782 and the simulation have limited slow start: "
            "after a low request it is faster."
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
        Prose(
            "Figures 7 and 8, three downloads on one connection, of which each asks for 81.92 "
            "Mbit/s, without and with cross-traffic; the threshold becomes the approved window. "
            f"The kernel’s requests are answered by routers in the kernel. {_grants(downloads)}"
        ),
        compared(
            "live-downloads",
            "Downloads of 10 MB",
            "From the request to the last byte, in s.",
            downloads.with_columns(pl.col("request") + 1),
            {"case": "figure", "way": "begins with", "request": "request"},
            "took_s",
            lambda value: f"{value:.3f}",
        ),
        compared(
            "live-pages",
            "Pages of two objects of 250 kB",
            f"Means of {PAGE_COUNT} pages, 200 ms, in s: from the opening of a connection to its "
            "last byte, all connections of a page.",
            pages,
            {"case": "version", "way": "begins with"},
            "took_s",
            lambda value: f"{value:.3f}",
        ),
        _verdicts(rows),
    )


def _verdicts(rows: pl.DataFrame) -> Sheet:
    """Return what the predicates find in the kernel's rows; of what was not run there is none."""
    cells = []
    kinds = set(rows.filter(pl.col("on") == "live")["kind"])
    cases = set(rows.filter(pl.col("on") == "live")["case"])
    for about, predicates in PREDICATES.items():
        there = {"Figures 4 and 6": TRACES in kinds, "Table I, large objects": PAGES in kinds}
        if not there.get(about, about in cases):
            continue
        for predicate in predicates:
            part = predicate.judge(rows)
            cells.append(
                (
                    Cell(about),
                    Cell(predicate.statement),
                    Cell(f"{predicate.metric} {predicate.rule}"),
                    Cell(part.summary()),
                    Cell("holds" if part.holds else "does not hold"),
                )
            )
    return Sheet(
        key="live-verdicts",
        label="What the predicates find in the kernel’s rows",
        caption="Savings are the lower ends of intervals of 95 % over pages.",
        heads=("of the paper", "statement", "predicate", "found", "verdict"),
        rows=tuple(cells),
        stubs=2,
        data=(KEY,),
    )


def _grants(downloads: pl.DataFrame) -> str:
    """Return what each request got, simulated and live."""
    said = []
    for names, here in downloads.group_by("case", "way", "on", maintain_order=True):
        case, way, on = names
        got = ", ".join(
            f"{rate / 1e6:.2f}" if rate else "nothing"
            for rate in here.sort("request")["approved_bps"]
        )
        said.append(f"{case}, {way}, {'simulated' if on == 'sim' else 'live'}: {got}")
    return "Approved, in Mbit/s: " + "; ".join(said) + "."


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
