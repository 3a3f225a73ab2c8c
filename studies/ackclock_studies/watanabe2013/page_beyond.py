"""The text of the report beyond the paper's figures."""

from __future__ import annotations

import polars as pl

from ackclock.report.page import Cell, Prose, Section, Sheet
from ackclock.studies.framework.page import PageContext
from ackclock_studies.watanabe2013.analysis import Results
from ackclock_studies.watanabe2013.published import PUBLISHED
from ackclock_studies.watanabe2013.scenarios import (
    ALTERNATIVES,
    CASES,
    DEFAULT,
    HALVES,
    MADE,
    MODERN_ERA,
    PACE,
)
from ackclock_studies.watanabe2013.scenarios_beyond import (
    BUNDLED_CASES,
    LADDER_MBPS,
    RIVALS,
    STREAMS,
)


def sections(results: Results, context: PageContext[Results]) -> tuple[Section, ...]:
    """Return the sections."""
    return (
        _choices(results, context),
        _made_for_video(results, context),
        _resized(context),
        _shared(context),
        _segmented(context),
    )


def number(mean: float, ci: float | None, digits: int = 1) -> Cell:
    """Return a mean and the half-width of its interval."""
    return Cell(f"{mean:.{digits}f}" + (f" ± {ci:.{digits}f}" if ci else ""))


def _choices(results: Results, context: PageContext[Results]) -> Section:
    return Section(
        "open",
        "What the paper leaves open",
        (
            Prose(
                "“Slightly” below and above is 4.9 and 5.6 Mbit/s here, and the emulator’s buffer "
                "one product. Both are swept; the grey line is the film’s mean rate. The table has "
                "how many of a statement’s predicates hold under each choice: where all of them "
                "hold under one and not under another the statement is under-specified."
            ),
            _flips(results["flips"]),
            context.draw("choices", "Means with 95 % intervals; read literally CCP loses no more."),
            context.draw("rates", "Round trip 100 ms, a buffer of one product."),
            context.draw("queues", "Buffers from a quarter of a product to four."),
            _bundles(results),
            _eras(results["summary"]),
        ),
    )


def _flips(flips: pl.DataFrame) -> Sheet:
    choices = [DEFAULT.key, *(choice.key for choice in ALTERNATIVES)]
    rows: list[tuple[Cell, ...]] = []
    for (claim,), of_claim in flips.group_by("claim", maintain_order=True):
        cells = [Cell(str(claim))]
        for choice in choices:
            held = of_claim.filter(pl.col("choice") == choice)["holds"]
            if held.len() == 0:
                cells.append(Cell("–"))
                continue
            whole = bool(held.all())
            cells.append(
                Cell(f"{int(held.sum())} of {held.len()}", mark="good" if whole else "bad")
            )
        rows.append(tuple(cells))
    return Sheet(
        key="flips",
        label="Predicates that hold",
        caption="Of each statement, under each choice.",
        heads=("statement", *choices),
        rows=tuple(rows),
        data=("flips",),
    )


def _bundles(results: Results) -> Sheet:
    whole = results["summary"].filter(pl.col("choice") == DEFAULT.key)
    rows: list[tuple[Cell, ...]] = []
    for case in BUNDLED_CASES:
        for bundle in (1, 2, 4):
            source = (
                whole
                if bundle == 1
                else results["bundled_means"].filter(pl.col("bundle_packets") == bundle)
            )
            cells = [Cell(case), Cell(str(bundle))]
            for variant in PUBLISHED:
                row = source.row(
                    by_predicate=(pl.col("scenario") == case) & (pl.col("variant") == variant),
                    named=True,
                )
                cells.append(number(row["retransmissions"], row["retransmissions_ci"], digits=0))
            rows.append(tuple(cells))
    return Sheet(
        key="bundles",
        label="If packets leave by twos or fours",
        caption=(
            "Retransmissions on the same paths, whose packets leave in bundles at twice the path’s "
            "rate, as a link emulator’s clock or a network card’s interrupts make them. Pairs "
            "within a bundle show CCP and CCPD twice the capacity that there is: means, with 95 % "
            "intervals."
        ),
        heads=("path", "bundle", *PUBLISHED),
        rows=tuple(rows),
        stubs=2,
        data=("summary", "bundled"),
    )


def _eras(summary: pl.DataFrame) -> Sheet:
    def cell(case: str, variant: str) -> Cell:
        found = [
            summary.row(
                by_predicate=(pl.col("choice") == choice)
                & (pl.col("scenario") == case)
                & (pl.col("variant") == variant),
                named=True,
            )
            for choice in (DEFAULT.key, MODERN_ERA.key)
        ]
        then, now = (f"{row['discards']:.0f}, {row['retransmissions']:.0f}" for row in found)
        return Cell(f"{then} → {now}")

    return Sheet(
        key="eras",
        label="The paper’s time and today",
        caption=(
            "Discards and retransmissions with SACK and three segments at first, then with RACK, "
            "proportional rate reduction and ten."
        ),
        heads=("path", *PUBLISHED),
        rows=tuple(
            (Cell(case.key), *(cell(case.key, variant) for variant in PUBLISHED)) for case in CASES
        ),
        data=("summary",),
    )


def _made_for_video(results: Results, context: PageContext[Results]) -> Section:
    rows: list[tuple[Cell, ...]] = []
    whole = results["summary"].filter(pl.col("choice") == DEFAULT.key)
    halves = results["halves_means"]
    for case in CASES:
        for variant in ("cubic", *HALVES, MADE):
            source = halves if variant in HALVES else whole
            row = source.row(
                by_predicate=(pl.col("scenario") == case.key) & (pl.col("variant") == variant),
                named=True,
            )
            rows.append(
                (
                    Cell(case.key),
                    Cell(variant),
                    number(row["discards"], row["discards_ci"]),
                    number(row["stall_s"], row["stall_s_ci"]),
                    Cell(f"{row['startup_s']:.2f}"),
                    number(row["retransmissions"], row["retransmissions_ci"]),
                    Cell(f"{row['goodput_bps'] / 1e6:.2f}"),
                )
            )
    return Section(
        "made-for-video",
        "A sender made for video",
        (
            Prose(
                f"<code>{MADE}</code> keeps four segments waiting, takes a loss that meets no "
                "queue for no sign of congestion, and is Reno beside those who fill the queue. Its "
                f"server sends at {PACE:g} times the least constant rate at which the rest of the "
                "film is there in time. The table takes the two apart."
            ),
            context.verdict("watanabe-goal"),
            Sheet(
                key="halves",
                label="The law, and the server that paces",
                caption="Means and half-widths of 95 % intervals.",
                heads=(
                    *("path", "sender", "discards", "still, s", "start-up, s"),
                    *("retransmitted", "goodput, Mbit/s"),
                ),
                rows=tuple(rows),
                stubs=2,
                data=("halves", "summary"),
            ),
            context.draw(
                "rivals",
                f"{RIVALS} videos of each sender (dots) and {RIVALS} of CUBIC’s (crosses) on a "
                "path of eight times 5.6 Mbit/s: means, with 95 % intervals. Where the dot is to "
                "the right of the cross the sender loses.",
            ),
        ),
    )


def _resized(context: PageContext[Results]) -> Section:
    return Section(
        "resized",
        "A playout buffer that follows the path",
        (
            Prose(
                "The paper’s other suggestion. The player knows the sizes of the pictures from the "
                "file’s index and measures the rate at which they come; play, at first and after a "
                "stop, waits until the rest would not make it wait again, within a bound. What it "
                "no longer stands still for it waits for at the beginning."
            ),
            context.draw("resized", "Leftmost: the paper’s fixed buffer of 656 kB."),
        ),
    )


def _shared(context: PageContext[Results]) -> Section:
    return Section(
        "streams",
        "Several videos on one path",
        (
            Prose(
                f"The paper’s announced extension: {', '.join(map(str, STREAMS[:-1]))} and "
                f"{STREAMS[-1]} videos of one sender, each at another place of the film, share a "
                "path of so many times 5.6 Mbit/s with a buffer of one product."
            ),
            context.draw(
                "streams",
                "Means over the videos, with 95 % intervals over the trials. Waiting is start-up "
                "and stops.",
            ),
        ),
    )


def _segmented(context: PageContext[Results]) -> Section:
    ladder = ", ".join(f"{mbps:g}" for mbps in LADDER_MBPS)
    return Section(
        "segmented",
        "Segments at several rates",
        (
            Prose(
                f"The same film in segments of four seconds at {ladder} Mbit/s, a buffer of 30 s, "
                "and a client that chooses by the throughput of the segments before or by what its "
                "buffer holds."
            ),
            context.draw("segmented", "Means, with 95 % intervals."),
        ),
    )
