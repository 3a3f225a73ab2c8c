"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.study import Definition
from ackclock_studies.probe import STUDY, figures
from ackclock_studies.probe.analysis import Results, analyse
from ackclock_studies.probe.page import build
from ackclock_studies.probe.predicates import CLAIMS
from ackclock_studies.probe.runs import parts
from ackclock_studies.probe.scenarios import Plan

FIGURES: Mapping[str, FigureSpec[Results]] = {
    "utilisation": FigureSpec(
        lambda results: figures.utilisation(results["utilisation"]),
        ("utilisation",),
        ("utilisation",),
        "figures.utilisation(utilisation)",
    ),
}


DEFINITION = Definition(
    study=STUDY,
    plan=lambda quick: Plan(quick=quick),
    parts=parts,
    analyse=analyse,
    claims=CLAIMS,
    figures=FIGURES,
    build=build,
)

reproduce = DEFINITION.reproduce
