"""The text of the report: its sections, tables and captions, every number from the results."""

from __future__ import annotations

from typing import Any

import polars as pl

from ackclock.report.page import Cell, Page, Prose, Section, Sheet
from ackclock.studies.framework.page import PageContext
from ackclock_studies.laws.analysis import Results
from ackclock_studies.laws.predicates import DEEP_BDP, LIMIT
from ackclock_studies.laws.published import RESPONSE
from ackclock_studies.laws.runs import CONVERGED, SMOOTHED_S
from ackclock_studies.laws.scenarios import (
    BLOAT_BDP,
    BLOAT_MBPS,
    LAWS,
    LONG_RTT_MS,
    RAMP_FROM,
    RAMP_SHARE,
    RAMP_TO,
    RESPONSE_RTT_MS,
    SHORT_RTT_MS,
    SLOWDOWN_RTT_MS,
)


def build(results: Results, context: PageContext[Results]) -> Page:
    """Return the report."""
    draw, verdict = context.draw, context.verdict
    return context.page(
        title="Growth laws side by side",
        subtitle=(
            f"{len(LAWS)} laws of congestion avoidance on the same paths with the same recovery, "
            "and what their papers say of them."
        ),
        banner=(
            "Half as long runs, 2 seeds in place of 5, fewer loss rates and buffers. A verdict may "
            "differ from that of the full study."
        ),
        sections=(
            Section("response", "The window over the loss rate", _response(results, draw, verdict)),
            Section("random", "Losses at random", _random(results, draw, verdict)),
            Section("delay", "One flow and a large buffer", _delay(results, draw, verdict)),
            Section("sharing", "Beside CUBIC and Reno", _sharing(results, draw, verdict)),
            Section("fairness", "Beside one of its kind", _fairness(results, draw, verdict)),
            Section("ramp", "Ten times the rate", _ramp(results, draw)),
            Section("marks", "Over time", _marks(draw, verdict)),
            Section("made", "How this was made", _made(results)),
        ),
    )


def _response(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "One flow has a path to itself whose rate and queue never hold it back. Exactly one in "
            f"1/p of its data packets is lost. The round-trip time is {RESPONSE_RTT_MS} ms. Laws "
            "whose window has no bound but the queue are not shown: they need one."
        ),
        draw(
            "response",
            f"Left: mean windows. Right: over the papers’ formulas; shaded: {100 * LIMIT:.0f} %.",
        ),
        verdict(
            *(f"laws-{law}-response" for law in RESPONSE),
            "laws-scalable-recovery",
            "laws-hybla-rtt",
        ),
        _windows(results),
    )


def _windows(results: Results) -> Sheet:
    rows = results["response"]
    periods = sorted(rows["period"].unique().to_list())
    cells = []
    for law in dict.fromkeys(rows["law"].to_list()):
        line = [Cell(LAWS[law]), Cell(RESPONSE[law][0] if law in RESPONSE else "")]
        for period in periods:
            row = rows.filter(pl.col("law") == law, pl.col("period") == period).row(0, named=True)
            line.append(Cell(f"{row['window_packets']:.1f}"))
            ratio = row["ratio"]
            off = ratio is not None and abs(ratio - 1) > LIMIT
            judged = law in RESPONSE and row["loss_rate"] <= RESPONSE[law][2] * 1.001
            text = "" if ratio is None else f"{ratio:.3f}"
            line.append(Cell(text + (" ✗" if off and judged else ""),
                             "bad" if off and judged else ""))  # fmt: skip
        cells.append(tuple(line))
    return Sheet(
        key="windows",
        label="Mean windows",
        caption="Packets, and the ratio to the formula. ✗ marks ratios outside the bound.",
        heads=("law", "formula", *(("window", "ratio") * len(periods))),
        rows=tuple(cells),
        groups=(("", 2), *((f"p = 1/{period:,}".replace(",", " "), 2) for period in periods)),
        stubs=2,
        data=("response",),
    )


def _random(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "100 Mbit/s, 100 ms, a buffer of one bandwidth-delay product; each data packet is lost "
            "with the given probability. Goodput over 60 s, start-up included, as in the figure of "
            "the BBR paper."
        ),
        draw("random", f"Means of {results.plan.seeds} seeds with 95 % intervals."),
        verdict("laws-bbr-loss", "laws-veno-loss"),
    )


def _delay(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    rows = results["delay"]
    cells = tuple(
        (
            Cell(LAWS[row["law"]]),
            Cell(f"{100 * row['share']:.1f} %"),
            Cell(f"{1e3 * row['queue_delay_mean_s']:.1f}"),
            Cell(f"{1e3 * row['queue_delay_p99_s']:.1f}"),
            Cell(f"{row['backlog_packets']:.1f}"),
        )
        for row in rows.iter_rows(named=True)
    )
    return (
        Prose(
            f"{BLOAT_MBPS} Mbit/s, 40 ms, a drop-tail buffer of {BLOAT_BDP:g} bandwidth-delay "
            "products; one run a law, as nothing in it is random. The first quarter is not "
            "measured."
        ),
        draw("delay", "The part of the capacity that is goodput; the mean delay in the queue."),
        verdict(
            "laws-vegas-backlog", "laws-copa-backlog", "laws-ledbat-delay", "laws-ledbatpp-delay"
        ),
        Sheet(
            key="delays",
            label="One flow behind a large buffer",
            caption="Part of the capacity; delay in the queue; packets in it on the average.",
            heads=("law", "goodput", "mean, ms", "99 %, ms", "packets"),
            rows=cells,
            stubs=1,
            data=("delay",),
        ),
    )


def _sharing(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "Two flows on 100 Mbit/s and 40 ms: the law, and CUBIC or Reno. They start within "
            "100 ms of each other; a seed says when."
        ),
        draw(
            "sharing",
            "The law’s share of the goodput, in %; 50 is an even division. Half-widths of the 95 % "
            "intervals are in the data.",
        ),
        verdict("laws-yield"),
        _shares(results),
    )


def _with_interval(value: float, ci: float | None, scale: float = 1, digits: int = 2) -> Cell:
    text = f"{scale * value:.{digits}f}"
    return Cell(text if ci is None else f"{text} ± {scale * ci:.{digits}f}")


def _shares(results: Results) -> Sheet:
    rows = results["sharing"].filter((pl.col("buffer_bdp") - DEEP_BDP).abs() < 1e-9)
    others = list(dict.fromkeys(rows["other"].to_list()))
    cells = []
    for law in dict.fromkeys(rows["law"].to_list()):
        line = [Cell(LAWS[law])]
        for other in others:
            row = rows.filter(pl.col("law") == law, pl.col("other") == other).row(0, named=True)
            line += [
                _with_interval(row["share"], row["share_ci"], 100, 1),
                _with_interval(row["harm"], row["harm_ci"]),
            ]
        cells.append(tuple(line))
    return Sheet(
        key="shares",
        label=f"Shares and harm at a buffer of {DEEP_BDP:g} BDP",
        caption=(
            "The law’s share, in %; the other flow’s loss against half of the capacity (0: none, "
            "1: all). Half-widths of 95 % over seeds."
        ),
        heads=("law", *(("share", "harm") * len(others))),
        rows=tuple(cells),
        groups=(("", 1), *((f"beside {LAWS[other]}", 2) for other in others)),
        stubs=1,
        data=("sharing", "sharing_seeds"),
    )


def _fairness(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "Two flows of one law. Above, 100 Mbit/s, 100 ms, a buffer of one bandwidth-delay "
            f"product; the second flow comes at 30 s. Its time is that to {100 * CONVERGED:.0f} % "
            f"of an even division, over {SMOOTHED_S:g} s; a run in which it never gets there "
            "counts as long as it lasts. Below, both start together, with "
            f"{SHORT_RTT_MS} and {LONG_RTT_MS} ms."
        ),
        draw("fairness", "Means over seeds with 95 % intervals."),
        draw("rtt", "The ratio of goodputs; 1 is an even division."),
        verdict("laws-convergence", "laws-rtt-fairness"),
        _pairs(results),
    )


def _pairs(results: Results) -> Sheet:
    rows = results["fairness"].join(
        results["rtt"].select("law", "ratio", "ratio_ci"), on="law", maintain_order="left"
    )
    return Sheet(
        key="pairs",
        label="Two flows of one law",
        caption=(
            "Jain’s index in the last minute; seconds of the late flow to its share, and in how "
            "many runs it got there; the ratio of rates with unequal round-trip times."
        ),
        heads=("law", "Jain", "time, s", "runs", "ratio"),
        rows=tuple(
            (
                Cell(LAWS[row["law"]]),
                _with_interval(row["jain"], row["jain_ci"], digits=3),
                _with_interval(row["converged_s"], row["converged_s_ci"], digits=1),
                Cell(f"{row['converged']} of {row['seeds']}"),
                _with_interval(row["ratio"], row["ratio_ci"]),
            )
            for row in rows.iter_rows(named=True)
        ),
        stubs=1,
        data=("fairness", "fairness_seeds", "rtt", "rtt_seeds"),
    )


def _ramp(results: Results, draw: Any) -> tuple[Any, ...]:
    rows = results["ramp"]
    return (
        Prose(
            f"One flow on {RAMP_FROM} Mbit/s and 100 ms with a buffer of 2000 packets. At 20 s the "
            f"link becomes as fast as {RAMP_TO} Mbit/s. The time is that to "
            f"{100 * RAMP_SHARE:.0f} % of it, over 1 s."
        ),
        draw("ramp", "Hollow: not reached before the end of the run."),
        Sheet(
            key="ramps",
            label="Ten times the rate",
            caption="Seconds to 90 % of the new rate; the part of it used until the end.",
            heads=("law", "time, s", "used"),
            rows=_ramps(rows.iter_rows(named=True)),
            stubs=1,
            data=("ramp",),
        ),
    )


def _ramps(rows: Any) -> tuple[tuple[Cell, ...], ...]:
    return tuple(
        (
            Cell(LAWS[row["law"]]),
            Cell("not reached" if row["took_s"] is None else f"{row['took_s']:.1f}"),
            Cell(f"{100 * row['utilisation']:.1f} %"),
        )
        for row in rows
    )


def _marks(draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "H-TCP’s growth goes with the time since its last loss. LEDBAT++ slows down on "
            "purpose, to see the delay of the empty path: here on 1 Mbit/s and "
            f"{SLOWDOWN_RTT_MS} ms."
        ),
        draw("marks", "Windows over time."),
        verdict("laws-htcp-growth", "laws-ledbatpp-slowdowns"),
    )


def _made(results: Results) -> tuple[Any, ...]:
    return (
        Prose(
            "Every law has RACK-TLP (RFC 8985) and a first window of ten segments. Every segment "
            "is acknowledged at once. Laws have the form of their papers where there is one. "
            "Flows that share a link have timestamps."
        ),
        Prose(
            f"{results.plan.seeds} seeds move the moments of starting within 100 ms, and draw "
            "losses. Queues are drop-tail, in packets."
        ),
    )
