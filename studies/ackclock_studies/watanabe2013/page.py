"""The text of the report: its sections, tables and captions, every number from the results."""

from __future__ import annotations

import polars as pl

from ackclock.report.page import Cell, Page, Prose, Section, Sheet
from ackclock.studies.framework.page import PageContext
from ackclock_studies.watanabe2013 import model, page_beyond
from ackclock_studies.watanabe2013.analysis import Results
from ackclock_studies.watanabe2013.page_beyond import number
from ackclock_studies.watanabe2013.scenarios import ALTERNATIVES, BY_KEY, CASES, DEFAULT, VARIANTS


def build(results: Results, context: PageContext[Results]) -> Page:
    """Return the report."""
    draw, verdict = context.draw, context.verdict
    trials = results.plan.trials
    return context.page(
        title="Streaming video over TCP variants, once more",
        subtitle=(
            "Which sender discards the fewest pictures: the measurements of Watanabe et al. with "
            "a simulated path and a player whose rules are written down."
        ),
        banner=_banner(results),
        and_that=(
            "; a statement is under-specified if its outcome changes with the buffer of the "
            "emulator, the film or the reading of CCP’s equations, which the paper does not give."
        ),
        sections=(
            Section(
                "f2",
                "A buffer at three rates",
                (
                    draw(
                        "f2",
                        "The paper’s figure 2 is a sketch; here Reno downloads a film of constant "
                        "rate, and the buffer of 656 kB, a second of it, is looked at every 100 "
                        "ms.",
                    ),
                    verdict("watanabe-f2"),
                ),
            ),
            Section(
                "figures",
                "Discards, underflows, retransmissions",
                (
                    Prose(
                        "A video of 5.24 Mbit/s with 30 pictures a second is downloaded over HTTP "
                        "and played while it comes. The pictures are those of a file that we "
                        "generated, scaled to the paper’s mean rate; the playout buffer holds 656 "
                        "kB. Rates below and above are 4.9 and 5.6 Mbit/s, the buffer is one "
                        "product at 100 ms."
                    ),
                    draw(
                        "bars",
                        f"Means over {trials} trials with standard deviations, as in the paper. "
                        "BBR, CUBIC with HyStart++ (today’s recovery and first window) and the "
                        "sender made for video were not in it.",
                    ),
                    verdict(
                        *(f"watanabe-f{number}" for number in (4, 6, 7, 8, 9, 10, 11)),
                    ),
                    _lumps(results),
                    *(_sheet(results, case.key, case.label) for case in CASES),
                ),
            ),
            Section(
                "windows",
                "Windows below the playout rate",
                (
                    draw("windows", "The first two minutes of the paper’s figure 5."),
                    verdict("watanabe-f5"),
                ),
            ),
            Section(
                "ranks",
                "Is one of them best?",
                (
                    draw(
                        "ranks",
                        "Beyond the smallest mean of each path: means over "
                        f"{trials} trials with 95 % intervals.",
                    ),
                    verdict("watanabe-none-best"),
                ),
            ),
            *page_beyond.sections(results, context),
            Section("made", "How this was made", (_choices(results),)),
        ),
    )


def _banner(results: Results) -> str:
    return (
        f"The first {results.plan.length_s} s of the video in place of 624, and "
        f"{results.plan.trials} trials in place of 10. A verdict may differ from that of the full "
        "study."
    )


def _sheet(results: Results, case: str, label: str) -> Sheet:
    rows = results["summary"].filter(pl.col("choice") == DEFAULT.key, pl.col("scenario") == case)
    cells: list[tuple[Cell, ...]] = []
    for variant in VARIANTS:
        row = rows.row(by_predicate=pl.col("variant") == variant, named=True)
        cells.append(
            (
                Cell(variant),
                *(
                    number(row[metric], row[f"{metric}_ci"])
                    for metric in ("discards", "underflows", "retransmissions", "packets_lost")
                ),
                number(row["stall_s"], row["stall_s_ci"]),
                Cell(f"{row['startup_s']:.2f}"),
                Cell(f"{row['goodput_bps'] / 1e6:.2f}"),
            )
        )
    return Sheet(
        key=f"trials-{case}",
        label=label,
        caption="Means and half-widths of 95 % intervals over the trials.",
        heads=(
            *("sender", "discards", "underflows", "retransmitted", "packets lost"),
            *("still, s", "start-up, s", "goodput, Mbit/s"),
        ),
        rows=tuple(cells),
        data=("trials", "summary"),
    )


def _lumps(results: Results) -> Sheet:
    found = results["lumps"]
    rows: list[tuple[Cell, ...]] = []
    for (film, case), here in found.group_by("film", "scenario", maintain_order=True):
        label = BY_KEY[str(case)].label
        numbers = (f"{row['discards']} / {row['underflows']}" for row in here.iter_rows(named=True))
        rows.append((Cell(f"{film}, {label}"), *(Cell(text) for text in numbers)))
    heads = (f"{1000 * lump:g} ms" if lump else "evenly" for lump in model.LUMPS_S)
    return Sheet(
        key="lumps",
        label="Why who loses more may discard less",
        caption=(
            "Discards / underflows by the player’s rules alone, if the path’s bytes come evenly or "
            "in lumps. An empty buffer costs the pictures of which a part is there; behind a hole "
            "nothing is there, and play stops at once. So the smoothest sender discards most of "
            "the same shortage."
        ),
        heads=("film, path", *heads),
        rows=tuple(rows),
        data=("lumps",),
    )


def _choices(results: Results) -> Prose:
    others = ", ".join(
        "CCP’s equations read literally"
        if choice.literal
        else "a film of constant rate"
        if choice.constant
        else f"a buffer of {choice.buffer:g} products"
        for choice in ALTERNATIVES
    )
    return Prose(
        f"The other choices: {others}, each with {results.plan.other_trials} trials of the paper’s "
        "variants in every case. A packet of 100 bytes a second crosses the link, so that no two "
        "trials are alike. Sweeps and what lies beyond the paper have three trials "
        "(one if quick). A run in which a picture has no fate or more than one, or in which the "
        "player took other bytes than the server sent, stops the study."
    )
