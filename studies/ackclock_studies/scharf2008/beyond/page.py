"""The report's section on the other ways to begin: tables, and what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ackclock.report.page import Cell, Prose, Section, Sheet
from ackclock_studies.scharf2008.analysis import Results
from ackclock_studies.scharf2008.beyond.predicates import EXPECTED

if TYPE_CHECKING:
    pass

from ackclock_studies.scharf2008.beyond.figures import LOOKS


def section(results: Results, draw: Callable[..., Any]) -> Section:
    """Return the report's section."""
    return Section(
        "beyond",
        "Beyond the paper: other ways to begin",
        (
            Prose(
                "Jump Start sends all it has in the first round trip; Careful Resume half of what "
                "an earlier connection had, here the path’s product, or, stale, four times that; "
                "RCP and XCP are told by every router. NewReno with SACK, but for these two; ten "
                "segments first, but for slow start and Quick-Start, which have the paper’s three."
            ),
            draw("begin", "Buffers without losses; rates are means over a round trip."),
            draw("compared", "Round trip 100 ms, against slow start from three segments."),
            draw(
                "harm",
                "3 MB, buffers of one product; means over seeds with 95 % intervals. What others "
                "suffer is counted over 4 s from the request, against the same seed without it.",
            ),
            _harm(results),
            draw(
                "waits",
                "Table I’s four users, CUBIC but for RCP and XCP, round trip 200 ms; over slow "
                "start from three segments with the same pages; 95 % intervals over seeds.",
            ),
            _expected(results),
        ),
    )


def _pm(mean: float | None, ci: float | None, scale: float, digits: int) -> Cell:
    if mean is None:
        return Cell("–")
    text = f"{scale * mean:.{digits}f}"
    return Cell(
        (text + (f" ± {scale * ci:.{digits}f}" if ci is not None else "")).replace("-", "−")
    )


def _harm(results: Results) -> Sheet:
    rows = results["harm"].sort("others", "size_bytes", maintain_order=True)
    return Sheet(
        key="harm",
        label="A download beside others",
        caption=(
            "Beside a load of 50 Mbit/s (Poisson), and beside four NewReno flows with a load of "
            "5 Mbit/s. Ended: of the downloads, within 30 s."
        ),
        heads=("beside", "size", "way to begin", "response, s", "ended", "others lose, %",
               "others send again", "load dropped, %"),
        rows=tuple(
            (
                Cell({"load": "load", "flows": "four flows"}[row["others"]]),
                Cell(f"{row['size_bytes'] / 1e6:g} MB"),
                Cell(LOOKS[row["startup"]][0]),
                _pm(row["response_s"], row["response_s_ci"], 1, 2),
                Cell(f"{row['ended']} of {row['runs']}"),
                _pm(row["lost_share"], row["lost_share_ci"], 100, 1),
                _pm(row["again"], row["again_ci"], 1, 0),
                _pm(row["dropped"], row["dropped_ci"], 100, 2),
            )
            for row in rows.iter_rows(named=True)
        ),
        data=("harm",),
    )  # fmt: skip


def _expected(results: Results) -> Sheet:
    judged = [predicate.judge(results) for predicate in EXPECTED]
    return Sheet(
        key="expected",
        label="What was expected",
        caption="Written before the first full run; every observation has to fulfil it.",
        heads=("expected", "rule", "came", "measured"),
        rows=tuple(
            (
                Cell(part.predicate.statement),
                Cell(f"{part.predicate.metric} {part.predicate.rule}"),
                Cell("yes" if part.holds else "no", mark="good" if part.holds else "bad"),
                Cell(part.summary()),
            )
            for part in judged
        ),
        data=("compared", "harm", "waits"),
    )
