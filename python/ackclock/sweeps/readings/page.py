"""The page of a search of readings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
from markupsafe import escape

from ackclock import _core
from ackclock.base.citing import bibtex
from ackclock.base.claims import plain
from ackclock.report.page import Block, Cell, Page, Prose, Section, Sheet, Source
from ackclock.runs import identity
from ackclock.studies import STUDIES
from ackclock.studies.framework.found import Share
from ackclock.sweeps.readings.run import FRESH, Outcome, short_id

__all__ = ["build", "share"]

_MOST_READINGS = 15
_MOST_PAIRS = 40
#: A share of the variance that is shown at all, in per cent.
_LEAST_SHARE = 1.0


def build(found: Outcome, tables: Mapping[str, pl.DataFrame], judged: Mapping[str, str]) -> Page:
    """Return the page; ``judged`` has the words of each statement."""
    of, study = found.of, STUDIES.get(found.of.key)
    sections = (
        _best(found, tables, judged),
        _statements(found, tables, judged),
        _choices(found, tables),
        _excluded(tables),
        _readings(tables),
        _axes(found),
        _cite(found),
    )
    tried = f"{found.tried:,}"
    cells = len(found.judged["key"].unique())
    return Page(
        title=f"Readings: {study.title}",
        subtitle=f"{tried} readings of what the paper leaves open, {cells:,} runs of the study",
        citation=study.citation,
        banner="",
        kicker="a published study, read anew",
        lead=(
            Prose(
                f"The best of {tried} readings confirms nothing by itself: among so many some fit "
                "by chance. The shares in the table of the best reading are of seeds that the "
                "search has not used. The study's verdicts are of the reading that was chosen "
                "beforehand, and stay."
            ),
            Prose(
                f"Samples and local search: {escape(of.sizes['short'])}. Fresh seeds: "
                f"{escape(of.sizes['long'])}."
            ),
        ),
        summary=(),
        sections=sections,
        footer=(
            Prose(
                f"Made by Ackclock {_core.version()} with <code>ackclock readings {of.key}</code>. "
                "The same version gives the same bytes. The cells are in the folder "
                "<code>store</code>, which <code>ackclock results</code> reads."
            ),
        ),
    )


def _cite(found: Outcome) -> Section:
    """Return an entry by which the search can be cited: its digest is that of all runs."""
    key = found.of.key
    entry = bibtex(
        f"readings-{key}",
        f"Readings of {STUDIES.get(key).title}",
        identity.digest(sorted(found.judged["key"].unique().to_list())),
        note=f"Made by \\texttt{{ackclock readings {key}}}",
    )
    return Section("cite", "How to cite", [Source("BibTeX", entry)])


def share(row: Mapping[str, Any], who: str) -> str:
    """Return a share on fresh seeds with its interval, in words."""
    seeds = row[f"{who}_seeds"]
    return Share(round((row[f"{who}_share"] or 0.0) * seeds), seeds).with_interval()


def _best(found: Outcome, tables: Mapping[str, pl.DataFrame], words: Mapping[str, str]) -> Section:
    blocks: list[Block] = []
    names = [axis.name for axis in found.of.axes]
    own = found.of.default
    if found.best:
        best = found.readings[found.best[0]]
        rows = tuple(
            (
                Cell(name),
                Cell(best[name]),
                Cell(own[name], mark="" if best[name] == own[name] else "bad"),
            )
            for name in names
        )
        blocks.append(
            Sheet(
                "best", "The best reading", f"{found.best[0]}, beside the study's own",
                ("choice", "best", "own"), rows, text_columns=frozenset({1, 2}),
            )
        )  # fmt: skip
    rows = tuple(
        (
            Cell(row["claim"], title=words.get(row["claim"], "")),
            Cell(row["predicate"]),
            Cell(share(row, "best")),
            Cell(share(row, "own")),
            Cell(f"{row['samples_held']:,} of {row['samples']:,}"),
        )
        for row in tables["predicates"].iter_rows(named=True)
    )
    blocks.append(
        Sheet(
            "predicates", "Predicates",
            f"Seeds from {FRESH} on of the best reading and of the study's own, with the 95 % "
            "interval of the share, and samples, of one seed each, in which it holds",
            ("statement", "predicate", "best, fresh seeds", "own, fresh seeds", "samples"), rows,
            stubs=2, text_columns=frozenset({2, 3, 4}), data=("predicates",),
        )
    )  # fmt: skip
    return Section("best", "The best single reading", blocks)


def _statements(
    found: Outcome, tables: Mapping[str, pl.DataFrame], words: Mapping[str, str]
) -> Section:
    rows = tuple(
        (
            Cell(row["claim"], title=words.get(row["claim"], "")),
            Cell(share(row, "best")),
            Cell(share(row, "own")),
            Cell(f"{row['held']:,} of {row['tried']:,}", mark="" if row["held"] else "bad"),
        )
        for row in tables["statements"].iter_rows(named=True)
    )
    sheet = Sheet(
        "statements", "Statements", "A statement holds in a run if all of its predicates do",
        ("statement", "best, fresh seeds", "own, fresh seeds", "readings under which it held once"),
        rows, text_columns=frozenset({1, 2, 3}), data=("statements",),
    )  # fmt: skip
    none = [row[0].text for row in rows if row[3].text.startswith("0 ")]
    said = f"Under no reading that was tried: {', '.join(none)}." if none else ""
    left = [
        Prose(f"Not judged: {escape(claim)}, since {escape(why)}.")
        for claim, why in found.of.left_out.items()
    ]
    return Section("statements", "Statements", [sheet, *([Prose(said)] if said else []), *left])


def _choices(found: Outcome, tables: Mapping[str, pl.DataFrame]) -> Section:
    frame = tables["axes"]
    axes = [axis.name for axis in found.of.axes]
    rows: list[tuple[Cell, ...]] = []
    for (claim,), group in frame.group_by("claim", maintain_order=True):
        by = dict(zip(group["axis"], group["explained"], strict=True))
        cells = [
            Cell(f"{100 * by[axis]:.0f}" if 100 * by[axis] >= _LEAST_SHARE else "") for axis in axes
        ]
        rows.append((Cell(str(claim)), *cells))
    samples = frame["samples"].max() if frame.height else 0
    sheet = Sheet(
        "axes", "The choices that matter",
        f"Per cent of the variance of the number of predicates that hold which each choice "
        f"explains by itself, over {samples} samples (epsilon squared); the rest is chance and "
        "choices together",
        ("statement", *axes), tuple(rows), data=("axes",),
    )  # fmt: skip
    return Section("choices", "The choices that matter", [sheet])


def _excluded(tables: Mapping[str, pl.DataFrame]) -> Section:
    frame = tables["excluded"]
    shown = frame.sort("expected", descending=True, maintain_order=True).head(_MOST_PAIRS)
    rows = tuple(
        (
            Cell(f"{row['claim']}, {row['predicate']}"),
            Cell(f"{row['other_claim']}, {row['other_predicate']}"),
            Cell(f"{row['held']:,}"),
            Cell(f"{row['other_held']:,}"),
            Cell(plain(row["expected"])),
        )
        for row in shown.iter_rows(named=True)
    )
    said = (
        f"{frame.height:,} pairs hold in no run together, though each of the two holds in some, "
        "and by chance at least five runs would have both."
        if frame.height
        else "No pair of predicates excludes the other, as far as the samples show."
    )
    blocks: list[Block] = [Prose(said)]
    if rows:
        blocks.append(
            Sheet(
                "excluded", "Pairs that exclude each other", "Samples in which each holds",
                ("one", "the other", "the first", "the second", "both, if independent"), rows,
                stubs=2, data=("excluded",),
            )
        )  # fmt: skip
    return Section("excluded", "Predicates that exclude each other", blocks)


def _readings(tables: Mapping[str, pl.DataFrame]) -> Section:
    counts = tables["counts"].filter(pl.col("what") == "statements_held")
    held = tuple(
        (Cell(f"{row['held']}"), Cell(f"{row['readings']:,}"))
        for row in counts.iter_rows(named=True)
    )
    rows = tuple(
        (
            Cell(row["reading"]),
            Cell(row["stage"]),
            Cell(f"{row['seeds']}"),
            Cell(plain(row["statements_held"])),
            Cell(plain(row["predicates_held"])),
            Cell(row["choices"]),
        )
        for row in tables["readings"].head(_MOST_READINGS).iter_rows(named=True)
    )
    return Section(
        "readings",
        "Readings",
        [
            Sheet(
                "counts", "Samples by statements that hold", "One seed each",
                ("statements", "readings"), held, data=("counts",),
            ),
            Sheet(
                "readings", "The best readings",
                "Means over the seeds of the last stage that a reading came to",
                ("reading", "stage", "seeds", "statements", "predicates", "other choices"), rows,
                text_columns=frozenset({1, 5}), data=("readings",),
            ),
        ],
    )  # fmt: skip


def _axes(found: Outcome) -> Section:
    rows = tuple(
        (
            Cell(axis.name),
            Cell(f"{axis.opens} ({axis.section})"),
            Cell("; ".join(axis.labels)),
            Cell(axis.default),
            Cell(axis.why),
        )
        for axis in found.of.axes
    )
    own = short_id(found.of.default)
    return Section(
        "open",
        "What the paper leaves open",
        [
            Sheet(
                "open", "Choices", f"Written before the search; the study's own reading is {own}",
                ("choice", "the paper's words (section)", "range", "own", "why the range"), rows,
                text_columns=frozenset({1, 2, 3, 4}),
            )
        ],
    )  # fmt: skip
