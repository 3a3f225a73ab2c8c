"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ackclock.studies._frame_report import Drawn
from ackclock.studies._frame_study import Definition
from ackclock.studies.watanabe2013 import figures
from ackclock.studies.watanabe2013.analysis import Results, analyse
from ackclock.studies.watanabe2013.page import build
from ackclock.studies.watanabe2013.predicates import CLAIMS
from ackclock.studies.watanabe2013.runs import parts
from ackclock.studies.watanabe2013.scenarios import Plan

KEY = "watanabe2013"

FIGURES: Mapping[str, Drawn[Results]] = {
    "bars": Drawn(
        lambda r: figures.bars(r["summary"]), ("trials",), ("summary",), "figures.bars(summary)"
    ),
    "windows": Drawn(
        lambda r: figures.windows(r["traces"]), ("traces",), ("traces",), "figures.windows(traces)"
    ),
    "ranks": Drawn(
        lambda r: figures.ranks(r["summary"]), ("trials",), ("summary",), "figures.ranks(summary)"
    ),
}


DEFINITION = Definition(
    key=KEY,
    folder=Path(__file__).parent,
    plan=lambda quick: Plan(quick=quick),
    parts=parts,
    analyse=analyse,
    claims=CLAIMS,
    figures=FIGURES,
    build=build,
    code=("runs.py", "scenarios.py", "pictures.csv"),
)

reproduce = DEFINITION.reproduce
