"""The study from end to end: parts, tables, verdicts, page."""

from __future__ import annotations

from collections.abc import Mapping

from ackclock.studies.framework.report import FigureSpec
from ackclock.studies.framework.study import Definition
from ackclock_studies.laws import STUDY, figures
from ackclock_studies.laws.analysis import Results, analyse
from ackclock_studies.laws.page import build
from ackclock_studies.laws.predicates import CLAIMS, LIMIT
from ackclock_studies.laws.runs import parts
from ackclock_studies.laws.scenarios import RAMP_AT_S, Plan

LONGEST_RAMP_S = 140 - RAMP_AT_S

FIGURES: Mapping[str, FigureSpec[Results]] = {
    "response": FigureSpec(
        lambda r: figures.response(r["response"], LIMIT),
        ("response",),
        ("response",),
        f"figures.response(response, {LIMIT})",
    ),
    "random": FigureSpec(
        lambda r: figures.random(r["random"]), ("random",), ("random",), "figures.random(random)"
    ),
    "delay": FigureSpec(
        lambda r: figures.delay(r["delay"]), ("delay",), ("delay",), "figures.delay(delay)"
    ),
    "sharing": FigureSpec(
        lambda r: figures.sharing(r["sharing"]),
        ("sharing",),
        ("beside",),
        "figures.sharing(sharing)",
    ),
    "fairness": FigureSpec(
        lambda r: figures.fairness(r["fairness"]),
        ("fairness",),
        ("fairness",),
        "figures.fairness(fairness)",
    ),
    "rtt": FigureSpec(lambda r: figures.rtt(r["rtt"]), ("rtt",), ("rtt",), "figures.rtt(rtt)"),
    "ramp": FigureSpec(
        lambda r: figures.ramp(r["ramp"], LONGEST_RAMP_S),
        ("ramp",),
        ("ramp",),
        f"figures.ramp(ramp, {LONGEST_RAMP_S})",
    ),
    "marks": FigureSpec(
        lambda r: figures.marks(r["growth"], r["slowdowns"]),
        ("growth", "slowdowns"),
        ("growth", "slowdowns"),
        "figures.marks(growth, slowdowns)",
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
    code=("runs.py", "scenarios.py", "published.py"),
)

reproduce = DEFINITION.reproduce
