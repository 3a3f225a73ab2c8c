"""The text of the report: its sections, tables and captions, every number from the results."""

from __future__ import annotations

from typing import Any

import polars as pl

from ackclock.report.page import Cell, Page, Prose, Section, Sheet
from ackclock.studies.framework.page import PageContext
from ackclock_studies.response.analysis import Results
from ackclock_studies.response.predicates import LARGEST_RATE, RATE_LIMIT, WINDOW_LIMIT
from ackclock_studies.response.scenarios import MIN_RTOS_MS, RANDOM_RTT_MS, RTTS_MS, START


def build(results: Results, context: PageContext[Results]) -> Page:
    """Return the report."""
    draw, verdict = context.draw, context.verdict
    return context.page(
        title="Response functions, held against a packet simulation",
        subtitle=(
            "How large a window Reno and CUBIC keep at a given loss rate: formulas that everybody "
            "cites, and the senders that they are about."
        ),
        banner=_banner(),
        sections=(
            Section("periodic", "Evenly spaced losses", _periodic(results, draw, verdict)),
            Section("cycle", "The cycle, and the way to it", _cycle(draw)),
            Section("random", "Losses at random", _random(results, draw, verdict)),
            Section("made", "How this was made", _made(results)),
        ),
    )


def _banner() -> str:
    return (
        "Loss rates down to 10⁻⁴ in place of 10⁻⁶ (at random, 10⁻³ in place of 10⁻⁵), fewer losses "
        "a run and 3 seeds in place of 10. A verdict may differ from that of the full study."
    )


def _periodic(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "One flow has a path to itself whose rate and queue never hold it back. Of its data "
            "packets, retransmissions included, exactly one in 1/p is lost, and no ACK. The "
            "formulas say of the mean window: 1.2/√p for Reno, and for CUBIC 1.054 (RTT/p)<sup>¾"
            "</sup> or Reno’s, whichever is larger."
        ),
        draw(
            "windows",
            f"Marks: the window’s mean over time. Shaded: {100 * WINDOW_LIMIT:.0f} %. CUBIC’s "
            "curves have a bend where they leave Reno’s window. Loss rates above "
            f"{LARGEST_RATE:g} are shown and not judged.",
        ),
        verdict("response-reno", "response-cubic"),
        *(_windows(results, law, name) for law, name in (("reno", "Reno"), ("cubic", "CUBIC"))),
    )


def _windows(results: Results, law: str, name: str) -> Sheet:
    rows = results["periodic"].filter(pl.col("law") == law)
    cells: list[tuple[Cell, ...]] = []
    for (period,), group in rows.sort("period", "rtt_ms").group_by("period", maintain_order=True):
        by_rtt = {row["rtt_ms"]: row for row in group.iter_rows(named=True)}
        line = [Cell(f"1/{period:,}".replace(",", " "))]
        for rtt_ms in RTTS_MS:
            row = by_rtt[rtt_ms]
            line += [
                Cell(_packets(row["formula_packets"])),
                Cell(_packets(row["window_packets"])),
                _ratio(row["ratio"], WINDOW_LIMIT if row["loss_rate"] <= LARGEST_RATE else None),
            ]
        cells.append(tuple(line))
    heads = ("formula", "simulation", "ratio")
    return Sheet(
        key=f"windows-{law}",
        label=f"{name}’s mean windows",
        caption="Packets; the mean over time. ✗ marks ratios outside the bound.",
        heads=("p", *(heads * len(RTTS_MS))),
        rows=tuple(cells),
        groups=(("", 1), *((f"{rtt_ms} ms", 3) for rtt_ms in RTTS_MS)),
        data=("periodic",),
    )


def _packets(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _ratio(value: float, limit: float | None, ci: float | None = None) -> Cell:
    off = limit is not None and abs(value - 1) > limit
    text = f"{value:.3f}" + ("" if ci is None else f" ± {ci:.3f}")
    return Cell(text + (" ✗" if off else ""), "bad" if off else "")


def _cycle(draw: Any) -> tuple[Any, ...]:
    return (
        draw(
            "cycles",
            "Left: a few losses in the steady state; dashed, the formulas. Right: CUBIC’s mean "
            "window from the first loss on, which comes at windows of a half to eight times the "
            f"formula’s; grey, the approach worked out below. Shaded: {100 * WINDOW_LIMIT:.0f} %.",
        ),
        Prose(
            "Reno forgets where it came from: each halving halves the distance. CUBIC’s cycle of "
            "RFC 9438 has its loss on the plateau, where the curve is flat. If the window is a "
            "share x below the cycle’s, the loss comes ⁴⁄₃ x K after the plateau and finds the "
            "window C (⁴⁄₃ x K)³ = 0.71 x³ W<sub>max</sub> higher: x falls by 0.71 x³ a loss, so "
            "that after n losses it is still 0.84/√n."
        ),
    )


def _random(results: Results, draw: Any, verdict: Any) -> tuple[Any, ...]:
    return (
        Prose(
            "Each packet is lost with probability p, whatever happened to the others. The model of "
            "Padhye and colleagues gets p, and the mean round-trip time and retransmission timeout "
            "that the run itself measured."
        ),
        draw(
            "random",
            f"Means with 95 % intervals over seeds. Shaded: {100 * RATE_LIMIT:.0f} %. Right: Reno "
            "on paths whose timeout is 1 to 100 round trips; hollow: the model with the measured "
            "share of timeouts in place of its own.",
        ),
        verdict("response-pftk", "response-pftk-paths"),
        _rates(results),
        _paths(results),
    )


def _rates(results: Results) -> Sheet:
    here = results["random"].filter(
        pl.col("rtt_ms") == RANDOM_RTT_MS, pl.col("min_rto_ms") == MIN_RTOS_MS[0]
    )
    rows = tuple(
        (
            Cell(row["variant"]),
            Cell(f"1/{row['period']:,}".replace(",", " ")),
            Cell(f"{row['sent_pps']:.1f} ± {row['sent_pps_ci'] or 0:.1f}"),
            _ratio(
                row["ratio_pftk"],
                RATE_LIMIT if row["variant"] == "reno" else None,
                row["ratio_pftk_ci"],
            ),
            _ratio(row["ratio_law"], None, row["ratio_law_ci"]),
            Cell(f"{1e3 * row['rto_mean_s']:.0f} ms"),
        )
        for row in here.iter_rows(named=True)
    )
    return Sheet(
        key="rates",
        label=f"Random losses at {RANDOM_RTT_MS} ms",
        caption=(
            "Packets/s sent, retransmissions included; the rate over the model’s; the mean window "
            "(goodput times round-trip time) over the response function with evenly spaced losses; "
            f"the mean timeout. Half-widths of 95 % over {here['seeds'][0]} seeds."
        ),
        heads=("sender", "p", "rate", "over PFTK", "over 1.2/√p or RFC 9438", "timeout"),
        rows=rows,
        stubs=2,
        data=("random", "random_seeds"),
    )


def _paths(results: Results) -> Sheet:
    reno = results["random"].filter(pl.col("variant") == "reno")
    rows = tuple(
        (
            Cell(f"{row['rtt_ms']} ms"),
            Cell(f"{row['min_rto_ms']} ms"),
            Cell(f"1/{row['period']:,}".replace(",", " ")),
            Cell(f"{row['rto_mean_s'] / row['rtt_s']:.1f}"),
            Cell(f"{100 * row['timeout_share_model']:.1f} %"),
            Cell(f"{100 * row['timeout_share']:.1f} %"),
            _ratio(row["ratio_pftk"], RATE_LIMIT, row["ratio_pftk_ci"]),
            _ratio(row["ratio_pftk_share"], RATE_LIMIT, row["ratio_pftk_share_ci"]),
        )
        for row in reno.iter_rows(named=True)
    )
    return Sheet(
        key="paths",
        label="Reno and the model’s timeouts",
        caption=(
            "The share of losses that end in a timeout, and the rate over the model’s with either "
            "share. ✗ marks ratios outside the bound."
        ),
        heads=(
            "round trip",
            "smallest timeout",
            "p",
            "timeout / round trip",
            "share, model",
            "share, measured",
            "over PFTK",
            "with the measured share",
        ),
        rows=rows,
        stubs=3,
        data=("random", "random_seeds"),
    )


def _made(results: Results) -> tuple[Any, ...]:
    return (
        Prose(
            "The link carries 10 Gbit/s without a limit to its queue, and a run stops the study if "
            "a packet is dropped, if packets wait 1 % of the round-trip time on the average, if "
            "the window comes within half of the receive window, if an ACK is lost, or if the "
            "losses are not one in every so many. Payload 1460 bytes; every segment is "
            "acknowledged at once (b = 1). Both laws repair losses by RACK-TLP with periodic "
            "losses; with random ones Reno by fast recovery, as in the model."
        ),
        Prose(
            "The first periodic loss comes when the window is about "
            f"{START:g} times the formula’s; then {results.plan.losses(1000)[0]} losses at "
            f"p = 10⁻³ are waited for, and {results.plan.losses(1000)[1]} measured."
        ),
    )
