"""Pieces of scenario files in the documents are right, and the reference has one a section."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import ackclock as ac
from ackclock.sweeps.plans.plan import Plan
from support import ROOT

Script = Callable[[str], ModuleType]

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_TOML = re.compile(
    r"^```toml(?: title=(?!\"mine/pyproject)[^\n]*)?\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
PIECES = [
    pytest.param(piece, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, piece in enumerate(_TOML.findall(page.read_text(encoding="utf-8")), 1)
]

SCHEMA: dict[str, Any] = json.loads(json.dumps(ac.schema()))


@pytest.mark.parametrize("piece", PIECES)
def test_a_piece_of_a_file_is_right(piece: str, script: Script) -> None:
    table = tomllib.loads(piece)
    if {"axes", "search"} & set(table):
        # A plan of a sweep, or of a search.
        Plan.from_dict({"scenario": {"duration": "1 s"}, **table})
        return
    ac.Scenario.from_dict(script("reference_examples").whole(piece)).check()


def test_every_table_and_kind_of_the_reference_has_an_example(script: Script) -> None:
    examples = script("reference_examples")
    wanted: set[str] = set()
    for name, definition in SCHEMA["$defs"].items():
        if "properties" in definition:
            wanted.add(name)
        for form in definition.get("oneOf", ()):
            kind = f"{name}.{form['properties']['kind']['const']}" if "properties" in form else ""
            if kind and (kind in examples.EXAMPLES or not examples.example(kind, form["required"])):
                wanted.add(kind)
    drawn = {name for name in wanted if re.search(r"(Bytes|Rate|double)$", name)}
    # A new table or kind needs a line in scripts/reference_examples.py.
    assert wanted - drawn - set(examples.SHOWN_ELSEWHERE) == set(examples.EXAMPLES)


def test_an_example_shows_its_own_table(script: Script) -> None:
    for name, text in script("reference_examples").EXAMPLES.items():
        _, _, kind = name.partition(".")
        assert not kind or f'kind = "{kind}"' in text, name


def test_the_reference_is_in_the_order_of_use() -> None:
    page = (ROOT / "docs/reference/scenario.md").read_text(encoding="utf-8")
    order = ["The file", "Texts", "Topology", "Link", "Queue", "Flow", "App", "Tcp", "Measure"]
    order += ["Probe", "Traffic", "Cross traffic", "Path event"]
    found = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert [heading for heading in found if heading in order] == order
