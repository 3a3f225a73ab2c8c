"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.study import Definition
from ackclock.studies.probe import figures
from ackclock.studies.probe.analysis import Results, analyse
from ackclock.studies.probe.page import build
from ackclock.studies.probe.predicates import CLAIMS
from ackclock.studies.probe.runs import parts
from ackclock.studies.probe.scenarios import Plan

FIGURES: Mapping[str, FigureSpec[Results]] = {
    "utilisation": FigureSpec(
        lambda results: figures.utilisation(results["utilisation"]),
        ("utilisation",),
        ("utilisation",),
        "figures.utilisation(utilisation)",
    ),
}


DEFINITION = Definition(
    key="probe",
    folder=Path(__file__).parent,
    plan=lambda quick: Plan(quick=quick),
    parts=parts,
    analyse=analyse,
    claims=CLAIMS,
    figures=FIGURES,
    build=build,
)

reproduce = DEFINITION.reproduce
