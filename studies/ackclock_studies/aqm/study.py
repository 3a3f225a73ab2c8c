"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.study import Definition
from ackclock_studies.aqm import STUDY, figures
from ackclock_studies.aqm.analysis import Results, analyse
from ackclock_studies.aqm.page import build
from ackclock_studies.aqm.predicates import CLAIMS
from ackclock_studies.aqm.runs import parts
from ackclock_studies.aqm.scenarios import Plan

FIGURES: Mapping[str, FigureSpec[Results]] = {
    "tradeoff": FigureSpec(
        lambda r: figures.tradeoff(r["friendly"], r["ellipse"]),
        ("friendly", "ellipse"),
        ("friendly", "ellipse"),
        "figures.tradeoff(friendly, ellipse)",
    ),
    "short": FigureSpec(
        lambda r: figures.short(r["short"]), ("short",), ("short",), "figures.short(short)"
    ),
    "unresponsive": FigureSpec(
        lambda r: figures.unresponsive(r["unresponsive"]),
        ("unresponsive",),
        ("unresponsive",),
        "figures.unresponsive(unresponsive)",
    ),
    "rtt": FigureSpec(lambda r: figures.rtt(r["rtt"]), ("rtt",), ("rtt",), "figures.rtt(rtt)"),
    "levels": FigureSpec(
        lambda r: figures.levels(r["levels"]), ("levels",), ("levels",), "figures.levels(levels)"
    ),
    "capacity": FigureSpec(
        lambda r: figures.capacity(r["capacity"]),
        ("capacity",),
        ("capacity",),
        "figures.capacity(capacity)",
    ),
    "scavenger": FigureSpec(
        lambda r: figures.scavenger(r["scavenger"]),
        ("scavenger",),
        ("scavenger",),
        "figures.scavenger(scavenger)",
    ),
    "mix": FigureSpec(lambda r: figures.mix(r["mix"]), ("mix",), ("mix",), "figures.mix(mix)"),
}


DEFINITION = Definition(
    study=STUDY,
    plan=lambda quick: Plan(quick=quick),
    parts=parts,
    analyse=analyse,
    claims=CLAIMS,
    figures=FIGURES,
    build=build,
    code=("runs.py", "scenarios.py", "published.py"),
)

reproduce = DEFINITION.reproduce
