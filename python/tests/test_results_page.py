"""The reference of the tables has every column of every table, its unit and its nulls."""

from __future__ import annotations

import re

import pytest

import ackclock as ac
from ackclock.runs.run import TABLES
from support import ROOT

PAGE = (ROOT / "docs/reference/results.md").read_text(encoding="utf-8")

#: Units by the end of a column's name.
UNITS = {
    "_s": "s",
    "_bps": "bit/s",
    "_bytes": "B",
    "_packets": "packets",
    "_segments": "segments",
}


def sections() -> dict[str, str]:
    """Return the page's sections by their headings."""
    parts = re.split(r"^## `(\w+)`$", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def columns(section: str) -> list[tuple[str, str, str, str]]:
    """Return the rows of a section's table: column, unit, nulls, meaning."""
    rows = re.findall(
        r"^\| `(\w+)` \| ([^|]*) \| ([^|]*)\| ([^|]+) \|$", section, flags=re.MULTILINE
    )
    return [(name, unit.strip(), null.strip(), meaning) for name, unit, null, meaning in rows]


def test_every_table_has_its_section_and_its_line() -> None:
    assert list(sections()) == list(TABLES)
    assert re.findall(r"^\| \[`(\w+)`\]\(#\w+\) \|", PAGE, re.MULTILINE) == list(TABLES)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_columns_that_the_page_says(table: str, small: ac.Scenario) -> None:
    schema = getattr(ac.simulate(small), table).to_arrow().schema
    shown = columns(sections()[table])
    assert [name for name, *_ in shown] == schema.names
    for name, unit, null, meaning in shown:
        field = schema.field(name)
        assert bool(null) == field.nullable, name
        assert meaning.endswith("."), name
        is_number = str(field.type).startswith(("int", "double"))
        assert (unit == "text") != is_number, name
        for end, expected in UNITS.items():
            if name.endswith(end):
                assert unit == expected, name
