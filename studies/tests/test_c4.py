"""The page of the suite ``c4`` against the suite."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ackclock.suites import SUITES
from ackclock.suites.running import run_suite

PAGE = Path(__file__).parents[2] / "docs/validation/c4.md"
SENDERS = ("newreno", "cubic", "bbr", "bbr1", "c4")
#: One case of each kind, most of which draw little at random.
RUN = ("alone", "blackhole", "satellite", "short-long", "media-most", "media-wifi-fade-mean")


def page_rows() -> dict[str, list[str]]:
    """Return the rows of the page's table by the names of the cases."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| `")]
    return {row[0].strip("`"): row[1:] for row in rows}


def numbers(text: str) -> list[float]:
    """Return the numbers of a cell that stand by themselves."""
    return [float(each) for each in re.findall(r"(?<![\w`])[0-9]+\.[0-9]+", text)]


def test_the_page_has_the_cases_and_their_limits() -> None:
    rows = page_rows()
    cases = {case.key: case for case in SUITES.get("c4").cases(False)}
    assert list(rows) == list(cases)
    for key, case in cases.items():
        limits = [limit for limit in (case.limit, *case.own.values()) if limit is not None]
        expected = [round(case.factor * (each.high or 0), case.digits) for each in limits]
        assert numbers(rows[key][0]) == expected, key
        assert re.findall(r"`(\w+)`", rows[key][0]) == list(case.own), key


def test_the_page_has_what_two_runs_find() -> None:
    rows = page_rows()
    found = run_suite("c4", ["cubic", "bbr", "c4"], cases=RUN, seeds=2)
    for cell in found.cells:
        told = rows[cell.case.key][1 + SENDERS.index(cell.variant)]
        if cell.verdict == "refused":
            assert told == "refused"
            continue
        mean, most = (numbers(told) * 2)[:2]
        # The two runs are among the twenty of the page, whose largest value it tells.
        shown = [float(cell.shown(value)) for value in cell.values]
        assert max(shown) <= most, cell.case.key
        assert shown[0] == pytest.approx(mean, rel=0.1), cell.case.key
